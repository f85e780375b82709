"""Verification, the last step of every conversion: the output is parsed again."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.errors import GrammarError, KbnfError
from kbnf_core.frontend import Reading, read_grammar
from kbnf_core.limits import Limits
from kbnf_core.source import Source, Span
from kbnf_core.syntax.language import Language

NO_SPANS: Mapping[str, Span] = MappingProxyType({})


class ConversionError(KbnfError, RuntimeError):
    """A converted grammar that has errors, which is a bug of the conversion."""


def verified(
    text: str,
    language: Language,
    limits: Limits,
    original: Source | None = None,
    spans: Mapping[str, Span] = NO_SPANS,
) -> Reading:
    """Return the reading of a converted text; raise ``ConversionError`` if it has errors.

    That nothing can be generated, or that a limit is passed, is no bug where the ``original`` is
    given, which has not been read as a grammar: it is said of that, as a ``GrammarError``.
    ``spans`` are the places in it that definitions come from, by their names in ``text``.
    """
    reading = read_grammar(Source(text), limits=limits, language=language)
    said = [each for each in reading.errors if each.code in _NO_BUGS]
    if original is not None and said:
        raise GrammarError([_of_original(each, reading, original, spans) for each in said])
    if reading.errors:
        first = reading.errors[0]
        place = first.source.position(first.span.start)
        raise ConversionError(
            f"the converted grammar is wrong at {place.line}:{place.column}: {first.message};"
            " this is a bug in kbnf, please report it with the grammar"
        )
    return reading


def _of_original(
    found: Diagnostic, reading: Reading, original: Source, spans: Mapping[str, Span]
) -> Diagnostic:
    """Return a finding of a converted text at what the definition with it was made of."""
    names = (
        each.name.value
        for each in reading.document.definitions
        if each.span.start <= found.span.start < each.span.end
    )
    span = next((spans[name] for name in names if name in spans), Span(0, 0))
    return replace(found, source=original, span=span)


_NO_BUGS = frozenset({"E105", "E107", "E203"})
"""Codes for a grammar of nothing, too much work, and too many states."""
