"""Check, fmt, convert and diagram say the same without compiled modules, NumPy and regex."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import kbnf_testing.without_arrays
from kbnf_core.languages import EXTENSIONS

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = kbnf_testing.without_arrays.__file__
LONGEST = {"slow": 20_000, "quick": 700}
FILES = sorted(
    (path.stat().st_size, path.relative_to(ROOT).as_posix())
    for folder in ("grammars", "tests/data")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in EXTENSIONS and path.suffix != ".json"
)
CHOSEN = ["grammars/json.kbnf", "grammars/tool_call.kbnf"]
"""Exceptions, and a longer one."""


@cache
def said(how: str, files: tuple[str, ...]) -> dict[str, Any]:
    ran = subprocess.run(
        [sys.executable, PROGRAM, how, *files],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    value: dict[str, Any] = json.loads(ran.stdout)
    return value


def compare(how: str, files: tuple[str, ...]) -> None:
    less, full = said(how, files), said("full", files)
    assert less.keys() == full.keys()
    for name, value in full.items():
        expected, found = value, less[name]
        if name.startswith("check "):
            # Its search takes the engine.
            expected = [each for each in value if each[0] != "W307"]
        if name.startswith("to_") and isinstance(value[0], str):
            # That no text goes on is not proved without the engine, and so W403 is said.
            expected = [value[0], sorted({*value[1], *({"W403"} & {*found[1]})})]
            found = [found[0], sorted(set(found[1]))]
        assert found == expected, name


@pytest.mark.parametrize("how", ["bare", "uncompiled"])
def test_small_grammars(how: str) -> None:
    small = [name for size, name in FILES if size <= LONGEST["quick"]]
    compare(how, (*small[::4], *CHOSEN))


@pytest.mark.slow
@pytest.mark.parametrize("how", ["bare", "uncompiled"])
def test_all_grammars(how: str) -> None:
    # One is taken by none: minutes for its exceptions in plain Python.
    slow = "grammars/reasoned_answer.kbnf"
    files = (name for size, name in FILES if size <= LONGEST["slow"] and name != slow)
    compare(how, tuple(files))
