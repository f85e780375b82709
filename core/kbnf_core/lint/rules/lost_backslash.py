r"""W205: lost backslashes, in classes that go on where they were meant to end and in ``'xb0'``.

A text such as ``x86`` may be meant; one is reported where others beside it are written ``\xHH``, or
look the same and have a letter among their digits.

Tests: tests/golden/lint
"""

import re
from collections.abc import Iterator

from kbnf_core.frontend import Reading
from kbnf_core.kbnf.printer import as_read
from kbnf_core.kbnf.tree import ByteString, Terminal, Text
from kbnf_core.languages import BNF, GBNF, KBNF
from kbnf_core.lint.subject import Needs, Subject, classes_in, patterns_in
from kbnf_core.text.diagnostics import Diagnostic, Rule

RULES = (Rule("W205", "lost-backslash", "A backslash seems to be lost, in a class or in `'xb0'`."),)
NEEDS = Needs.DOCUMENT

_OPERATORS = frozenset("|()*+?{")
_BARE = re.compile(r"x([0-9A-Fa-f]{2})")
_ESCAPED = re.compile(r"\\x[0-9A-Fa-f]{2}")


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding for each class that contains the end of one, an operator and a new beginning.

    And for texts that look like escapes without their backslash.
    """
    reading = subject.reading
    if reading.language in (KBNF, BNF, GBNF):
        yield from _bare_escapes(reading)
    if reading.language is not KBNF:
        return
    for node in patterns_in(reading.document):
        yield from _in_pattern(reading, node.text)


def _bare_escapes(reading: Reading) -> Iterator[Diagnostic]:
    source = reading.document.source
    texts = [n for n in reading.document.written_nodes() if isinstance(n, Terminal | ByteString)]
    bare = [n for n in texts if isinstance(n, Terminal) and _BARE.fullmatch(n.text.value)]
    if not bare:
        return
    escaped = any(_ESCAPED.search(source.slice(node.span)) for node in texts)
    letters = any(not node.text.value[1:].isdecimal() for node in bare)
    if not escaped and (len(bare) == 1 or not letters):
        return
    for node in bare:
        written = node.text.value
        if _ESCAPED.search(source.slice(node.span)):
            continue
        yield reading.finding(
            "W205",
            f"`{written}` is a text of three characters",
            node.span,
            helps=(f"write `\\{written}` if the value {written[1:]} is meant",),
        )


def _in_pattern(reading: Reading, text: Text) -> Iterator[Diagnostic]:
    source = reading.document.source
    for start, end in classes_in(text.value):
        if not _runs_on(text.value[start + 1 : end - 1]):
            continue
        yield Diagnostic(
            "W205",
            "this class continues after `\\]`, which does not end it",
            source,
            text.spell(start, end),
            notes=as_read(text, source),
            helps=(
                "a backslash in a class is written `\\\\\\\\`, or `\\\\` in a raw pattern,"
                ' as in `#r"[^\\\\]"`',
            ),
        )


def _runs_on(inner: str) -> bool:
    """Return whether the first bracket is an escaped one that closes, and others open later."""
    closed = inner.find("\\]")
    opened = inner.find("[", closed)
    is_first = closed >= 0 and "[" not in inner[:closed]
    return is_first and opened >= 0 and not _OPERATORS.isdisjoint(inner[closed:opened])
