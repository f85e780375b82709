"""Everything that can be said about a grammar text: errors, then lints."""

from collections.abc import Callable, Iterator

from kbnf_core.config import Finish
from kbnf_core.diagnostics import Diagnostic
from kbnf_core.frontend import Reading, read_grammar
from kbnf_core.languages import language_of
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.lint.duplicates import check_duplicates
from kbnf_core.lint.empty_loops import check_empty_loops
from kbnf_core.lint.names import check_names
from kbnf_core.lint.never_reached import check_never_reached
from kbnf_core.lint.nullable_start import check_nullable_start
from kbnf_core.lint.unproductive import check_unproductive
from kbnf_core.source import Source
from kbnf_core.syntax.pragmas import Ignore

Lint = Callable[[Reading], Iterator[Diagnostic]]

LINTS: tuple[Lint, ...] = (
    check_duplicates,
    check_empty_loops,
    check_names,
    check_never_reached,
    check_nullable_start,
    check_unproductive,
)


def check(
    text: str,
    path: str | None = None,
    *,
    start: str | None = None,
    finish: Finish | str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> list[Diagnostic]:
    """Return all findings about a grammar text, in order of place.

    ``start`` and ``finish`` win over the text's pragmas; ``path`` names it in messages, and its
    extension tells the language: KBNF unless it is one of ``languages.EXTENSIONS``. Findings
    that an ``ignore[...]`` pragma names are left out, and a pragma that silences nothing is a
    finding itself. Raises ``ConfigError`` for an impossible ``finish`` only.
    """
    wanted = None if finish is None else Finish.parse(finish)
    reading = read_grammar(Source(text, path), start, wanted, limits, language_of(path))
    found = [*reading.diagnostics]
    for lint in LINTS:
        found.extend(lint(reading))
    return sorted(_apply_ignores(found, reading), key=Diagnostic.sort_key)


def _apply_ignores(found: list[Diagnostic], reading: Reading) -> Iterator[Diagnostic]:
    unused = list(reading.pragmas.ignores)
    for diagnostic in found:
        line = diagnostic.source.position(diagnostic.span.start).line
        silencing = [
            i for i in reading.pragmas.ignores if (i.code, i.line) == (diagnostic.code, line)
        ]
        unused = [ignore for ignore in unused if ignore not in silencing]
        if not silencing:
            yield diagnostic
    for ignore in unused:
        yield _unused_ignore(reading, ignore)


def _unused_ignore(reading: Reading, ignore: Ignore) -> Diagnostic:
    return Diagnostic(
        "W003",
        f"this `ignore[{ignore.code}]` silences nothing",
        reading.document.source,
        ignore.span,
        helps=(f"there is no {ignore.code} on line {ignore.line}; remove it",),
    )
