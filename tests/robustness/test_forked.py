"""The runner of forked children: every way to end is told from the others, and stops no other."""

import os
import signal
import time

import pytest

from kbnf_testing import forked, robustness
from kbnf_testing.forked import End

pytestmark = forked.needed


def work(case: str) -> str:
    if case == "raise":
        raise ValueError(case)
    if case == "exit":
        os._exit(3)
    if case == "signal":
        os.kill(os.getpid(), signal.SIGKILL)
    if case == "time":
        time.sleep(60)
    if case == "memory":
        return str(len(bytearray(1 << 30)))
    return case.upper()


def test_each_end_names_its_case_and_the_next_case_runs() -> None:
    names = ["a", "raise", "b", "exit", "c", "signal", "memory", "d", "time", "e", "f"]
    found = forked.run(work, names, seconds=0.5, memory=1 << 28, batch=4)
    assert [outcome.case for outcome in found] == names
    assert [outcome.value for outcome in found if outcome.end is End.RETURNED] == list("ABCDEF")
    ends = {outcome.case: outcome.end for outcome in found if outcome.end is not End.RETURNED}
    assert ends == {
        "raise": End.RAISED,
        "exit": End.DIED,
        "signal": End.DIED,
        "memory": End.MEMORY,
        "time": End.TIMEOUT,
    }
    assert len(forked.failures(found)) == len(ends)
    assert "ValueError: raise" in forked.failures(found)[0]
    assert "SIGKILL" in forked.failures(found)[2]


def test_the_environment_sets_seed_and_number_of_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KBNF_ROBUSTNESS_CASES", raising=False)
    monkeypatch.setenv("KBNF_ROBUSTNESS_SEED", "1")
    first = robustness.generator("x", 0).random()
    assert list(robustness.cases(3)) == [0, 1, 2]
    assert robustness.generator("x", 0).random() == first
    monkeypatch.setenv("KBNF_ROBUSTNESS_SEED", "2")
    monkeypatch.setenv("KBNF_ROBUSTNESS_CASES", "5")
    assert len(robustness.cases(3)) == 5
    assert robustness.generator("x", 0).random() != first
