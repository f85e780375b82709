r"""Compiles the rules of ANTLR's lexer: one regular expression each, where they are regular.

References are written out, callees first. ``x*? y`` is the shortest text that is ``x*y``: of the
alternatives of ``x``, single characters with which an alternative before them begins are left to
that one (``('\\\\' . | .)*? '"'``), and the words that have another one as a beginning are cut off.
The end of the text (``EOF``), which a comment may end with, is one more character while this is
worked out, a noncharacter of Unicode. A skipped token with it is two: one that ends otherwise, and
one that is the last of the text.

A rule that calls itself (comments in comments) has no regular expression: it stays a rule, in which
others are written out.

Tests: tests/unit/languages/antlr/test_antlr.py
"""

from collections.abc import Callable, Mapping, Sequence

from kbnf_core.automata import algebra, operations
from kbnf_core.automata.algebra import EMPTY, Choice, Repeat
from kbnf_core.automata.codepoints import (
    ANY,
    ASCII,
    CodePoints,
    complement,
    difference,
    intersect,
    union,
)
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.expression import Expression as Texts
from kbnf_core.automata.expression import print_expression
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.automata.regex.syntax import CharacterSet
from kbnf_core.automata.regex.unicode import fold_case
from kbnf_core.automata.to_regex import to_characters, to_expression
from kbnf_core.automata.traversal import fold
from kbnf_core.conversion.foreign import ForeignReader
from kbnf_core.conversion.scannerless import LEXING
from kbnf_core.ir.analysis import callees_first
from kbnf_core.kbnf import build
from kbnf_core.kbnf.parsed import Loss
from kbnf_core.kbnf.tree import (
    Concatenation as Row,
)
from kbnf_core.kbnf.tree import (
    Expression,
    Pattern,
    Reference,
    Repetition,
    Terminal,
)
from kbnf_core.languages.antlr.parse import (
    ANYTHING,
    END_OF_TEXT,
    AntlrRule,
    Lazy,
    Negation,
    children,
    leaves,
)
from kbnf_core.text.errors import LimitError

END = 0x1FFFF
"""The noncharacter that is the end of the text."""

_END: CodePoints = ((END, END),)
_EMPTY = operations.literal(b"")

LARGEST = 20_000
"""Sets and repetitions of a regular expression; a token with more of them stays a rule."""


class _Loop(Repeat[Texts]):
    """``x*?``, until the next symbol is known; ``body`` is the choice of ``options``."""

    options: Sequence[Texts] = ()


class AntlrLexer:
    """The texts of the lexer's rules."""

    def __init__(
        self, rules: Mapping[str, Sequence[AntlrRule]], ignores_case: bool, reader: ForeignReader
    ) -> None:
        self._ignores_case = ignores_case
        self._reader = reader
        self._builder = reader.builder
        self._texts: dict[int, Texts | None] = {}
        """By the identity of a rule."""
        self._named: dict[str, Texts | None] = {}
        uses = {
            name: [
                leaf.name.value
                for rule in same
                for leaf in leaves(rule.body)
                if isinstance(leaf, Reference)
            ]
            for name, same in rules.items()
        }
        for name in callees_first(uses, uses):
            reader.budget.subject = name
            for rule in rules[name]:
                self._texts[id(rule)] = self._of(rule.body)
            options = [self._texts[id(rule)] for rule in rules[name]]
            whole = self._builder.alternation(option for option in options if option is not None)
            size = self._builder.size(whole)
            reader.budget.spend(size)
            self._named[name] = whole if None not in options and size <= LARGEST else None

    def form(self, rule: AntlrRule) -> Expression:
        """Return the body of a rule as a tree of KBNF: a text, a pattern, or a body of rules."""
        texts = self._texts[id(rule)]
        if texts is not None:
            return self._pattern(texts if rule.is_fragment else self._filled(texts, rule), rule)
        return build.changed(rule.body, self._symbol)

    def form_before_end(self, rule: AntlrRule) -> Expression | None:
        """Return the texts of a rule that do not end the text; None where none of them has to."""
        texts = self._texts[id(rule)]
        if texts is None or not any(map(_may_end, algebra.postorder(texts))):
            return None
        return self._reader.pattern(self._rebuilt(texts, self._before_end), rule.span)

    def _before_end(self, points: CodePoints) -> Texts:
        return self._builder.characters(difference(points, _END))

    def is_called(self, rule: AntlrRule) -> bool:
        """Return whether tokens call a rule, which is written out in others."""
        return self._named[rule.name.value] is None

    def text(self, node: Terminal) -> Expression:
        """Return a text that is written in a rule of the parser."""
        texts = self._of(node) if self._ignores_case else None
        # Not the node: the texts after a use are known by its identity.
        return (
            build.text(node.text.value, node.span) if texts is None else self._pattern(texts, node)
        )

    def _pattern(self, texts: Texts, node: AntlrRule | Expression) -> Expression:
        """Return texts as a symbol, without the character of the end of the text."""
        return self._reader.pattern(self._rebuilt(texts, self._without_end), node.span)

    def _without_end(self, points: CodePoints) -> Texts:
        """Return characters without the one for the end of the text.

        They are optional if they had it; a hole between its two neighbours is filled.
        """
        if intersect(points, _END):
            return self._builder.optional(self._before_end(points))
        near = intersect(points, ((END - 1, END - 1), (END + 1, END + 1)))
        return self._builder.characters(union(points, _END) if len(near) > 1 else points)

    def _symbol(self, leaf: Expression) -> Expression:
        """Return a leaf of a rule that is not regular."""
        texts = self._of(leaf)
        if texts is not None:
            return self._pattern(texts, leaf)
        return leaf if type(leaf) in (Reference, Terminal) else build.nothing(leaf.span)

    def _of(self, root: Expression) -> Texts | None:
        """Return the texts of a part of a rule; None where they are not regular, or too large."""
        texts = fold(root, children, self._combine)
        return self._whole(texts) if isinstance(texts, _Loop) else texts

    def _combine(self, node: Expression, operands: list[Texts | None]) -> Texts | None:
        regular = [operand for operand in operands if operand is not None]
        if len(regular) < len(operands):
            return None
        if isinstance(node, Row):
            return self._sequence(regular)
        return self._operation(node, regular) if regular else self._leaf(node)

    def _leaf(self, node: Expression) -> Texts | None:
        match node:
            case Terminal(text) if len(text.value) > LARGEST:
                return None
            case Terminal(text):
                return self._folded(self._builder.text(text.value))
            case Pattern(parsed=CharacterSet(points)):
                return self._folded(self._builder.characters(points))
            case Pattern():
                return algebra.NOTHING
            case Reference(name) if type(node) is Reference:
                return self._use(name.value)
            case _:
                return EMPTY

    def _use(self, name: str) -> Texts | None:
        if name == END_OF_TEXT:
            return self._builder.characters(_END)
        if name == ANYTHING:
            return self._before_end(ANY)
        return self._named.get(name)

    def _operation(self, node: Expression, operands: list[Texts]) -> Texts:
        operands = [
            self._whole(operand) if isinstance(operand, _Loop) else operand for operand in operands
        ]
        whole = self._builder.alternation(operands)
        match node:
            case Lazy(_, low, high):
                loop = _Loop(whole, low, high)
                loop.options = operands
                return loop
            case Repetition(_, low, high):
                return self._builder.repetition(whole, low, high)
            case Negation() if isinstance(whole, CharacterSet):
                return self._before_end(complement(whole.points))
            case Negation():
                self._reader.refuse("`~` is for one character", node.span)
                return algebra.NOTHING
            case _:
                return whole

    def _whole(self, loop: Repeat[Texts]) -> Texts:
        return self._builder.repetition(loop.body, loop.low, loop.high)

    def _sequence(self, operands: list[Texts]) -> Texts:
        """Return parts in a row, from the last one on, which those that are lazy look at."""
        rest: list[Texts] = []
        for operand in reversed(operands):
            rest.insert(0, self._shortest(operand, rest) if isinstance(operand, _Loop) else operand)
        return self._builder.sequence(rest)

    def _shortest(self, loop: _Loop, rest: list[Texts]) -> Texts:
        """Return as few repetitions as possible, with what ends them, which is taken from the rest.

        A nullable end of the rest goes on after that. Where it is too expensive to find the texts
        that do not begin with another one, all are returned.
        """
        taken: CodePoints = ()
        options: list[Texts] = []
        for option in loop.options:
            if isinstance(option, CharacterSet):
                options.append(self._builder.characters(difference(option.points, taken)))
            else:
                taken = union(taken, _beginning(option)[1])
                options.append(option)
        body = self._builder.alternation(options)
        solid = [index for index, operand in enumerate(rest) if not _beginning(operand)[0]]
        if not solid:
            return self._builder.repetition(body, loop.low, loop.low)
        end = rest[: solid[-1] + 1]
        del rest[: solid[-1] + 1]
        texts = self._builder.sequence((self._builder.repetition(body, loop.low, loop.high), *end))
        return self._by_automaton(texts, operations.shortest_matches) or texts

    def _filled(self, texts: Texts, rule: AntlrRule) -> Texts:
        """Return the texts of a token that are not empty: no lexer makes such a token."""
        if not _beginning(texts)[0]:
            return texts
        rest = self._by_automaton(texts, lambda dfa: operations.difference(dfa, _EMPTY))
        if rest is None:
            message = f"`{rule.name.value}` keeps the empty text, which a lexer never makes a token"
            self._reader.losses.append(Loss(LEXING, message, rule.span))
        return texts if rest is None else rest

    def _by_automaton(self, texts: Texts, change: Callable[[Dfa], Dfa]) -> Texts | None:
        """Return the texts of the changed automaton; None where that is too much."""
        dfa = compile_regex(print_expression(texts), self._reader.request.limits).dfa
        if dfa is None:
            return None
        self._reader.budget.spend(dfa.state_count)
        try:
            return to_expression(to_characters(change(dfa)), self._builder)
        except LimitError:
            return None

    def _folded(self, texts: Texts) -> Texts:
        return self._rebuilt(texts, self._both_cases) if self._ignores_case else texts

    def _both_cases(self, points: CodePoints) -> Texts:
        """Return characters in upper and lower case, as ``caseInsensitive`` has them."""
        others = fold_case(difference(points, ASCII), unicode=True)
        return self._builder.characters(union(fold_case(points, unicode=False), others))

    def _rebuilt(self, texts: Texts, change: Callable[[CodePoints], Texts]) -> Texts:
        def one(node: Texts, operands: list[Texts]) -> Texts:
            match node:
                case CharacterSet(points):
                    return change(points)
                case Choice():
                    return self._builder.alternation(operands)
                case Repeat(_, low, high):
                    return self._builder.repetition(operands[0], low, high)
                case _:
                    return self._builder.sequence(operands)

        return algebra.fold(texts, one)


def _may_end(leaf: Texts) -> bool:
    return isinstance(leaf, CharacterSet) and bool(intersect(leaf.points, _END))


def _beginning(expression: Texts) -> tuple[bool, CodePoints]:
    """Return whether a text may be empty, and the characters that texts may begin with."""

    def one(node: Texts, operands: list[tuple[bool, CodePoints]]) -> tuple[bool, CodePoints]:
        points: CodePoints = ()
        match node:
            case CharacterSet(points):
                return False, points
            case Choice():
                for _, more in operands:
                    points = union(points, more)
                return any(nullable for nullable, _ in operands), points
            case Repeat(_, low):
                return operands[0][0] or low == 0, operands[0][1]
            case _:
                for nullable, more in operands:
                    points = union(points, more)
                    if not nullable:
                        return False, points
                return True, points

    return algebra.fold(expression, one)
