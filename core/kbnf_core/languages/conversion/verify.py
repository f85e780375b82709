"""Verification, the last step of every conversion: the output is parsed again."""

from dataclasses import replace

from kbnf_core.errors import GrammarError, KbnfError
from kbnf_core.frontend import Reading, read_grammar
from kbnf_core.limits import Limits
from kbnf_core.source import Source, Span
from kbnf_core.syntax.language import Language


class ConversionError(KbnfError, RuntimeError):
    """A converted grammar that has errors, which is a bug of the conversion."""


def verified(
    text: str, language: Language, limits: Limits, original: Source | None = None
) -> Reading:
    """Return the reading of a converted text; raise ``ConversionError`` if it has errors.

    That nothing can be generated is no bug where the ``original`` is given, which has not been read
    as a grammar: it is said of that, as a ``GrammarError``.
    """
    reading = read_grammar(Source(text), limits=limits, language=language)
    nothing = [each for each in reading.errors if each.code == "E105"]
    if original is not None and nothing:
        begin = Span(0, 0)
        raise GrammarError([replace(each, source=original, span=begin) for each in nothing])
    if reading.errors:
        first = reading.errors[0]
        place = first.source.position(first.span.start)
        raise ConversionError(
            f"the converted grammar is wrong at {place.line}:{place.column}: {first.message};"
            " this is a bug in kbnf, please report it with the grammar"
        )
    return reading
