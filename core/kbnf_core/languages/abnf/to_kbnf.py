"""From ABNF to KBNF.

The reader has given the text a tree of KBNF already; what is left are names and the layout. A
rule of an RFC says what whole texts are, so the result says ``finish=eos``.
"""

from kbnf_core.frontend import read_grammar
from kbnf_core.languages.abnf.language import ABNF
from kbnf_core.languages.conversion.to_kbnf import write_kbnf
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Source
from kbnf_core.syntax.conversion import Conversion


def from_abnf(
    source: str,
    *,
    path: str | None = None,
    start: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Conversion:
    """Return the KBNF for an ABNF text.

    ``path`` names the text in messages; ``start`` is the rule that becomes ``start``, the first
    one if neither this nor the text says. Raises ``GrammarError`` with all findings for a text
    with errors.
    """
    reading = read_grammar(Source(source, path), start, limits=limits, language=ABNF)
    return write_kbnf(reading, reading.document.definitions, (), limits)
