"""Random grammars of repetitions with bounds, and vocabularies with tokens of several of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

from kbnf_core import Grammar, Vocabulary
from kbnf_core.lower import counts
from kbnf_core.text.errors import EmptyGrammarError

_UNITS = (
    "#'[ab]'",
    "#'[abé漢]'",
    "'a'",
    "('b' | 'ca')",
    "(#'[ab]' 'd')",
    "('c' #'[ab]'{1,3})",
    "(',' w #'[ab]')",
    "(w 'c')",
    "(',' item)",
    "(',' list)",
    "('a' | 'aa')",
    "('a'?)",
    # Going on and beginning anew have their first byte in common.
    "#'ca(cb)*'",
    "#'[aé]+[bè]'",
)
_BEHIND = ("'z'", "w 'z'", "'a'", "'ab'", "#'[bz]'", "''", "#'z?'", "list")
# Counted byte by byte.
_EXCLUDED = ("'ab'", "'z'", "'aa'", "'xb'", "few")
_BETWEEN = ("'x'", "w", "''")
_PIECES = ("a", "b", "é", "è", "漢", "c", "d", ",", " ", "z", "[", "]", "x")


def counted_grammar(random: Random, most: int) -> str:
    """Return a grammar of KBNF with repetitions of at most ``most``."""

    def times() -> str:
        low = random.choice((0, 0, 1, random.randrange(most)))
        high = random.choice((str(max(low, 1) + random.randrange(most)), ""))
        return f"{{{low},{high}}}"

    def part() -> str:
        if random.random() < 0.2:
            excluded, bound = random.choice(_EXCLUDED), random.randint(2, most + 1)
            return f"except!({excluded},{bound}) {random.choice(_BEHIND)}"
        whole = f"{random.choice(_UNITS)}{times()}"
        if random.random() < 0.2:
            whole = f"({whole} {random.choice(_BETWEEN)}){times()}"
        return f"{whole} {random.choice(_BEHIND)}"

    def body() -> str:
        return " | ".join(part() for _ in range(random.choice((1, 1, 2))))

    start = random.choice(("'x' ({})", "{}", "({}) ({})", "'[' ({}) ']'"))
    count = start.count("{}")
    return "\n".join(
        (
            f"start ::= {start.format(*(body() for _ in range(count)))};",
            "w ::= #' ?';",
            "few ::= 'bz' | 'c' | 'aba';",
            f"item ::= 'a' | 'b' ({body()}) ']';",
            f"list ::= '[' (item (',' w item){times()})? ']';",
        )
    )


def counted_schema(random: Random, most: int) -> Grammar:
    """Return the grammar of an object with strings and arrays of at most ``most``."""

    def bounds(low: str, high: str) -> dict[str, Any]:
        least = random.choice((0, 0, 1, random.randrange(most)))
        return {low: least, high: max(least, 1) + random.randrange(most)}

    def text() -> dict[str, Any]:
        return {"type": "string", "pattern": "^[ab]*$", **bounds("minLength", "maxLength")}

    def value() -> dict[str, Any]:
        if random.random() < 0.6:
            return text()
        return {"type": "array", "items": text(), **bounds("minItems", "maxItems")}

    names = random.sample("abc", random.choice((1, 2)))
    return Grammar.from_json_schema(
        {
            "type": "object",
            "properties": {name: value() for name in names},
            "required": names,
            "additionalProperties": False,
        },
        whitespace="compact",
    )


@contextmanager
def counting_from(least: int) -> Iterator[None]:
    """Count repetitions from a bound on, in tables that are built within the context."""
    before, counts.LEAST = counts.LEAST, least
    try:
        yield
    finally:
        counts.LEAST = before


def counted_pair(random: Random, most: int) -> tuple[Grammar, Grammar]:
    """Return a random grammar that counts from 2 on, and the same with every count a state."""
    while True:
        is_schema, state = random.random() < 0.3, random.getstate()
        found = []
        try:
            for least in (2, counts.MOST):
                random.setstate(state)
                with counting_from(least):
                    if is_schema:
                        found.append(counted_schema(random, most))
                    else:
                        found.append(Grammar(counted_grammar(random, most)))
                    found[-1].tables  # noqa: B018 - built here
        except EmptyGrammarError:
            continue
        if len(found[0].tables.loops.low):
            return found[0], found[1]


def object_vocabulary(random: Random, longest: int) -> Vocabulary:
    """Return the bytes of the objects of ``counted_schema``, and longer tokens."""
    pieces = ("a", "b", "c", '"', ":", ",", "[", "]", "{", "}", '","', '":"', "aa", "ab")
    tokens = {piece.encode() for piece in pieces}
    for _ in range(30):
        few = random.sample(pieces, random.choice((1, 2, 4)))
        token = "".join(random.choice(few) for _ in range(random.randrange(2, longest + 1)))
        tokens.add(token.encode()[:longest])
    return Vocabulary(dict(enumerate(sorted(tokens))), eos_token_id=len(tokens))


def counting_vocabulary(random: Random, longest: int) -> Vocabulary:
    """Return all single pieces, and longer tokens, some of them the same piece again and again."""
    tokens = {piece.encode() for piece in _PIECES} | {bytes((byte,)) for byte in "é漢".encode()}
    for _ in range(40):
        few = random.sample(_PIECES, random.choice((1, 2, 4)))
        token = "".join(random.choice(few) for _ in range(random.randrange(2, longest + 1)))
        tokens.add(token.encode()[:longest])
    return Vocabulary(dict(enumerate(sorted(tokens))), eos_token_id=len(tokens))
