"""Every example of the specification, on the converted grammar."""

import json
from typing import Any

import pytest

from kbnf_testing.data import SPEC
from kbnf_testing.lark_subject import LEXING, accepts_of, converted

FILE = SPEC / "examples-lark.jsonl"
CASES: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
VALID = [case for case in CASES if not case.get("invalid")]
SEED = "numeric grammar references no longer supported"
INVALID = [case for case in CASES if case.get("invalid") and case.get("error") != SEED]
"""LLGuidance's newest refuses references by number; the table says to take them as it once did."""


def lexing_of(case: dict[str, Any]) -> str:
    return LEXING.get(case.get("mode", ""), "llguidance")


@pytest.mark.parametrize("case", VALID, ids=lambda case: str(case["grammar"]))
def test_converted_grammar_agrees(case: dict[str, Any]) -> None:
    conversion = converted(case["grammar"], lexing_of(case))
    if isinstance(conversion, set):
        # No text at all is in the language, and that is what is said.
        assert (conversion, case["accept"]) == ({"E105"}, [])
        return
    accepts = accepts_of(conversion.text)
    assert [text for text in case["accept"] if not accepts(text)] == []
    wrong = [text for text in case["reject"] if accepts(text)]
    assert not wrong or not conversion.exact


@pytest.mark.parametrize("case", VALID, ids=lambda case: str(case["grammar"]))
def test_losses_are_only_where_they_must_be(case: dict[str, Any]) -> None:
    conversion = converted(case["grammar"], lexing_of(case))
    assert isinstance(conversion, set) or conversion.exact or "max_tokens" in case["grammar"]


@pytest.mark.parametrize("case", INVALID, ids=lambda case: str(case["grammar"]))
def test_invalid_grammar_is_refused(case: dict[str, Any]) -> None:
    assert isinstance(converted(case["grammar"], lexing_of(case)), set)
