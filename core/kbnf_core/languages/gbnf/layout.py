"""Lays out definitions of GBNF: comments, empty lines and long alternations.

Comments are in the original, definitions may have moved away from theirs; each comment goes
where the part of the original is that is nearest after it, or before it on its line.

Tests: tests/unit/languages/gbnf/test_to_gbnf.py
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kbnf_core.conversion.to_kbnf import lines_of
from kbnf_core.kbnf.tree import Comment
from kbnf_core.text.source import Source, Span

_WORD = re.compile(r'(?s)"(?:[^"\\]|\\.)*"')
"""An alternative that is one text."""

WIDTH = 100
"""A definition on one line is at most as long as this, in code points."""


@dataclass(frozen=True, slots=True)
class Written:
    """A definition: its name, and the text of each of its branches.

    ``places`` are the spans of the branches in the original, as many; ``span`` is that of the
    whole. ``remark`` is a comment on a definition that nobody wrote.
    """

    name: str
    branches: tuple[str, ...]
    places: tuple[Span, ...]
    span: Span
    remark: str | None = None


def lay_out(source: Source, definitions: Iterable[Written], comments: Iterable[Comment]) -> str:
    """Return the text of ``definitions``, in the order of the original, with its comments."""
    writer = _LayoutWriter(source)
    pending = deque(sorted(comments, key=lambda comment: comment.span.start))
    for definition in sorted(definitions, key=lambda each: each.span.start):
        writer.add_comments(_take(pending, definition.span.start))
        writer.add_definition(definition, _take(pending, _end_of_line(source, definition)))
    writer.add_comments(pending)
    return "".join(f"{line}\n" for line in writer.lines)


def _take(pending: deque[Comment], end: int) -> list[Comment]:
    """Remove and return the comments in front that start before ``end``."""
    taken: list[Comment] = []
    while pending and pending[0].span.start < end:
        taken.append(pending.popleft())
    return taken


def _end_of_line(source: Source, definition: Written) -> int:
    """Return where the last line of ``definition`` ends; comments before it belong to it."""
    result = source.text.find("\n", definition.span.end)
    return len(source.text) if result < 0 else result


class _LayoutWriter:
    """Collects lines; ``_end`` is where the part of the original that was written last ends."""

    def __init__(self, source: Source) -> None:
        self.lines: list[str] = []
        self._source = source
        self._end = 0

    def add_comments(self, comments: Iterable[Comment]) -> None:
        """Write comments that are between definitions."""
        for comment in comments:
            self._keep_empty_line(comment.span.start)
            self.lines.append(_comment(comment.text))
            self._end = comment.span.end

    def add_definition(self, definition: Written, comments: Sequence[Comment]) -> None:
        """Write a definition; comments inside it go to the ends of its lines."""
        self._keep_empty_line(definition.span.start)
        if definition.remark is not None:
            self.lines += [""] * bool(self.lines)
            self.lines.append(_comment("\n".join(lines_of(definition.remark))))
        inner = [c for c in comments if c.span.start < definition.span.end]
        trailing = [c for c in comments if c.span.start >= definition.span.end]
        line = f"{definition.name} ::= {' | '.join(definition.branches)}"
        if inner or len(line) > WIDTH or self._is_broken(definition):
            self._add_broken(definition, inner)
        else:
            self.lines.append(line)
        for comment in trailing:
            self.lines[-1] += f" {_comment(comment.text)}"
        self._end = max((definition.span.end, *(c.span.end for c in trailing)))

    def _is_broken(self, definition: Written) -> bool:
        """Return whether an alternation has a line for every branch in the original."""
        return len(definition.places) > 1 and all(
            "\n" in self._source.text[left.end : right.start]
            for left, right in pairwise(definition.places)
        )

    def _add_broken(self, definition: Written, comments: Sequence[Comment]) -> None:
        self.lines.append(f"{definition.name} ::=")
        is_list = all(_WORD.fullmatch(branch) for branch in definition.branches)
        if is_list and not comments and not self._is_broken(definition):
            self.lines += self._filled(definition.branches)
            return
        pending = deque(comments)
        ends = [*(place.start for place in definition.places[1:]), definition.span.end]
        for number, (branch, end) in enumerate(zip(definition.branches, ends, strict=True)):
            last = number + 1 == len(ends)
            remarks = [_comment(c.text) for c in _take(pending, end)]
            self.lines.append(" ".join([f"  {branch}{'' if last else ' |'}", *remarks]))

    def _filled(self, words: Sequence[str]) -> Iterator[str]:
        """Yield the lines of a list of words, as many on each as fit."""
        first = 0
        while first < len(words):
            end, width = first + 1, len(words[first])
            while end < len(words) and width + len(words[end]) + 3 <= WIDTH - 6:
                width += len(words[end]) + 3
                end += 1
            yield f"  {' | '.join(words[first:end])}{' |' if end < len(words) else ''}"
            first = end

    def _keep_empty_line(self, start: int) -> None:
        between = self._source.text[self._end : start]
        if self.lines and between.count("\n") > 1 and not between.strip():
            self.lines.append("")


def _comment(text: str) -> str:
    """Return a comment of GBNF, a line for every line."""
    return "\n".join(f"# {line.strip()}".rstrip() for line in text.strip().splitlines()) or "#"
