"""The lexer of Pygments colours every grammar at hand, and sees the rules that our reader sees."""

import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from pygments.token import Error, Name, is_token_subtype

from kbnf_core.integrations.pygments import KbnfLexer
from kbnf_core.kbnf.parsed import Request
from kbnf_core.languages import KBNF
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.source import Source

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("grammars", "tests/data/kbnf", "tests/data/json-schemas")
FILES = [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.kbnf"))]


def test_grammars_are_coloured_as_they_are_read() -> None:
    assert len(FILES) > 30
    for file in FILES:
        text = file.read_text(encoding="utf-8")
        words = list(KbnfLexer().get_tokens(text))
        assert "".join(word for _, word in words).strip("\n") == text.strip("\n"), file
        assert [word for kind, word in words if is_token_subtype(kind, Error)] == [], file
        document = KBNF.read(Source(text), Request(None, None, DEFAULT_LIMITS)).document
        defined = [each.name.value for each in document.definitions]
        assert [word for kind, word in words if is_token_subtype(kind, Name.Function)] == defined, (
            file
        )


def test_the_wheel_has_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["entry-points"]["pygments.lexers"]["kbnf"].partition(":")
    assert getattr(import_module(module), name) is KbnfLexer
    assert import_module(module).__all__ == [name]


@pytest.mark.parametrize("text", ['start ::= #"[', "\\x00 'a", "(* open"])
def test_what_is_no_grammar_is_coloured_too(text: str) -> None:
    assert "".join(word for _, word in KbnfLexer().get_tokens(text)).strip() == text.strip()
