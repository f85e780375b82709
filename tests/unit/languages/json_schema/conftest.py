"""Judges JSON texts by the grammar of a schema."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.convert import from_json_schema
from kbnf_core.languages.json_schema import VALIDATOR, Options
from kbnf_core.text.errors import EngineError

Judge = Callable[[str], bool]


@pytest.fixture
def judge() -> Callable[..., Judge]:
    """Return a function from a schema to a function that tells which texts are allowed.

    Without options they are those that a validator accepts.
    """

    def prepare(schema: Any, options: Options | None = None) -> Judge:
        text = schema if isinstance(schema, str) else json.dumps(schema)
        grammar = Grammar(from_json_schema(text, options or VALIDATOR).text)
        vocabulary = Vocabulary.bytes()

        def allows(data: str) -> bool:
            engine = Engine(grammar, vocabulary)
            try:
                engine.try_accept_new_bytes(data.encode())
            except EngineError:
                return False
            return engine.is_finished() or engine.can_finish()

        return allows

    return prepare
