r"""W207: quoted texts that read like a regular expression, such as ``"[0-9]"{4}`` or ``"\d+"``.

A text is one if it is a class with a range of letters or digits, or a class escape, and nothing but
a count follows.

Tests: tests/golden/lint
"""

import re
from collections.abc import Iterator

from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.kbnf.tree import Terminal
from kbnf_core.languages import GBNF, KBNF, LARK
from kbnf_core.lint.subject import Needs, Subject
from kbnf_core.text.diagnostics import Diagnostic, Fix, Rule, TextEdit
from kbnf_core.text.diagnostics.text import count_of

RULES = (Rule("W207", "regex-in-text", "A quoted text reads like a regular expression."),)
NEEDS = Needs.DOCUMENT

_RANGE = r"(?:[0-8]-[1-9]|[a-y]-[b-z]|[A-Y]-[B-Z])"
_MEMBER = r"(?:\\.|[^\]\\])"
_REGEX = re.compile(
    rf"(?s)(?P<one>\[{_MEMBER}*?{_RANGE}{_MEMBER}*\]|\\[dsw])(?:[+*?]|\{{\d+(?:,\d*)?\}})?"
)


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a question about each such text, in languages that have patterns or classes."""
    reading = subject.reading
    if reading.language not in (KBNF, GBNF, LARK):
        return
    source = reading.document.source
    for node in reading.document.written_nodes():
        text = node.text.value if isinstance(node, Terminal) else ""
        match = _REGEX.fullmatch(text)
        before = source.text[: node.span.start][-1:]
        if match is None or not source.slice(node.span).startswith(("'", '"')) or before.isalpha():
            continue
        if compile_regex(text, reading.limits).dfa is None:
            continue
        written = source.slice(node.span)
        meant = {KBNF: f"#{written}", LARK: f"/{text}/", GBNF: text}[reading.language]
        fix = Fix(f"write `{meant}`", (TextEdit(node.span, meant),), safe=False)
        yield reading.finding(
            "W207",
            f"this is a text of {count_of(len(text), 'character')}; is a regular expression meant?",
            node.span,
            helps=(fix.message,),
            fixes=(fix,),
        )
