"""W602, W603 and E604: texts that a vocabulary cannot spell, or spells otherwise.

Tests: tests/golden/lint
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from kbnf_core.automata.dfa import DEAD
from kbnf_core.automata.substrings import WordSet
from kbnf_core.frontend import Reading
from kbnf_core.ir import Literal, Node, Regular, Token, postorder
from kbnf_core.lint.subject import Needs, Subject
from kbnf_core.text.diagnostics import Diagnostic, Rule
from kbnf_core.vocab.validate import missing_bytes

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary

RULES = (
    Rule("W602", "special-token-text", "A literal contains the text of a special token."),
    Rule("W603", "unspellable", "No token contains a byte that a terminal needs."),
    Rule("E604", "unknown-token", "A `#token` is not in the vocabulary."),
)
NEEDS = Needs.VOCABULARY


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield the texts of a grammar that ``vocabulary`` makes impossible, or ambiguous."""
    reading, vocabulary = subject.reading, subject.vocabulary
    missing = frozenset(missing_bytes(vocabulary.tokens.values()))
    specials = Specials(vocabulary.special_tokens)
    for name in sorted(subject.analysis.reachable):
        for node in postorder(subject.grammar.rules[name]):
            yield from _in_node(reading, node, vocabulary, missing, specials)


def _in_node(
    reading: Reading,
    node: Node,
    vocabulary: "Vocabulary",
    missing: frozenset[int],
    specials: "Specials",
) -> Iterator[Diagnostic]:
    from kbnf_core.mask.masks import lacking_token

    match node:
        case Literal(data):
            yield from _special_text(reading, node, data, specials)
            if missing.intersection(data):
                yield _unspellable(reading, node, frozenset(data) & missing)
        case Regular(dfa):
            used = {b for b in missing if any(row[dfa.classes[b]] != DEAD for row in dfa.rows)}
            if used:
                yield _unspellable(reading, node, frozenset(used))
        case Token(terminal) if (lacking := lacking_token(terminal, vocabulary)) is not None:
            message = f"the vocabulary has no token {lacking}"
            yield reading.finding("E604", message, node.span)
        case Token(terminal) if not terminal.negated:
            # From 0 on is a way to write all of them.
            beyond = [high for low, high in terminal.ranges if low and high >= vocabulary.size]
            if beyond:
                yield reading.finding(
                    "W603",
                    "the vocabulary does not have all of these tokens",
                    node.span,
                    notes=(f"its ids end at {vocabulary.size - 1}: {max(beyond)} is beyond them",),
                )


class Specials:
    """The names of special tokens; a text is looked through once for all of them."""

    def __init__(self, names: Iterable[str]) -> None:
        spelled = {name.encode("utf-8", "surrogatepass"): name for name in names if name}
        self._names = {data: (at, name) for at, (data, name) in enumerate(spelled.items())}
        self._words = WordSet(spelled)

    def within(self, data: bytes) -> list[str]:
        """Return the names in ``data``, in their order."""
        result = {self._names[word] for word in self._words.within(data)}
        return [name for _, name in sorted(result)]


def _special_text(
    reading: Reading, node: Literal, data: bytes, specials: Specials
) -> Iterator[Diagnostic]:
    for name in specials.within(data):
        yield reading.finding(
            "W602",
            f"this text contains the special token {name}, but never is one",
            node.span,
            notes=("a literal is spelled with ordinary tokens only",),
            helps=(f'write #token"{name}" for the token itself',),
        )


def _unspellable(reading: Reading, node: Literal | Regular, used: frozenset[int]) -> Diagnostic:
    shown = ", ".join(f"0x{byte:02x}" for byte in sorted(used)[:4])
    more = f" and {len(used) - 4} more" if len(used) > 4 else ""
    return reading.finding(
        "W603",
        "the vocabulary cannot spell all of this",
        node.span,
        notes=(f"no token contains the byte {shown}{more}",),
    )
