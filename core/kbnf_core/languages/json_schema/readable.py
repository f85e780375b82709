"""Writes schemas for a person: a rule for each property, named formats, short lines, comments.

The language is that of ``writer``, the rules are not: those there are for a program to run. Rules
that say little, of nothing or of one other rule, are left out in the end.
"""

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace

from kbnf_core.automata.algebra import Choice, Repeat, Sequence
from kbnf_core.automata.codepoints import ANY, CodePoints, from_text, intersect
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.expression import Expression as Regex
from kbnf_core.automata.expression import Spell, print_characters, print_expression
from kbnf_core.automata.regex.syntax import Characters
from kbnf_core.automata.traversal import fold
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.printer import print_expression as print_form
from kbnf_core.languages.json_schema.build_tree import (
    EMPTY,
    Form,
    Rules,
    alternation,
    call,
    definition,
    placed,
    regex,
    repeated,
    sequence,
    text,
)
from kbnf_core.languages.json_schema.characters import ESCAPED, spell_text
from kbnf_core.languages.json_schema.document import Document, Place
from kbnf_core.languages.json_schema.expressions import Expression, Ref
from kbnf_core.languages.json_schema.format_rules import format_rules
from kbnf_core.languages.json_schema.names import OtherNames
from kbnf_core.languages.json_schema.options import Options, SchemaLimits
from kbnf_core.languages.json_schema.prelude import NAMES, Prelude
from kbnf_core.languages.json_schema.write_scalars import LONG_SET, ScalarWriter, is_long
from kbnf_core.languages.json_schema.writer import Writer
from kbnf_core.text.source import NOWHERE, Span

WIDTH = 72
"""Columns of a regular expression that stays in one piece; a longer one becomes several."""

_VALUE = "_value"
_LONGEST_REMARK = 240


_NAME = re.compile(r"[^\W\d][\w .-]{0,40}")
"""A title that can be the name of a rule."""


class ReadableWriter(Writer):
    """Writes rules for a person to read; ``comments`` are what to say of them, by name.

    ``places`` are the spans of JSON Pointers in the author's text: those of the rules and their
    parts, but for what JSON Schema adds to every schema. ``pointer`` returns what comments call a
    place.
    """

    def __init__(
        self,
        document: Document,
        options: Options,
        places: Mapping[str, Span],
        pointer: Callable[[str], str],
    ) -> None:
        super().__init__(document, options)
        self._places = places
        self._pointer = pointer
        self._spans: dict[str, Span] = {}
        self._properties: dict[tuple[str, Expression], Form] = {}
        self._readable = ReadableScalars(self.prelude, self.rules, self.limits, self.left_out)
        self._scalars = self._readable

    def write(self, root: Expression) -> list[tree.Definition]:
        """Return the rules for ``root``, its own first, called ``start``. Raises ProblemError."""
        start = self._prefix + "start"
        written = {each.name.value: each.body for each in super().write(root)}
        self._remark(start, root)
        self._spans[start] = self._span(root)
        shared = self.prelude.rules.keys()
        sections = {
            "Formats": self._readable.format_names.values(),
            "Other keys": self._readable.other_names.comments,
            "JSON": [self._prefix + name for name in shared],
        }
        behind = dict.fromkeys(name for names in sections.values() for name in names)
        found = tidied(start, written, self.comments.keys() | behind.keys())
        order = [name for name in in_order(start, found, self.comments) if name not in behind]
        for title, names in sections.items():
            used = [name for name in names if name in found]
            order += used
            own = self._readable.other_names.comments
            self.comments.update((name, own[name]) for name in used if name in own)
            if used:
                told = self.comments.get(used[0])
                self.comments[used[0]] = f"{title}. {told}" if told else title
        spans = {name: self._spans.get(name, NOWHERE) for name in order}
        return [definition(name, placed(found[name], spans[name]), spans[name]) for name in order]

    def member(self, name: str, value: Expression) -> Form | None:
        """Return a named member: a rule, which equal members share."""
        key = name, value
        if key not in self._properties:
            rule = self.rules.fresh(f"{name}_property" if name in {*NAMES, ""} else name)
            form = self.place(value, f"{rule}{_VALUE}")
            if form is None:
                return None
            self.rules.add(rule, sequence(text(spell_text(name)), self.prelude.colon, form))
            self._spans[rule] = self._span(value)
            self._remark(rule, value)
            self._properties[key] = placed(call(rule), self._spans[rule])
        return self._properties[key]

    def place(self, expression: Expression, wish: str) -> Form | None:
        """Return how a value is written where it stands in another, at its place in the text."""
        form = super().place(expression, wish)
        return None if form is None else placed(form, self._span(expression))

    def _alternative(self, expression: Expression, wish: str) -> Form | None:
        place = self.schemas.document.place(expression) if isinstance(expression, Ref) else None
        title = None if place is None else place.contents.get("title")
        is_name = isinstance(title, str) and _NAME.fullmatch(title)
        return super()._alternative(expression, str(title) if is_name else wish)

    def _distinct(self, forms: Iterable[Form]) -> Iterable[Form]:
        # Two that differ only in their places are one.
        found: dict[str, Form] = {}
        for form in forms:
            found.setdefault(print_form(form), form)
        return found.values()

    def _span(self, expression: Expression) -> Span:
        """Return the place of a schema; what several say together has none of its own."""
        if not isinstance(expression, Ref):
            return NOWHERE
        return self._places.get(self.schemas.document.place(expression).pointer, NOWHERE)

    def _schema_of(self, expression: Expression) -> Place | None:
        parts = (expression, *getattr(expression, "parts", ()))
        return next((self.schemas.document.place(e) for e in parts if isinstance(e, Ref)), None)

    def _rule(self, expression: Expression, wish: str) -> Form:
        form = super()._rule(expression, wish)
        self._spans[self._known[expression]] = self._span(expression)
        if isinstance(expression, Ref) and not wish.endswith(_VALUE):
            self._remark(self._known[expression], expression)
        return form

    def _remark(self, rule: str, expression: Expression) -> None:
        """Comment on a rule: where its schema stands, and what the schema says of itself."""
        place = self._schema_of(expression)
        if place is None:
            return
        told = [place.contents.get(keyword) for keyword in ("title", "description")]
        said = [" ".join(each.split()).rstrip(".") for each in told if isinstance(each, str)]
        remark = textwrap.shorten(". ".join(each for each in said if each), _LONGEST_REMARK)
        pointer = self._pointer(place.pointer) or "the whole schema"
        self.comments[rule] = f"{pointer}: {remark}" if remark else pointer


class ReadableScalars(ScalarWriter):
    """Writes strings and numbers in short pieces.

    ``format_names`` are the rules of formats, by their names in the library.
    """

    def __init__(
        self, prelude: Prelude, rules: Rules, limits: SchemaLimits, note: Callable[[str], None]
    ) -> None:
        super().__init__(prelude, rules, limits, note)
        self.other_names = OtherNames(prelude, rules, self._plain)
        self.format_names: dict[str, str] = {}

    def _others(self, words: tuple[str, ...], automaton: Dfa) -> Form:
        if self._prelude.spelling.is_usual and not intersect(from_text("".join(words)), ESCAPED):
            return self.other_names.write(words)
        return super()._others(words, automaton)

    def _format(self, name: str, pattern: str) -> Form | None:
        rules = format_rules(name, pattern) if self._prelude.spelling.is_usual else ()
        if not rules:
            return None
        fresh = [(rule, body) for rule, body in rules if rule not in self.format_names]
        self.format_names.update((rule, self._rules.fresh(rule)) for rule, _ in fresh)
        names = self.format_names

        def called(leaf: tree.Leaf) -> Form:
            if isinstance(leaf, tree.Reference):
                return call(names[leaf.name.value])
            return replace(leaf, span=NOWHERE)

        for rule, body in fresh:
            self._rules.add(names[rule], replaced(body, called))
        return call(self.format_names[rules[0][0]])

    def _in_quotes(self, found: Regex) -> Form:
        whole = super()._in_quotes(found)
        if not is_long(whole, WIDTH):
            return whole
        return sequence(text('"'), self._pieces(found, self._prelude.spelling.spell), text('"'))

    def _plain(self, found: Regex) -> Form:
        return self._pieces(found, print_characters)

    def _pieces(self, root: Regex, spell: Spell) -> Form:
        """Return a regular expression as a form in which no piece is long."""
        written = print_expression(root, spell)
        match root:
            case Characters(points) if len(written) > LONG_SET:
                return self._set(points)
            case _ if len(written) <= WIDTH:
                return _piece(root, written)
            case Choice(items):
                return alternation(self._pieces(item, spell) for item in items)
            case Repeat(item, low, high):
                return repeated(self._pieces(item, spell), low, high)
            case Sequence(items):
                return sequence(*self._joined(items, spell))
            case _:
                return _piece(root, written)

    def _joined(self, items: tuple[Regex, ...], spell: Spell) -> Iterator[Form]:
        """Yield items, as many in one piece as fit."""
        pending: list[Regex] = []
        for item in items:
            if pending and len(_printed([*pending, item], spell)) > WIDTH:
                yield self._together(pending, spell)
                pending = []
            pending.append(item)
        yield self._together(pending, spell)

    def _together(self, items: list[Regex], spell: Spell) -> Form:
        if len(items) == 1:
            return self._pieces(items[0], spell)
        return _piece(Sequence(tuple(items)), _printed(items, spell))

    def _set(self, points: CodePoints) -> Form:
        return self._prelude.use("character") if points == ANY else super()._set(points)


def in_order(start: str, rules: Mapping[str, Form], titles: Container[str]) -> list[str]:
    """Return the rules in the order in which a reader meets them, depth first.

    A rule without a title is part of one with a title, and stands behind that.
    """
    found: dict[str, None] = {}
    pending = [start]
    while pending:
        name = pending.pop()
        if name in found:
            continue
        group = {name: None}
        inner: dict[str, None] = {}
        parts = [name]
        while parts:
            part = parts.pop()
            found[part] = None
            called = [each for each in dict.fromkeys(called_by(rules[part])) if each not in found]
            inner.update((each, None) for each in called if each in titles)
            own = [each for each in called if each not in titles and each not in group]
            group.update((each, None) for each in own)
            parts.extend(reversed(own))
        pending.extend(reversed(inner))
    return list(found)


def _printed(items: list[Regex], spell: Spell) -> str:
    return print_expression(Sequence(tuple(items)), spell)


def _piece(root: Regex, written: str) -> Form:
    """Return a regular expression, or the text that it is."""
    items = root.parts if isinstance(root, Sequence) else (root,)
    letters = []
    for item in items:
        points = item.points if isinstance(item, Characters) else ()
        if len(points) != 1 or points[0][0] != points[0][1]:
            return regex(written)
        letters.append(chr(points[0][0]))
    return text(spell_text("".join(letters))[1:-1]) if letters else EMPTY


def tidied(start: str, rules: Mapping[str, Form], kept: Container[str]) -> dict[str, Form]:
    """Return rules of the same texts, without those of nothing and those of one use as a whole.

    ``kept`` are names that stay, ``start`` is the rule that is not called.
    """
    found = dict(rules)
    while void := {name for name, form in found.items() if form is EMPTY and name != start}:
        for name in void:
            del found[name]

        def left(leaf: tree.Leaf, void: Container[str] = void) -> Form:
            is_void = isinstance(leaf, tree.Reference) and leaf.name.value in void
            return EMPTY if is_void else leaf

        found = {name: replaced(form, left) for name, form in found.items()}
    calls = Counter(called for form in found.values() for called in called_by(form))
    for name in list(found):
        form = found.get(name)
        while isinstance(form, tree.Reference):
            only = form.name.value
            if only in kept or calls[only] > 1 or only in (name, start):
                break
            form = found[name] = found.pop(only)
    return found


def called_by(form: Form) -> list[str]:
    """Return the names that a form calls, in order, as often as it does."""
    nodes = tree.postorder(form)
    return [node.name.value for node in nodes if isinstance(node, tree.Reference)]


def replaced(root: Form, of: Callable[[tree.Leaf], Form]) -> Form:
    """Return a form with ``of(leaf)`` for each leaf, and without brackets."""

    def one(form: Form, parts: list[Form]) -> Form:
        match form:
            case tree.Sequence():
                return sequence(*parts)
            case tree.Alternation():
                return alternation(parts)
            case tree.Repetition(_, low, high):
                return repeated(parts[0], low, high)
            case tree.Bracket():
                return parts[0]
            case _:
                return of(form)

    return fold(root, tree.children, one)
