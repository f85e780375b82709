"""``kbnf rule``."""

import pytest

from kbnf_core.text.diagnostics import CATALOGUE
from kbnf_core.text.diagnostics.catalogue import read_page
from kbnf_testing.command import Kbnf


@pytest.mark.parametrize("code", ["E101", "e101", "undefined-nonterminal"])
def test_page_is_plain_when_piped(kbnf: Kbnf, code: str) -> None:
    result = kbnf("rule", code)
    assert (result.status, result.out) == (0, read_page(CATALOGUE["E101"]))


def test_page_is_laid_out_in_colour(kbnf: Kbnf) -> None:
    out = kbnf("rule", "E101", "--color", "always").out
    assert "\x1b[" in out
    assert "```" not in out


def test_list(kbnf: Kbnf) -> None:
    lines = kbnf("rule").out.splitlines()
    assert [line.split()[0] for line in lines] == sorted(
        CATALOGUE, key=lambda code: (code[1], "EWI".index(code[0]), code)
    )


def test_unknown_code(kbnf: Kbnf) -> None:
    result = kbnf("rule", "E1001")
    assert (result.status, result.out) == (2, "")
    assert result.stderr.startswith("error: there is no rule 'E1001'; did you mean ")
