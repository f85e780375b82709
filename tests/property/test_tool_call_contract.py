"""What holds of calls of tools in every format: schemas, findings, names, and ways to ask.

The lists of tools are drawn from schemas: a few of our own, or with ``KBNF_DATA`` of maskbench's
Glaive and BFCL, which are of calls. With ``-m slow`` there are 200 lists for each format.
"""

import json
from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

import jsonschema
import pytest

from kbnf_core import Engine, Grammar, GrammarError, ParseError, Vocabulary
from kbnf_core.convert import convert
from kbnf_core.examples.sampling import sample_texts
from kbnf_core.languages import KBNF, TOOL_LIST
from kbnf_core.languages.structural_tag.models import REASONING, table
from kbnf_core.lint.check import check
from kbnf_core.text.errors import RejectedError
from kbnf_testing import tool_texts
from kbnf_testing.data import OUTSIDE

BYTES = Vocabulary.bytes()
MOST_BLANKS = 64
FEW, MANY = 2, 200
NAMES = ("get_weather", "noop", "ns.find-it", "a", "aa", "calculate_area", "send", "x2")

SCHEMAS: dict[str, Any] = {
    "get_weather": {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer", "minimum": 1},
            "units": {"enum": ["metric", "imperial"]},
        },
        "required": ["city"],
    },
    "noop": None,
    "ns.find-it": {
        "type": "object",
        "properties": {"tags": {"type": "array", "items": {"type": "boolean"}}},
        "required": ["tags"],
    },
}
LISTED = [{"name": name, "parameters": schema} for name, schema in SCHEMAS.items()]


def is_valid(call: dict[str, Any], tools: list[dict[str, Any]]) -> bool:
    """Return whether a call is one of a tool, with arguments that its schema allows."""
    schema = next(each["parameters"] for each in tools if each["name"] == call["name"])
    if schema is None:
        return bool(call["arguments"] == {})
    jsonschema.validate(call["arguments"], schema)
    return True


def check_calls(grammar: Grammar, text: bytes, tools: list[dict[str, Any]], choice: str) -> None:
    """Check that a text reads as calls of tools that were asked for."""
    value = grammar.read_value(text)
    calls = [each for each in value if isinstance(each, dict) and "name" in each]
    assert all(is_valid(each, tools) for each in calls), text
    if choice != "auto":
        assert calls, text
    if choice not in ("auto", "required"):
        assert {each["name"] for each in calls} == {choice}


def shortest(grammar: Grammar) -> bytes:
    data = Engine(grammar, BYTES, finish="eos").shortest_completion().data
    assert data is not None
    return data


def check_choice(preset: str, choice: str, reasoning: str, *, single: bool) -> None:
    grammar = Grammar.from_tools(
        LISTED, tool_calls=preset, tool_choice=choice, reasoning=reasoning, single_call=single,
        lossy=True,
    )  # fmt: skip
    check_calls(grammar, shortest(grammar), LISTED, choice)


CHOICES = ("auto", "required", *SCHEMAS)


@pytest.mark.parametrize("preset", table())
@pytest.mark.parametrize("choice", CHOICES)
def test_the_shortest_text_is_of_calls_that_were_asked_for(preset: str, choice: str) -> None:
    check_choice(preset, choice, "disabled", single=False)


@pytest.mark.ci
@pytest.mark.parametrize("preset", table())
def test_the_shortest_text_is_of_such_calls_however_they_are_asked_for(preset: str) -> None:
    # Models that do not reason have no template for it.
    ways = [each for each in REASONING if f"auto {each}" in table()[preset]["templates"]]
    for choice, reasoning, single in product(CHOICES, ways, (False, True)):
        check_choice(preset, choice, reasoning, single=single)


# Lists


def schemas() -> list[Any]:
    """Return the schemas of which lists are drawn."""
    if OUTSIDE is None:
        return [each for each in (*SCHEMAS.values(), *tool_texts.SCHEMAS.values()) if each]
    patterns = ("Glaive*.json", "BFCL*.json")
    files = (path for each in patterns for path in (OUTSIDE / "maskbench").glob(each))
    found = [json.loads(path.read_text("utf-8"))["schema"] for path in sorted(files)]
    return [each for each in found if each.get("type") == "object"]


POOL = schemas()


def drawn(number: int) -> Iterator[list[dict[str, Any]]]:
    """Yield so many lists, each of up to four tools."""
    for seed in range(number):
        random = Random(seed)
        names = random.sample(NAMES, random.randint(1, 4))
        yield [
            {"name": each, "parameters": random.choice([None, *random.sample(POOL, 4)])}
            for each in names
        ]


def takes(engine: Engine, data: bytes) -> bool:
    try:
        engine.try_accept_new_bytes(data)
    except RejectedError:
        return False
    engine.rollback()
    return True


def longest_run(engine: Engine, order: bytes) -> int:
    """Return how many blanks are taken here, up to one more than may be."""
    count = 0
    while count <= MOST_BLANKS:
        for byte in order:
            try:
                engine.try_accept_new_bytes(bytes((byte,)))
                break
            except RejectedError:
                pass
        else:
            break
        count += 1
    engine.rollback(count)
    return count


def check_blanks(grammar: Grammar, text: bytes) -> None:
    """Check that nowhere in a text more blanks may come than are bounded, but in strings."""
    engine = Engine(grammar, BYTES, finish="eos")
    for size in range(len(text)):
        for order in (b" \n\t\r", b"\n \t\r", b"\t \n\r"):
            if longest_run(engine, order) > MOST_BLANKS:
                # A string takes blanks as it takes letters.
                assert takes(engine, b"x" * (MOST_BLANKS + 1)), (text[:size], order)
        engine.try_accept_new_bytes(text[size : size + 1])


def check_list(preset: str, tools: list[dict[str, Any]], seed: int) -> bool:
    """Check a list in a format; tell whether the format can write its schemas."""
    options: dict[str, Any] = {"tool_calls": preset, "tool_choice": "required"}
    try:
        grammar = Grammar.from_tools(tools, **options)
    except GrammarError as error:
        codes = {each.code for each in error.diagnostics}
        if not codes & {"E442", "E801", "E803"}:
            raise
        return False
    text = json.dumps(tools)
    written = convert(text, TOOL_LIST, options=options).text
    found = check(text, language=TOOL_LIST, language_options=options)
    ours = {each.code for each in check(written, language=KBNF)}
    assert ours <= {each.code for each in found}, ours
    assert not ours & {"W302", "I303"}
    engine = Engine(grammar, BYTES, finish="eos")
    check_blanks(grammar, shortest(grammar))
    for data in (shortest(grammar), *sample_texts(engine, 2, seed, 60).texts):
        try:
            check_calls(grammar, data, tools, "required")
        except (UnicodeDecodeError, ParseError) as error:
            raise AssertionError((preset, data)) from error
    return True


@pytest.mark.parametrize("preset", table())
def test_lists_keep_to_the_contract(preset: str) -> None:
    kept = [check_list(preset, each, seed) for seed, each in enumerate(drawn(FEW))]
    assert any(kept)


@pytest.mark.slow
@pytest.mark.parametrize("preset", table())
def test_many_lists_keep_to_the_contract(preset: str) -> None:
    kept = [check_list(preset, each, seed) for seed, each in enumerate(drawn(MANY))]
    assert sum(kept) > MANY / 4
