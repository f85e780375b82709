"""The TextMate grammars see what our own readers see, in every file at hand.

Needs Node and the packages of ``editors/textmate`` (``npm install`` there).
"""

import json
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from kbnf_core.kbnf.parsed import Request
from kbnf_core.kbnf.tree import Pattern, PatternKind, Terminal, postorder
from kbnf_core.languages import GBNF, KBNF, LARK, Language
from kbnf_core.languages.lark.reader import tree as lark_tree
from kbnf_core.languages.lark.reader.parse import parse_lark
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.source import Source, Span

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "editors" / "textmate"
LANGUAGES = {"kbnf": KBNF, "gbnf": GBNF, "lark": LARK}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("node") is None or not (FOLDER / "node_modules").is_dir(),
        reason="needs Node, and `npm install` in editors/textmate",
    ),
]


def files(extension: str) -> list[Path]:
    """Return the grammars of a language that are read without errors."""
    found = [
        *(ROOT / "grammars").rglob(f"*.{extension}"),
        *(ROOT / "tests/data").rglob(f"*.{extension}"),
    ]
    return sorted(path for path in found if not _errors(LANGUAGES[extension], path))


def _errors(language: Language, path: Path) -> bool:
    source = Source(path.read_bytes().decode(), str(path))
    if language is LARK:
        return bool(parse_lark(source).diagnostics)
    return bool(language.parse(source, Request()).diagnostics)


@cache
def scopes(extension: str) -> dict[Path, list[str]]:
    """Return the innermost scope of each code point of each file."""
    paths = files(extension)
    ran = subprocess.run(
        ["node", "tokenize.mjs", f"source.{extension}", *map(str, paths)],
        cwd=FOLDER,
        capture_output=True,
        check=True,
        timeout=300,
    )
    return {
        path: list(_spread(path.read_bytes().decode(), tokens))
        for path, tokens in zip(paths, json.loads(ran.stdout), strict=True)
    }


def _spread(text: str, tokens: list[tuple[int, int, list[str]]]) -> Iterator[str]:
    unit, index = 0, 0
    for sign in text:
        while index < len(tokens) and tokens[index][1] <= unit:
            index += 1
        inside = index < len(tokens) and tokens[index][0] <= unit
        yield " ".join(tokens[index][2]) if inside else ""
        unit += 2 if sign > "\uffff" else 1


def expected(extension: str, source: Source) -> Iterator[tuple[str, Span]]:
    """Yield the scopes that an editor should give to parts of a text."""
    outline = LANGUAGES[extension].outline(source, DEFAULT_LIMITS)
    imported = [each.whole for each in outline.definitions if source.text[each.whole.start] == "%"]
    for symbol in outline.definitions:
        if symbol.whole not in imported:
            yield "entity.name.function", symbol.span
    for use in outline.uses:
        yield "variable.other", use.span
    if extension == "lark":
        yield from _of_lark(source)
    else:
        yield from _of_document(LANGUAGES[extension], source)


def _of_lark(source: Source) -> Iterator[tuple[str, Span]]:
    for statement in parse_lark(source).document.statements:
        if isinstance(statement, lark_tree.LarkDefinition | lark_tree.IgnoreStatement):
            for node in lark_tree.postorder(statement.body):
                if isinstance(node, lark_tree.Regexp):
                    yield "string.regexp", node.span
                elif isinstance(node, lark_tree.String):
                    yield "string.quoted", node.span


def _of_document(language: Language, source: Source) -> Iterator[tuple[str, Span]]:
    document = language.parse(source, Request()).document
    for comment in document.comments:
        yield "comment", comment.span
    for definition in document.definitions:
        for node in postorder(definition.body):
            written = source.slice(node.span)
            if isinstance(node, Terminal) and written[:1] in "\"'":
                yield "string.quoted", node.span
            elif isinstance(node, Pattern) and _is_regex(node, written):
                yield "string.regexp", node.span


def _is_regex(node: Pattern, written: str) -> bool:
    return node.kind is not PatternKind.SUBSTRINGS and written[0] in "#["


@pytest.mark.parametrize("extension", LANGUAGES)
def test_scopes_are_those_of_the_reader(extension: str) -> None:
    assert scopes(extension)
    for path, given in scopes(extension).items():
        source = Source(path.read_bytes().decode(), str(path))
        named = set[int]()
        for scope, span in expected(extension, source):
            for index in range(*span):
                shown = f"{path}:{source.position(index).line}: {source.slice(span)!r}"
                blank = source.text[index] in "\r\n"
                assert blank or scope in given[index], f"{shown} is {given[index]!r}, not {scope}"
            if scope == "entity.name.function":
                named.update(range(*span))
        marked = {index for index, each in enumerate(given) if "entity.name.function" in each}
        extra = marked - named
        assert not extra, f"{path}:{source.position(min(extra)).line}: no definition"
