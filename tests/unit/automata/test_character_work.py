"""The work of patterns with many characters is counted where states meet borders."""

from kbnf_core.automata.regex.compile import compile_regex


def test_every_layout_of_characters_is_counted() -> None:
    count = 100
    pattern = "|".join(chr(0x4E00 + place) + chr(0x5E00 + 7 * place) for place in range(count))
    # The code-point automaton alone has as many states as alternatives, over twice the blocks.
    minimised = 2 * count * count
    borders = 3 * count
    assert compile_regex(pattern).work >= minimised + count * borders
