"""Reads the settings that a grammar carries in its comments.

``(* kbnf: finish=eos start=root *)`` applies for the whole file. ``(* kbnf: ignore[W101] *)``
silences findings on the line on which the comment ends; where nothing else is on that line, on the
next line that has text. ``columns=48`` is the greatest number of families. ``from=json-schema``
names the language that a text was converted from: rules that nobody wrote are not searched for what
could be written otherwise. Several settings are separated by blanks or commas. Comments with
``accept`` or ``reject`` are examples, see ``examples.comments``.

Tests: tests/unit/kbnf/test_pragmas.py, tests/unit/kbnf/test_hostile.py
"""

import re
from collections.abc import Container, Iterator
from typing import NamedTuple

from kbnf_core.kbnf.tree import Comment, Document
from kbnf_core.text.diagnostics import CATALOGUE, Diagnostic
from kbnf_core.text.source import Span

FINISHES = ("eager", "token", "eos")

ORIGINS = ("json-schema", "structural-tag", "tool-list")
"""Languages whose texts, converted to KBNF, have rules that nobody wrote."""

COLUMNS = 64
"""The greatest number of families without a pragma."""

MOST_COLUMNS = 1_024
"""The greatest value of ``columns``."""

_PRAGMA = re.compile(r"\s*kbnf:(?!\s*(?:accept|reject)\b)")
_SETTING = re.compile(
    r"ignore\s*\[(?P<codes>[^\[\]]*)\]|(?P<key>\w+)\s*=(?:\s*(?P<value>[^\s,]+))?|(?P<other>[^\s,]+)"
)
_CODE = re.compile(r"[^\s,]+")
_COLUMNS = re.compile(r"[0-9]{1,4}")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Ignore(NamedTuple):
    """``ignore[code]``: findings with this code on 1-based ``line`` are not wanted."""

    code: str
    line: int
    span: Span


class Pragmas:
    """Settings of a grammar; None where it says nothing."""

    def __init__(self) -> None:
        self.finish: str | None = None
        self.start: str | None = None
        self.origin: str | None = None
        self.columns: int | None = None
        self.ignores: list[Ignore] = []

    @property
    def most_columns(self) -> int:
        """The greatest number of families in force."""
        return COLUMNS if self.columns is None else self.columns


def read_pragmas(document: Document) -> tuple[Pragmas, tuple[Diagnostic, ...]]:
    """Return the settings in the comments of ``document``, and a W002 for each invalid one."""
    pragmas = Pragmas()
    findings: list[Diagnostic] = []
    lines = _Lines(document)
    for comment in document.comments:
        mark = _PRAGMA.match(comment.text)
        if mark is None:
            continue
        start = document.source.text.index(comment.text, comment.span.start)
        for setting in _SETTING.finditer(comment.text, mark.end()):
            if setting["codes"] is None:
                problem = _set(pragmas, setting, document.first_names)
                problems = [(setting.span(), problem)] if problem else []
            else:
                problems = list(_ignore(pragmas, setting, start, lines.silenced_by(comment)))
            findings.extend(
                Diagnostic("W002", text, document.source, Span(start + a, start + b))
                for (a, b), text in problems
            )
    return pragmas, tuple(findings)


def _set(pragmas: Pragmas, setting: re.Match[str], names: Container[str]) -> str | None:
    """Apply ``key=value``; return the reason why it is invalid, or None.

    ``names`` are those defined, which have hyphens in some languages.
    """
    key, value = setting["key"], setting["value"] or ""
    if key == "finish":
        if value not in FINISHES:
            return f"`finish` is one of {', '.join(FINISHES)}"
        previous, pragmas.finish = pragmas.finish, value
    elif key == "start":
        if not (_IDENTIFIER.fullmatch(value) or value in names):
            return "`start` needs the name of a rule"
        previous, pragmas.start = pragmas.start, value
    elif key == "columns":
        if not _COLUMNS.fullmatch(value) or int(value) > MOST_COLUMNS:
            return f"`columns` is a number up to {MOST_COLUMNS:,}"
        previous = None if pragmas.columns is None else str(pragmas.columns)
        pragmas.columns = int(value)
    elif key == "from":
        if value not in ORIGINS:
            return f"`from` is {', '.join(ORIGINS)}"
        previous, pragmas.origin = pragmas.origin, value
    else:
        return (
            f"unknown setting `{key or setting['other']}`; there are finish, start, columns, from"
            " and ignore[...]"
        )
    return None if previous in (None, value) else f"`{key}` was already set to `{previous}`"


def _ignore(
    pragmas: Pragmas, setting: re.Match[str], start: int, line: int
) -> Iterator[tuple[tuple[int, int], str]]:
    """Note the codes of an ``ignore[...]``; yield those that do not exist."""
    codes = list(_CODE.finditer(setting.string, *setting.span("codes")))
    if not codes:
        yield setting.span(), "`ignore[...]` needs a code"
    for code in codes:
        if code[0] in CATALOGUE:
            span = Span(start + code.start(), start + code.end())
            pragmas.ignores.append(Ignore(code[0], line, span))
        else:
            yield code.span(), f"there is no code `{code[0]}`"


class _Lines:
    """Finds the line that a comment silences."""

    def __init__(self, document: Document) -> None:
        self._source = document.source
        self._comments = document.comments
        self._next_with_text: list[int] = []

    def silenced_by(self, comment: Comment) -> int:
        """Return the 1-based line that ``comment`` is about."""
        if not self._next_with_text:
            self._next_with_text = self._find_text()
        return self._next_with_text[self._source.position(comment.span.end).line - 1]

    def _find_text(self) -> list[int]:
        """Return for each line itself, or else the next line, that has more than comments."""
        texts: list[str] = []
        end = 0
        for comment in self._comments:
            texts.append(self._source.text[end : comment.span.start])
            texts.append("\n" * comment.text.count("\n"))
            end = comment.span.end
        texts.append(self._source.text[end:])
        lines = "".join(texts).split("\n")
        last = len(lines)
        numbers = []
        for number in range(len(lines), 0, -1):
            last = number if lines[number - 1].strip() else last
            numbers.append(last)
        return numbers[::-1]
