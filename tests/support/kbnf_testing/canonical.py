"""The judge of canonical masks: texts written at random under them, and encoded again.

A token is drawn among those that a mask allows, mostly one with a low id, which is a common one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from kbnf_core import Engine, Grammar, Vocabulary

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "n": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name", "n", "tags"],
}


@dataclass(slots=True)
class Counts:
    """Texts, those in which canonicity gave way, and others that are encoded in another way."""

    texts: int = 0
    gave_way: int = 0
    different: list[tuple[list[int], list[int]]] = field(default_factory=list)


def grammars() -> list[Grammar]:
    """Return grammars of free text, of visible characters, of a schema, and of JSON."""
    return [
        Grammar(r'start ::= #"[^\\x00]*";', finish="eos"),
        Grammar(r'start ::= #"[ -~\\n]*";', finish="eos"),
        Grammar.from_json_schema(SCHEMA, whitespace="flexible"),
        Grammar.from_json_schema(True),
    ]


def write(engine: Engine, random: Random, length: int, common: float = 0.7) -> list[int]:
    """Return the tokens of a text of an engine, at most ``length``.

    ``common``: the share of tokens that are drawn among common ones.
    """
    engine.reset()
    tokens: list[int] = []
    while len(tokens) < length and not engine.is_finished():
        engine.compute_allowed_token_ids()
        allowed = engine.get_allowed_token_ids_from_last_computation()
        power = 6 if random.random() < common else 1
        place = int(len(allowed) * random.random() ** power)
        if allowed[place] in engine.vocabulary.special_ids:
            break
        tokens.append(allowed[place])
        engine.try_accept_new_token(tokens[-1])
    return tokens


def judge(
    vocabulary: Vocabulary,
    encode: Callable[[str], Sequence[int]],
    count: int,
    seed: int = 0,
    length: int = 30,
) -> Counts:
    """Return what became of ``count`` texts over a vocabulary."""
    random, found = Random(seed), Counts()
    engines = [Engine(each, vocabulary, canonical=True) for each in grammars()]
    while found.texts < count:
        engine = engines[found.texts % len(engines)]
        tokens = write(engine, random, length)
        try:
            text = vocabulary.decode(tokens).decode()
        except UnicodeDecodeError:
            # It ends within a character.
            continue
        found.texts += 1
        if engine.canonical_breaks:
            found.gave_way += 1
        elif list(encode(text)) != tokens:
            found.different.append((tokens, list(encode(text))))
    return found
