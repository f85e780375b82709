"""The runner of cases: whatever a case does, it is named, and the others are run."""

import os
import signal

import pytest

from kbnf_testing.forked import AVAILABLE, LARGEST_MEMORY, Ended, run_forked

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="forks with limits are for Linux only")


def misbehave(case: int) -> str:
    if case == 1:
        os.kill(os.getpid(), signal.SIGSEGV)
    if case == 3:
        raise ValueError("not caught")
    if case == 4:
        # As if the time were over.
        os.kill(os.getpid(), signal.SIGALRM)
    if case == 5:
        try:
            bytearray(2 * LARGEST_MEMORY)
        except MemoryError:
            return "too large"
    return f"case {case}"


def test_each_case_ends_in_its_own_way() -> None:
    ended = list(run_forked(range(7), misbehave))
    assert ended == [
        Ended(0, "case 0"),
        Ended(1, "died: SIGSEGV"),
        Ended(2, "case 2"),
        Ended(3, "died: status 70"),
        Ended(4, "died: took more than 10 s"),
        Ended(5, "too large"),
        Ended(6, "case 6"),
    ]
