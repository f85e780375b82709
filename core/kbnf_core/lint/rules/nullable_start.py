"""W105: a start that matches the empty text, where generation cannot end before the first byte."""

from collections.abc import Iterator

from kbnf_core.config import Finish
from kbnf_core.diagnostics import Diagnostic
from kbnf_core.frontend import Reading, name_span


def check_nullable_start(reading: Reading) -> Iterator[Diagnostic]:
    """Yield a finding unless ``finish=eos``, which can end an empty text."""
    analysis = reading.analysis
    if analysis is None or reading.finish is Finish.EOS:
        return
    if analysis.facts[reading.start].nullable:
        yield Diagnostic(
            "W105",
            f"the start nonterminal `{reading.start}` matches the empty text",
            reading.document.source,
            name_span(reading.document, reading.start),
            notes=(f"with `finish={reading.finish.value}` at least one byte is generated",),
            helps=("make one part compulsory, or set `(* kbnf: finish=eos *)`",),
        )
