"""The table of code lines in core/README.md is true."""

from kbnf_testing.code_lines import README, code_lines, function_lengths, with_table

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
