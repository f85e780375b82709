r"""W208: classes that contain a phrase, such as ``[hello]`` or ``[^"The answer is:"]``.

A class is a set of characters, so a character that is in it twice was meant as part of a text. Only
letters that match themselves are counted: a list of signs may have one twice.

Tests: tests/golden/lint
"""

import re
from collections import Counter
from collections.abc import Iterator

from kbnf_core.kbnf.printer import quote
from kbnf_core.kbnf.tree import Pattern
from kbnf_core.languages import GBNF, KBNF, LARK, Language
from kbnf_core.lint.subject import Needs, Subject
from kbnf_core.text.diagnostics import Diagnostic, Rule

RULES = (Rule("W208", "phrase-in-class", "A class of characters has a letter twice."),)
NEEDS = Needs.DOCUMENT

_CLASS = re.compile(r"(?s)\\.|\[(?P<not>\^?)(?P<members>\]?(?:\\.|\[:\w+:\]|[^]\\])*)\]")
_MEMBER = re.compile(r"(?s)\\(?:x\w\w|u\w{4}|U\w{8}|[xu]\{\w*\}|p\{[^}]*\}|.)|\[:\w+:\]|.")
_STANDARD = re.compile(r"#x([0-9A-Fa-f]{1,6})")
_LEAST = 3
"""Letters of a phrase: `[aa]` is a slip that changes nothing."""


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding for each such class, in languages that have classes."""
    reading = subject.reading
    if reading.language not in (KBNF, GBNF, LARK):
        return
    source = reading.document.source
    for node in reading.document.written_nodes():
        if not isinstance(node, Pattern):
            continue
        # The escapes of KBNF's quotes are another layer than the regex's.
        written = node.text.value if reading.language is KBNF else source.slice(node.span)
        for match in _CLASS.finditer(written):
            repeated = "" if match["members"] is None else _repeated(match["members"])
            if not repeated:
                continue
            yield reading.finding(
                "W208",
                f"this class has `{repeated}` twice: it is a set of characters, not a text",
                node.span,
                helps=_helps(match["members"].strip("\"'"), bool(match["not"]), reading.language),
            )


def _repeated(members: str) -> str:
    """Return the first letter that is twice in a class beside its ranges; empty if none is."""
    signs = [match[0] for match in _MEMBER.finditer(members)]
    plain = [
        sign
        for before, sign, after in zip(["", *signs], signs, [*signs[1:], ""], strict=False)
        if sign.isalpha() and "-" not in (before, after)
    ]
    twice = [sign for sign, count in Counter(plain).items() if count > 1]
    return twice[0] if twice and len(plain) >= _LEAST else ""


def _helps(phrase: str, is_negated: bool, language: Language) -> tuple[str, ...]:
    if standard := _STANDARD.search(phrase):
        code = int(standard[1], 16)
        return (f"`{standard[0]}` is W3C's spelling of a character: write `{_spelled(code)}`",)
    text = quote(phrase)
    if not is_negated:
        return (f"write the text {text} without brackets, or each character once",)
    if language is KBNF:
        return (f"`except!({text})` matches texts in which {text} does not occur",)
    return (f"KBNF has `except!({text})` for texts in which {text} does not occur",)


def _spelled(code: int) -> str:
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
