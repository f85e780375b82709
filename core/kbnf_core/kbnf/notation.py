"""Reads the notations of other tools to trees of KBNF: what rules in the style of EBNF share.

A ``NotationBuilder`` has the methods that a parser calls, by the names in its ``grammar.lark``.
Names, texts in quotes, groups and repetitions mean the same in most of them. ``Rules`` splits
nothing: it says which statements are rules (a name and a sign), and explains those that are not.

Tests: tests/unit/kbnf
"""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from kbnf_core.automata.codepoints import from_ranges
from kbnf_core.automata.expression import print_characters
from kbnf_core.automata.regex.syntax import CharacterSet
from kbnf_core.kbnf import build
from kbnf_core.kbnf.statements import (
    CLOSERS,
    CLOSING,
    NAMES,
    SIGNS,
    Metasyntax,
    Mistake,
    Statement,
    StatementParser,
    Tree,
    Word,
    counted,
    shown,
    span_of,
    too_deep,
)
from kbnf_core.kbnf.tree import Comment, Definition, Expression, Name
from kbnf_core.text.budget import Budget
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import NOWHERE, Source, Span

_COUNTS = {"?": (0, 1), "*": (0, None)}
"""How often an operator repeats; any other one is once or more."""


class NotationBuilder:
    """The methods that a parser calls; stateless, so one serves every parse."""

    def name(self, word: Word) -> Name:
        """Return the name of a rule."""
        return Name(word.value, span_of(word))

    def definition(self, values: list[Any]) -> Definition:
        """``name = alternation``, with a word before it that makes its span longer."""
        *_, name, sign, body = values
        span = span_of(values[0]).cover(span_of(sign) if body.span == NOWHERE else body.span)
        placed = build.placed(body, span) if body is build.EMPTY else body
        return Definition(self.name(name), placed, span)

    def alternation(self, values: list[Any]) -> Expression:
        """``x | y``, or one alternative alone."""
        branches = [value for value in values if not isinstance(value, Word)]
        return build.alternation(branches, cover(branches))

    def sequence(self, values: list[Any]) -> Expression:
        """One item after the other; words between them are left out."""
        items = [value for value in values if not isinstance(value, Word)]
        return build.sequence(*items, span=cover(items))

    def use(self, words: list[Word]) -> Expression:
        """``name``."""
        return build.call(self.name(words[0]).value, span_of(words[0]))

    def string(self, words: list[Word]) -> Expression:
        """``"text"``."""
        return build.text(self.unescaped(words[0]), span_of(words[0]))

    def unescaped(self, word: Word) -> str:
        """Return the text between quotes."""
        return word.value[1:-1]

    def range(self, words: list[Word]) -> Expression:
        """Return one character of a range: ``"a" .. "z"``."""
        low, high = (self.unescaped(words[index]) for index in (0, 2))
        bounds = [(ord(low), ord(high))] if len(low) == len(high) == 1 else []
        return one_of(bounds, span_of(words[0]).cover(span_of(words[2])))

    def repeated(self, values: list[Any]) -> Expression:
        """``x?``, ``x*``, ``x+`` or ``x...``."""
        body, operator = values
        low, high = _COUNTS.get(operator.value[:1], (1, None))
        return build.repeated(body, low, high, cover([body]).cover(span_of(operator)))

    def group(self, values: list[Any]) -> Expression:
        """``( x )``, ``[ x ]`` or ``{ x }``."""
        body: Expression = values[-2]
        low, high = {"LSQB": (0, 1), "LBRACE": (0, None)}.get(values[0].type, (1, 1))
        return build.repeated(body, low, high, span_of(values[0]).cover(span_of(values[-1])))


def cover(nodes: Iterable[Expression]) -> Span:
    """Return the span of parts in order; nowhere for none."""
    spans = [node.span for node in nodes if node.span != NOWHERE]
    return spans[0].cover(spans[-1]) if spans else NOWHERE


_COMMENTS = {"//": (2, None), "/*": (2, -2), "(*": (2, -2)}
"""Where the text of a comment begins and ends, by its mark; others begin with one character."""


def words_of(words: Iterable[Word], comments: list[Comment], budget: Budget) -> Iterator[Word]:
    """Yield words without comments, which are added to the list. Raises WorkLimitError."""
    for word in counted(words, budget):
        if word.type == "COMMENT":
            start, end = _COMMENTS.get(word.value[:2], (1, None))
            comments.append(Comment(word.value[start:end], span_of(word)))
        else:
            yield word


def one_of(ranges: Iterable[tuple[int, int]], span: Span) -> Expression:
    """Return any one character of a set, which excludes halves of surrogate pairs."""
    points = from_ranges(ranges)
    if not points:
        return build.nothing(span)
    return build.regex(print_characters(points), span, CharacterSet(points))


class Hints(NamedTuple):
    """What the findings about a notation say of it: how a rule is written, and its sign.

    ``foreign`` are, by a character that it has not, what to write instead.
    """

    rule: str
    sign: str
    foreign: Mapping[str, str] = MappingProxyType({})


_OPENED = {
    "OPEN_STRING": ("E004", "text"),
    "OPEN_SET": ("E004", "set"),
    "OPEN_COMMENT": ("E005", "comment"),
}
"""By the kind of a word that is never closed: the code of the finding, and the kind in words."""

_CLOSING = {"[": "]", "/": "*/", "(": "*)"}
"""The closing sign of a word, by its first character; others are closed by that."""


_FIRST = NAMES | {"FRAGMENT"}
"""What a rule begins with."""


class Rules(Metasyntax[Tree]):
    """The rules of a text."""

    def __init__(
        self,
        source: Source,
        limits: Limits,
        parser: StatementParser,
        notation: NotationBuilder,
        hints: Hints,
    ) -> None:
        super().__init__(source, limits)
        self._parser = parser
        self._notation = notation
        self._hints = hints

    def parser(self) -> StatementParser:
        """Return the parser of the notation."""
        return self._parser

    def names(self, statement: Statement) -> Iterable[str]:
        """Return the name before the sign, if there is one."""
        name = next((word for word in statement.words[:2] if word.type == "NAME"), None)
        return () if name is None else (self._notation.name(name).value,)

    def refuse(self, statement: Statement) -> Iterable[Diagnostic] | None:
        """Return a finding about a statement without a sign after its first words, else None."""
        word = statement.words[0]
        if word.type in _FIRST and any(
            following.type in SIGNS for following in statement.words[1:3]
        ):
            return None
        message = f"expected a rule, found {shown(word.value)}"
        helps = (self._hints.rule,)
        return (Diagnostic("E001", message, self.source, span_of(word), helps=helps),)

    def explain(self, statement: Statement, mistake: Mistake) -> Iterator[Diagnostic]:
        """Yield the finding about a rule that stops making sense."""
        del statement
        yield too_deep(mistake, self.limits) or self._explained(mistake)

    def _explained(self, mistake: Mistake) -> Diagnostic:
        word, hints = mistake.word, self._hints
        if word is None and mistake.inside is not None:
            closing = CLOSERS[mistake.inside.type]
            message = f"expected `{closing}`, found {mistake.shown_word}"
            return Diagnostic("E003", message, mistake.source, span_of(mistake.inside))
        if word is not None and word.type in _OPENED:
            code, thing = _OPENED[word.type]
            closing = _CLOSING.get(word.value[0], word.value[0])
            span = Span(word.start_pos, word.start_pos + 1)
            message, help_ = f"this {thing} is never closed", f"close it with `{closing}`"
            return Diagnostic(code, message, mistake.source, span, helps=(help_,))
        if mistake.kind == "WRONG_SIGN":
            message = f"a rule is defined with `{hints.sign}`, not {mistake.shown_word}"
            return mistake.finding("E006", message)
        if mistake.kind == "DEFINE":
            return mistake.finding("E002", "the rule before this one is not ended", "", hints.rule)
        code = "E003" if mistake.kind in CLOSING else "E001"
        hint = hints.foreign.get(word.value[:1]) if word is not None else None
        message = f"{mistake.shown_word} is not allowed here"
        return mistake.finding(code, message, "", *([hint] if hint else []))
