"""What is counted, not timed: walks, states and transitions, so that slow algorithms show.

The bounds are what the algorithm needs today, with little room; a bound that has to be raised by
much is a finding.
"""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from kbnf_core import (
    Config,
    Engine,
    Grammar,
    GrammarError,
    Limits,
    Vocabulary,
    WorkLimitError,
)
from kbnf_core.automata.regex.compile import compile_regex, compile_within
from kbnf_core.automata.regex.search import read_pattern
from kbnf_core.convert import convert
from kbnf_core.kbnf.printer import quote
from kbnf_core.languages import JSON_SCHEMA, KBNF, LARK, Language
from kbnf_core.languages.json_schema import SchemaLimits
from kbnf_core.languages.lark.regex import matcher, parse
from kbnf_core.languages.response_template.message import _quoted
from kbnf_core.mask.bits import ids_of
from kbnf_core.mask.masks import Masks
from kbnf_core.recognise.states import entry_limit
from kbnf_core.text.budget import Budget
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_testing.counted import calls, growth

JSON = (Path(__file__).resolve().parents[2] / "grammars" / "json.kbnf").read_text(encoding="utf-8")
_PAIRS = [bytes([one, other]) for one in b'"{[,:]}\\ ntf019.eE-' for other in b'"{[,:]}\\ aeu012']
_LONG = [b"true", b'": "', b'"},{"', b"null]", b"12.5"]
_SPELLINGS = [*(bytes([value]) for value in range(256)), *_PAIRS, *_LONG]
VOCABULARY = Vocabulary(dict(enumerate(_SPELLINGS)), eos_token_id=2000)


def masks_of(engine: Engine) -> Masks:
    return engine._automaton.masks


def counts(engine: Engine) -> dict[str, int]:
    """Return how much was worked out so far for all engines of this one's grammar."""
    masks = masks_of(engine)
    states = masks.states
    return {
        "walks": masks.walk_count,
        "states": len(states),
        "item sets": len(states.items),
        "stack nodes": len(states.stack),
    }


def tokenise(text: bytes) -> list[int]:
    """Return the longest tokens first."""
    ids: list[int] = []
    while text:
        length = next(n for n in range(6, 0, -1) if VOCABULARY.token_ids(text[:n]))
        ids.append(VOCABULARY.token_ids(text[:length])[0])
        text = text[length:]
    return ids


def feed(engine: Engine, ids: list[int]) -> None:
    """Mask and accept all, as a generation does."""
    for token_id in ids:
        engine.compute_allowed_token_ids()
        engine.try_accept_new_token(token_id)


def documents(count: int) -> list[list[int]]:
    random = Random(7)
    return [tokenise(json.dumps(_value(random, 0)).encode()) for _ in range(count)]


def _value(random: Random, depth: int) -> Any:
    kind = random.random()
    if depth > 4 or kind < 0.4:
        return random.choice([random.randint(-999, 999), 1.5e10, True, None, "ab\n", "né"])
    items = [_value(random, depth + 1) for _ in range(random.randint(0, 4))]
    return items if kind < 0.7 else {str(place): item for place, item in enumerate(items)}


def test_json_needs_a_bounded_number_of_walks_and_states() -> None:
    engine = Engine(JSON, VOCABULARY)
    for document in documents(60):
        engine.reset()
        feed(engine, document)
    found = counts(engine)
    assert found["walks"] <= 140
    assert found["item sets"] <= 250
    assert found["states"] <= 25 * 60


def test_a_second_pass_works_nothing_out() -> None:
    engine = Engine(JSON, VOCABULARY)
    texts = documents(20)
    for document in texts:
        engine.reset()
        feed(engine, document)
    before = counts(engine)
    visited = masks_of(engine).visited
    twin = Engine(engine.grammar, VOCABULARY)
    for document in texts:
        twin.reset()
        feed(twin, document)
    assert counts(twin) == before
    assert masks_of(twin).visited == visited


FORMS = {
    "left": ("start ::= items ';'; items ::= 'a' | items 'a';", b"", b"a"),
    "right": ("start ::= items ';'; items ::= 'a' | 'a' items;", b"", b"a"),
    "list": ("start ::= '[' item { ',' item } ']'; item ::= #'[0-9]+';", b"[", b"1,"),
    "middle": ("start ::= { item } ';'; item ::= 'x' | '(' item ')';", b"", b"((((x))))"),
    "nested lists": ("start ::= v; v ::= '[' [v { ',' v }] ']';", b"[", b"[[],[[]]],"),
    "sums": ("start ::= s ';'; s ::= a | s '+' a; a ::= 'x' | '(' s ')';", b"", b"(x+(x+x))+"),
}


@pytest.mark.parametrize("finish", ["token", "eos", "eager"])
@pytest.mark.parametrize(("grammar", "before", "again"), FORMS.values(), ids=FORMS)
def test_nothing_grows_with_the_position(
    grammar: str, before: bytes, again: bytes, finish: str
) -> None:
    engine = Engine(grammar, VOCABULARY, Config(finish=finish))
    engine.try_accept_new_bytes(before)
    feed(engine, tokenise(again) * 2)
    first = counts(engine)
    feed(engine, tokenise(again) * 300)
    assert counts(engine) == first


def test_doubly_recursive_lists_grow_no_faster_than_the_text() -> None:
    """Which of the open lists a comma continues is ambiguous, so each is another situation."""
    engine = Engine("start ::= items ';'; items ::= 'a' | items ',' items;", VOCABULARY)
    feed(engine, tokenise(b"a,") * 10)
    first = counts(engine)
    feed(engine, tokenise(b"a,") * 100)
    later = counts(engine)
    assert later["walks"] == first["walks"]
    assert later["item sets"] == first["item sets"]
    assert later["stack nodes"] - first["stack nodes"] <= 100
    assert later["states"] - first["states"] <= 200


def test_an_open_bracket_costs_one_state() -> None:
    engine = Engine("start ::= item; item ::= 'x' | '(' item ')';", VOCABULARY)
    feed(engine, [ord("(")] * 10)
    first = counts(engine)
    feed(engine, [ord("(")] * 100)
    later = counts(engine)
    assert later["walks"] == first["walks"]
    assert later["item sets"] == first["item sets"]
    assert later["states"] - first["states"] <= 200
    assert later["stack nodes"] - first["stack nodes"] <= 200


@pytest.mark.parametrize(
    "grammar",
    [
        "start ::= 'a'{0,1000} ';';",
        "start ::= except!(';', 1000) ';';",
    ],
)
def test_counted_repetition_shares_walks(grammar: str) -> None:
    engine = Engine(grammar, VOCABULARY)
    masks = masks_of(engine)
    engine.compute_allowed_token_ids()
    walk = masks.visited
    feed(engine, [ord("a")] * 800)
    # Those near the bounds, and what follows them.
    assert masks.visited <= (2 * VOCABULARY.trie.max_depth + 2) * walk


@pytest.mark.parametrize(
    "grammar", ["start ::= 'true' ';';", "start ::= #'[a-z]{0,9}' ';';", "start ::= 'tr' 'ue'*;"]
)
def test_a_walk_makes_no_states_where_nothing_is_called(grammar: str) -> None:
    engine = Engine(grammar, VOCABULARY)
    before = counts(engine)["states"]
    engine.compute_allowed_token_ids()
    assert engine.get_allowed_token_ids_from_last_computation()
    assert counts(engine)["states"] == before


def test_a_mask_is_filled_with_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine(JSON, VOCABULARY)
    bits = np.zeros((VOCABULARY.size + 31) // 32, np.int32)
    engine.fill_bitmask(bits)
    again = bits.copy()
    monkeypatch.setattr(Masks, "_find_viable", None)
    monkeypatch.setattr(Masks, "union", None)
    engine.fill_bitmask(bits)
    assert bits.tolist() == again.tolist()


def test_engines_of_one_grammar_share_what_is_known() -> None:
    grammar = Grammar(JSON)
    one = Engine(grammar, VOCABULARY)
    feed(one, documents(1)[0])
    before = counts(one)
    other = Engine(grammar, VOCABULARY)
    feed(other, documents(1)[0])
    assert masks_of(other) is masks_of(one)
    assert counts(other) == before


def test_free_text_has_one_mask_wherever_it_stands() -> None:
    names = [f"name{i}" for i in range(12)]
    members = " ',' ".join(f"'{name}:' text" for name in names)
    engine = Engine(f"start ::= {members} ';'; text ::= '\"' #'[^\"]*' '\"';", VOCABULARY)
    for name in names:
        engine.try_accept_new_bytes(f'{name}:"ab'.encode())
        engine.compute_allowed_token_ids()
        engine.try_accept_new_bytes(b'",' if name != names[-1] else b'"')
    # The text itself, and what remains of tokens after its end at each place.
    assert counts(engine)["walks"] == 1 + len(names)


def test_what_was_prepared_needs_no_work() -> None:
    engine = Engine(JSON, VOCABULARY)
    engine.try_accept_new_bytes(b'{"a": ')
    before = (engine.accepted, engine.is_finished())
    assert engine.prepare(0) == 0
    work = engine.prepare()
    assert work > 0
    assert (engine.accepted, engine.is_finished()) == before
    assert engine.get_allowed_token_ids_from_last_computation() == []
    visited = masks_of(engine).visited
    engine.compute_allowed_token_ids()
    for value in (b"[", b'"', b"t", b"1"):
        twin = copy.copy(engine)
        twin.try_accept_new_bytes(value)
        twin.compute_allowed_token_ids()
        fresh = Engine(JSON, VOCABULARY)
        fresh.try_accept_new_bytes(b'{"a": ' + value)
        fresh.compute_allowed_token_ids()
        ids = fresh.get_allowed_token_ids_from_last_computation()
        assert twin.get_allowed_token_ids_from_last_computation() == ids
    assert masks_of(engine).visited == visited


def test_preparing_keeps_to_its_budget() -> None:
    engine = Engine("start ::= ('a' | 'b' start 'c')*;", VOCABULARY)
    for budget in (1, 1_000, 20_000):
        assert budget <= engine.prepare(budget) <= budget + 20_000
        engine.try_accept_new_bytes(b"bb")


def test_preparing_after_the_end_does_nothing() -> None:
    engine = Engine("start ::= 'a';", VOCABULARY)
    engine.try_accept_new_bytes(b"a")
    assert engine.prepare() == 0
    assert engine.is_finished()


def test_few_tokens_are_kept_as_few_numbers() -> None:
    """A mask of all tokens has 250 times the words of one token's."""
    large = Vocabulary({place: b"%06d" % place for place in range(80_000)})
    engine = Engine("start ::= '0000' #'[0-9]'{2} ';';", large)
    engine.compute_allowed_token_ids()
    assert masks_of(engine).results.rows.added_bytes <= 100_000


def test_what_follows_a_call_is_walked_without_states() -> None:
    engine = Engine("start ::= '(' item ')' ';'; item ::= '[' item ']' | #'[a-z]+';", VOCABULARY)
    engine.try_accept_new_bytes(b"(ab")
    before = counts(engine)["states"]
    engine.compute_allowed_token_ids()
    assert counts(engine)["walks"] >= 2
    # One for each completion: that of what waits.
    assert counts(engine)["states"] <= before + 1


NAME = "name ::= #'[a-z_][a-z0-9_]*'; end ::= ' '? ';';"
WORDS = [bytes([97 + i % 26, 97 + i // 26 % 26, 97 + i // 676]) for i in range(8_000)]
NAMES = Vocabulary(dict(enumerate([*WORDS, *(bytes([value]) for value in range(256))])))


def test_what_is_called_is_walked_once_for_all_callers() -> None:
    """Forty statements begin with a name, and names that touch end anywhere."""
    kinds = [f"s{number} ::= name '#{number}' name end | name name end;" for number in range(40)]
    starts = " | ".join(f"s{number}" for number in range(40))
    engine = Engine(f"start ::= ({starts})*; {' '.join(kinds)} {NAME}", NAMES)
    engine.compute_allowed_token_ids()
    # One for each place within a name, and its callers', would be thousands.
    assert counts(engine)["states"] <= 30
    assert counts(engine)["walks"] <= 60
    assert len(engine.get_allowed_token_ids_from_last_computation()) == len(WORDS) + 27


def test_pieces_are_walked_with_their_callers() -> None:
    """A token has many characters of a bounded text, and no walk for each."""
    character = r"character ::= #'[^\"\\\\]' | '\\' #'[nt]';"
    grammar = f"""start ::= '"' character{{7,21}} '"' | '[' character{{2}} ']'; {character}"""
    engine = Engine(grammar, NAMES)
    engine.try_accept_new_bytes(b'"abcd')
    engine.compute_allowed_token_ids()
    assert counts(engine)["walks"] <= 2


def test_where_no_token_goes_on_nothing_completes() -> None:
    engine = Engine("start ::= '[' v ']'; v ::= '[' v ']' | 'zx' | 'zn';", VOCABULARY)
    engine.try_accept_new_bytes(b"[[z")
    engine.compute_allowed_token_ids()
    masks, trie = masks_of(engine), VOCABULARY.trie
    sets = masks.results.node_sets
    found = {node for number in range(len(sets)) for node in sets[number].tolist()}
    # Tokens that begin with x are one byte long.
    assert trie.find(b"n") in found
    assert trie.find(b"x") not in found


def test_what_lies_behind_complete_texts_is_left_out_at_once() -> None:
    texts = [bytes([97 + i // 26, 97 + i % 26, 97]) for i in range(676)]
    tokens = [*(bytes([value]) for value in range(97, 123)), *texts]
    engine = Engine(Grammar("start ::= #'(?s:.)+';"), Vocabulary(dict(enumerate(tokens))))
    masks, begin = masks_of(engine), masks_of(engine).states.initial
    masks.viable(begin)
    found: list[int] = []
    spent = calls(
        lambda _: found.extend(ids_of(masks.union(masks.prefix_free(begin)), len(tokens)).tolist()),
        "",
    )
    # Each letter completes a text, so nothing longer is left: one call for each of 702 nodes
    # would be many.
    assert found == list(range(26))
    assert spent < 60


def test_a_text_is_quoted_as_a_whole() -> None:
    assert calls(quote, "a" * 10_000) < 100


def test_a_short_regular_expression_of_ascii_makes_no_states_of_utf8() -> None:
    assert calls(compile_regex.__wrapped__, "(?i-u:w12345)") < 1_600


def test_a_matcher_of_lark_steps_once_for_symbols_that_are_alike() -> None:
    pattern = r'"(?:[^"\\\n]|\\[abfnrtv?"\'\\]|\\[0-7]{3}|\\x[0-9a-fA-F]{2})*?"'
    node = parse(pattern).node
    matcher(node)
    assert calls(lambda _: matcher(node), "") < 4_000


def test_optional_parts_in_a_row_have_no_square_of_edges() -> None:
    def edges(count: int) -> int:
        parts = " ".join(f"('k{number}:' v ',')?" for number in range(count))
        return len(Grammar(f"start ::= {parts} ';'; v ::= '1' | '[' v ']';").tables.edge_class)

    assert edges(600) <= 2.2 * edges(300)


def _in_a_row(count: int, rule: Callable[[int, int], str]) -> str:
    """Return a grammar that calls so many rules in a row; a rule is given its number and theirs."""
    row = " ".join(f"r{number}" for number in range(count))
    rules = "\n".join(f"r{number} ::= {rule(number, count)};" for number in range(count))
    return f"start ::= {row};\n{rules}"


PASSING_ON = {
    "calls": lambda number, count: f"'a' | r{(number + 1) % count} | ''",
    "calls with something empty": lambda number, count: f"'a'* r{(number + 1) % count} | ''",
    "repetitions": lambda number, count: f"'a' | r{(number + 1) % count}*",
    "two calls": lambda number, count: f"'a' | r{(number + 1) % count} r{(number + 2) % count}?",
}


@pytest.mark.parametrize("rule", PASSING_ON.values(), ids=PASSING_ON)
def test_rules_that_pass_on_in_a_circle_are_one(rule: Callable[[int, int], str]) -> None:
    def parts(count: int) -> int:
        engine = Engine(_in_a_row(count, rule), VOCABULARY)
        feed(engine, tokenise(b"a"))
        return masks_of(engine).states.explorer.sizes()[1]

    assert parts(200) <= 2.2 * parts(100)


@pytest.mark.parametrize("finish", ["token", "eos", "eager"])
def test_a_state_of_too_many_parts_is_refused_and_the_engine_unchanged(finish: str) -> None:
    text = _in_a_row(
        300, lambda number, count: f"'a' r{number} | r{min(number + 1, count - 1)} | ''"
    )
    config = Config(finish=finish, limits=Limits(work=1_000_000, cached_states=1))
    engine = Engine(text, VOCABULARY, config)
    for _ in range(2):
        with pytest.raises(WorkLimitError, match=r"in `\w+` .*side by side"):
            engine.compute_allowed_token_ids()
        with pytest.raises(WorkLimitError):
            engine.try_accept_new_token(ord("a"))
        assert not engine.accepted
    assert engine.grammar.tables.state_count < 3_000
    assert masks_of(engine).states.explorer.sizes()[1] <= 1_000_000 + entry_limit(config.limits)


def test_what_calls_call_is_found_in_a_chain_as_fast_as_in_a_row() -> None:
    def parts(count: int) -> int:
        rules = "\n".join(f"r{n} ::= r{n + 1} 'x' | 'y' r{n} 'y';" for n in range(count))
        engine = Engine(f"start ::= r0;\n{rules}\nr{count} ::= 'z';", VOCABULARY)
        engine.compute_allowed_token_ids()
        return masks_of(engine).states.explorer.sizes()[1]

    assert parts(1_000) <= 2.2 * parts(500)


def test_optional_lexemes_in_a_row_are_told_apart_in_one_go() -> None:
    """Which of them may be expected together is a square; nothing of it is found for each."""

    def read(text: str) -> Grammar:
        return Grammar.read(text, LARK, options={"lexing": "llguidance"})

    def row(count: int) -> str:
        return "start: " + " ".join(['"a"?'] * count) + "\n"

    assert growth(read, row, 100) < 4.5
    assert calls(read, row(200)) < 800_000


def test_a_schema_is_written_in_lark_without_reading_characters_of_every_part() -> None:
    members = {
        "name": {"type": "string", "minLength": 1, "maxLength": 40},
        "when": {"type": "string", "format": "date-time"},
        "code": {"type": "string", "pattern": "^[A-Z]{3}[0-9]+$"},
        "value": {
            "oneOf": [{"type": "integer", "minimum": 0, "maximum": 100}, {"type": "boolean"}]
        },
    }
    schema = json.dumps({"type": "object", "properties": members, "required": ["name", "code"]})

    def write(text: str) -> object:
        return convert(text, JSON_SCHEMA, LARK)

    write(schema)
    # 178,000 when each part was turned into characters to see whether it is text.
    assert calls(write, schema) < 90_000


def test_a_row_of_optional_texts_is_written_in_lark_in_one_go() -> None:
    def write(text: str) -> object:
        return convert(text, KBNF, LARK)

    def row(count: int) -> str:
        return "start ::= " + " ".join(["'a'?"] * count) + ";"

    assert growth(write, row, 50) < 4.5
    assert calls(write, row(100)) < 400_000


_COSTLY = r"(ab|ab|b|\p{{L}}){{1,{most}}}"


def test_regular_expressions_of_a_grammar_have_one_budget() -> None:
    """Also where each of them fits alone, and where automata are known already."""
    patterns = [_COSTLY.format(most=15 + number) for number in range(4)]
    work = max(compile_regex(pattern).work for pattern in patterns)
    lines = "".join(f"r{n} ::= #r'{pattern}';" for n, pattern in enumerate(patterns))
    text = f"start ::= r0 r1 r2 r3; {lines}"
    for _ in range(2):
        with pytest.raises(GrammarError, match=r"E107|E203"):
            Grammar(text, limits=Limits(work=5 * work // 2))
    assert Grammar(text, limits=Limits(work=8 * work))


@pytest.mark.parametrize(
    ("language", "text"),
    [
        (KBNF, "start ::= #'a+' b c; b ::= #'[b-d]{9}'; c ::= #'(ab|ab|b|[α-ω]){1,999}';"),
        (KBNF, "start ::= #'a+' b c; b ::= #'[b-d]{9}'; c ::= #ex'[ab]*a[ab]{12}c';"),
        (
            LARK,
            "%llguidance {}\nstart: A B C\nA: /a+/\nB: /[b-d]{9}/\nC: /(ab|ab|b|[α-ω]){1,999}/\n",
        ),
    ],
)
def test_a_message_names_the_limit_and_not_what_is_left_of_it(
    language: Language, text: str
) -> None:
    limits = Limits(work=20_000)
    with pytest.raises(GrammarError, match="more than 20,000 steps") as caught:
        Grammar.read(text, language, limits=limits)
    assert {each.code for each in caught.value.diagnostics} == {"E107"}


def test_a_message_names_the_limit_of_a_schema() -> None:
    patterns = ["^[b-d]{9}$", "[ab]*a[ab]{12}c"]
    schema = json.dumps({"anyOf": [{"type": "string", "pattern": each} for each in patterns]})
    with pytest.raises(GrammarError, match="more than 20,000 steps"):
        Grammar.from_json_schema(schema, limits=SchemaLimits(work=20_000))


def test_a_pattern_that_is_refused_is_charged() -> None:
    budget = Budget(1_000)
    pattern = _COSTLY.format(most=20)
    assert compile_within(budget, pattern).dfa is None
    with pytest.raises(WorkLimitError):
        compile_within(budget, pattern)


def test_bytes_of_characters_are_counted() -> None:
    compiled = compile_regex.__wrapped__(r"((ab|ab|b|\p{L})(\.){15,1000})*")
    assert compiled.dfa is not None
    assert compiled.work > 250 * compiled.dfa.state_count


def test_unquoted_names_are_looked_for_once() -> None:
    budget = Budget(20_000_000)
    for text in (",a" * 1_000, "{" * 2_000, '{a: 1, "b": c}' * 100):
        budget.spent = 0
        "".join(_quoted(text, budget))
        assert len(text) <= budget.spent <= 2 * len(text)


def test_a_pattern_of_a_template_takes_a_bounded_part_of_memory() -> None:
    """A place of a program at one of a text takes the memory of some steps."""
    pattern, problems = read_pattern("[^x]{900}y", DEFAULT_LIMITS)
    assert pattern is not None
    assert not problems
    budget = Budget(100_000)
    with pytest.raises(WorkLimitError):
        pattern.find("a" * 2_000, 0, budget)
    fewer = Budget(10**9)
    assert pattern.find("a" * 1_000, 0, fewer) is None
    assert fewer.spent >= 4 * 900 * 90
