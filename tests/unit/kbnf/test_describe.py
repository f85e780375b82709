"""Expressions in words, line by line, with the spans that they are about."""

import pytest

from kbnf_core.automata.codepoints import from_ranges
from kbnf_core.frontend import KBNF, read_grammar
from kbnf_core.kbnf.describe import describe, set_words
from kbnf_core.text.source import Source

TEXT = """start ::= "a" [name] (x | except!("b")){2,5};
name ::= #"(?i)ab|[a-c]+\\\\.[^\\n]?";
x ::= #e"yz";
"""


def lines(text: str) -> list[tuple[str, str]]:
    """Return the words of each line and the text that it is about."""
    document = read_grammar(Source(text, "g.kbnf"), KBNF).document
    found = (line for each in document.definitions for line in describe(each.body, {}))
    return [(str(line), document.source.slice(line.span)) for line in found]


def test_forms_and_their_spans() -> None:
    found = lines(TEXT)
    assert found[:7] == [
        ("one after the other:", '"a" [name] (x | except!("b")){2,5}'),
        ("  - the text 'a'", '"a"'),
        ("  - optional:", "[name]"),
        ("    - name", "name"),
        ("  - 2 to 5 times:", '(x | except!("b")){2,5}'),
        ("    - one of:", 'x | except!("b")'),
        ("      - x", "x"),
    ]
    assert ("  - the text 'yz'", '#e"yz"') in found


def test_a_regular_expression_has_lines_of_its_own() -> None:
    found = [words for words, span in lines(TEXT) if span.startswith('#"(?i)')]
    assert found == [
        r"what the regular expression (?i)ab|[a-c]+\.[^" "\n]? matches:",
        "  - one of:",
        "    - one after the other:",
        "      - a character of 'A', 'a'",
        "      - a character of 'B', 'b'",
        "    - one after the other:",
        "      - once or more:",
        "        - a character of 'A' to 'C', 'a' to 'c'",
        "      - the text '.'",
        "      - optional:",
        r"        - a character other than '\n'",
    ]


@pytest.mark.parametrize(
    ("ranges", "words"),
    [
        ([], "no character"),
        ([(0, 0x10FFFF)], "any character"),
        ([(48, 57), (95, 95)], "a character of '0' to '9', '_'"),
        ([(0, 9), (11, 0x10FFFF)], r"a character other than '\n'"),
        ([(65 + 2 * n, 65 + 2 * n) for n in range(9)], ", 3 more ranges"),
    ],
)
def test_a_set_in_words(ranges: list[tuple[int, int]], words: str) -> None:
    assert set_words(from_ranges(ranges)).endswith(words)


def test_a_large_expression_is_cut() -> None:
    found = lines('start ::= #"' + "(a|bc*)" * 500 + '";')
    assert len(found) == 62
    assert found[-1][0] == "  - and so on"
