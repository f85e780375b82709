"""Finite automata by both kernels: the same results, to the number of each state."""

import sys
import threading
from array import array
from collections.abc import Iterable
from importlib import import_module
from itertools import product
from random import Random
from typing import cast

import pytest

from kbnf_core.automata import plain_kernel
from kbnf_core.automata.kernel import Automata, Automaton, Column

PLAIN = cast(Automata, plain_kernel)

DEAD = -1


@pytest.fixture(scope="module")
def compiled() -> Automata:
    """Return the compiled kernel."""
    return cast(Automata, import_module("kbnf_core.automata._automata"))


def subset(random: Random, states: int, most: int) -> tuple[int, ...]:
    return tuple(sorted(random.sample(range(states), random.randint(0, min(most, states)))))


@pytest.mark.parametrize("seed", range(300))
def test_both_determinise_and_minimise_alike(compiled: Automata, seed: int) -> None:
    random = Random(seed)
    states, symbols = random.randint(1, 8), random.randint(1, 4)
    moves = [
        {s: subset(random, states, 3) for s in range(symbols) if random.random() < 0.7}
        for _ in range(states)
    ]
    tags = [random.choice([0, 0, 1, 2, 3, 1 << 62]) for _ in range(states)]
    starts = [subset(random, states, states) for _ in range(random.randint(1, 3))]
    limit, stop = random.choice([3, 10, 1_000]), random.choice([0, 0, 2])
    work = random.choice([1, 5, 20, 10_000])
    found, steps = compiled.determinise(moves, tags, starts, symbols, limit, stop, work)
    assert (found, steps) == PLAIN.determinise(moves, tags, starts, symbols, limit, stop, work)
    if found is not None:
        assert steps <= work
        assert compiled.minimise(*found) == PLAIN.minimise(*found)


def numbers(values: Iterable[int]) -> Column:
    return array("i", values).tobytes()


def test_states_that_few_steps_do_not_tell_apart_share_a_block(compiled: Automata) -> None:
    # A chain of six; the last state accepts.
    chain = numbers(range(5)), numbers([0] * 5), numbers(range(1, 6)), bytes([0, 0, 0, 0, 0, 1])
    assert compiled.blocks(*chain, 0) == [0, 0, 0, 0, 0, 1]
    assert compiled.blocks(*chain, 2) == [0, 0, 0, 1, 2, 3]
    assert compiled.blocks(*chain, 100) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("seed", range(50))
def test_both_leave_out_the_same_words(compiled: Automata, seed: int) -> None:
    random = Random(seed)
    # Words over two symbols with an end of their own, of all words that there are.
    rows = [[1, 1, 3], [2, 1, 3], [1, 2, 3], [DEAD] * 3]
    words = {bytes(random.choices(range(2), k=random.randrange(6))) for _ in range(seed % 7)}
    listed = [word + b"\2" for word in random.sample(sorted(words), len(words))]
    # What is no word of it changes nothing.
    listed.insert(0, b"\2\1")
    found = compiled.leave_out(rows, listed)
    assert found == PLAIN.leave_out(rows, listed)
    for word in (bytes(symbols) for n in range(6) for symbols in product(range(2), repeat=n)):
        state = 0
        for symbol in word + b"\2":
            state = found[state][symbol]
        assert (state == 3) == (word not in words)


@pytest.mark.parametrize("seed", range(20))
def test_both_join_partitions_alike(compiled: Automata, seed: int) -> None:
    random = Random(seed)
    parts = [bytes(random.choices(range(1 + 40 * n), k=256)) for n in range(seed % 5)]
    assert compiled.join(parts) == PLAIN.join(parts)
    assert compiled.join([*parts, bytes(range(256))]) == bytes(range(256))


@pytest.mark.parametrize("kernel", ["plain", "compiled"])
def test_equal_languages_have_equal_automata(kernel: str, request: pytest.FixtureRequest) -> None:
    automata: Automata = PLAIN if kernel == "plain" else request.getfixturevalue("compiled")
    # ab|cb with the ends apart, a state that nothing reaches and one that reaches nothing.
    rows = [[1, DEAD, 2], [5, 3, DEAD], [DEAD, 4, DEAD], *[[DEAD] * 3] * 3, [0, DEAD, DEAD]]
    tags = [0, 0, 0, 1, 1, 0, 0]
    smallest = [[1, DEAD, 1], [DEAD, 2, DEAD], [DEAD, DEAD, DEAD]]
    assert automata.minimise(rows, tags, [0]) == (smallest, [0, 0, 1], [0])
    assert automata.minimise(rows, tags, [5]) == ([], [], [DEAD])


@pytest.mark.parametrize("name", ["compiled", "plain"])
def test_a_start_without_a_row_is_dead(name: str, request: pytest.FixtureRequest) -> None:
    automata = PLAIN if name == "plain" else request.getfixturevalue("compiled")
    assert automata.minimise([], [], [0]) == ([], [], [DEAD])
    assert automata.minimise([[0]], [1], [0, 3]) == ([[0]], [1], [0, DEAD])


@pytest.mark.parametrize("kernel", ["plain", "compiled"])
def test_nothing_is_followed_behind_what_is_searched_for(
    kernel: str, request: pytest.FixtureRequest
) -> None:
    automata: Automata = PLAIN if kernel == "plain" else request.getfixturevalue("compiled")
    # Words with b, or with a(a|b){9}a, in them: a subset for each count of a, one after them.
    again, end = 11, 12
    moves: list[dict[int, tuple[int, ...]]] = [{0: (0, 1), 1: (0, again, end)}]
    moves += [{0: (i + 1,), 1: (i + 1,)} for i in range(1, 10)]
    moves += [{0: (again, end)}, {0: (again, end), 1: (again, end)}, {}]
    tags = [*([0] * end), 1]
    found, _ = automata.determinise(moves, tags, [(0,)], 2, 1_000, 0, 10_000)
    assert found is not None
    assert len(found[0]) == 12
    assert sum(found[1]) == 1


@pytest.mark.parametrize("kernel", ["plain", "compiled"])
def test_what_passes_a_limit_has_no_result(kernel: str, request: pytest.FixtureRequest) -> None:
    automata: Automata = PLAIN if kernel == "plain" else request.getfixturevalue("compiled")
    # (a|b)*a(a|b){3}: 16 subsets.
    moves: list[dict[int, tuple[int, ...]]] = [{0: (0, 1), 1: (0,)}]
    moves += [{0: (i + 1,), 1: (i + 1,)} for i in range(1, 4)]
    moves.append({})
    tags = [0, 0, 0, 0, 1]
    found, steps = automata.determinise(moves, tags, [(0,)], 2, 16, 0, 1_000)
    assert found is not None
    assert len(found[0]) == 16
    assert automata.determinise(moves, tags, [(0,)], 2, 15, 0, 1_000)[0] is None
    assert automata.determinise(moves, tags, [(0,)], 2, 16, 0, steps) == (found, steps)
    assert automata.determinise(moves, tags, [(0,)], 2, 16, 0, steps - 1) == (None, steps)


def test_other_threads_run_while_a_large_automaton_is_minimised(compiled: Automata) -> None:
    states = 20_000
    random = Random(5)
    rows = [[random.randrange(states) for _ in range(4)] for _ in range(states)]
    tags = [random.randrange(3) for _ in range(states)]
    running, over = threading.Event(), threading.Event()

    def work() -> None:
        running.set()
        compiled.minimise(rows, tags, [0])
        over.set()

    def ran_meanwhile() -> bool:
        running.clear()
        over.clear()
        thread = threading.Thread(target=work)
        thread.start()
        running.wait()
        found = not over.is_set()
        thread.join()
        return found

    before = sys.getswitchinterval()
    # Nobody takes the lock of the interpreter from a thread then: it must give it away.
    sys.setswitchinterval(1_000)
    try:
        # A busy machine may not run this thread in time, or not at once.
        assert any(ran_meanwhile() for _ in range(20))
    finally:
        sys.setswitchinterval(before)


def some_automaton(random: Random) -> Automaton:
    states, width = random.randint(0, 6), random.randint(1, 4)
    rows = [[random.randrange(-1, states) for _ in range(width)] for _ in range(states)]
    classes = bytes([*range(width), *(random.randrange(width) for _ in range(256 - width))])
    return classes, rows, [random.random() < 0.5 for _ in range(states)]


@pytest.mark.parametrize("seed", range(100))
def test_both_make_the_same_products(compiled: Automata, seed: int) -> None:
    random = Random(seed)
    left, right = some_automaton(random), some_automaton(random)
    for is_in_both in (False, True):
        limits = random.choice([2, 100]), random.choice([1, 10, 1_000])
        found = compiled.product(left, right, is_in_both, *limits)
        assert found == PLAIN.product(left, right, is_in_both, *limits)


@pytest.mark.parametrize("seed", range(100))
def test_both_go_on_alike_from_what_they_made(compiled: Automata, seed: int) -> None:
    random = Random(seed)
    left, right, third = (some_automaton(random) for _ in range(3))
    made, _ = compiled.product(left, right, False, 100, 1_000)
    if made is None:
        return
    classes, rows, accepting = made
    plain = classes, [*rows], accepting
    tags = [*map(int, accepting)]
    assert compiled.minimise(rows, tags, (0,)) == PLAIN.minimise(plain[1], tags, (0,))
    assert compiled.product(made, third, True, 100, 1_000) == PLAIN.product(
        plain, third, True, 100, 1_000
    )


def test_large_products_are_the_same(compiled: Automata) -> None:
    states = 60
    rows = [[(state + 1) % states, state] for state in range(states)]
    classes = bytes([0, *([1] * 255)])
    side = classes, rows, [state == 0 for state in range(states)]
    other = bytes([*([0] * 255), 1]), [*rows[:-1], [0, 0]], side[2]
    found, steps = compiled.product(side, other, True, 10**4, 10**6)
    assert steps > 10**3
    assert (found, steps) == PLAIN.product(side, other, True, 10**4, 10**6)


@pytest.mark.parametrize("seed", range(100))
def test_both_find_the_same_smallest_automaton(compiled: Automata, seed: int) -> None:
    classes, rows, accepting = some_automaton(Random(seed))
    tags, start = [*map(int, accepting)], min(1, len(rows) - 1)
    assert compiled.smallest(rows, tags, start, classes) == PLAIN.smallest(
        rows, tags, start, classes
    )


@pytest.mark.parametrize("seed", range(100))
def test_both_spell_alike(compiled: Automata, seed: int) -> None:
    random = Random(seed)
    states, symbols = random.randint(1, 6), random.randint(1, 4)
    rows = [[random.randrange(-1, states) for _ in range(symbols)] for _ in range(states)]
    tags = [random.randrange(2) for _ in range(states)]
    letters: list[dict[int, int]] = [{} for _ in range(symbols)]
    for _ in range(random.randint(1, 4)):
        letters.append({byte: random.randrange(len(letters)) for byte in range(3)})
    ends = [*range(symbols), *([DEAD] * (len(letters) - symbols))]
    classes = bytes([*range(3), *([2] * 253)])
    arguments = rows, tags, 0, classes, letters, ends, random.choice([states, states + 4, 100])
    assert compiled.spell(*arguments) == PLAIN.spell(*arguments)


@pytest.mark.parametrize("seed", range(50))
def test_both_put_words_between_marks_alike(compiled: Automata, seed: int) -> None:
    random = Random(seed)
    states, symbols = random.randint(1, 6), random.randint(1, 4)
    rows = [[random.randrange(-1, states) for _ in range(symbols)] for _ in range(states)]
    accepting = [random.random() < 0.5 for _ in range(states)]
    kept, *_ = compiled.minimise(rows, [*map(int, accepting)], [0])
    assert compiled.between(rows, accepting) == PLAIN.between(rows, accepting)
    if kept:
        ends = [True] * len(kept)
        assert compiled.between(kept, ends) == PLAIN.between([*kept], ends)


@pytest.mark.parametrize("seed", range(60))
def test_both_minimise_what_has_no_cycle_alike(compiled: Automata, seed: int) -> None:
    random = Random(seed)
    states, symbols = random.randint(1, 40), random.randint(1, 3)
    # Few far targets, so that many states are the same.
    rows = [
        [random.choice([-1, *range(state + 1, min(state + 4, states))]) for _ in range(symbols)]
        for state in range(states)
    ]
    tags, starts = random.choices([0, 0, 1, 2], k=states), [0, random.randrange(-1, states)]
    assert compiled.minimise(rows, tags, starts) == PLAIN.minimise(rows, tags, starts)


@pytest.mark.parametrize("seed", range(50))
def test_both_read_the_same_words(compiled: Automata, seed: int) -> None:
    random = Random(seed)
    symbols = bytes([0, 1, 0x80, 0xFF][: random.randint(1, 4)])
    words = [
        bytes(random.choices(symbols, k=random.randrange(4))) for _ in range(random.randrange(9))
    ]
    classes = bytes(min(byte, 2) + (byte > 0x80) for byte in range(256))
    limit = random.choice([1, 3, 100])
    assert compiled.literals(words, classes, limit) == PLAIN.literals(words, classes, limit)


@pytest.mark.parametrize("seed", range(100))
def test_both_count_alike(compiled: Automata, seed: int) -> None:
    random = Random(seed)
    states = random.randint(1, 5)
    targets = [random.choices(range(states), k=random.randrange(4)) for _ in range(states)]
    shortest = [random.randrange(3) for _ in range(states)]
    longest = [random.choice([None, least, least + 2]) for least in shortest]
    low, high = random.randrange(5), random.choice([-1, 5, 9])
    stops, most, work = {random.randrange(9)}, random.choice([2, 100]), random.choice([5, 10**4])
    arguments = targets, shortest, longest, low, high, stops, most, work
    if high >= 0 or low > shortest[0]:
        assert compiled.count(*arguments) == PLAIN.count(*arguments)
