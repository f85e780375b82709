"""The work of patterns with many characters: counted where states meet borders, else linear."""

from collections.abc import Sequence

from kbnf_core.automata.codepoints import CodePoints, partition
from kbnf_core.automata.regex import compile_regex
from kbnf_testing.counted import growth


def test_every_layout_of_characters_is_counted() -> None:
    count = 100
    pattern = "|".join(chr(0x4E00 + place) + chr(0x5E00 + 7 * place) for place in range(count))
    # The code-point automaton alone has as many states as alternatives, over twice the blocks.
    minimised = 2 * count * count
    borders = 3 * count
    assert compile_regex(pattern).work >= minimised + count * borders


def test_sets_of_characters_are_cut_up_in_linear_time() -> None:
    def family(size: int) -> Sequence[CodePoints]:
        return [((3 * place, 3 * place),) for place in range(size)]

    assert growth(partition, family, 500) < 2.2
