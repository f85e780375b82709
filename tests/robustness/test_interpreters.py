"""Several interpreters in one process, and Python without its global lock.

The engine is for one interpreter of a process: the first that loads it. Any other is told so.
"""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

INTERPRETERS = {(3, 11): "_xxsubinterpreters", (3, 12): "_xxsubinterpreters"}

PROGRAM = """
import sys
import {module} as interpreters

MASK = '''
import sys, warnings
warnings.simplefilter("ignore")
sys.path[:0] = {path!r}
from kbnf_core import Grammar, KbnfError
try:
    from kbnf_core import Engine, Vocabulary
    engine = Engine("start ::= 'a';", Vocabulary.bytes())
    engine.compute_allowed_token_ids()
    print(engine.get_allowed_token_ids_from_last_computation(), flush=True)
except KbnfError as error:
    print(type(error).__name__, error, flush=True)
print(len(Grammar("start ::= 'a' | 'b';").source.text), flush=True)
'''
for where in {order!r}:
    if where == "main":
        exec(MASK, {{}})
    else:
        one = interpreters.create()
        interpreters.run_string(one, MASK)
        interpreters.destroy(one)
print("end")
"""


def run(order: list[str]) -> "subprocess.CompletedProcess[str]":
    """Use the engine in interpreters of one process, one after the other."""
    module = INTERPRETERS.get(sys.version_info[:2])
    if module is None or sys.implementation.name != "cpython":
        pytest.skip("NumPy itself refuses an interpreter of its own lock")
    path = [str(ROOT / "core"), str(ROOT)]
    program = PROGRAM.format(module=module, path=path, order=order)
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120
    )


def test_another_interpreter_is_told_that_the_engine_is_in_use() -> None:
    done = run(["main", "other"])
    assert done.returncode == 0, done.stderr
    first, size, second, *rest = done.stdout.splitlines()
    assert (first, size) == ("[97]", "20")
    assert second.startswith("MissingEngineError this needs the compiled engine")
    assert second.endswith("use it in the interpreter that loaded it first, or in another process")
    assert rest == ["20", "end"]


def test_the_first_interpreter_may_be_any() -> None:
    done = run(["other"])
    assert (done.returncode, done.stdout) == (0, "[97]\n20\nend\n"), done.stderr


def test_python_without_its_lock_turns_it_on() -> None:
    """What engines share is guarded by it; an extension that says nothing gets it."""
    files = sorted((ROOT / "build").glob("core/kbnf_core/*/*.cpp"))
    if not files:
        pytest.skip("the engine was not built here")
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        assert "{Py_mod_gil, __Pyx_FREETHREADING_COMPATIBLE}" in text, file
        assert "#define CYTHON_FREETHREADING_COMPATIBLE" not in text, file
