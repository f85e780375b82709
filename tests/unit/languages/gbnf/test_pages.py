"""The examples in the pages of codes that only conversions report."""

import re

import pytest

from kbnf_core.convert import Conversion, from_bnf, from_gbnf, to_gbnf
from kbnf_core.text.diagnostics import CATALOGUE
from kbnf_core.text.diagnostics.catalogue import read_page

CONVERT = {"kbnf": to_gbnf, "gbnf": from_gbnf, "bnf": from_bnf}


@pytest.mark.parametrize("code", ["W401", "W402", "W403", "W404", "W405"])
def test_page_examples(code: str) -> None:
    page = read_page(CATALOGUE[code])
    wrong, right = (
        convert(language, text)
        for language, text in re.findall(r"^```(\w+)\n(.*?)\n```$", page, re.M | re.S)
    )
    assert code in {loss.code for loss in wrong.losses}
    assert code not in {loss.code for loss in right.losses}


def convert(language: str, text: str) -> Conversion:
    return CONVERT[language](text)
