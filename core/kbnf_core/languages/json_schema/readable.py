"""Writes schemas for a person: a rule for each property, named formats, short lines, comments.

The rules are those of ``writer``, with a name, a place and a comment for what a schema says, and
with automata as ``notations`` writes them. Rules that say little, of nothing or of one other rule,
are left out in the end.
"""

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Container, Mapping, Set
from itertools import chain

from kbnf_core.ir import Node
from kbnf_core.ir.analysis import last_components
from kbnf_core.ir.build import call, placed, sequence, text
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.build import EMPTY, Form, definition
from kbnf_core.kbnf.build import placed as placed_form
from kbnf_core.languages.json_schema.characters import spell_text
from kbnf_core.languages.json_schema.document import Place
from kbnf_core.languages.json_schema.expressions import Expression, Ref
from kbnf_core.languages.json_schema.notations import Notations, called, replaced
from kbnf_core.languages.json_schema.prelude import NAMES
from kbnf_core.languages.json_schema.schemas import Schemas
from kbnf_core.languages.json_schema.writer import Writer
from kbnf_core.text.source import NOWHERE, Span

_VALUE = "_value"
_LONGEST_REMARK = 240


_NAME = re.compile(r"[^\W\d][\w .-]{0,40}")
"""A title that can be the name of a rule."""

_SPACE = re.compile(r"[\s_-]+")


class ReadableWriter(Writer):
    """Writes rules for a person to read; ``comments`` are what to say of them, by name.

    ``dead`` are the pointers of schemas whose rules have no text, of those that call each other of
    one. ``meaning`` is that of all rules, before it is known how their automata are written.
    ``places`` are the spans of JSON Pointers in the author's text: those of the rules and their
    parts, but for what JSON Schema adds to every schema. ``pointer`` returns what comments call a
    place.
    """

    _is_run = False

    def __init__(
        self, schemas: Schemas, places: Mapping[str, Span], pointer: Callable[[str], str]
    ) -> None:
        super().__init__(schemas)
        self._places = places
        self._pointer = pointer
        self._spans: dict[str, Span] = {}
        self._properties: dict[tuple[str, Expression], Node] = {}
        self._members: set[str] = set()
        self.comments: dict[str, str] = {}
        self.dead: Set[str] = frozenset()
        self.meaning: Mapping[str, Node] = {}

    def write(self, root: Expression) -> list[tree.Definition]:
        """Return the rules for ``root``, its own first, called ``start``. Raises ProblemError."""
        start = self.write_all(root)
        self.meaning = self.all_rules()
        notations = Notations(self)
        written = notations.rules(start)
        if start in notations.dead:
            self.dead = {""}
        else:
            self.dead = {self.pointer_of(each, {}) for each in last_components(notations.dead)}
        self._remark(start, root)
        self._spans[start] = self._span(root)
        sections = {
            "Formats": notations.format_names.values(),
            "Other keys": notations.other_names.comments,
            "JSON": [self._prefix + name for name in self.prelude.rules],
        }
        behind = dict.fromkeys(name for names in sections.values() for name in names)
        found = tidied(start, written, self.comments.keys() | behind.keys())
        ordered = in_order(start, found, self.comments, self._members)
        order = [name for name in ordered if name not in behind]
        for title, names in sections.items():
            used = [name for name in names if name in found]
            order += used
            own = notations.other_names.comments
            self.comments.update((name, own[name]) for name in used if name in own)
            if used:
                told = self.comments.get(used[0])
                self.comments[used[0]] = f"{title}. {told}" if told else title
        spans = {name: self._spans.get(name, NOWHERE) for name in order}
        return [
            definition(name, placed_form(found[name], spans[name]), spans[name]) for name in order
        ]

    def member(self, name: str, value: Expression) -> Node | None:
        """Return a named member: a rule, which equal members share."""
        key = name, value
        if key not in self._properties:
            rule = self.rules.fresh(f"{name}_property" if name in {*NAMES, ""} else name)
            form = self.place(value, f"{rule}{_VALUE}")
            if form is None:
                return None
            self._members.add(rule)
            self.rules.add(rule, sequence(text(spell_text(name)), self.prelude.colon, form))
            self._spans[rule] = self._span(value)
            self._remark(rule, value, name)
            self._properties[key] = placed(call(rule), self._spans[rule])
        return self._properties[key]

    def place(self, expression: Expression, hint: str) -> Node | None:
        """Return how a value is written where it is in another, at its place in the text."""
        form = super().place(expression, hint)
        return None if form is None else placed(form, self._span(expression))

    def _hint(self, expression: Expression, hint: str) -> str:
        place = self.schemas.document.place(expression) if isinstance(expression, Ref) else None
        title = None if place is None else place.contents.get("title")
        is_name = isinstance(title, str) and _NAME.fullmatch(title)
        return str(title) if is_name else hint

    def _span(self, expression: Expression) -> Span:
        """Return the place of a schema; what several say together has none of its own."""
        if not isinstance(expression, Ref):
            return NOWHERE
        return self._places.get(self.schemas.document.place(expression).pointer, NOWHERE)

    def _schema_of(self, expression: Expression) -> Place | None:
        parts = (expression, *getattr(expression, "parts", ()))
        return next((self.schemas.document.place(e) for e in parts if isinstance(e, Ref)), None)

    def _rule(self, expression: Expression, hint: str) -> Node:
        form = super()._rule(expression, hint)
        self._spans[self._known[expression]] = self._span(expression)
        if isinstance(expression, Ref) and not hint.endswith(_VALUE):
            self._remark(self._known[expression], expression)
        return form

    def _remark(self, rule: str, expression: Expression, name: str | None = None) -> None:
        """Comment on a rule: where its schema is, and what the schema says of itself.

        A member has none where there is no more to say than its ``name``, in whatever case.
        """
        place = self._schema_of(expression)
        if place is None:
            return
        told = [place.contents.get(keyword) for keyword in ("title", "description")]
        said = [" ".join(each.split()).rstrip(".") for each in told if isinstance(each, str)]
        if name is not None and not place.contents.get("properties"):
            said = [each for each in said if each.casefold() != _SPACE.sub(" ", name).casefold()]
            if not any(said):
                return
        remark = textwrap.shorten(". ".join(each for each in said if each), _LONGEST_REMARK)
        pointer = self._pointer(place.pointer) or "the whole schema"
        self.comments[rule] = f"{pointer}: {remark}" if remark else pointer


def in_order(
    start: str, rules: Mapping[str, Form], titles: Container[str], members: Container[str]
) -> list[str]:
    """Return the rules in the order in which a reader meets them, depth first.

    A rule without a title is part of one with a title, and is after that; ``members`` are
    after all other parts of theirs.
    """
    found: dict[str, None] = {}
    pending = [start]
    while pending:
        heads = [pending.pop()]
        inner: dict[str, None] = {}
        while heads:
            parts = [heads.pop()]
            behind: dict[str, None] = {}
            while parts:
                part = parts.pop()
                if part in found:
                    continue
                found[part] = None
                callees = list(dict.fromkeys(called(rules[part])))
                inner.update((each, None) for each in callees if each in titles)
                own = [each for each in callees if each not in titles]
                behind.update((each, None) for each in own if each in members)
                parts.extend(each for each in reversed(own) if each not in members)
            heads.extend(reversed(behind))
        pending.extend(reversed(inner))
    return list(found)


def tidied(start: str, rules: Mapping[str, Form], kept: Container[str]) -> dict[str, Form]:
    """Return rules of the same texts, without those of the empty text and second names of one rule.

    ``kept`` are names that stay, ``start`` is the rule that is not called.
    """
    found = dict(rules)
    while empty := {name for name, form in found.items() if form is EMPTY and name != start}:
        for name in empty:
            del found[name]

        def left(leaf: tree.Leaf, empty: Container[str] = empty) -> Form:
            is_empty = isinstance(leaf, tree.Reference) and leaf.name.value in empty
            return EMPTY if is_empty else leaf

        found = {name: replaced(form, left) for name, form in found.items()}
    calls = Counter(chain.from_iterable(map(called, found.values())))
    for name in list(found):
        form = found.get(name)
        while isinstance(form, tree.Reference):
            only = form.name.value
            if only in kept or calls[only] > 1 or only in (name, start):
                break
            form = found[name] = found.pop(only)
    return found
