"""Regular expressions as one of the grammar languages: the texts that one matches as a whole."""

from kbnf_core.config import Finish
from kbnf_core.frontend import Language
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.parsed import Parsed, Request
from kbnf_core.text.source import Source, Span


def _read(source: Source, request: Request) -> Parsed:
    del request
    # Files end with a line break that nobody means.
    value = source.text.removesuffix("\n").removesuffix("\r")
    span = Span(0, len(value))
    pattern = tree.Pattern(
        tree.PatternKind.REGEX, tree.Text(value, span, tuple(range(len(value) + 1))), span
    )
    start = tree.Definition(tree.Name("start", Span(0, 0)), pattern, span)
    return Parsed(tree.Document(source, (start,), ()), ())


REGEX = Language("regex", "", "start", Finish.EOS, _read, takes_fixes=False)
