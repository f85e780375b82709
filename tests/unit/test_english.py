"""User-visible text is plain technical English: words that the field does not use stay out.

The rule is at the end of the design's house rules: verbs of the field in place of verbs of being
and standing, *optional*, *after*, *allowed*, *contains*, *manage*. The text of messages, help, the
pages of findings, the manual, README, docs, and public docstrings is searched.
"""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import click
import pytest

from kbnf_cli.app import app
from kbnf_testing.pages import documentation

ROOT = Path(__file__).resolve().parents[2]

INSTEAD = {
    r"stands?(?! for\b)|stood": "is, is allowed",
    r"perhaps": "optional, may",
    r"(?<!look-)behind": "after",
    r"remarks?": "note, info",
    r"look(?:s|ed|ing)? after": "manage",
    r"mend(?:s|ed|ing)?": "fix",
    r"(?:can|cannot|may|might) come": "is allowed, is expected",
    r"(?:is|are|be) (?:met|said|told(?! apart))": "is reported",
    r"for want of": "without",
    r"holds?": "contains, applies, is true",
    r"(?<!\?P<)(?:tells?|told)(?! apart)": "says, shows, distinguishes",
    r"where chance": "random",
}
"""What to look for, and what the field says instead."""

IN_MESSAGES = {
    r"(?<!there )(?:is|are) no(?:ne)?(?! (?:longer|more|other|limit)\b)": "is not a, are not",
    r"for ever": "without end",
    r"anew|likewise": "again, also",
    r"does not take": "does not accept",
}
"""What to look for in messages, helps and pages besides."""

AVOIDED = re.compile(rf"\b(?:{'|'.join(INSTEAD)})\b", re.IGNORECASE)
AVOIDED_IN_MESSAGES = re.compile(rf"\b(?:{'|'.join([*INSTEAD, *IN_MESSAGES])})\b", re.IGNORECASE)

PROSE = (
    "docs/how-it-works/*.md",
    "docs/page/**/*.md",
)
"""Pages that explain an idea at length, which are not searched."""


def strings(path: Path) -> Iterator[str]:
    """Yield the strings of a module that are no docstrings and have several words."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
            continue
        if id(node) not in bare and " " in node.value:
            yield node.value


def docstrings(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the public docstrings of a module, those of constants too, with their names."""
    pending: list[tuple[str, ast.AST]] = [(path.stem, ast.parse(path.read_text(encoding="utf-8")))]
    while pending:
        name, node = pending.pop()
        assert isinstance(node, _WITH_DOCSTRINGS)
        yield name, ast.get_docstring(node) or ""
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for each, following in pairwise((*node.body, ast.Pass())):
            if isinstance(each, _WITH_DOCSTRINGS) and not re.match("_[^_]", each.name):
                pending.append((each.name, each))
            if isinstance(each, ast.Assign | ast.AnnAssign) and isinstance(following, ast.Expr):
                target = each.targets[0] if isinstance(each, ast.Assign) else each.target
                constant = target.id if isinstance(target, ast.Name) else "_"
                held = following.value
                if isinstance(held, ast.Constant) and not constant.startswith("_"):
                    yield constant, str(held.value)


_WITH_DOCSTRINGS = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def helps(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield the help of a command, its options and its subcommands."""
    yield command.help or ""
    for parameter in command.params:
        yield getattr(parameter, "help", None) or ""
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            sub = command.get_command(context, name)
            assert sub is not None
            yield from helps(sub, click.Context(sub, info_name=name, parent=context))


def found_in(text: str, avoided: re.Pattern[str] = AVOIDED_IN_MESSAGES) -> list[str]:
    """Return what is to be avoided in a text, with the words around it; code is left out."""
    prose = re.sub(r"```.*?```|``.*?``|`[^`\n]*`", "`...`", text, flags=re.DOTALL)
    prose = " ".join(prose.split())
    return [
        prose[max(0, match.start() - 40) : match.end() + 40].strip()
        for match in avoided.finditer(prose)
    ]


MODULES = sorted([*(ROOT / "core").rglob("*.py"), *(ROOT / "kbnf_cli").rglob("*.py")])
PAGES = sorted(
    {
        *(ROOT / "core" / "kbnf_core").rglob("*.md"),
        *documentation(),
        *(ROOT / "man").glob("*.[57]"),
        *(ROOT / "man" / "parts").glob("*.roff"),
        ROOT / "README.md",
        ROOT / "grammars" / "README.md",
        *(ROOT / "editors").glob("*/README.md"),
        ROOT / "editors" / "vscode" / "extension.js",
        ROOT / "editors" / "vscode" / "package.json",
        *(ROOT / "kbnf_cli").rglob("*.html"),
        *(ROOT / "kbnf_cli").rglob("*.js"),
        *(ROOT / "kbnf_cli").rglob("*.json"),
        *(ROOT / "kbnf_cli").rglob("*.roff"),
        ROOT / "action.yml",
        ROOT / ".pre-commit-hooks.yaml",
    }
    - {page for pattern in PROSE for page in ROOT.glob(pattern)}
)


def test_messages() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {words}"
        for path in MODULES
        for text in strings(path)
        for words in found_in(text)
    }
    assert not found


def test_docstrings() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {name}: {words}"
        for path in MODULES
        for name, text in docstrings(path)
        for words in found_in(text, AVOIDED)
    }
    assert not found


def test_help() -> None:
    assert [words for text in helps(app, click.Context(app)) for words in found_in(text)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".js":
        text = re.sub(r"/\*.*?\*/|^\s*//[^\n]*", "", text, flags=re.DOTALL | re.MULTILINE)
    assert found_in(text) == []


def test_a_word_is_found() -> None:
    assert found_in("Where chance begins, `behind` stands for it") == [
        "Where chance begins, `...` stands for it"
    ]
    assert found_in("what stands here") == ["what stands here"]
    assert found_in("this is no list, and there is no other") == [
        "this is no list, and there is no other"
    ]
    assert found_in("there is no list") == []
    assert found_in("this is no list", AVOIDED) == []
