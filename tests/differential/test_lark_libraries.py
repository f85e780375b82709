"""The libraries written here have the terminals that lark ships."""

from typing import Any

import pytest

from kbnf_core.automata.operations import is_equal
from kbnf_core.convert import from_lark
from kbnf_core.languages.lark.reader.modules import LARK_LIBRARIES
from kbnf_core.languages.lark.regex import beginnings, matcher, parse
from kbnf_core.text.errors import GrammarError

EMPTY = {"_STRING_INNER", "_STRING_ESC_INNER"}
"""Parts of terminals that can be empty, which lark takes for no terminal of their own."""

NAMES = [
    (library, line.partition(":")[0].partition(".")[0])
    for library, text in LARK_LIBRARIES.items()
    for line in text.splitlines()
    if line and not line.startswith(tuple(EMPTY))
]


def terminal_of(grammar: str, name: str) -> tuple[str, int]:
    """Return the regular expression and the priority that lark gives a terminal."""
    import lark

    parser: Any = lark.Lark(grammar, parser="earley")
    found = next(terminal for terminal in parser.terminals if terminal.name == name)
    return found.pattern.to_regexp(), found.priority


@pytest.mark.parametrize(("library", "name"), NAMES)
def test_terminals_are_those_of_lark(library: str, name: str) -> None:
    theirs, priority = terminal_of(f"start: X\n%import {library}.{name} -> X", "X")
    ours, our_priority = terminal_of(f"start: {name}\n{LARK_LIBRARIES[library]}", name)
    left, right = parse(theirs).node, parse(ours).node
    if "*?" not in theirs:
        # A lazy repetition could match more than it ever does; ours are written without.
        assert is_equal(matcher(left, ordered=False).dfa, matcher(right, ordered=False).dfa)
    assert is_equal(matcher(left).dfa, matcher(right).dfa)
    assert is_equal(beginnings(left), beginnings(right))
    assert priority == our_priority


def test_rules_of_libraries_are_refused() -> None:
    with pytest.raises(GrammarError) as caught:
        from_lark("start: file_input\n%import python.file_input")
    (finding,) = [f for f in caught.value.diagnostics if f.code == "E422"]
    assert finding.source.slice(finding.span) == "file_input"
    assert "beside" in finding.helps[0]
