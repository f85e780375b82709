"""Random schemas of objects and texts that repeat names, held against two validators.

A validator is given values, which have no name twice; so are its own tests. A grammar takes texts.
"""

import json
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from itertools import permutations
from random import Random
from typing import Any

import jsonschema
import jsonschema_rs
import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.convert import from_json_schema
from kbnf_core.text.errors import EngineError, GrammarError
from kbnf_testing.samples import seeds

NAMES = ("a", "b", "ab", "c")
TEXTS = ("0", '"s"', "null", '{"a":0}')
LEAVES: tuple[Any, ...] = (
    {},
    {"type": "integer"},
    {"type": "string"},
    {"type": ["integer", "null"]},
    {"not": {"type": "string"}},
)
_TEXTS_EACH = 120
_BYTES = Vocabulary.bytes()


class Drawing:
    """Schemas, and texts of objects."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def schema(self, depth: int = 2) -> Any:
        """Return what asks for members by number or by kind."""
        schema = {"type": "object", **self._keywords()}
        if depth and self.random.random() < 0.7:
            word = self.random.choice(("not", "oneOf", "anyOf", "allOf", "if"))
            inner = [self.schema(depth - 1) for _ in range(2)]
            schema |= {"not": inner[0]} if word == "not" else {word: inner}
            if word == "if":
                schema |= {"if": inner[0], "then": inner[1]}
        return schema

    def _keywords(self) -> dict[str, Any]:
        draw = self.random
        drawn: dict[str, Any] = {
            "properties": {name: draw.choice(LEAVES) for name in self._names()},
            "required": sorted(self._names()),
            "patternProperties": {draw.choice(("^a", "b$", "^[ab]$")): draw.choice(LEAVES)},
            "additionalProperties": draw.choice((*LEAVES, False)),
            "propertyNames": draw.choice(
                ({"enum": list(self._names())}, {"pattern": "^[abc]{1,2}$"}, {"maxLength": 1})
            ),
            "minProperties": draw.randrange(4),
            "maxProperties": draw.randrange(1, 4),
        }
        return {word: value for word, value in drawn.items() if draw.random() < 0.35}

    def _names(self) -> tuple[str, ...]:
        return tuple(self.random.sample(NAMES, self.random.randrange(1, 4)))

    def members(self) -> list[tuple[str, str]]:
        """Return members, of which several may have one name."""
        few = self.random.sample(NAMES, 2)
        pool = few if self.random.random() < 0.5 else NAMES
        count = self.random.randrange(5)
        return [(self.random.choice(pool), self.random.choice(TEXTS)) for _ in range(count)]


def text_of(members: list[tuple[str, str]]) -> str:
    return "{" + ",".join(f'"{name}":{value}' for name, value in members) + "}"


def has_only_doubles(text: str) -> bool:
    """Return whether doubles, which the validators read, have just the values of all numbers."""
    numbers: list[str] = []
    json.loads(text, parse_float=numbers.append, parse_int=numbers.append)
    return all(map(is_double, numbers))


def is_double(number: str) -> bool:
    try:
        return Decimal(repr(float(number))) == Decimal(number)
    except InvalidOperation:
        return False


def takes(grammar: Grammar | None, text: str) -> bool:
    if grammar is None:
        return False
    engine = Engine(grammar, _BYTES, finish="eos")
    try:
        engine.try_accept_new_bytes(text.encode())
    except EngineError:
        return False
    return engine.can_finish()


def repeats(text: str) -> bool:
    """Return whether an object of a JSON text has a name twice."""
    found = False

    def members(pairs: list[tuple[str, Any]]) -> Any:
        nonlocal found
        found |= len({name for name, _ in pairs}) < len(pairs)
        return dict(pairs)

    json.loads(text, object_pairs_hook=members)
    return found


class Subject:
    """A schema, its grammar, and two validators, which agree."""

    def __init__(self, schema: Any) -> None:
        self.schema = schema
        self._judge = jsonschema.Draft202012Validator(schema)
        self._other = jsonschema_rs.validator_for(schema)
        try:
            conversion = from_json_schema(json.dumps(schema))
        except GrammarError as error:
            if error.diagnostics[0].code != "E803":
                pytest.skip(error.diagnostics[0].message)
            self.grammar, self.is_told = None, True
        else:
            self.grammar = Grammar.from_json_schema(schema)
            self.is_told = all(note.code != "I810" for note in conversion.notes)

    def is_valid(self, text: str) -> bool:
        """Return the verdict on the value of a JSON text."""
        value = json.loads(text)
        verdict = bool(self._judge.is_valid(value))
        assert self._other.is_valid(value) is verdict
        return verdict


def texts_written_from(grammar: Grammar, random: Random) -> Iterator[str]:
    """Yield texts that are written from the beginning."""
    engine = Engine(grammar, _BYTES, finish="eos")
    data = engine.shortest_completion().data
    assert data is not None
    yield data.decode()
    for text in engine.shortest_texts(5).texts:
        yield text.decode()
    for length in (4, 16, 64):
        drawn = engine.sample(random, length)
        assert drawn.is_complete
        tokens = [each for each in drawn.tokens if each not in _BYTES.eos_token_ids]
        yield _BYTES.decode(tokens).decode()


@pytest.mark.parametrize("seed", seeds(600, ordinary=60, ci=120))
def test_texts_that_repeat_names(seed: int) -> None:
    drawing = Drawing(seed)
    subject = Subject(drawing.schema())
    for _ in range(_TEXTS_EACH):
        members = drawing.members()
        text = text_of(members)
        if takes(subject.grammar, text):
            assert subject.is_valid(text) or (repeats(text) and not subject.is_told), text
        elif subject.is_valid(text) and not repeats(text):
            orders = permutations(members)
            assert any(takes(subject.grammar, text_of(list(order))) for order in orders), text


@pytest.mark.parametrize("seed", seeds(600, ordinary=60, ci=120))
def test_what_is_written_is_valid_and_repeats_no_name(seed: int) -> None:
    drawing = Drawing(seed)
    subject = Subject(drawing.schema())
    if subject.grammar is not None:
        for text in texts_written_from(subject.grammar, drawing.random):
            assert not repeats(text), text
            assert subject.is_valid(text) or not has_only_doubles(text), text
