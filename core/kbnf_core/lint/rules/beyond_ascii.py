"""I206: parts of regular expressions that match beyond ASCII, more than authors usually mean.

Tests: tests/golden/lint
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from kbnf_core.automata import operations
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.frontend import EFFORT, Reading
from kbnf_core.kbnf.printer import as_read
from kbnf_core.kbnf.tree import Text
from kbnf_core.languages import KBNF
from kbnf_core.lint.subject import Needs, Subject, classes_in, patterns_in
from kbnf_core.text.diagnostics import Diagnostic, Fix, Rule, TextEdit
from kbnf_core.text.diagnostics.text import count_of

RULES = (Rule("I206", "beyond-ascii", "A part of a regular expression matches more than ASCII."),)
NEEDS = Needs.DOCUMENT

_ASCII = {"d": "0-9", "w": "0-9A-Za-z_"}
_MATCHES = {"d": "digits of all scripts", "w": "letters and digits of all scripts"}
_ESCAPE = re.compile(r"\\(?:(?P<class>[dw])|.)", re.DOTALL)
_ANY_CASE = re.compile(r"\(\?i(?P<end>[:)])")


def check(subject: Subject) -> Iterator[Diagnostic]:
    r"""Yield a finding for each ``\d`` and ``\w`` beyond ASCII, and one for ``(?i)``."""
    reading = subject.reading
    if reading.language is not KBNF:
        return
    texts = [node.text for node in patterns_in(reading.document)]
    for text in texts:
        yield from _in_pattern(reading, text)
    yield from _of_any_case(reading, texts)


def _in_pattern(reading: Reading, text: Text) -> Iterator[Diagnostic]:
    if "-u" in text.value:
        return
    inside = [range(start, end) for start, end in classes_in(text.value)]
    for match in _ESCAPE.finditer(text.value):
        kind = match["class"]
        if kind is not None:
            bare = any(match.start() in span for span in inside)
            ascii_ = _ASCII[kind] if bare else f"[{_ASCII[kind]}]"
            edit = TextEdit(text.spell(*match.span()), ascii_)
            fix = Fix(f"keep to ASCII: `{ascii_}`", (edit,), safe=False)
            message = f"`\\{kind}` matches {_MATCHES[kind]}"
            yield _finding(reading, text, match.span(), message, fix)


def _any_case(text: Text) -> list[TextEdit]:
    """Return edits that keep `(?i)` of a pattern to ASCII; none where it is, or may be meant."""
    match = _ANY_CASE.search(text.value) if "-u" not in text.value else None
    if match is None:
        return []
    whole = match["end"] == ")"
    if whole and match.start() != 0:
        return []
    mended = "(?i-u:" + text.value[match.end() :] + ")" * whole
    before = compile_regex(text.value, EFFORT).dfa
    after = compile_regex(text.value[: match.start()] + mended, EFFORT).dfa
    if before is None or after is None or operations.is_equal(before, after):
        return []
    edits = [TextEdit(text.spell(*match.span()), "(?i-u:")]
    if whole:
        end = text.spell(len(text.value), len(text.value))
        edits.append(TextEdit(end, ")"))
    return edits


def _of_any_case(reading: Reading, texts: Iterable[Text]) -> Iterator[Diagnostic]:
    """Yield one finding for all patterns with `(?i)`, at the first, since there are often many."""
    edits_by_pattern = [edits for text in texts if (edits := _any_case(text))]
    if not edits_by_pattern:
        return
    others = f"so do {count_of(len(edits_by_pattern) - 1, 'other pattern')} of this file"
    yield reading.finding(
        "I206",
        "`(?i)` also matches `\u017f` for `s`, and U+212A, the Kelvin sign, for `k`",
        edits_by_pattern[0][0].span,
        notes=(others,) if len(edits_by_pattern) > 1 else (),
        helps=("keep to ASCII: `(?i-u:...)`",),
        fixes=(
            Fix(
                "keep to ASCII: `(?i-u:...)`",
                tuple(chain.from_iterable(edits_by_pattern)),
                safe=False,
            ),
        ),
    )


def _finding(
    reading: Reading, text: Text, bounds: tuple[int, int], message: str, fix: Fix
) -> Diagnostic:
    source = reading.document.source
    span = text.spell(*bounds)
    helps = (fix.message,)
    notes = as_read(text, source)
    return Diagnostic("I206", message, source, span, notes=notes, helps=helps, fixes=(fix,))
