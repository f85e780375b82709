"""The collector of garbage is held back while a grammar is made, and is as it was afterwards."""

import gc
from collections.abc import Iterator
from typing import Any

import pytest

from kbnf_core import Grammar
from kbnf_core.text.collecting import without_collecting
from kbnf_core.text.errors import GrammarError


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """Leave the collector on."""
    gc.enable()
    yield
    gc.enable()


def test_the_collector_is_on_again_after_an_error() -> None:
    states: list[bool] = []

    @without_collecting()
    def fail() -> None:
        states.append(gc.isenabled())
        raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert (states, gc.isenabled()) == ([False], True)


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    with without_collecting(), without_collecting():
        pass
    assert not gc.isenabled()


def test_nothing_is_collected_while_a_schema_becomes_tables() -> None:
    seen: list[str] = []

    def note(phase: str, _: dict[str, Any]) -> None:
        seen.append(phase)

    # Modules are imported at the first.
    assert Grammar.from_json_schema({"properties": {"a": {"enum": [1]}}}).tables.state_count
    names = {f"name{i}": {"enum": [i, str(i)]} for i in range(300)}
    gc.collect()
    gc.callbacks.append(note)
    try:
        grammar = Grammar.from_json_schema({"properties": names})
        assert grammar.tables.state_count
    finally:
        gc.callbacks.remove(note)
    # The new objects are looked at afterwards: when the grammar is there, and its tables.
    assert seen.count("start") <= 6


def test_it_is_on_again_where_a_schema_is_refused() -> None:
    with pytest.raises(GrammarError):
        Grammar.from_json_schema({"type": "strin"})
    assert gc.isenabled()
