"""Walks over one table: the tokens that feeding finds, the exits, the states."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from kbnf_core import Engine, Grammar, Vocabulary, allocate_bitmask
from kbnf_core.kernel import Configurations, Inclusion, SliceSet, Walker
from kbnf_core.mask.bits import Bitmask, ids_of
from kbnf_core.mask.masks import Masks
from kbnf_core.mask.slices import numbers_of, slices_of
from kbnf_core.recognise.states import Migration, StateTable

GRAMMARS = {
    "nested": "start ::= value; value ::= '[' [value { ',' value }] ']' | #'[0-9]+';",
    "left": "start ::= sum; sum ::= atom | sum '+' atom; atom ::= 'x' | '(' sum ')';",
    "ambiguous": "start ::= start start | 'a' | 'ab' | 'b';",
    "regular": "start ::= #'(a|ab)*c';",
    "utf-8": "start ::= #'[α-ω]+' 'é'?;",
    "counted": "start ::= 'a'{2,5} 'b'?;",
}

TEXTS = (
    *("[", "]", ",", "[]", "[1", "1,2", "12", "[[", "]]", "],[", "x", "x+", "+x", "(x", ")", "))"),
    *("x)+(", "a", "b", "ab", "aa", "ba", "aab", "abc", "c", "α", "ω", "αβγ", "é", "αé"),
)
TOKENS = {place: text.encode() for place, text in enumerate(TEXTS)} | {
    50: b"\xce", 51: b"\xb1", 52: b"a", 90: b"", 99: b"\xb1\xce"
}  # fmt: skip
VOCABULARY = Vocabulary(TOKENS)


@dataclass(frozen=True, slots=True)
class Walked:
    """What a walk found: the tokens, and the nodes by nonterminal."""

    tokens: list[int]
    completions: list[tuple[int, list[int]]]


def walk(table: StateTable, start: int, roots: list[int]) -> Walked:
    # What was there before must not shine through.
    words = np.full((VOCABULARY.size + 31) // 32, 0xDEADBEEF, np.uint32)
    walker = Walker(table, SliceSet(VOCABULARY.trie, *slices_of(VOCABULARY)))
    completions = walker.walk(start, np.array(roots, np.int32), words)
    assert all(nodes.dtype == np.int32 for _, nodes in completions)
    return Walked(tokens_in(words), [(name, nodes.tolist()) for name, nodes in completions])


def tokens_in(words: Bitmask) -> list[int]:
    return list(map(int, ids_of(words, VOCABULARY.size)))


def paths() -> dict[int, bytes]:
    """Return the bytes that lead to each node of the trie."""
    trie, found = VOCABULARY.trie, {0: b""}
    for node in range(1, trie.node_count):
        found[node] = found[int(trie.parent[node])] + bytes([trie.byte[node]])
    return found


PATHS = paths()
NODES = {path: node for node, path in PATHS.items()}


def reached(table: StateTable) -> list[int]:
    """Return the states after every token and every pair of tokens."""
    found = {table.initial}
    for _ in range(2):
        found |= {table.feed(state, data)[0] for state in found for data in TOKENS.values()}
    return sorted(found - {0})


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_a_walk_finds_what_feeding_finds(grammar: str) -> None:
    table = StateTable(Grammar(grammar).tables)
    for state in reached(table):
        for roots in ([0], [1], [0, 1, 3], list(PATHS), []):
            expected = {
                token
                for token, data in TOKENS.items()
                for root in roots
                if data.startswith(PATHS[root]) and data != PATHS[root]
                if table.feed(state, data.removeprefix(PATHS[root]))[0] != 0
            }
            assert walk(table, state, roots).tokens == sorted(expected)


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_exits_are_where_a_nonterminal_completed(grammar: str) -> None:
    table, skip = StateTable(Grammar(grammar).tables), VOCABULARY.trie.skip
    for start in reached(table):
        for roots in ([0], [1], [0, 1, 3], list(PATHS)):
            expected: dict[int, set[int]] = {}
            for node, path in PATHS.items():
                for root in roots:
                    if skip[node] == node + 1 or not root < node < skip[root]:
                        continue
                    after = table.feed(start, path.removeprefix(PATHS[root]))[0]
                    for name in table.completions(after):
                        expected.setdefault(name, set()).add(node)
            found = walk(table, start, roots).completions
            assert found == [(name, sorted(nodes)) for name, nodes in sorted(expected.items())]


WORDS = Vocabulary(dict(enumerate(bytes(word) for word in product(b"ab", repeat=11))))
"""2,048 tokens: a trie of 4,095 nodes."""


@pytest.mark.parametrize(
    "pattern", ["[ab]+", "[ab]{1,9}", "(ab|ba)*", "[ab]{0,9}b", "a*b{3}", "([ab]{4}){1,300}"]
)
def test_a_walk_below_many_nodes_is_the_union_of_walks_below_each(pattern: str) -> None:
    table = StateTable(Grammar(f"start ::= 'a' (#'{pattern}' | 'bab');").tables)
    start = table.feed(table.initial, b"a")[0]
    walker = Walker(table, SliceSet(WORDS.trie, *slices_of(WORDS)))
    rng = np.random.default_rng(6)
    for count in (2, 40, 1_000, 3_000):
        roots = np.sort(rng.choice(WORDS.trie.node_count, count, replace=False)).astype(np.int32)
        words = np.empty((WORDS.size + 31) // 32, np.uint32)
        expected, nodes = np.zeros_like(words), dict[int, set[int]]()
        for root in roots:
            for name, ends in walker.walk(start, root[None], words):
                nodes.setdefault(name, set()).update(ends.tolist())
            expected |= words
        found = walker.walk(start, roots, words)
        assert (words == expected).all()
        assert {name: set(ends.tolist()) for name, ends in found} == nodes


def test_a_walk_below_all_nodes_visits_each_once() -> None:
    table = StateTable(Grammar("start ::= #'[ab]+';").tables)
    walker = Walker(table, SliceSet(WORDS.trie, *slices_of(WORDS)))
    roots = np.arange(1, WORDS.trie.node_count, dtype=np.int32)
    walker.walk(table.initial, roots, np.empty((WORDS.size + 31) // 32, np.uint32))
    assert walker.visited <= WORDS.trie.node_count


def test_roots_are_joined_in_so_many_ways_only() -> None:
    table = StateTable(Grammar("start ::= #'([ab]{9}){0,2}b';").tables)
    walker = Walker(table, SliceSet(WORDS.trie, *slices_of(WORDS)))
    rng, count = np.random.default_rng(6), WORDS.trie.node_count
    roots = np.sort(rng.choice(count, count // 2, replace=False)).astype(np.int32)
    before = len(table.items)
    walker.walk(table.initial, roots, np.empty((WORDS.size + 31) // 32, np.uint32))
    assert len(table.items) < before + 1_100


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_a_vocabulary_without_tokens_has_masks_without_words(grammar: str) -> None:
    engine = Engine(Grammar(grammar), Vocabulary({}))
    engine.fill_bitmask(allocate_bitmask(1, 0))
    engine.compute_allowed_token_ids()
    assert engine.get_allowed_token_ids_from_last_computation() == []
    words, root = np.zeros(0, np.uint32), np.zeros(1, np.int32)
    masks = engine._automaton.masks
    masks.walker.walk(masks.states.initial, root, words)
    assert masks.results.rows.number(words) == 0


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_feeding_is_stepping(grammar: str) -> None:
    table = StateTable(Grammar(grammar).tables)
    for data in TOKENS.values():
        for eager in (False, True):
            found = table.explorer.feed(table.initial, data, eager)
            assert found == step_by_step(table, data, eager)


def test_a_table_that_has_grown_steps_as_a_fresh_one() -> None:
    tables = Grammar("start ::= 'a'{900} 'b';").tables
    table, fresh = StateTable(tables), StateTable(tables)
    assert table.feed(table.initial, b"a" * 900)[1] == 900
    # In several segments, none of which moves.
    assert len(table) > 900
    states, classes = map(np.ravel, np.indices((900, tables.class_count)))
    reached = table.explorer.step_all(states.astype(np.int32), classes.astype(np.uint8))
    assert len(fresh) == 2
    for state, byte_class, after in zip(states.tolist(), classes.tolist(), reached, strict=True):
        assert table.explorer.after(state, byte_class) == after
        twin = Migration(table, fresh)
        assert fresh.step(twin.state(state), byte_class) == twin.state(int(after))
    completions = [table.explorer.completes(state) for state in range(len(table))]
    assert table.has_completions.tolist() == completions


def test_states_and_classes_that_are_none() -> None:
    explorer = StateTable(Grammar("start ::= 'ab';").tables).explorer
    beyond = explorer.sizes()[0]
    for state, byte_class in ((-1, 0), (beyond, 0), (1, 255)):
        with pytest.raises(IndexError):
            explorer.after(state, byte_class)
        with pytest.raises(IndexError):
            explorer.step_all(np.array([state], np.int32), np.array([byte_class], np.uint8))
    for state in (-1, beyond):
        with pytest.raises(IndexError):
            explorer.completes(state)


def step_by_step(table: StateTable, data: bytes, eager: bool) -> tuple[int, int]:
    state = table.initial
    for offset, byte in enumerate(data):
        if eager and offset and table.completions(state):
            return 0, offset
        state = table.explorer.after(state, int(table.classes[byte]))
        if state == 0:
            return 0, offset
    return state, len(data)


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_a_machine_is_covered_for_as_long_as_all_it_reads_can_come(grammar: str) -> None:
    table = StateTable(Grammar(grammar).tables)
    for letters in (b"a", b"ab", b"[", b"x", b"[1"):
        machine = np.zeros((2, 256), np.int32)
        machine[1, list(letters)] = 1
        reader = Inclusion(table, machine, numbers_of(machine))
        for state in reached(table):
            expected = next(n for n in range(6) if n == 5 or not free(table, state, letters, n + 1))
            assert reader.covered(state, 1, 5) == expected


def free(table: StateTable, state: int, letters: bytes, length: int) -> bool:
    """Return whether all strings of some length can come, without an exit on the way."""
    for word in product(letters, repeat=length):
        here = state
        for byte in word:
            here = table.step(here, int(table.classes[byte]))
            if here == 0 or table.completions(here):
                return False
    return True


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_a_mask_has_the_tokens_that_feeding_takes(grammar: str) -> None:
    masks = Masks(StateTable(Grammar(grammar).tables), VOCABULARY)
    states = masks.states
    for state in reached(states):
        can_come = [each for each, data in TOKENS.items() if data and states.feed(state, data)[0]]
        assert tokens_in(masks.union(masks.viable(state))) == can_come
        taken = [each for each in can_come if states.feed_eagerly(state, TOKENS[each])[0]]
        assert tokens_in(masks.union(masks.prefix_free(state))) == taken


def test_situations_are_numbered_by_content() -> None:
    configurations = Configurations(StateTable(Grammar("start ::= 'a';").tables).items)
    contents: list[tuple[tuple[tuple[int, int], ...], tuple[int, ...]]] = [
        ((), ()),
        (((0, 1),), ()),
        (((0, 1), (2, 3)), (4,)),
        (((0, 1),), (2, 3)),
        ((), (0, 1)),
    ]
    for _ in range(2):
        assert [configurations.number(*content) for content in contents] == list(range(5))
    assert len(configurations) == 5
    assert [(configurations.pairs(i), configurations.completions(i)) for i in range(5)] == contents
    with pytest.raises(IndexError):
        configurations.pairs(5)


@pytest.mark.parametrize("count", range(1, 70))
def test_walks_go_on_below_each_node_of_a_small_trie(count: int) -> None:
    """Sets of nodes have few words there, and the root is told from the other nodes."""
    tokens = [*(bytes([ord("(") + number]) for number in range(count)), b"zq", b"q"]
    vocabulary = Vocabulary(dict(enumerate(tokens)), eos_token_id=len(tokens))
    states = StateTable(Grammar("start ::= 'q';").tables)
    masks, trie = Masks(states, vocabulary), vocabulary.trie
    for node in range(trie.node_count):
        words, path, here = np.zeros(masks.word_count, np.uint32), b"", node
        while here:
            path, here = bytes([trie.byte[here]]) + path, int(trie.parent[here])
        masks.walker.walk(states.initial, np.array([node], np.int32), words)
        below = [number for number, token in enumerate(tokens) if token == path + b"q"]
        assert ids_of(words, len(tokens)).tolist() == below, node


def test_a_run_of_bytes_says_nothing_about_its_first_byte() -> None:
    tokens = dict(enumerate([b"a", b"b", b"c", b"d", b"abc"]))
    vocabulary, grammar = Vocabulary(tokens, eos_token_id=5), Grammar("start ::= 'abcd';")
    assert Engine(grammar, vocabulary).accept_tokens([4, 3]) == 2
    assert Engine(grammar, vocabulary).accept_tokens([0, 3]) == 1
