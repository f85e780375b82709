r"""Compiles the rules of ANTLR's lexer: one regular expression each, where they are regular.

References are written out. ``x*? y`` is the shortest text that is ``x*y``: of the alternatives of
``x``, single characters with which an alternative before them begins are left to that one
(``('\\' . | .)*? '"'``), and the words that have another one as a beginning are cut off. The end
of the text (``EOF``), which a comment may end with, is one more character while this is worked
out, a noncharacter of Unicode. A skipped token with it is two: one that ends otherwise, and one
that is the last of the text.

A rule that calls itself (comments in comments) has no regular expression: it stays a rule, in which
others are written out.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace

from kbnf_core import ir
from kbnf_core.automata import algebra, operations
from kbnf_core.automata.algebra import EMPTY, Choice, Repeat
from kbnf_core.automata.codepoints import ANY, CodePoints, complement, difference, intersect, union
from kbnf_core.automata.expression import Builder, Expression, print_expression
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.automata.regex.syntax import CharacterSet
from kbnf_core.automata.to_regex import to_characters, to_expression
from kbnf_core.automata.traversal import fold, resolve
from kbnf_core.kbnf import build
from kbnf_core.kbnf.tree import Expression as Form
from kbnf_core.languages.antlr import tree
from kbnf_core.languages.antlr.parse import both_cases
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Span

END = 0x1FFFF
"""The noncharacter that is the end of the text."""

_END: CodePoints = ((END, END),)
_CHARACTERS = difference(ANY, _END)

LARGEST = 20_000
"""Sets and repetitions of a regular expression; a token with more of them stays a rule."""

Report = Callable[[tree.Node, str], None]
"""Takes a part of a rule that cannot be kept, and why."""

_Steps = Generator[tree.Node, Expression | None, Expression | None]


class Lexer:
    """The texts of the lexer's rules."""

    def __init__(
        self,
        rules: Mapping[str, Sequence[tree.Rule]],
        ignores_case: bool,
        limits: Limits,
        budget: Budget,
        report: Report,
    ) -> None:
        self._rules = rules
        self._ignores_case = ignores_case
        self._limits = limits
        self._budget = budget
        self._report = report
        self._builder = Builder()
        self._known: dict[str, Expression | None] = {}
        self._open: set[str] = set()

    def form(self, rule: tree.Rule) -> Form:
        """Return the body of a rule as a tree of KBNF: a text, a pattern, or a body of rules."""
        expression = resolve(rule.body, self._steps)
        if expression is not None:
            return self._pattern(self._without_end(expression), rule)
        return build.placed(fold(rule.body, tree.children, self._structure), rule.span)

    def form_before_end(self, rule: tree.Rule) -> Form | None:
        """Return the texts of a rule that do not end the text; None where none of them has to."""
        expression = resolve(rule.body, self._steps)
        if expression is None or not any(map(_may_end, algebra.postorder(expression))):
            return None
        rest = self._rebuilt(
            expression, lambda points: self._builder.characters(difference(points, _END))
        )
        return self._pattern(rest, rule)

    def text(self, node: tree.Text) -> Form:
        """Return a text that is written in a rule of the parser."""
        if not self._ignores_case or len(node.value) > LARGEST:
            return build.text(node.value, node.span)
        value = self._builder.text(node.value)
        if self._folded(value) is value:
            return build.text(node.value, node.span)
        return self._regex(self._folded(value), node.span)

    def _pattern(self, expression: Expression, rule: tree.Rule) -> Form:
        word = _only_text(expression)
        if word is not None:
            return build.text(word, rule.span)
        return self._regex(expression, rule.span)

    def _regex(self, expression: Expression, span: Span) -> Form:
        pattern = print_expression(expression)
        return replace(build.regex(pattern, span), dfa=compile_regex(pattern, self._limits).dfa)

    def _structure(self, node: tree.Node, parts: list[Form]) -> Form:
        """Return a part of a rule that is not regular."""
        match node:
            case tree.Use("EOF") | tree.Predicate():
                return build.EMPTY
            case ir.Sequence():
                return build.sequence(*parts, span=node.span)
            case ir.Choice():
                return build.alternation(parts, node.span)
            case ir.Repeat(_, low, high):
                return build.repeated(parts[0], low, high, node.span)
            case _:
                root: tree.Node = node
                expression = resolve(root, self._steps)
                match node:
                    case tree.Use(name) if expression is None:
                        return build.call(name, node.span)
                    case tree.Text(value) if expression is None:
                        return build.text(value, node.span)
                # A rule that is a token, too, may lose texts as that.
                return self._regex(self._without_end(expression or algebra.NOTHING), node.span)

    def _named(self, name: str) -> _Steps:
        """Return the expression of a rule; None where it calls itself, is too large or is none."""
        if name in self._known:
            return self._known[name]
        if name in self._open or name not in self._rules:
            return None
        self._open.add(name)
        found = yield from self._choice([rule.body for rule in self._rules[name]])
        self._open.remove(name)
        if found is not None:
            self._budget.part = name
            self._budget.spend(self._builder.size(found))
            if self._builder.size(found) > LARGEST:
                found = None
        self._known[name] = found
        return found

    def _steps(self, node: tree.Node) -> _Steps:
        match node:
            case tree.Use(name) if name != "EOF":
                return (yield from self._named(name))
            case tree.Negation(body):
                return self._complement(node, (yield body))
            case ir.Choice(branches):
                return (yield from self._choice(branches))
            case ir.Repeat(body, low, high):
                inner = yield body
                return None if inner is None else self._builder.repetition(inner, low, high)
            case ir.Sequence(parts):
                return (yield from self._sequence(parts))
            case _:
                return self._leaf(node)

    def _leaf(self, node: tree.Node) -> Expression | None:
        match node:
            case tree.Text(value) if len(value) > LARGEST:
                return None
            case tree.Use():
                return self._builder.characters(_END)
            case tree.Text(value):
                return self._folded(self._builder.text(value))
            case tree.Characters(points):
                return self._folded(self._builder.characters(points))
            case tree.Anything():
                return self._builder.characters(_CHARACTERS)
            case _:
                return EMPTY

    def _choice(self, branches: Sequence[tree.Node]) -> _Steps:
        options: list[Expression] = []
        for branch in branches:
            option = yield branch
            if option is None:
                return None
            options.append(option)
        return self._builder.alternation(options)

    def _sequence(self, parts: Sequence[tree.Node]) -> _Steps:
        """Return parts in a row, from the last one on, which those that are lazy look at."""
        rest: list[Expression] = []
        for part in reversed(parts):
            one = (
                yield from self._lazy(part, rest) if isinstance(part, tree.Lazy) else self._of(part)
            )
            if one is None:
                return None
            rest.insert(0, one)
        return self._builder.sequence(rest)

    def _of(self, part: tree.Node) -> _Steps:
        return (yield part)

    def _lazy(self, loop: tree.Lazy, rest: list[Expression]) -> _Steps:
        """Return as few repetitions as possible, with what ends them, which is taken from the rest.

        What may be empty at the end of the rest goes on after that.
        """
        branches = loop.body.branches if isinstance(loop.body, ir.Choice) else (loop.body,)
        taken: CodePoints = ()
        options: list[Expression] = []
        for branch in branches:
            option = yield branch
            if option is None:
                return None
            if isinstance(option, CharacterSet):
                option = self._builder.characters(difference(option.points, taken))
            else:
                taken = union(taken, _beginning(option)[1])
            options.append(option)
        body = self._builder.alternation(options)
        repeated = self._builder.repetition(body, loop.low, loop.high)
        solid = [index for index, part in enumerate(rest) if not _beginning(part)[0]]
        if not solid:
            return self._builder.repetition(body, loop.low, loop.low)
        end = rest[: solid[-1] + 1]
        del rest[: solid[-1] + 1]
        return self._shortest(self._builder.sequence((repeated, *end)))

    def _shortest(self, expression: Expression) -> Expression:
        """Return the texts that do not begin with another one; all if that is too much."""
        dfa = compile_regex(print_expression(expression), self._limits).dfa
        if dfa is None:
            return expression
        self._budget.spend(dfa.state_count)
        try:
            return to_expression(to_characters(operations.shortest_matches(dfa)), self._builder)
        except LimitError:
            return expression

    def _complement(self, node: tree.Node, inner: Expression | None) -> Expression | None:
        if isinstance(inner, CharacterSet):
            return self._builder.characters(difference(complement(inner.points), _END))
        self._report(node, "`~` is for one character")
        return None

    def _folded(self, expression: Expression) -> Expression:
        if not self._ignores_case:
            return expression
        return self._rebuilt(
            expression, lambda points: self._builder.characters(both_cases(points))
        )

    def _without_end(self, expression: Expression) -> Expression:
        """Return an expression without the character of the end of the text."""

        def one(points: CodePoints) -> Expression:
            if intersect(points, _END):
                return builder.optional(builder.characters(difference(points, _END)))
            near = intersect(points, ((END - 1, END - 1), (END + 1, END + 1)))
            return builder.characters(union(points, _END) if len(near) > 1 else points)

        builder = self._builder
        return self._rebuilt(expression, one)

    def _rebuilt(
        self, expression: Expression, change: Callable[[CodePoints], Expression]
    ) -> Expression:
        builder = self._builder

        def one(node: Expression, parts: list[Expression]) -> Expression:
            match node:
                case CharacterSet(points):
                    return change(points)
                case Choice():
                    return builder.alternation(parts)
                case Repeat(_, low, high):
                    return builder.repetition(parts[0], low, high)
                case _:
                    return builder.sequence(parts)

        return algebra.fold(expression, one)


def _may_end(leaf: Expression) -> bool:
    return isinstance(leaf, CharacterSet) and bool(intersect(leaf.points, _END))


def _beginning(expression: Expression) -> tuple[bool, CodePoints]:
    """Return whether a text may be empty, and the characters that texts may begin with."""

    def one(node: Expression, parts: list[tuple[bool, CodePoints]]) -> tuple[bool, CodePoints]:
        points: CodePoints = ()
        match node:
            case CharacterSet(points):
                return False, points
            case Choice():
                for _, more in parts:
                    points = union(points, more)
                return any(nullable for nullable, _ in parts), points
            case Repeat(_, low):
                return parts[0][0] or low == 0, parts[0][1]
            case _:
                for nullable, more in parts:
                    points = union(points, more)
                    if not nullable:
                        return False, points
                return True, points

    return algebra.fold(expression, one)


def _only_text(expression: Expression) -> str | None:
    """Return the text of an expression that has one."""
    parts = (
        algebra.children(expression) if isinstance(expression, algebra.Sequence) else (expression,)
    )
    letters: list[str] = []
    for part in parts:
        match part:
            case Repeat(CharacterSet(((low, high),)), count, most) if (low, count) == (high, most):
                letters.append(chr(low) * count)
            case CharacterSet(((low, high),)) if low == high:
                letters.append(chr(low))
            case _:
                return None
    return "".join(letters)
