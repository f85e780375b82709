"""The summary line and other words."""

import pytest

from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.diagnostics.segments import Role
from kbnf_core.text.diagnostics.text import count_of, render_text, summarise
from kbnf_core.text.source import Source, Span


def _found(code: str) -> Diagnostic:
    return Diagnostic(code, "m", Source("x"), Span(0, 1))


@pytest.mark.parametrize(
    ("codes", "files", "sentence"),
    [
        ((), 1, "no problems in 1 file"),
        ((), 1200, "no problems in 1,200 files"),
        (("E001",), 1, "1 error in 1 file"),
        (("W101", "E001", "E002"), 3, "2 errors, 1 warning in 3 files"),
        (("W101", "W101"), 2, "2 warnings in 2 files"),
    ],
)
def test_summarise(codes: tuple[str, ...], files: int, sentence: str) -> None:
    assert summarise(map(_found, codes), files) == sentence


def test_count_of_none_is_plural() -> None:
    assert count_of(0, "token") == "0 tokens"


@pytest.mark.parametrize(("code", "role"), [("E001", Role.ERROR), ("W101", Role.WARNING)])
def test_carets_have_the_colour_of_the_severity(code: str, role: Role) -> None:
    carets = [segment for segment in render_text(_found(code)) if "^" in segment.text]
    assert [segment.role for segment in carets] == [role]
