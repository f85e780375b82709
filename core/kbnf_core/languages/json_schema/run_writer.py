"""Writes rules for grammars that are run and not shown, in which nothing has to be read again.

The language is that of ``writer`` and ``write_scalars``. Strings and numbers, which those turn into
regular expressions, stay the automata that they are; the rules of alternatives that this process
has met before come from ``parts``.

What converting a sub-schema gave, remembered by content: a known tool is not converted again.

The alternatives of ``anyOf`` are often tools, and the next request has most of them again, among
others and in another order. What a schema says of objects depends on its text, on those of the
schemas that it refers to, on the options and on the dialect; so its rules are named after a digest
of these, are the same in every grammar, and their meanings are shared. Two alternatives with one
content are one rule.
"""

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import chain
from threading import Lock
from typing import NoReturn, cast

from kbnf_core import ir
from kbnf_core.automata import operations
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.ir import calls
from kbnf_core.kbnf import tree
from kbnf_core.languages.json_schema.atoms import Length
from kbnf_core.languages.json_schema.build_tree import Form, Rules, call, known, meaning, repeated
from kbnf_core.languages.json_schema.document import Document, Place
from kbnf_core.languages.json_schema.expressions import ANYTHING, Expression, Ref
from kbnf_core.languages.json_schema.lengths import Lengths, counted
from kbnf_core.languages.json_schema.normal_form import NormalForm
from kbnf_core.languages.json_schema.options import Options, Order
from kbnf_core.languages.json_schema.prelude import NAMES, Prelude
from kbnf_core.languages.json_schema.problems import ProblemError
from kbnf_core.languages.json_schema.schemas import Reader, Schemas, is_void
from kbnf_core.languages.json_schema.simple_schemas import (
    LARGEST,
    MANY_TEXTS,
    Part,
    SimpleSchemas,
)
from kbnf_core.languages.json_schema.value_sets import Restricted
from kbnf_core.languages.json_schema.write_scalars import ScalarWriter, quoted
from kbnf_core.languages.json_schema.writer import Writer, reachable
from kbnf_core.text.budget import Budget
from kbnf_core.text.json_text import Json
from kbnf_core.text.limits import DEFAULT_LIMITS

ALL = 2_000_000
"""Characters of all the schemas that are remembered; their rules take some five times as much."""


class Parts:
    """The parts of a process; the ones used least recently go first."""

    def __init__(self, most: int = ALL) -> None:
        self._most = most
        self._size = 0
        self._known: OrderedDict[str, Part] = OrderedDict()
        self._lock = Lock()
        self.made = 0

    def find(self, key: str) -> Part | None:
        """Return a part that is known."""
        with self._lock:
            part = self._known.get(key)
            if part is not None:
                self._known.move_to_end(key)
            return part

    def keep(self, key: str, part: Part, *, is_new: bool = True) -> None:
        """Remember a part, which need not be new: one may have several keys."""
        with self._lock:
            self.made += is_new
            if key not in self._known:
                self._size += len(key)
            self._known[key] = part
            while self._size > self._most:
                self._size -= len(self._known.popitem(last=False)[0])

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._known.clear()
            self._size = 0


PARTS = Parts()


_REFERENCE = re.compile(r"""'\$ref': (?:'([^'\\]*)'|[^{])""")


def key_of(at: Ref, document: Document, settings: str) -> str | None:
    """Return what the rules of a schema depend on; None where that is more than texts.

    None, too, where a schema is less than what it refers to: others of the document may refer to
    that as well, and would write it again. ``settings`` are what else the conversion depends on.
    """
    if at.scope or not document.has_plain_references:
        return None
    if at.pointer.endswith(("/$defs", "/definitions")):
        # What is below it would pass for definitions.
        return None
    settings = f"{settings} {at.closing.value}"
    contents = document.place(at).contents
    if contents.get("type") != "object" or "properties" not in contents:
        return None
    pending = [repr(contents)]
    texts = {"": pending[0]}
    size = 0
    for text in pending:
        size += len(text)
        if size > min(LARGEST, 2 * len(pending[0])):
            return None
        for found in _REFERENCE.finditer(text):
            target = found[1]
            if target in texts:
                continue
            there = None if target is None else document.at(target)
            if there is None:
                return None
            texts[target] = repr(there[1])
            pending.append(texts[target])
    return "\n".join([settings, *(f"{where} {text}" for where, text in texts.items())])


def prefix_of(key: str) -> str:
    """Return what the names of a part's rules begin with."""
    return f"part_{blake2b(key.encode(errors='surrogatepass'), digest_size=16).hexdigest()}_"


class _NeedsPlaceError(Exception):
    """A rule needs a name of its own in the grammar, or something is to be said of a place."""


def _refuse_name(said: str) -> NoReturn:
    raise _NeedsPlaceError(said)


class RunWriter(Writer):
    """Writes rules for a program to run; alternatives that are known are not written again."""

    def __init__(
        self,
        document: Document,
        options: Options,
        prefix: str = "",
        schemas: Schemas | None = None,
        prelude: Prelude | None = None,
    ) -> None:
        super().__init__(document, options, prefix, schemas, prelude)
        self._is_whole = schemas is None and not prefix
        self._is_shareable = True
        # Calls of the rules of parts; equal alternatives are one.
        self._parts_called: dict[str, Form] = {}
        # Whose schemas the rules are that have none of their own.
        self._owners: dict[str, Expression] = {}
        rules = Rules(self._fresh_for_text, self._add_text, self.schemas.budget)
        self._scalars = RunScalars(self.prelude, rules, self.limits, self.left_out)

    def rules_for(self, root: Expression) -> Mapping[str, ir.Node]:
        """Return what the rules for ``root`` mean, its own first, called ``start``.

        Raises ProblemError and WorkLimitError.
        """
        self._write_all(root)
        return {**self._meanings(self._rules), **self.bodies, **self.prelude.bodies()}

    def _meanings(self, rules: Mapping[str, Form]) -> dict[str, ir.Node]:
        budget = Budget(DEFAULT_LIMITS.work)
        found = {}
        for name, form in rules.items():
            try:
                found[name] = meaning(form, budget)
            except ProblemError as error:
                self._current = self._owner(name, found)
                raise ProblemError(self._placed(error.problem)) from None
        return found

    def pointer_of(self, name: str, rules: Mapping[str, ir.Node]) -> str:
        """Return the JSON Pointer of a rule; ``rules`` are the meanings of all."""
        self._current = self._owner(name, rules)
        return self.pointer()

    def _owner(self, name: str, rules: Mapping[str, ir.Node]) -> Expression:
        """Return the schema that a rule is of, or the first rule that calls it."""
        owners = {**self._owners, **{rule: each for each, rule in self._known.items()}}
        callers: dict[str, str] = {}
        for rule, body in rules.items():
            for each in calls(body):
                callers.setdefault(each.nonterminal, rule)
        tried = {name}
        while name not in owners and callers.get(name, name) not in tried:
            name = callers[name]
            tried.add(name)
        return owners.get(name, ANYTHING)

    def _add(self, name: str, form: Form) -> None:
        super()._add(name, form)
        self._owners[name] = self._current

    def _add_text(self, name: str, form: Form) -> None:
        super()._add(name, form)
        self._owners.setdefault(name, self._placed_last or self._current)

    @cached_property
    def _settings(self) -> str:
        return f"{self.options!r} {self.schemas.document.dialect} {self.prelude.whole_fraction}"

    def _fresh_for_text(self, wish: str) -> str:
        # What counts characters is one rule for all of a grammar.
        self._is_shareable = False
        return self._names.fresh(wish)

    @cached_property
    def _simple(self) -> SimpleSchemas | None:
        """Who writes simple schemas; None where other words count in them, or another order."""
        document = self.schemas.document
        if self.options.order is not Order.DECLARED or document.dialect == "draft-03":
            return None
        return SimpleSchemas(
            self.prelude, self.options, self._settings, self.schemas.budget, document, PARTS,
            self._scalar_part, self._use,
        )  # fmt: skip

    def _scalar_part(self, name: str, contents: dict[str, Json]) -> Part | None:
        """Return the rules of a string or number; None where something is to be said of it.

        Errors and notes need the place in the schema, which the other way knows.
        """
        schemas = self.schemas
        before, notes, losses = schemas.budget.spent, len(schemas.notes), len(schemas.losses)
        rules: dict[str, Form] = {}
        collected = Rules(_refuse_name, rules.__setitem__, schemas.budget)
        writer = RunScalars(self.prelude, collected, self.limits, _refuse_name)
        try:
            read = Reader(schemas, Place(contents, "", None), self.options).read()
            parts = [
                part
                for shape in cast(Iterator[NormalForm], read)
                for part in chain(*shape.values())
            ]
            form = writer.write(cast(Restricted, parts[0]), name) if len(parts) == 1 else None
            if form is None or schemas.notes[notes:] or schemas.losses[losses:]:
                return None
            if isinstance(form, tree.Reference) and form.name.value in rules:
                form = rules.pop(form.name.value)
            budget = Budget(DEFAULT_LIMITS.work)
            bodies = {each: meaning(body, budget) for each, body in {name: form, **rules}.items()}
        except (ProblemError, LimitError, _NeedsPlaceError):
            return None
        finally:
            del schemas.notes[notes:], schemas.losses[losses:]
        called = {each.nonterminal for body in bodies.values() for each in calls(body)}
        return Part(name, bodies, tuple(sorted(called & NAMES)), schemas.budget.spent - before)

    def _use(self, part: Part) -> None:
        for name in part.shared:
            self.prelude.use(name)
        self.bodies.update(part.bodies)
        self._check_count()

    def _simply(self, expression: Expression) -> Form | None:
        """Return a call of the rule of a simple object; None for all else."""
        if not isinstance(expression, Ref) or self._simple is None:
            return None
        name = self._simple.rule(self.schemas.document.place(expression))
        if name is None:
            return None
        self._known.setdefault(expression, name)
        return self._parts_called.setdefault(name, call(name))

    def place(self, expression: Expression, wish: str) -> Form | None:
        """Return how a value is written where it stands in another; None if there is none."""
        is_new = isinstance(expression, Ref) and expression not in self._known
        form = self._simply(expression) if is_new else None
        return super().place(expression, wish) if form is None else form

    def _body(self, expression: Expression) -> Form:
        form = self._simply(expression)
        return super()._body(expression) if form is None else form

    def _alternative(self, expression: Expression, wish: str) -> Form | None:
        if expression not in self._known and (form := self._simply(expression)) is not None:
            return form
        key = None
        if self._is_whole and isinstance(expression, Ref) and expression not in self._known:
            expression = self._referred(expression)
            key = key_of(expression, self.schemas.document, self._settings)
        if key is None or expression in self._known:
            return self.place(expression, wish)
        part = PARTS.find(key)
        if part is None:
            part = self._part_of(expression, prefix_of(key))
            if part is None:
                return self.place(expression, wish)
            PARTS.keep(key, part)
        else:
            self.schemas.budget.spend(part.work)
        self._use(part)
        self._known[expression] = part.start
        return call(part.start)

    def _referred(self, at: Ref) -> Ref:
        """Return what a schema that says nothing else refers to."""
        if self.schemas.document.place(at).contents.keys() == {"$ref"}:
            alias = self.schemas.alias(at)
            return alias if isinstance(alias, Ref) else at
        return at

    def _part_of(self, expression: Expression, prefix: str) -> Part | None:
        """Return the rules of a schema; None where something is to be said of it."""
        schemas = self.schemas
        before = schemas.budget.spent
        if is_void(schemas, expression):
            return None
        writer = RunWriter(schemas.document, self.options, prefix, schemas, self.prelude)
        try:
            start = writer._write_all(expression)
        except ProblemError:
            return None
        if not writer._is_shareable or schemas.losses or schemas.notes or schemas.document.ignored:
            return None
        try:
            bodies = writer._meanings(reachable(start, writer._rules)) | writer.bodies
        except ProblemError:
            return None
        called = dict.fromkeys(each.nonterminal for body in bodies.values() for each in calls(body))
        shared = tuple(name for name in called if name not in bodies)
        return Part(start, bodies, shared, schemas.budget.spent - before)


FEWER = 2
"""How many letters, those of common beginnings once, are taken to be one state at least."""


class RunScalars(ScalarWriter):
    """Writes sets of strings and numbers as their automata."""

    def _times(self, unit: Form, length: Length) -> Form:
        return repeated(unit, length.low, length.high)

    def _texts(self, values: Sequence[str]) -> Form:
        spelling = self._prelude.spelling
        texts = tuple(text for value in values if (text := spelling.text(value)) is not None)
        if len(values) < MANY_TEXTS or len(texts) < len(values):
            return super()._texts(values)
        most = FEWER * self._limits.states
        if sum(map(len, texts)) > most:
            self._refuse_many(_letters(texts, most) // FEWER)
        found = _literals(texts)
        self._refuse_many(found.state_count)
        return known(found)

    def _others(self, words: tuple[str, ...], automaton: Dfa) -> Form:
        del words
        return known(automaton)

    def _of_any_length(self, part: Restricted, wish: str) -> Form | None:
        del wish
        dfa = part.dfa(self._rules.budget)
        return None if dfa.is_empty else known(quoted(dfa, self._prelude.spelling))

    def _decimal_texts(self, part: Restricted, wish: str) -> Form | None:
        del wish
        dfa = self._number_texts(part)
        return None if dfa.is_empty else known(dfa)

    def _by_states(self, lengths: Lengths, length: Length, most: int, wish: str) -> Form | None:
        """Return strings of some lengths as one automaton; as rules where it is too large."""
        spelling, budget = self._prelude.spelling, self._rules.budget
        try:
            return known(counted(lengths, length, most, spelling, budget))
        except LimitError:
            return super()._by_states(lengths, length, most, wish)

    def _name(self, part: Restricted, wish: str) -> str:
        """Return a name by content, so that the parts of a grammar share their texts' rules."""
        del wish
        return f"text_{blake2b(repr(part).encode(errors='surrogatepass')).hexdigest()[:32]}"


def _letters(texts: Sequence[str], most: int) -> int:
    """Return how many letters texts have, those of common beginnings once, as far as ``most``."""
    count, last = 0, ""
    for text in sorted(texts):
        pairs = zip(last, text, strict=False)
        count += len(text) - next((n for n, (a, b) in enumerate(pairs) if a != b), len(last))
        last = text
        if count > most:
            break
    return count


@lru_cache(maxsize=64)
def _literals(texts: tuple[str, ...]) -> Dfa:
    return operations.literals(text.encode() for text in texts)
