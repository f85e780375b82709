"""Which kernel is in use; and that the engine's tests pass on the other one too."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from kbnf_core.kernel import CHOICE_VARIABLE, kernel_name
from kbnf_core.kernel.interface import Kernel

ROOT = Path(__file__).resolve().parents[3]


def test_the_variable_turns_the_compiled_kernel_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CHOICE_VARIABLE, "numpy")
    assert kernel_name() == "numpy"


def test_the_compiled_kernel_is_used_where_it_was_built(
    compiled: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(CHOICE_VARIABLE, raising=False)
    assert kernel_name() == compiled.NAME == "compiled"


def test_the_compiled_automata_are_used_where_they_were_built(compiled: Kernel) -> None:
    del compiled
    built = find_spec("kbnf_core.automata._automata")
    assert built is not None
    script = "from kbnf_core.automata.chosen_kernel import AUTOMATA; print(AUTOMATA.__name__)"
    for wanted, name in (("", "_automata"), ("numpy", "plain_kernel")):
        done = subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {CHOICE_VARIABLE: wanted},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == f"kbnf_core.automata.{name}"


@pytest.mark.ci
def test_the_corpus_and_the_counts_on_the_numpy_kernel(compiled: Kernel) -> None:
    tests = [ROOT / "tests/unit/test_corpus.py", ROOT / "tests/unit/test_counted_work.py"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, tests)],
        cwd=ROOT,
        env=os.environ | {CHOICE_VARIABLE: "numpy"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout


@pytest.mark.parametrize(("wanted", "used"), [("", "compiled"), ("numpy", "plain")])
def test_the_automata_kernel_follows_the_same_choice(
    compiled: Kernel, wanted: str, used: str
) -> None:
    program = "from kbnf_core.automata.chosen_kernel import AUTOMATA; print(AUTOMATA.NAME)"
    environment = os.environ | {CHOICE_VARIABLE: wanted}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == used
