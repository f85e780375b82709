"""Walks by both kernels over one table: the same tokens, the same exits, the same states."""

from dataclasses import dataclass
from itertools import product
from typing import cast

import numpy as np
import pytest

from kbnf_core import Grammar, Vocabulary
from kbnf_core.kernel import numpy_kernel
from kbnf_core.kernel.interface import Kernel
from kbnf_core.mask.masks import Masks
from kbnf_core.mask.slices import numbers_of, slices_of
from kbnf_core.recognise.states import UNKNOWN, StateTable

NUMPY = cast(Kernel, numpy_kernel)

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
    """What a walk found: the words, and the nodes by nonterminal."""

    words: bytes
    completions: list[tuple[int, list[int]]]


def walk(kernel: Kernel, table: StateTable, start: int, roots: list[int]) -> Walked:
    trie = VOCABULARY.trie
    # What was there before must not shine through.
    words = np.full((VOCABULARY.size + 31) // 32, 0xDEADBEEF, np.uint32)
    completions = kernel.walker(table, kernel.parts(trie, slices_of(VOCABULARY))).walk(
        start, np.array(roots, np.int32), words
    )
    assert all(nodes.dtype == np.int32 for _, nodes in completions)
    return Walked(words.tobytes(), [(name, nodes.tolist()) for name, nodes in completions])


def reached(table: StateTable) -> list[int]:
    """Return the states after every token and every pair of tokens."""
    found = {table.initial}
    for _ in range(2):
        found |= {table.feed(state, data)[0] for state in found for data in TOKENS.values()}
    return sorted(found - {0})


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
@pytest.mark.parametrize("numpy_first", [False, True])
def test_kernels_agree(compiled: Kernel, grammar: str, numpy_first: bool) -> None:
    table = StateTable(Grammar(grammar).tables)
    kernels = [NUMPY, compiled] if numpy_first else [compiled, NUMPY]
    one, other = ([walk(k, table, table.initial, [0])] for k in kernels)
    for state in reached(table):
        for roots in ([0], [1], [0, 1, 3], list(range(VOCABULARY.trie.node_count)), []):
            one.append(walk(kernels[0], table, state, roots))
            other.append(walk(kernels[1], table, state, roots))
    assert one == other


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_a_walk_finds_what_feeding_finds(kernel: Kernel, grammar: str) -> None:
    table = StateTable(Grammar(grammar).tables)
    for state in reached(table):
        words = np.frombuffer(walk(kernel, table, state, [0]).words, np.uint8)
        found = np.flatnonzero(np.unpackbits(words, bitorder="little")).tolist()
        expected = [t for t, data in TOKENS.items() if data and table.feed(state, data)[0] != 0]
        assert found == sorted(expected)


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_exits_are_where_a_nonterminal_completed(kernel: Kernel, grammar: str) -> None:
    table, trie = StateTable(Grammar(grammar).tables), VOCABULARY.trie
    completions = walk(kernel, table, table.initial, [0]).completions
    paths: dict[int, bytes] = {0: b""}
    for node in range(1, trie.node_count):
        paths[node] = paths[int(trie.parent[node])] + bytes([trie.byte[node]])
    after = {node: table.feed(table.initial, path)[0] for node, path in paths.items()}
    expected: dict[int, list[int]] = {}
    for node, state in after.items():
        goes_on = node and trie.skip[node] > node + 1
        for name in table.completions(state) if goes_on and state else ():
            expected.setdefault(name, []).append(node)
    assert completions == sorted(expected.items())


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_transitions_are_those_worked_out_plainly(kernel: Kernel, grammar: str) -> None:
    table = StateTable(Grammar(grammar).tables)
    explorer = kernel.explorer(table)
    for state in reached(table):
        for byte_class in range(table.tables.class_count):
            found = explorer.explore(state, byte_class)
            assert (
                found == table.explore_plainly(state, byte_class) == table.next[state, byte_class]
            )


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_feeding_is_stepping(kernel: Kernel, grammar: str) -> None:
    table = StateTable(Grammar(grammar).tables)
    explorer = kernel.explorer(table)
    for data in TOKENS.values():
        for eager in (False, True):
            assert explorer.feed(table.initial, data, eager) == step_by_step(table, data, eager)


def test_rows_of_a_table_that_has_grown_hold_nothing_but_transitions(kernel: Kernel) -> None:
    table = StateTable(Grammar("start ::= 'a'{900} 'b';").tables)
    capacity = len(table.next)
    assert kernel.explorer(table).feed(table.initial, b"a" * 900, False)[1] == 900
    assert len(table.next) > capacity
    for state in range(len(table)):
        for byte_class, after in enumerate(table.next[state].tolist()):
            assert after in (UNKNOWN, table.explore_plainly(state, byte_class))


def step_by_step(table: StateTable, data: bytes, eager: bool) -> tuple[int, int]:
    state = table.initial
    for offset, byte in enumerate(data):
        if eager and offset and table.completions(state):
            return 0, offset
        state = table.explore_plainly(state, int(table.classes[byte]))
        if state == 0:
            return 0, offset
    return state, len(data)


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_a_machine_is_covered_for_as_long_as_all_it_reads_can_come(
    kernel: Kernel, grammar: str
) -> None:
    table = StateTable(Grammar(grammar).tables)
    for letters in (b"a", b"ab", b"[", b"x", b"[1"):
        machine = np.zeros((2, 256), np.int32)
        machine[1, list(letters)] = 1
        reader = kernel.reader(table, machine, numbers_of(machine))
        for state in reached(table):
            expected = next(n for n in range(6) if n == 5 or not free(table, state, letters, n + 1))
            assert reader.covered(state, 1, 5) == expected


def free(table: StateTable, state: int, letters: bytes, length: int) -> bool:
    """Tell whether all strings of some length can come, without an exit on the way."""
    for word in product(letters, repeat=length):
        here = state
        for byte in word:
            here = table.step(here, int(table.classes[byte]))
            if here == 0 or table.completions(here):
                return False
    return True


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_gathering_is_what_it_is_in_python(kernel: Kernel, grammar: str) -> None:
    masks = Masks(StateTable(Grammar(grammar).tables), VOCABULARY)
    assembler = kernel.assembler(masks)
    for state in reached(masks.states):
        assert assembler.gather(state) == masks.gather_plainly(state)


def test_situations_are_numbered_by_content(kernel: Kernel) -> None:
    configurations = kernel.configurations()
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


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_beginnings_and_signatures_are_those_worked_out_plainly(
    kernel: Kernel, grammar: str
) -> None:
    table = StateTable(Grammar(grammar).tables)
    explorer = kernel.explorer(table)
    reached(table)
    blocks = np.arange(table.tables.state_count, dtype=np.int32) // 2
    for item_set in range(1, len(table.items)):
        assert explorer.begin(item_set) == table.begin_plainly(item_set)
        signature = explorer.signature(item_set, blocks)
        assert signature == table.signature_plainly(item_set, blocks)
