"""What a converted text that cannot be used says of the text that it was made of."""

import pytest

from kbnf_core import Limits
from kbnf_core.errors import GrammarError
from kbnf_core.languages.conversion.verify import ConversionError, verified
from kbnf_core.languages.kbnf.language import KBNF
from kbnf_core.source import Source, Span

CONVERTED = "start ::= word;\nword ::= #'[a-z]{90}';\n"
SMALL = Limits(regex_states=50)


def test_a_limit_is_said_of_the_definition_that_passes_it() -> None:
    original = Source("start: WORD\nWORD: /[a-z]{90}/\n", "g.lark")
    with pytest.raises(GrammarError) as caught:
        verified(CONVERTED, KBNF, SMALL, original, {"word": Span(12, 16)})
    (found,) = caught.value.diagnostics
    assert (found.code, found.source, found.span) == ("E203", original, Span(12, 16))


def test_other_errors_are_bugs() -> None:
    with pytest.raises(ConversionError, match="this is a bug"):
        verified("start ::= word;", KBNF, SMALL, Source("start: WORD", "g.lark"))
