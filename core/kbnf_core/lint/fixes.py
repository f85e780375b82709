"""Applying the fixes that findings carry, without losing comments."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kbnf_core.diagnostics import Diagnostic, Edit, Fix, Severity
from kbnf_core.languages import KBNF, Language
from kbnf_core.limits import DEFAULT_LIMITS
from kbnf_core.source import Source, Span

MAX_ROUNDS = 20
"""Rounds of fixing; fixes that keep calling for others end there."""

Find = Callable[[str], Sequence[Diagnostic]]
"""Returns the findings about a text."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """A text after fixing, and the findings whose fixes were applied, in that order."""

    text: str
    applied: tuple[Diagnostic, ...]


def fix_text(text: str, find: Find, *, unsafe: bool = False, language: Language = KBNF) -> Fixed:
    """Apply what ``find`` offers for ``text`` and what it becomes, until nothing is left to do.

    ``language`` is that of the text, which tells what is a comment.
    Without ``unsafe``, only fixes that keep the language are applied. A round that would lead to
    more errors than there were is not taken. Ends after ``MAX_ROUNDS`` in any case.
    """
    applied: list[Diagnostic] = []
    found = find(text)
    for _ in range(MAX_ROUNDS):
        chosen = _choose(found, unsafe, language)
        if not chosen:
            break
        changed = _apply(text, [edit for _, fix in chosen for edit in fix.edits])
        then = find(changed)
        if _errors(then) > _errors(found):
            break
        applied.extend(diagnostic for diagnostic, _ in chosen)
        text, found = changed, then
    return Fixed(text, tuple(applied))


def _choose(
    found: Sequence[Diagnostic], unsafe: bool, language: Language
) -> list[tuple[Diagnostic, Fix]]:
    """Return the first fix of each finding, those left out that touch an earlier one."""
    comments = _comments(found[0].source, language) if found else []
    taken: list[Edit] = []
    chosen = []
    for diagnostic in sorted(found, key=Diagnostic.sort_key):
        fix = next((fix for fix in diagnostic.fixes if fix.safe or unsafe), None)
        if fix is None or any(_loses(edit, diagnostic.source, comments) for edit in fix.edits):
            continue
        if not any(_touch(edit, other) for edit in fix.edits for other in taken):
            taken.extend(fix.edits)
            chosen.append((diagnostic, fix))
    return chosen


def _comments(source: Source, language: Language) -> list[Span]:
    parsed = language.read(source, DEFAULT_LIMITS)
    return [comment.span for comment in parsed.document.comments]


def _loses(edit: Edit, source: Source, comments: list[Span]) -> bool:
    return any(
        span.start < edit.span.end
        and edit.span.start < span.end
        and source.slice(span) not in edit.replacement
        for span in comments
    )


def _touch(first: Edit, second: Edit) -> bool:
    """Tell whether two edits overlap or meet: where they meet, their order would matter."""
    return first.span.start <= second.span.end and second.span.start <= first.span.end


def _apply(text: str, edits: list[Edit]) -> str:
    for edit in sorted(edits, key=lambda edit: edit.span, reverse=True):
        text = text[: edit.span.start] + edit.replacement + text[edit.span.end :]
    return text


def _errors(found: Sequence[Diagnostic]) -> int:
    return sum(diagnostic.severity is Severity.ERROR for diagnostic in found)
