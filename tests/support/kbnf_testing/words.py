"""Words in the source of core and command line: names, docstrings, comments, names of classes.

``tests/words.json`` counts the exceptions by file: distinct names, sentences in docstrings and
sentences in comments that have a word of the lists below, and heads that name no tests; and the
class names that several files use, but for ``SHARED_CLASSES``. A file outside of the list has no
exceptions. The list is exact, so that it shrinks with the code:
``PYTHONPATH=tests/support python -m kbnf_testing.words`` writes it anew, and its difference shows
whether it grew.

A module's head says by which files it is tested, in a last line ``Tests: ...``, which
``named_tests`` reads.
"""

import ast
import io
import json
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TOPS = (ROOT / "core" / "kbnf_core", ROOT / "kbnf_cli")
FILE = ROOT / "tests" / "words.json"

NAMES = re.compile(
    r"(?:^|_)(?:found|held|told|said|what|each|known|none|who|(?:place|part|piece)s?|wish(?:es)?)"
    r"(?:_|$)",
    re.IGNORECASE,
)
"""Words that do not name a value: verbs, pronouns, and nouns that had several meanings."""

SENTENCES = re.compile(
    r"\b(?:stands?(?! for\b)|stood|perhaps|(?<!look-)behind|remarks?|look(?:s|ed|ing)? after"
    r"|(?:tells?|told)(?! apart)|holds?|held|who(?:m|ever)?|for want of"
    r"|(?<!there )(?:is|are|was|were) (?-i:no(?:ne)?)(?! (?:longer|more|other)\b)"
    r"|(?:is|are|be) (?:met|said)"
    r"|what (?:is|are|was|were|has|have|had|may|can|cannot|must|comes?|came|became))\b",
    re.IGNORECASE,
)
"""Signs of a sentence without a technical noun as its subject, or without a verb of the field."""

_OPERATOR = "one operator; a node of the IR is that of the algebra with a span"

SHARED_CLASSES = {
    "Choice": _OPERATOR,
    "Repeat": _OPERATOR,
    "Sequence": _OPERATOR,
    "Engine": "`compat.kbnf` has the names of the binding that it replaces",
    "Token": "programs for that binding wrap tokens in it; the IR has the field's word",
    "Vocabulary": "`compat.kbnf` has the names of the binding that it replaces",
    "KbnfLogitsProcessor": "hosts import it by this name, each from its own adapter",
}
"""Names that classes of several files have, each with the reason."""

Tally = dict[str, dict[str, int]]


def sources() -> Iterator[Path]:
    """Yield the files that are searched."""
    for top in TOPS:
        yield from sorted(path for path in top.rglob("*.p*") if path.suffix in _SUFFIXES)


_SUFFIXES = (".py", ".pyx", ".pxi", ".pxd")


def names(text: str) -> Iterator[str]:
    """Yield the names that a module binds: of functions, classes, parameters, values, fields."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case _:
                pass


def docstrings(text: str) -> Iterator[str]:
    """Yield the docstrings of a module, those of private functions and of constants too."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield str(node.value.value)


def comments(text: str) -> Iterator[str]:
    """Yield the comments of a module, lines that follow each other as one."""
    lines: list[str] = []
    last = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        if token.start[0] != last + 1 and lines:
            yield " ".join(lines)
            lines = []
        last = token.start[0]
        lines.append(token.string.lstrip("#: "))
    yield " ".join(lines)


_CYTHON = re.compile(
    r'(?P<docstring>"""(?:.|\n)*?""")|(?P<text>"[^"\n]*"|\'[^\'\n]*\')'
    r"|(?P<comment>\#[^\n]*(?:\n\s*\#[^\n]*)*)|(?P<name>(?!None\b)[A-Za-z_]\w*)"
)


def cython(text: str) -> Iterator[tuple[str, str]]:
    """Yield the docstrings, comments and names of a file in Cython, each with its kind."""
    for match in _CYTHON.finditer(text):
        kind = match.lastgroup or ""
        yield kind, re.sub(r"\n\s*#", "\n", match[0].lstrip("#")) if kind == "comment" else match[0]


def sentences(text: str) -> int:
    """Return how often prose has one of the signs; code in backquotes is left out."""
    prose = re.sub(r"```.*?```|``.*?``|`[^`\n]*`", "``", text, flags=re.DOTALL)
    return len(SENTENCES.findall(" ".join(prose.split())))


def named_tests(text: str) -> list[str]:
    """Return the files and folders that the head of a module names as its tests.

    A name without a folder is in that of the name before it.
    """
    head = ast.get_docstring(ast.parse(text)) or ""
    line = re.search(r"^Tests: (.*)\Z", head, re.MULTILINE | re.DOTALL)
    paths: list[str] = []
    for name in [] if line is None else line[1].rstrip(".").split(","):
        folder = paths[-1].rpartition("/")[0] if paths and "/" not in name else ""
        paths.append(f"{folder}/{name.strip()}".lstrip("/"))
    return paths


def tally(path: Path) -> dict[str, int]:
    """Return how many names and sentences of a file have a word of the lists, by kind."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        kinds = [("name", name) for name in names(text)]
        kinds += [("docstring", docstring) for docstring in docstrings(text)]
        kinds += [("comment", comment) for comment in comments(text)]
    else:
        kinds = list(cython(text))
    counts = {
        "names": len({name for kind, name in kinds if kind == "name" and NAMES.search(name)}),
        "docstrings": sum(sentences(prose) for kind, prose in kinds if kind == "docstring"),
        "comments": sum(sentences(prose) for kind, prose in kinds if kind == "comment"),
    }
    if path.suffix == ".py" and not named_tests(text):
        counts["untested heads"] = 1
    return {kind: count for kind, count in counts.items() if count}


def class_names() -> dict[str, int]:
    """Return the names that classes of several files have without a reason, with how many."""
    files = defaultdict[str, set[Path]](set)
    for path in sources():
        if path.suffix != ".py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                files[node.name].add(path)
    shared = {name: len(paths) for name, paths in sorted(files.items()) if len(paths) > 1}
    stale = SHARED_CLASSES.keys() - shared
    assert not stale, f"one file has each of the classes {stale}"
    return {name: count for name, count in shared.items() if name not in SHARED_CLASSES}


def tallies() -> Tally:
    """Return what is left, by file; class names under ``classes``."""
    counts = {path.relative_to(ROOT).as_posix(): tally(path) for path in sources()}
    left = {name: by_kind for name, by_kind in counts.items() if by_kind}
    return {"classes": class_names()} | left


if __name__ == "__main__":
    rows = (f" {json.dumps(name)}: {json.dumps(kinds)}" for name, kinds in tallies().items())
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
