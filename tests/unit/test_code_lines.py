"""The table of code lines in core/README.md is true, and the lines of the kernel are short."""

import tomllib
from pathlib import Path

import pytest

from kbnf_testing.code_lines import README, code_lines, feature_of, function_lengths, with_table

ROOT = Path(__file__).resolve().parents[2]

PYTHON = '''"""Two lines
of prose."""

# A comment.
ONE = 1  # with a comment


def two() -> str:
    """Says so."""
    return """a text
of three lines
"""
'''


def test_what_counts_as_a_code_line() -> None:
    assert code_lines(PYTHON, is_python=True) == 5
    assert code_lines("# no\n\ncdef int i = 1\n", is_python=False) == 1
    assert list(function_lengths(PYTHON)) == [4]


def test_the_table_of_code_lines_is_true() -> None:
    readme = README.read_text(encoding="utf-8")
    rewrite = "PYTHONPATH=tests/support python -m kbnf_testing.code_lines"
    assert readme == with_table(readme), f"`{rewrite}` writes it; a feature pays for its lines"


def test_no_line_is_longer_than_those_of_python() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    most = settings["tool"]["ruff"]["line-length"]
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in (ROOT / "core").rglob("*.p*")
        if path.suffix in (".pxi", ".pyx", ".pxd")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > most
    ]
    assert not found


def test_a_feature_is_the_longest_name_that_fits() -> None:
    assert feature_of(ROOT / "core" / "kbnf_core" / "languages" / "gbnf" / "parse.py") == "GBNF"
    assert feature_of(ROOT / "kbnf_cli" / "play" / "session.py") == "console (play)"
    with pytest.raises(ValueError, match="empty"):
        feature_of(ROOT / "core" / "kbnf_core" / "nowhere.py")
