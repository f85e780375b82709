"""First grammars with the mistakes that everybody makes: what is said, and what fixing does.

A golden file holds the grammar in lines that start with ``| ``, what ``kbnf check`` says about it,
and, after each round of ``--fix --unsafe-fixes``, the text and what is still to be said.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from kbnf_core import check
from kbnf_core.lint.check import fix_text
from kbnf_core.text.diagnostics import Severity
from kbnf_core.text.diagnostics.text import render_text

HERE = Path(__file__).parent
NAMES = sorted(file.name for file in HERE.glob("*.txt"))


@pytest.mark.parametrize("name", NAMES)
def test_session(name: str, golden: Callable[[str, str], None]) -> None:
    golden(name, _session(name))


@pytest.mark.parametrize("name", NAMES)
def test_fixes_lead_to_a_usable_grammar(name: str) -> None:
    fixed = fix_text(_grammar(name), check, unsafe=True).text
    assert [each.code for each in check(fixed) if each.severity is Severity.ERROR] == []


def _grammar(name: str) -> str:
    lines = (HERE / name).read_text(encoding="utf-8").partition("$ ")[0].splitlines()
    return "".join(f"{line[2:]}\n" for line in lines if line.startswith("| "))


def _session(name: str) -> str:
    file = f"{Path(name).stem}.kbnf"
    before = _grammar(name)
    after = fix_text(before, check, unsafe=True).text
    return "".join(
        (
            _quoted(before),
            f"$ kbnf check {file}\n{_findings(before, file)}",
            f"$ kbnf check --fix --unsafe-fixes {file}\n{_quoted(after)}{_findings(after, file)}",
        )
    )


def _quoted(text: str) -> str:
    return "".join(f"| {line}\n" for line in text.splitlines())


def _findings(text: str, file: str) -> str:
    found = [part for each in check(text, file) for part in render_text(each)]
    return "".join(part.text for part in found) or "no problems\n"
