"""Patterns that count characters: what may come, and how many, are together the same strings."""

import json
import re
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.automata import lengths, operations
from kbnf_core.automata.expression import Builder, Expression
from kbnf_core.automata.json_strings import LETTERS, Spelling, quoted
from kbnf_core.automata.lengths import Length, without_count
from kbnf_core.automata.regex import compile as compile_module
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.automata.regex.ecma import conditions
from kbnf_core.ir import Node
from kbnf_core.ir.build import sequence, text
from kbnf_core.languages.json_schema import scalars
from kbnf_core.languages.json_schema.rules import regex
from kbnf_core.languages.json_schema.scalars import write_large_counts
from kbnf_core.languages.json_schema.value_sets import Kind, Matching, Restricted, counted_together
from kbnf_core.lower.regular import automaton_of
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import RejectedError
from kbnf_testing.schemas import json_schema_grammar

SPELLING = Spelling(LETTERS, False)
BYTES = Vocabulary({value: bytes([value]) for value in range(256)})
COUNTS = ["", "", "", "*", "?", "{2}", "{0,3}", "{5,6}", "{3,6}", "{6,}", "{10}"]
ITEMS = ["a", ".", "[a-c]", "[^a]", "(?:a|b)", "(?:ab|c)", "[\\s\\S]", "é", "(?:a|bc)"]


def random_pattern(random: Random) -> str:
    parts = [random.choice(ITEMS) + random.choice(COUNTS) for _ in range(random.randint(1, 4))]
    return random.choice(["^", ""]) + "".join(parts) + random.choice(["$", ""])


@pytest.mark.parametrize("seed", range(80))
def test_both_parts_are_the_pattern(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lengths, "LARGE", 4)
    monkeypatch.setattr(lengths, "_COUNT", re.compile("{"))
    ((whole, _),) = conditions(random_pattern(Random(seed)))
    rest, length = without_count(whole)
    found = Matching(rest).dfa()
    if length is not None:
        found = operations.intersect(found, length.dfa())
    wanted = compile_regex(whole).dfa
    assert wanted is not None
    assert operations.is_equal(found, wanted), (whole, rest, length)


def test_many_are_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lengths, "LARGE", 4)
    monkeypatch.setattr(lengths, "_COUNT", re.compile("{"))
    drawn = [conditions(random_pattern(Random(seed)))[0][0] for seed in range(80)]
    assert sum(without_count(whole)[1] is not None for whole in drawn) > 4


@pytest.mark.parametrize(
    "pattern",
    [
        "^.{0,32767}$",
        "^[\\s\\S]{1,60000}$",
        "^a[a-z]{0,5000}$",
        "^(.|\\n){3,20000}$",
        "^(?!x).{0,9000}$",
        ".{1,60000}",
    ],
)
def test_a_count_is_no_states(pattern: str) -> None:
    grammar = json_schema_grammar(json.dumps({"pattern": pattern, "type": "string"}))
    assert grammar.tables.state_count < 6_000


def test_bounds_hold_to_the_character() -> None:
    pattern = "^x[a-zé]{99,120}-$"
    grammar = json_schema_grammar(json.dumps({"type": "string", "pattern": pattern}))
    for count in (0, 98, 99, 100, 119, 120, 121):
        for letter in "aé":
            value = f"x{letter * count}-"
            engine = Engine(grammar, BYTES)
            text = json.dumps(value, ensure_ascii=False).encode()
            fits = engine.accept_tokens(text) == len(text) and engine.can_finish()
            assert fits == bool(re.match(pattern, value))


GROUPS = ["(?:a+b)", "(?:[ac]é?)", "(?:b|ab*)", "(?:[^a]\n)", '(?:"*[ab])', "(?:a?)", "x"]
TIMES = ["", "+", "{2}", "{0,4}", "{3,7}", "{5}", "{4,}"]


def random_groups(random: Random) -> str:
    ways = [
        "".join(random.choice(GROUPS) + random.choice(TIMES) for _ in range(random.randint(1, 3)))
        for _ in range(random.choice([1, 1, 2]))
    ]
    return "(?:" + "|".join(ways) + ")" + random.choice(["", "", "y", "?"])


def as_regex(items: Sequence[Expression]) -> Node:
    return regex(scalars.print_items(items, SPELLING.spell), Budget(10**9))


def written_once(pattern: str, monkeypatch: pytest.MonkeyPatch) -> Node | None:
    monkeypatch.setattr(scalars, "LONG_BODY", 2)
    monkeypatch.setattr(scalars, "MANY", 4)
    whole = Builder().read(pattern)
    assert whole is not None
    return write_large_counts(whole, Length(0, None), as_regex)


@pytest.mark.parametrize("seed", range(60))
def test_groups_that_are_written_once_match_the_same(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pattern = random_groups(Random(seed))
    form = written_once(pattern, monkeypatch)
    if form is None:
        return
    node = sequence(text('"'), form, text('"'))
    known: dict[str, Any] = {}
    found = automaton_of(node, known.__getitem__, 10**5)
    assert operations.is_equal(found, quoted(Matching(pattern).dfa(), SPELLING)), pattern


def test_many_groups_are_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = [written_once(random_groups(Random(seed)), monkeypatch) for seed in range(60)]
    assert sum(form is not None for form in drawn) > 20


def test_bounds_may_have_any_number_of_zeros() -> None:
    schema = {"type": "string", "pattern": "^(?:ab{" + "0" * 5_000 + "2}){2,3}$"}
    engine = Engine(json_schema_grammar(json.dumps(schema)), BYTES)
    engine.try_accept_new_bytes(b'"abbabb"')
    assert engine.is_finished()


def test_counted_words_are_no_states() -> None:
    schema = {"type": "string", "pattern": "^(?:\\S+\\s+){0,99}\\S+$", "minLength": 1}
    grammar = json_schema_grammar(json.dumps(schema))
    assert grammar.tables.state_count < 5_000
    random = Random(1)
    for count in (1, 2, 98, 99, 100, 101):
        # Words and blanks that begin with the same bytes, as characters and as escapes.
        words = random.choices(["a", "é", "\u2010x", '"', "\\"], k=count)
        blanks = random.choices([" ", "\n", "\u2002", "\u00a0 "], k=count)
        value = "".join(map("".join, zip(words, blanks, strict=True))).rstrip()
        written = json.dumps(value, ensure_ascii=False).encode()
        engine = Engine(grammar, BYTES)
        if count <= 100:
            engine.try_accept_new_bytes(written)
            assert engine.is_finished() or engine.can_finish(), value
        else:
            with pytest.raises(RejectedError):
                engine.try_accept_new_bytes(written)


def test_alternatives_with_one_length_are_counted_together() -> None:
    length = Length(2, 4)
    parts = [
        Restricted(Kind.STRING, ((Matching(f"(?s:.)*{char}(?s:.)*"), True), (length, True)))
        for char in "abcdefgh"
    ]
    other = Restricted(Kind.STRING, ((Matching("z+"), True), (Length(0, 9), True)))
    one, *rest = counted_together([*parts, other], Budget(10**9))
    assert rest == [other]
    assert one.length == length
    for value in ("xa", "xyzh", "x", "xyz", "abcde"):
        assert one.holds(value) == any(part.holds(value) for part in parts)
    dfa = one.dfa(Budget(10**9))
    assert operations.is_equal(dfa, operations.union(*(p.dfa(Budget(10**9)) for p in parts)))
    assert counted_together(parts[:3], Budget(10**9)) == parts[:3]


def test_a_format_is_not_read_again_for_another_length(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(self: Builder, pattern: str) -> Expression | None:
        read.append(pattern)
        return once(self, pattern)

    once = Builder.read
    monkeypatch.setattr(Builder, "read", counted)
    address = "alice@example.org"
    for longest in (18, 17, 16):
        schema = {"type": "string", "format": "email", "maxLength": longest}
        engine = Engine(json_schema_grammar(json.dumps(schema)), BYTES)
        text = json.dumps(address).encode()
        assert (engine.accept_tokens(text) == len(text)) == (longest >= len(address))
        assert len(set(read)) == len(read)
    assert read


def test_a_pattern_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    Grammar.from_json_schema({"type": "string", "pattern": "^once$"})
    made: list[object] = []
    whole = compile_module._whole_matches

    def counted_once(*arguments: Any) -> Any:
        made.append(arguments[0])
        return whole(*arguments)

    monkeypatch.setattr(compile_module, "_whole_matches", counted_once)
    Grammar.from_json_schema({"type": "string", "pattern": "^once and (never|not) again$"})
    assert len(made) == 1


def test_patterns_of_names_are_not_compared_in_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []
    product = operations._product

    def counted_product(*arguments: Any, **named: Any) -> Any:
        made.append(arguments)
        return product(*arguments, **named)

    monkeypatch.setattr(operations, "_product", counted_product)
    patterns = {f"^x{number}_": {"type": "null"} for number in range(60)}
    Grammar.from_json_schema({"patternProperties": patterns})
    assert len(made) < 4 * len(patterns)
