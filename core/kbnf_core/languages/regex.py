"""Regular expressions as one of the grammar languages: the texts that one matches as a whole.

Tests: tests/unit/languages
"""

from kbnf_core.frontend import Language
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.parsed import Parsed, Request
from kbnf_core.text.source import Source, Span


class _Regex(Language):
    name = "regex"
    takes_fixes = False

    def read(self, source: Source, request: Request) -> Parsed:
        del request
        # Files end with a line break that nobody means.
        value = source.text.removesuffix("\n").removesuffix("\r")
        span = Span(0, len(value))
        text = tree.Text(value, span, tuple(range(len(value) + 1)))
        pattern = tree.Pattern(tree.PatternKind.REGEX, text, span)
        start = tree.Definition(tree.Name("start", Span(0, 0)), pattern, span)
        return Parsed(tree.Document(source, (start,), ()), ())


REGEX = _Regex()
