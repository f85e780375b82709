"""Families of rules written out: ``block@n`` becomes ``block@0``, ``block@1`` and so on.

A family is a rule for each number from 0 to ``columns``. Its right sides call other rules with
numbers, and count with them, as in ``" "{@n}``; indentation is a family whose number is a column.
Writing families out leaves a grammar without numbers, which every later pass, and every target of a
conversion, can use as it is. Rules are made as the start reaches them (``ir.families``). What does
not depend on the number is not copied: a subtree without numbers is the same object in all rules of
a family, and a rule without a number is there once.

A call of a number above ``columns`` or below 0 matches nothing; so does a count below 0, and
``x@>n`` where no greater number is left.

Tests: tests/unit/conversion/test_families.py
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from kbnf_core.automata.traversal import fold
from kbnf_core.conversion.rewrite import rebuild
from kbnf_core.ir.families import MARK, Members, TooManyMembersError, family_of, member_name
from kbnf_core.kbnf.build import nothing, repeated
from kbnf_core.kbnf.pragmas import MOST_COLUMNS
from kbnf_core.kbnf.tree import (
    Alternation,
    Definition,
    Document,
    Exception_,
    Expression,
    Name,
    Number,
    Reference,
    Repetition,
    children,
    numbers_in,
    postorder,
)
from kbnf_core.text.budget import Budget
from kbnf_core.text.diagnostics import Diagnostic, Fix, Label, TextEdit
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Span


class WrittenOut(NamedTuple):
    """The tree without families; where findings say why there is none, the tree as it was."""

    document: Document
    findings: tuple[Diagnostic, ...]


def written_out(
    document: Document, start: str, columns: int, limits: Limits, budget: Budget
) -> WrittenOut:
    """Return the tree of the rules that families stand for. A node that is copied is a step.

    Raises WorkLimitError where ``budget`` is used up.
    """
    # Most texts have neither, and a look at all nodes would be a pass more.
    if not document.families and MARK not in document.source.text:
        return WrittenOut(document, ())
    if not (document.families or any(numbers_in(node) for node in document.nodes())):
        return WrittenOut(document, ())
    findings = tuple(_Check(document, start, columns).findings())
    if findings:
        return WrittenOut(document, findings)
    try:
        definitions = _FamilyWriter(document, start, columns, limits, budget).definitions()
    except TooManyMembersError as error:
        return WrittenOut(document, (_too_many(document, columns, limits, error.family),))
    return WrittenOut(replace(document, definitions=definitions), ())


def alternatives_in(document: Document) -> Mapping[Span, tuple[Span, bool]] | None:
    """Return ``Document.alternatives``; of a tree with families all its alternatives.

    Any of those can go: rules of families are copies without any change.
    """
    if not document.families:
        return document.alternatives
    result = {}
    for definition in document.definitions:
        result[definition.body.span] = document.first_names[definition.name.value], True
        for node in postorder(definition.body):
            if isinstance(node, Alternation):
                result.update((branch.span, (node.span, True)) for branch in node.branches)
    return result


def _too_many(document: Document, columns: int, limits: Limits, family: str) -> Diagnostic:
    return Diagnostic(
        "E106",
        f"the families need more than {limits.family_rules:,} rules, one for each number",
        document.source,
        document.first_names[family],
        label="the limit was passed in this family",
        helps=(
            f"lower the greatest number, {columns}, with `(* kbnf: columns=... *)`; move what does"
            " not depend on the number to rules without one; or raise `Limits.family_rules`",
        ),
    )


class _FamilyWriter:
    """Makes the rules of all families of one document."""

    def __init__(
        self, document: Document, start: str, columns: int, limits: Limits, budget: Budget
    ) -> None:
        self._document = document
        self._start = start
        self._columns = columns
        self._budget = budget
        self._members: Members[tuple[str, int]] = Members(limits.family_rules)
        self._bodies: dict[str, list[Definition]] = {}
        for definition in document.definitions:
            if definition.variable is not None:
                self._bodies.setdefault(definition.name.value, []).append(definition)
        self._numbered = set(_with_numbers(document))

    def definitions(self) -> tuple[Definition, ...]:
        """Return all definitions, those of a family by number where it is defined."""
        plain = {
            id(definition): self._without_numbers(definition, definition.name.value, 0)
            for definition in self._document.definitions
            if definition.variable is None
        }
        made: dict[int, dict[int, Definition]] = {}
        self._write_members(made)
        family, _, number = self._start.partition(MARK)
        if family in self._bodies and number.isdecimal() and int(number) <= self._columns:
            self._call(family, int(number))
            self._write_members(made)
        for name, bodies in self._bodies.items():
            if id(bodies[0]) not in made:
                # No rule calls it; mistakes inside are reported all the same.
                self._call(name, 0)
                self._write_members(made)
        return tuple(
            copy
            for definition in self._document.definitions
            for copy in (
                [plain[id(definition)]]
                if definition.variable is None
                else _in_order(made[id(definition)])
            )
        )

    def _write_members(self, made: dict[int, dict[int, Definition]]) -> None:
        """Write out all members that are called, each definition of a family for itself."""
        for name, number in self._members:
            self._budget.subject = name
            for definition in self._bodies[name]:
                title = member_name(name, number)
                copy = self._without_numbers(definition, title, number)
                made.setdefault(id(definition), {})[number] = copy

    def _without_numbers(self, definition: Definition, title: str, number: int) -> Definition:
        def operands_of(node: Expression) -> tuple[Expression, ...]:
            return children(node) if id(node) in self._numbered else ()

        def one(node: Expression, inner: list[Expression]) -> Expression:
            self._budget.spend()
            if id(node) not in self._numbered:
                return node
            if isinstance(node, Reference) and node.number is not None:
                return self._called(node, node.number, number)
            if isinstance(node, Repetition) and node.is_counted_by_number:
                return _counted(node, inner[0], number)
            return rebuild(node, inner, lambda leaf: leaf)

        name = Name(title, definition.name.span)
        body = fold(definition.body, operands_of, one)
        return Definition(name, body, definition.span)

    def _called(self, node: Reference, number: Number, own: int) -> Expression:
        """Return the call of one member, or of any one of those in a relation."""
        family = node.name.value
        if family not in self._bodies:  # Another pass reports that it is not defined.
            return Reference(node.name, node.span)
        least = _value(number, own) + (number.relation == ">")
        last = self._columns if number.relation else min(least, self._columns)
        first = max(least, 0) if number.relation else least
        numbers = range(first, last + 1) if first >= 0 else ()
        calls = [self._call(family, argument, node) for argument in numbers]
        if not calls:
            return nothing(node.span)
        return calls[0] if len(calls) == 1 else Alternation(tuple(calls), node.span)

    def _call(self, family: str, number: int, node: Reference | None = None) -> Reference:
        title = member_name(family, number)
        self._members.add(title, (family, number), family)
        self._budget.spend()
        span = self._document.first_names[family] if node is None else node.span
        return Reference(Name(title, span if node is None else node.name.span), span)


def _in_order(members: dict[int, Definition]) -> list[Definition]:
    return [members[number] for number in sorted(members)]


def _with_numbers(document: Document) -> Iterator[int]:
    """Yield the identity of each node that has a number in it."""
    inside: set[int] = set()
    for node in document.nodes():
        if numbers_in(node) or any(id(child) in inside for child in children(node)):
            inside.add(id(node))
            yield id(node)


def _value(number: Number, own: int) -> int:
    return number.add + (0 if number.variable is None else own)


def _counted(node: Repetition, body: Expression, own: int) -> Expression:
    first, second = node.numbers
    low = node.low if first is None else _value(first, own)
    high = node.high if second is None else _value(second, own)
    if low < 0 or (high is not None and high < low):
        return nothing(node.span)
    # One turn is the body, at the place of the whole.
    return replace(repeated(body, low, high, node.span), span=node.span)


class _Check:
    """Compares families and the numbers that are written (E108)."""

    def __init__(self, document: Document, start: str, columns: int) -> None:
        self._document = document
        self._start = start
        self._columns = columns

    def findings(self) -> Iterator[Diagnostic]:
        """Yield the findings, definition by definition."""
        heads: dict[str, Definition] = {}
        for definition in self._document.definitions:
            first = heads.setdefault(definition.name.value, definition)
            yield from self._head(definition, first)
            for node in postorder(definition.body):
                yield from self._node(node, definition)

    def _head(self, definition: Definition, first: Definition) -> Iterator[Diagnostic]:
        name, variable = definition.name, definition.variable
        if (variable is None) != (first.variable is None):
            message = f"`{name.value}` is defined with a number and without one"
            labels = (Label(first.name.span, "the first definition"),)
            yield self._finding(message, name.span, labels=labels)
        if variable is None:
            return
        if not variable.value.isidentifier():
            message = f"a rule has the name of a variable after `@`, not `{variable.value}`"
            helps = ("bind a variable, `@n`, and count or compare with it",)
            yield self._finding(message, variable.span, helps=helps)
        if name.value == self._start:
            message = f"the start `{name.value}` is a family; generation starts with one rule"
            help_ = f"start with a rule that calls it, as `{name.value}@0`"
            yield self._finding(message, name.span, helps=(help_,))

    def _node(self, node: Expression, definition: Definition) -> Iterator[Diagnostic]:
        families = self._document.families
        match node:
            case Reference(Name(name), span, None) if name in families:
                yield self._without_number(name, span, definition)
            case Reference(Name(name), _, Number() as number) if name not in families:
                if name in self._document.first_names:
                    yield self._no_family(name, number)
            case Exception_(Name(name), _, span) if family_of(name) in families:
                message = "`except!` excludes texts, and a family has more than texts"
                yield self._finding(message, span)
        for number in numbers_in(node):
            yield from self._number(number, definition)

    def _without_number(self, name: str, span: Span, definition: Definition) -> Diagnostic:
        variable = definition.variable
        number = "0" if variable is None else variable.value
        fix = Fix(
            f"write `{name}@{number}`", (TextEdit(span, f"{name}{MARK}{number}"),), safe=False
        )
        return self._finding(f"the family `{name}` needs a number", span, fixes=(fix,))

    def _no_family(self, name: str, number: Number) -> Diagnostic:
        fix = Fix(f"write `{name}`", (TextEdit(number.span, ""),), safe=False)
        labels = (Label(self._document.first_names[name], "its definition"),)
        message = f"`{name}` is defined without a number"
        return self._finding(message, number.span, labels=labels, fixes=(fix,))

    def _number(self, number: Number, definition: Definition) -> Iterator[Diagnostic]:
        variable, own = number.variable, definition.variable
        if number.add > self._columns:
            message = f"this number is above the greatest one, {self._columns}"
            helps = (f"set a greater one, `(* kbnf: columns=... *)`, at most {MOST_COLUMNS:,}",)
            yield self._finding(message, number.span, helps=helps)
        if variable is None or (own is not None and own.value == variable.value):
            return
        if own is not None and not own.value.isidentifier():
            return  # Its head is reported.
        if own is None:
            end = definition.name.span.end
            edits = (TextEdit(Span(end, end), f"{MARK}{variable.value}"),)
            fix = Fix(f"make `{definition.name.value}` a family", edits, safe=False)
        else:
            fix = Fix(f"write `{own.value}`", (TextEdit(variable.span, own.value),), safe=False)
        message = f"`{variable.value}` is not the variable of `{definition.title}`"
        yield self._finding(message, variable.span, fixes=(fix,))

    def _finding(
        self,
        message: str,
        span: Span,
        labels: tuple[Label, ...] = (),
        helps: tuple[str, ...] = (),
        fixes: tuple[Fix, ...] = (),
    ) -> Diagnostic:
        helps = helps or tuple(fix.message for fix in fixes)
        source = self._document.source
        return Diagnostic("E108", message, source, span, labels=labels, helps=helps, fixes=fixes)
