"""Finds out where a new layout would move words into or out of a line that a pragma silences."""

from collections import defaultdict
from collections.abc import Sequence

from kbnf_core.format.words import Contents, read_contents
from kbnf_core.languages.kbnf.parse import parse_kbnf
from kbnf_core.source import Source
from kbnf_core.syntax.pragmas import Ignore, read_pragmas

_Part = tuple[int, int, int]
"""A line of a word: number of the statement, number of the word in it, number of the line."""

_END = -1
"""The number of a ``;``."""


def moved_statements(
    before: Contents, source: Source, ignores: Sequence[Ignore], text: str
) -> frozenset[int]:
    """Return the numbers of the statements that silenced lines share otherwise in ``text``.

    ``before`` and ``ignores`` are those of ``source``; ``text`` has the same words and comments.
    """
    after = Source(text)
    lines = _lines(before, source)
    new_lines = _lines(read_contents(after), after)
    new_ignores = read_pragmas(parse_kbnf(after).document)[0].ignores
    moved: set[int] = set()
    for old, new in zip(ignores, new_ignores, strict=True):
        was, is_ = lines[old.line], new_lines[new.line]
        if _without_ends(was) != _without_ends(is_):
            moved |= {statement for statement, _, _ in was | is_}
    return frozenset(moved)


def _without_ends(parts: set[_Part]) -> set[_Part]:
    """Return the parts that a finding can begin at: a ``;`` is none."""
    return {part for part in parts if part[1] != _END}


def _lines(contents: Contents, source: Source) -> dict[int, set[_Part]]:
    """Return which parts of words stand on each 1-based line."""
    lines: dict[int, set[_Part]] = defaultdict(set)
    for number, statement in enumerate(contents.statements):
        for index, word in enumerate(statement.words):
            first = source.position(word.span.start).line
            place = _END if word.type == "END" else index
            for part in range(word.text.count("\n") + 1):
                lines[first + part].add((number, place, part))
    return lines
