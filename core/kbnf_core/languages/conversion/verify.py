"""Verification, the last step of every conversion: the output is parsed again."""

from kbnf_core.errors import KbnfError
from kbnf_core.frontend import Reading, read_grammar
from kbnf_core.limits import Limits
from kbnf_core.source import Source
from kbnf_core.syntax.language import Language


class ConversionError(KbnfError, RuntimeError):
    """A converted grammar that has errors, which is a bug of the conversion."""


def verified(text: str, language: Language, limits: Limits) -> Reading:
    """Return the reading of a converted text; raise ``ConversionError`` if it has errors."""
    reading = read_grammar(Source(text), limits=limits, language=language)
    if reading.errors:
        first = reading.errors[0]
        place = first.source.position(first.span.start)
        raise ConversionError(
            f"the converted grammar is wrong at {place.line}:{place.column}: {first.message};"
            " this is a bug in kbnf, please report it with the grammar"
        )
    return reading
