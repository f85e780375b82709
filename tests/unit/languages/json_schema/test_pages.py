"""The examples of the pages about schemas, converted."""

import re

import pytest

from kbnf_core.convert import from_json_schema
from kbnf_core.languages.json_schema import Options, Service
from kbnf_core.text.diagnostics import CATALOGUE
from kbnf_core.text.diagnostics.catalogue import read_page
from kbnf_core.text.errors import GrammarError

CODES = ["E801", "E802", "E803", "E804", "E805", "W806", "W807", "W808", "E809", "I810"]
CODES += ["W821", "W822", "I823", "W827", "W829", "W831"]
ASKED_FOR = {"E809": Options(strict=Service.OPENAI)}


def codes(schema: str, options: Options | None) -> list[str]:
    try:
        conversion = from_json_schema(schema, options)
    except GrammarError as error:
        return sorted({finding.code for finding in error.diagnostics})
    return [finding.code for finding in conversion.notes]


@pytest.mark.parametrize("code", CODES)
def test_page_examples(code: str) -> None:
    wrong, right = re.findall(r"^```json\n(.*?)\n```$", read_page(CATALOGUE[code]), re.M | re.S)
    assert codes(wrong, ASKED_FOR.get(code)) == [code]
    assert codes(right, ASKED_FOR.get(code)) == []
