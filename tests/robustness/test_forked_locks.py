"""Children forked while other threads hold locks: each does what its parent can, and ends."""

import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import kbnf_core
from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.compiler import Compiler
from kbnf_core.mask import ahead
from kbnf_core.text import locks
from kbnf_core.text.remembered import Remembered
from kbnf_testing import forked
from kbnf_testing.forked import End

pytestmark = forked.needed

SOURCES = [Path(kbnf_core.__file__).parent]
VOCABULARY = Vocabulary.bytes()
GRAMMAR = Grammar("start ::= '[' [start {',' start}] ']' | #'[0-9]+';")


def mask(_case: str) -> str:
    engine = Engine(GRAMMAR, VOCABULARY)
    engine.compute_allowed_token_ids()
    return str(len(engine.get_allowed_token_ids_from_last_computation()))


def compiled(_case: str) -> str:
    with Compiler(VOCABULARY) as compiler:
        return str(compiler.grammar("start ::= 'a';").tables.state_count)


def tree(_case: str) -> str:
    return str(len(list(GRAMMAR.parse("[1,2]").events())))


TASKS: dict[str, Callable[[str], str]] = {"mask": mask, "compiled": compiled, "tree": tree}


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_child_does_not_wait_for_threads_that_it_does_not_have(
    task: Callable[[str], str],
) -> None:
    """Each lock there is is taken by a thread that will never open it in the child."""
    expected = task("before")
    taken, may_end = threading.Event(), threading.Event()

    def hold() -> None:
        # But for one that a fork waits for in the parent.
        known = [lock for lock in locks._locks if lock is not ahead._thread.busy]
        for lock in known:
            lock.acquire()
        taken.set()
        may_end.wait(60)
        for lock in known:
            lock.release()

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait(60)
    try:
        found = forked.run(task, ["in the child"], seconds=20, memory=1 << 30, batch=1)
    finally:
        may_end.set()
        thread.join()
    assert [outcome.end for outcome in found] == [End.RETURNED], found
    assert found[0].value == expected


def test_every_lock_is_renewed() -> None:
    """No module makes locks of its own, nor properties with a lock."""
    made = re.compile(r"\b(?:threading\.)?R?Lock\(\)|functools import .*\bcached_property\b")
    for path in (each for folder in SOURCES for each in sorted(folder.rglob("*.py"))):
        if path.name != "locks.py":
            assert not made.search(path.read_text(encoding="utf-8")), path


def test_a_lock_that_nobody_has_is_forgotten() -> None:
    before = len(locks._locks)
    memo = Remembered[str, str](10, lambda _key, _value: 1)
    assert len(locks._locks) == before + 1
    del memo
    assert len(locks._locks) == before


def test_properties_are_computed_without_a_lock() -> None:
    """One that waits for another thread's value of another object would never end in a child."""

    class Waiting:
        @locks.cached_property
        def value(self) -> str:
            if threading.current_thread() is not threading.main_thread():
                begun.set()
                may_end.wait(60)
            return "known"

    begun, may_end = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: Waiting().value)
    thread.start()
    begun.wait(60)
    assert Waiting().value == "known"
    may_end.set()
    thread.join()
