"""Prefixes of codes: the longer one wins, and of equal ones ``ignore`` does."""

import pytest

from kbnf_core.text.diagnostics.catalogue import Selection, normalise_selector


@pytest.mark.parametrize(
    ("select", "ignore", "code", "reported"),
    [
        (("",), (), "E101", True),
        (("",), ("E",), "E101", False),
        (("W",), (), "E101", False),
        (("W",), ("W1",), "W101", False),
        (("W",), ("W1",), "W301", True),
        (("W101",), ("W",), "W101", True),
        (("", "W101"), ("W",), "W101", True),
        (("", "W101"), ("W",), "W102", False),
        (("W101",), ("W101",), "W101", False),
        ((), (), "E101", False),
    ],
)
def test_selection(
    select: tuple[str, ...], ignore: tuple[str, ...], code: str, reported: bool
) -> None:
    assert (code in Selection(select, ignore)) is reported


@pytest.mark.parametrize(
    ("text", "prefix"),
    [
        ("ALL", ""),
        ("all", ""),
        ("W", "W"),
        (" w1 ", "W1"),
        ("e101", "E101"),
        ("undefined-nonterminal", "E101"),
        ("Undefined-Start", "E102"),
    ],
)
def test_normalise(text: str, prefix: str) -> None:
    assert normalise_selector(text) == prefix


@pytest.mark.parametrize("text", ["", "X", "E9999", "undefined", "E101x"])
def test_selectors_that_select_nothing(text: str) -> None:
    with pytest.raises(ValueError, match="no code or name"):
        normalise_selector(text)
