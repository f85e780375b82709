"""What is certain of a text is the same at a place, in whatever pieces the text has come there."""

import copy
from random import Random
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.examples.sampling import sample_texts

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "array", "items": {"type": ["string", "number"]}}, "b": {}},
    "required": ["a"],
}
GRAMMARS = {
    "list": Grammar(
        '(* kbnf: finish=eos *) start ::= "[" (item ("," item)*)? "]"; item ::= name | start;'
        'name ::= #"[a-zé]+";'
    ),
    "ambiguous": Grammar(
        '(* kbnf: finish=eos *) start ::= (one | two)+ ";"; one ::= "a"+ end?; two ::= "a" end;'
        'end ::= ws "b"; ws ::= #" *";'
    ),
    "left": Grammar('(* kbnf: finish=eos *) start ::= e ";"; e ::= e "+" t | t; t ::= #"[0-9]+";'),
    "schema": Grammar.from_json_schema(SCHEMA),
}
RULES = {"list": "name", "ambiguous": "end", "left": "t", "schema": "start"}


def state(engine: Engine, name: str) -> tuple[Any, Any]:
    value = copy.deepcopy(engine.values()) if name == "schema" else None
    return engine.captures(RULES[name]), value


@pytest.mark.parametrize("name", GRAMMARS)
def test_events_captures_and_values_are_those_of_the_place(name: str) -> None:
    grammar = GRAMMARS[name]
    vocabulary = Vocabulary.bytes()
    drawn = sample_texts(Engine(grammar, vocabulary), 8, 3, 40)
    for number, data in enumerate(drawn.texts):
        random = Random(number)
        alone = Engine(grammar, vocabulary)
        said = [alone.events()]
        states = [state(alone, name)]
        for at in range(len(data)):
            alone.try_accept_new_bytes(data[at : at + 1])
            said.append([*said[-1], *alone.events()])
            states.append(state(alone, name))
        whole = list(grammar.parse(data).events())
        assert said[-1] == whole[: len(said[-1])]
        for most in (3, 11, 40):
            engine, at, found = Engine(grammar, vocabulary), 0, []
            while at < len(data):
                piece = data[at : at + random.randint(1, most)]
                at += len(piece)
                if random.random() < 0.3:
                    # What is undone leaves nothing behind.
                    twin = copy.copy(engine)
                    twin.try_accept_new_bytes(piece)
                    twin.events()
                    engine.try_accept_new_bytes(piece)
                    engine.captures(RULES[name])
                    engine.rollback()
                engine.try_accept_new_bytes(piece)
                found += engine.events()
                assert found == said[at], (data, at)
                assert state(engine, name) == states[at]
            assert found == said[len(data)]
