"""W305, W306 and I310: texts that ``except!`` lets through, against appearances.

Tests: tests/golden/lint
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from kbnf_core.frontend import Reading
from kbnf_core.kbnf.printer import spell_regex
from kbnf_core.kbnf.tree import Concatenation, Exception_, Terminal
from kbnf_core.languages import KBNF
from kbnf_core.lint.subject import Needs, Subject, show
from kbnf_core.lower.translate import ExcludedWords
from kbnf_core.text.diagnostics import Diagnostic, Fix, Label, Rule, TextEdit

RULES = (
    Rule("W305", "excepted-at-border", "An excluded text can arise where `except!` ends."),
    Rule("W306", "odd-exception-limit", "The limit of an `except!` is not what it seems."),
    Rule("I310", "excepted-bytes", "An `except!` of characters also allows invalid UTF-8."),
)
NEEDS = Needs.GRAMMAR


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding for each border over which an excluded text returns, odd limits, bytes."""
    reading = subject.reading
    excluded = ExcludedWords(reading.document)
    for node in reading.document.written_nodes():
        if isinstance(node, Exception_):
            yield from _limit(reading, node, excluded)
            if reading.language is KBNF:
                yield from _bytes(reading, node, excluded)
        elif isinstance(node, Concatenation):
            for item, following in pairwise(node.items):
                if isinstance(item, Exception_) and isinstance(following, Terminal):
                    yield from _border(reading, item, following, excluded)


def _border(
    reading: Reading, node: Exception_, following: Terminal, excluded: ExcludedWords
) -> Iterator[Diagnostic]:
    after = following.text.value.encode()
    words, _ = excluded.of(node)
    for word in words:
        begun = (i for i in range(1, len(word)) if after and after.startswith(word[i:]))
        head = next((word[:i] for i in begun), None)
        if head is None or after == word:
            continue
        yield reading.finding(
            "W305",
            f"{show(word)} may still occur where this ends",
            node.span,
            labels=(Label(following.span, "the text before it does not count here"),),
            notes=(f"{show(head)} is allowed by the exception, and {show(after)} may follow it",),
            helps=("let what follows begin with something that no excluded text contains",),
        )
        return


_ZERO = re.compile(r",\s*0+\s*\)\Z")


def _limit(reading: Reading, node: Exception_, excluded: ExcludedWords) -> Iterator[Diagnostic]:
    words, _ = excluded.of(node)
    if not words:
        return
    if not node.limit:
        if _ZERO.search(reading.document.source.slice(node.span)):
            notes = ("it has no end, as without a limit; `, 1` is the lowest one",)
            yield _odd_limit(reading, node, "a limit of 0 is no limit", notes)
        return
    shortest = min(words, key=len)
    if node.limit < len(shortest):
        notes = (f"{show(shortest)} has {len(shortest)} bytes, so it cannot occur anyway",)
        yield _odd_limit(reading, node, "this exception excludes nothing", notes)
    elif any(not word.isascii() for word in words):
        notes = ("a character beyond ASCII has 2 to 4 bytes, and may be cut in two",)
        yield _odd_limit(reading, node, f"the limit counts bytes: {node.limit} of them", notes)


def _odd_limit(
    reading: Reading, node: Exception_, message: str, notes: tuple[str, ...]
) -> Diagnostic:
    return reading.finding("W306", message, node.span, notes=notes)


def _bytes(reading: Reading, node: Exception_, excluded: ExcludedWords) -> Iterator[Diagnostic]:
    """Yield a finding where only single characters are excluded: a class of them is all text."""
    # A writer excludes the text that begins a call: its length is a fact of the format.
    if reading.pragmas.origin is not None:
        return
    words = {word.decode("utf-8") for word in excluded.of(node)[0]}
    if not words or any(len(word) != 1 for word in words):
        return
    members = "".join(re.sub(r"[\]\[\\^&~-]", r"\\\g<0>", word) for word in sorted(words))
    pattern = spell_regex(f"[^{members}]{f'{{1,{node.limit}}}' if node.limit else '+'}")
    advice = f"allow characters only: `{pattern}`"
    fixes: tuple[Fix, ...] = ()
    if node.limit:
        advice += ", which counts characters and not bytes"
    elif isinstance(node.excluded, Terminal):
        fixes = (Fix(advice, (TextEdit(node.span, pattern),), safe=False),)
    yield reading.finding(
        "I310",
        "bytes that are not valid UTF-8 are allowed here, too",
        node.span,
        notes=("`except!` works on bytes: a model may write a part of a character and go on",),
        helps=(advice,),
        fixes=fixes,
    )
