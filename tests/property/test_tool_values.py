"""Calls of tools read back from texts, in whatever pieces these come."""

import copy
import json
from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.examples.sampling import sample_texts
from kbnf_core.parse.messages import MessageReader
from kbnf_testing import tool_texts
from kbnf_testing.call_models import PRESETS

if TYPE_CHECKING:
    from kbnf_core.parse.calls import Delta

FEW, MANY = 2, 200


def grammar_of(preset: str, reasoning: str = "auto") -> Grammar:
    # Texts are written with blanks and escapes that models seldom write.
    spelt: dict[str, Any] = {"whitespace": "flexible", "escapes": "any", "lossy": True}
    return Grammar.from_tools(tool_texts.TOOLS, tool_calls=preset, reasoning=reasoning, **spelt)


def texts_of(preset: str, number: int) -> Iterator[tuple[str, list[Any], Random]]:
    for seed in range(number):
        random = Random(f"{preset} {seed}")
        parts = tool_texts.random_parts(random, preset)
        thoughts = tool_texts.random_text(random, preset) if random.random() < 0.5 else None
        text = tool_texts.write(preset, parts, thoughts, random)
        yield text, tool_texts.expected(preset, parts, thoughts), random


def is_begun(whole: Any, part: Any) -> bool:
    """Return whether what is certain of a value is in the value."""
    if isinstance(part, dict):
        return list(part) == list(whole)[: len(part)] and all(
            is_begun(whole[name], value) for name, value in part.items()
        )
    if isinstance(part, list):
        return len(part) <= len(whole) and all(map(is_begun, whole, part))
    if part is None:
        return True
    return bool(whole.startswith(part) if isinstance(part, str) else whole == part)


def pieces(data: bytes, random: Random, most: int) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        size = random.randint(1, most)
        yield data[at : at + size]
        at += size


def check(grammar: Grammar, text: str, value: list[Any], random: Random) -> None:
    data = text.encode()
    whole = grammar.value_reader()
    whole.feed(text)
    whole.finish()
    assert isinstance(whole, MessageReader)
    if whole.cut is not None:
        # Free text may end in what begins a call: it is a call that was cut.
        begun = text[whole.cut :]
        assert value[-1].endswith(begun)
        value = [*value[:-1], *filter(None, [value[-1].removesuffix(begun)])]
    assert grammar.read_value(text) == value, text
    # Byte by byte, what was certain stays, and it is what any chunking has at that place.
    reader = grammar.value_reader()
    at = [copy.deepcopy(reader.value)]
    for number in range(len(data)):
        reader.feed(data[number : number + 1])
        at.append(copy.deepcopy(reader.value))
        assert is_begun(at[-1], at[-2]), (text, number)
    assert is_begun(value, at[-1])
    reader.finish()
    assert reader.value == value
    for most in (2, 7, 30):
        reader, size = grammar.value_reader(), 0
        assert isinstance(reader, MessageReader)
        said: list[Delta] = []
        for piece in pieces(data, random, most):
            reader.feed(piece)
            said += reader.deltas()
            size += len(piece)
            assert reader.value == at[size], (text, size)
        reader.finish()
        assert put_together([*said, *reader.deltas()]) == value


def put_together(deltas: list[Any]) -> list[Any]:
    """Return the value that the parts of deltas make."""
    found: list[Any] = []
    kinds: list[Any] = []
    for delta in deltas:
        if delta.kind == "name":
            found.append({"name": delta.text, "arguments": ""})
            kinds.append(delta.call)
        elif delta.kind == "arguments":
            found[-1]["arguments"] += delta.text
            assert kinds[-1] == delta.call
        elif kinds and kinds[-1] == delta.kind:
            found[-1] += delta.text
        else:
            found.append(delta.text)
            kinds.append(delta.kind)
    for index, part in enumerate(found):
        if isinstance(part, dict):
            part["arguments"] = json.loads(part["arguments"])
        elif kinds[index] == "reasoning":
            found[index] = {"reasoning": part}
    return found


@pytest.mark.parametrize("preset", tool_texts.NAMES)
def test_what_was_written_is_read_back_in_any_pieces(preset: str) -> None:
    grammar = grammar_of(preset)
    for text, value, random in texts_of(preset, FEW):
        check(grammar, text, value, random)


@pytest.mark.slow
@pytest.mark.parametrize("preset", tool_texts.NAMES)
def test_many_texts_are_read_back_in_any_pieces(preset: str) -> None:
    grammar = grammar_of(preset)
    for text, value, random in texts_of(preset, MANY):
        check(grammar, text, value, random)


@pytest.mark.parametrize("preset", PRESETS)
def test_values_are_those_of_a_direct_reading(preset: str) -> None:
    for text, value, _ in texts_of(preset, MANY):
        assert tool_texts.read_directly(preset, text) == value


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS)
def test_samples_are_read_as_they_are_directly(preset: str) -> None:
    grammar = grammar_of(preset)
    engine = Engine(grammar, Vocabulary.bytes())
    for data in sample_texts(engine, 4, 1, 80).texts:
        # Free text may be any bytes, which values keep.
        text = data.decode("utf-8", "surrogateescape")
        assert grammar.read_value(data) == tool_texts.read_directly(preset, text), text


def test_an_engine_has_the_same_values_after_rollback_and_in_copies() -> None:
    grammar = grammar_of("qwen_3_coder")
    for text, value, random in texts_of("qwen_3_coder", FEW):
        engine = Engine(grammar, Vocabulary.bytes(), finish="eos")
        reader = grammar.value_reader()
        for piece in pieces(text.encode(), random, 9):
            engine.try_accept_new_bytes(piece)
            if random.random() < 0.3:
                engine.values()
                engine.rollback()
                engine.try_accept_new_bytes(piece)
            reader.feed(piece)
            assert copy.copy(engine).values() == engine.values() == reader.value
        assert is_begun(value, engine.values())
