"""Writes rules for a person: one for each property, named formats, short lines, comments.

The rules are those that are run. ``SchemaOutline`` gives the members in them rules of their own,
with names, spans and comments of schemas; ``Expressions`` writes automata as expressions. Rules
that say little, of nothing or of one other rule, are left out in the end. The result is rules again
(``ReadableSchema``): the tree of KBNF is a view of them, and Lark is written from them. Regular
expressions in them are compiled on demand, as KBNF needs no automata; those of whole rules are
kept, so that Lark does not make them again.

*Automata* of strings and numbers come with a ``Notation`` of their source. The rules written for
one have the language of the automaton: a named format, an expression where that is short, and rules
where it grows. Formats are written by their rules (``formats.kbnf``), spelt as JSON strings.

*Other names*, all strings but some, are one rule (``OtherNames``). A name other than those goes
along their trie and leaves it by a character that is written as itself; or it goes on with an
escape, or ends, at a beginning other than them; or it is one of them and goes on with an escape.
The ways off the trie, and these beginnings, are listed, so that each takes a text as long as its
depth: words longer than ``CHUNK`` are cut, and the rest after a beginning of that length is a rule
of its own.

Tests: tests/unit/languages/json_schema/test_readable.py, test_long_names.py
"""

import re
import textwrap
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from collections.abc import Sequence as Several
from dataclasses import replace
from functools import cache, lru_cache, partial
from itertools import chain

from kbnf_core import ir
from kbnf_core.automata import codepoints
from kbnf_core.automata.algebra import Choice, Repeat, Sequence
from kbnf_core.automata.algebra import children as regex_children
from kbnf_core.automata.codepoints import ANY, CodePoints, from_text, intersect
from kbnf_core.automata.dfa import Dfa, empty
from kbnf_core.automata.expression import (
    Builder,
    ShortTexts,
    Spell,
    print_character,
    print_characters,
    print_expression,
)
from kbnf_core.automata.expression import Expression as Regex
from kbnf_core.automata.json_strings import ESCAPED, Spelling, spell_text
from kbnf_core.automata.operations import concatenate, continued, difference, is_equal
from kbnf_core.automata.operations import intersect as intersection
from kbnf_core.automata.regex.syntax import CharacterSet
from kbnf_core.automata.to_regex import CharacterDfa, to_characters, to_expression
from kbnf_core.automata.traversal import fold
from kbnf_core.ir import Call, Node, Notation, Regular
from kbnf_core.ir import build as nodes
from kbnf_core.ir.build import (
    EMPTY,
    alternation,
    call,
    optional,
    pattern,
    repeated,
    sequence,
    text,
)
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.build import call as reference
from kbnf_core.kbnf.build import definition, of_ir, regex
from kbnf_core.languages.json_schema.algebra import ANYTHING, Expression, Ref
from kbnf_core.languages.json_schema.counts import Step, write_linear
from kbnf_core.languages.json_schema.document import Subschema
from kbnf_core.languages.json_schema.rules import NAMES, Prelude, Property, Texts, Value
from kbnf_core.languages.json_schema.rules import regex as regex_of
from kbnf_core.languages.json_schema.scalars import (
    LONG,
    LONG_SET,
    MOST_LEAVES,
    CountedStrings,
    Listed,
    Numbers,
    OtherStrings,
    Strings,
    as_written,
    format_of,
)
from kbnf_core.languages.json_schema.type_keywords import NamedFormat, rule_of, rules
from kbnf_core.languages.json_schema.value_sets import (
    FAR,
    SHORT_WHOLE,
    WHOLE,
    Restricted,
    automaton_within,
)
from kbnf_core.languages.json_schema.writer import Writer
from kbnf_core.lower.facts import analyse, useful
from kbnf_core.lower.translate import meaning_of
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.source import NOWHERE, Source, Span


@cache
def format_rules(format_: NamedFormat) -> tuple[tuple[str, Node], ...]:
    """Return the rules of a format, in quotes, and of what it calls, spelt as in JSON strings.

    A process keeps them. Without, a conversion of a schema with a date makes half as many calls
    again.
    """
    find, own, builder = rules(format_.kind), rule_of(format_.name), Builder()
    order, made = [own], dict[str, Node]()
    for rule in order:
        made[rule] = _spelled(find(rule), builder)
        order += [
            name for name in dict.fromkeys(called(ir.postorder(made[rule]))) if name not in order
        ]
    quote = nodes.text('"')
    whole = nodes.sequence(quote, made.pop(own), quote)
    return (f"{own}_string", whole), *made.items()


def _spelled(rule: tree.Expression, builder: Builder) -> Node:
    """Return a rule of a format with the characters spelled as in JSON strings."""

    def leaf(node: tree.OtherLeaf) -> Node:
        match node:
            case tree.Reference(name):
                return nodes.call(name.value)
            case tree.Pattern(_, written):
                pattern = builder.read(written.value)
                if pattern is None or not fold(pattern, regex_children, _has_escapes):
                    return nodes.pattern(written.value)
                return nodes.pattern(print_expression(pattern, Spelling().spell))
            case _:
                raise TypeError("a rule of a format has texts and regular expressions only")

    whole = meaning_of(rule, leaf, frozenset(), Budget(DEFAULT_LIMITS.work))
    return settled(nodes.moved(whole, {}), _spelled_text)


def _spelled_text(node: Node) -> Node:
    """Return a text with its characters spelled as in JSON strings, any other leaf as it is."""
    if not isinstance(node, ir.Literal):
        return node
    return nodes.text(spell_text(node.data.decode())[1:-1])


WIDTH = 68
"""Columns of a regular expression that stays in one piece; a longer one becomes several."""


class Expressions:
    """Writes the rules of ``writer`` with expressions in place of automata, and adds rules of them.

    ``format_names`` are the rules of formats, by their names in the library; ``other_names`` writes
    those of other keys. ``automata`` are those of the rules that stand for one. ``called`` returns
    the names that an expression calls, for each one once.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._scalars = writer.scalars
        self._prelude = writer.prelude
        self._fresh = writer.rules.fresh
        self._builder = Builder()
        self._quoted_texts = ShortTexts(writer.prelude.spelling.spell, WIDTH)
        self._plain_texts = ShortTexts(print_characters, WIDTH)
        self._rules: dict[str, Node] = {}
        # What stands for the rules of strings: calls of rules with names for people, or nodes.
        self._texts: dict[str, Node] = {}
        # Calls of the rules of automata that are too large for one expression; equal ones have one,
        # of numbers and of strings: values in both are spelt alike.
        self._large: dict[CharacterDfa, Node] = {}
        self.other_names = OtherNames(writer.prelude, self._fresh, self._rules)
        self.format_names: dict[str, str] = {}
        self.automata: dict[str, Dfa] = {}
        self._inside = inside = cache(lambda root: [*ir.postorder(root)])
        self.called = cache(lambda root: called(inside(root)))

    def write(self, start: str, rules: Mapping[str, Node]) -> dict[str, Node]:
        """Return the rules that ``start`` needs. Raises ProblemError for what grows too large."""
        writer, pending, written = self._writer, [start], dict[str, Node]()
        while pending:
            name = pending.pop()
            if name in written:
                continue
            if name not in self._rules:
                body = rules.get(name) or writer.body(name)
                with writer.placing(writer.rules.owners.get(name, ANYTHING)):
                    is_shared = self._prelude.rules.get(name) is body
                    self._rules[name] = self._expressed(body, is_flat=is_shared)
            written[name] = self._rules[name]
            pending += reversed(self.called(written[name]))
        return written

    def _expressed(self, root: Node, *, is_flat: bool = False) -> Node:
        """Return an expression without automata.

        It is settled, unless it ``is_flat`` or has no branches, which may be alike.
        """
        hints, has_choice = self._scalars.hints, False
        for node in self._inside(root):
            if isinstance(node, Regular):
                stays = not isinstance(node.notation, Notation)
            else:
                stays = node.nonterminal not in hints if isinstance(node, Call) else True
            if not stays:
                return settled(root, self._leaf)
            has_choice |= isinstance(node, ir.Choice) and not is_flat
        return settled(root) if has_choice else root

    def _leaf(self, node: Node) -> Node:
        match node:
            case Call(name) if name in self._scalars.hints:
                return self._text(name)
            case Regular(notation=Notation()):
                return self._noted(node)
            case _:
                return node

    def _noted(self, node: Regular) -> Node:
        """Return an automaton as an expression, or as a call of a rule that has its language."""
        result = self._automaton(node)
        if isinstance(result, Call):
            self.automata[result.nonterminal] = node.dfa
        if isinstance(result, Regular):
            return Regular(node.dfa, result.span, result.notation)
        return result

    def _automaton(self, node: Regular) -> Node:
        match node.notation:
            case Strings(values, dfa, hint):
                return self._strings(values, dfa, hint)
            case Listed(texts):
                return alternation(map(text, texts))
            case CountedStrings(lengths, length, most, hint):
                strings = self._scalars.by_rules(lengths, length, most, hint)
                return EMPTY if strings is None else self._expressed(strings)
            case OtherStrings(values, hint):
                return self._others(values, hint)
            case Texts(hint):
                return self._some_numbers(node.dfa, hint)
            case Numbers(hint):
                return self._numbers(node.dfa, hint)
            case _:
                raise TypeError("an automaton that nobody knows how to write")

    def _text(self, name: str) -> Node:
        """Return what stands for a rule of strings: the strings, where they are short."""
        if name not in self._texts:
            body = self._writer.rules[name]
            form = self._expressed(body)
            if _is_long(form, LONG):
                rule = self._fresh(self._scalars.hints[name])
                self._rules[rule] = form
                form = call(rule)
                if isinstance(body, Regular):
                    self.automata[rule] = body.dfa
            self._texts[name] = form
        return self._texts[name]

    def _strings(self, values: Restricted, dfa: Dfa, hint: str) -> Node:
        """Return the JSON texts of a set of strings, whose automaton is ``dfa``."""
        form = self._format(values)
        if form is not None:
            return form
        expression = as_written(values, self._builder)
        if expression is None:
            characters = to_characters(dfa)
            try:
                expression = to_expression(characters, self._builder, MOST_LEAVES)
            except LimitError:
                spell = self._prelude.spelling.spell
                return sequence(text('"'), self._linear(characters, spell, hint), text('"'))
        return self._in_quotes(expression)

    def _others(self, values: Restricted, hint: str) -> Node:
        """Return the JSON texts of the strings other than some words."""
        words = values.excluded
        if intersect(from_text("".join(words)), self._prelude.spelling.escaped):
            return self._strings(values, values.dfa(self._writer.rules.budget), hint)
        return self.other_names.write(words)

    def _numbers(self, dfa: Dfa, hint: str) -> Node:
        """Return the texts of a set of numbers, whose automaton is ``dfa``.

        Those next to the bounds of 64 bits are written apart, as calls of shared rules where all of
        them are in the set: their automaton is small, but its text is long.
        """
        far = (
            difference(dfa, automaton_within(SHORT_WHOLE))
            if self._prelude.has_bounded_digits
            else empty()
        )
        if far.is_empty or not difference(far, automaton_within(WHOLE)).is_empty:
            return self._some_numbers(dfa, hint)
        whole, behind = (
            intersection(dfa, automaton_within(WHOLE, "")),
            continued(far, FAR["int64_high"]),
        )
        if not is_equal(whole, dfa) and is_equal(concatenate(whole, behind), dfa):
            return sequence(self._numbers(whole, hint), self._some_numbers(behind, hint))
        near, calls = difference(dfa, far), []
        for name, beginning in FAR.items():
            behind = continued(far, beginning)
            whole = concatenate(self._prelude.automaton(name), behind)
            if not behind.is_empty and difference(whole, far).is_empty:
                far = difference(far, whole)
                shared = call(self._prelude.use(name).nonterminal)
                calls.append(sequence(shared, self._some_numbers(behind, hint)))
        apart = [
            self._some_numbers(numbers, hint) for numbers in (near, far) if not numbers.is_empty
        ]
        return alternation([*apart, *calls])

    def _some_numbers(self, dfa: Dfa, hint: str) -> Node:
        """Return texts of numbers, whose automaton is ``dfa``, without shared rules."""
        characters = to_characters(dfa)
        if characters in self._large:
            return self._large[characters]
        try:
            return self._plain(to_expression(characters, self._builder, MOST_LEAVES))
        except LimitError:
            return self._linear(characters, print_characters, hint)

    def _linear(self, characters: CharacterDfa, spelling: Spell, hint: str) -> Node:
        def step(state: int) -> Step[int]:
            edges = [(write(spelling(points)), to) for points, to in characters.edges[state]]
            return Step(characters.accepting[state], edges)

        # The rules that are run have the automaton itself, so only the work of writing it is
        # bounded.
        rules = self._writer.rules
        write = partial(regex_of, budget=rules.budget)
        form = write_linear(0, step, rules, hint, len(characters.edges))
        name = self._fresh(hint)
        self._rules[name] = EMPTY if form is None else self._expressed(form)
        self._large[characters] = call(name)
        return self._large[characters]

    def _format(self, values: Restricted) -> Node | None:
        """Return a call of a format's rules; None where it has none."""
        format_ = format_of(values)
        if format_ is None or not self._prelude.spelling.is_usual:
            return None
        names, bodies = self.format_names, format_rules(format_)
        fresh = [(rule, body) for rule, body in bodies if rule not in names]
        for rule, _ in fresh:
            names[rule] = self._fresh(rule)
        for rule, body in fresh:
            self._rules[names[rule]] = nodes.moved(body, names)
        return call(names[bodies[0][0]])

    def _quoted(self, expression: Regex) -> Node:
        """Return the JSON texts of strings as one regular expression."""
        inner = print_expression(expression, self._prelude.spelling.spell)
        return pattern(f'"(?:{inner})"' if isinstance(expression, Choice) else f'"{inner}"')

    def _in_quotes(self, expression: Regex) -> Node:
        """Return the JSON texts of strings, a long expression in pieces."""
        if self._quoted_texts.of(expression) is not None:
            whole = self._quoted(expression)
            if not _is_long(whole, WIDTH):
                return whole
        return sequence(text('"'), self._expression_of(expression, self._quoted_texts), text('"'))

    def _plain(self, expression: Regex) -> Node:
        """Return texts as they are."""
        return self._expression_of(expression, self._plain_texts)

    def _expression_of(self, root: Regex, texts: ShortTexts) -> Node:
        """Return a regular expression as a form in which no piece is long."""
        written = texts.of(root)
        is_set = isinstance(root, CharacterSet)
        if written is not None and not (is_set and len(written) > LONG_SET):
            return self._pattern_of(root, written)
        match root:
            case CharacterSet(points):
                return self._expressed(self._scalars.set_of(points))
            case Choice(items):
                return alternation(self._expression_of(item, texts) for item in items)
            case Repeat(item, low, high):
                return repeated(self._expression_of(item, texts), low, high)
            case Sequence(items):
                return sequence(*self._joined(items, texts))

    def _joined(self, items: tuple[Regex, ...], texts: ShortTexts) -> Iterator[Node]:
        """Yield items, as many in one piece as fit."""
        start, written = 0, texts.bracketed(items[0])
        for end, item in enumerate(items[1:], 1):
            more = texts.bracketed(item)
            if written is None or more is None or len(written) + len(more) > WIDTH:
                yield self._together(items[start:end], written, texts)
                start, written = end, more
            else:
                written += more
        yield self._together(items[start:], written, texts)

    def _together(self, items: tuple[Regex, ...], written: str | None, texts: ShortTexts) -> Node:
        if written is None or len(items) == 1:
            return self._expression_of(items[0], texts)
        return self._pattern_of(Sequence(items), written)

    def _pattern_of(self, root: Regex, written: str) -> Node:
        """Return a regular expression, or the only text that it is."""
        items = root.operands if isinstance(root, Sequence) else (root,)
        letters = []
        for item in items:
            points = item.points if isinstance(item, CharacterSet) else ()
            if len(points) != 1 or points[0][0] != points[0][1]:
                return pattern(written)
            letters.append(chr(points[0][0]))
        only = self._prelude.spelling.text("".join(letters))
        return pattern(written) if only is None else text(only[1:-1])


def _has_escapes(root: Regex, flags: list[bool]) -> bool:
    """Return whether an expression has characters that JSON strings spell by an escape."""
    return any(flags) or (isinstance(root, CharacterSet) and bool(intersect(root.points, ESCAPED)))


_FEW, _SHORT = 7, 25
"""Parts of a form, itself among them, and characters in them, that need no rule of their own."""


def _is_long(form: Node, most: int) -> bool:
    """Return whether an expression is better a rule, or several pieces.

    ``most`` is the length of one piece.
    """
    length = _length(form)
    if length is not None:
        return length > most
    inside = list(ir.postorder(form))
    has_choice = any(isinstance(node, ir.Choice) for node in inside)
    return has_choice or len(inside) > _FEW or sum(_length(node) or 0 for node in inside) > _SHORT


def _length(node: Node) -> int | None:
    """Return the characters of a text or a regular expression; None for other expressions."""
    if isinstance(node, ir.Literal):
        return len(node.data.decode())
    return len(str(node.notation)) if isinstance(node, Regular) else None


def called(inside: Iterable[Node]) -> list[str]:
    """Return the names that some nodes call, in order, as often as they do."""
    return [node.nonterminal for node in inside if isinstance(node, Call)]


def settled(root: Node, leaf: Callable[[Node], Node] = lambda node: node) -> Node:
    """Return an expression with other leaves, flat and without empty parts; all have a place."""

    def one(node: Node, operands: list[Node]) -> Node:
        match node:
            case ir.Sequence():
                result = sequence(*operands)
            case ir.Choice():
                result = alternation(nodes.distinct(operands))
            case ir.Repeat(_, low, high):
                result = repeated(operands[0], low, high)
            case ir.Literal(b""):
                result = EMPTY
            case _:
                other = leaf(node)
                at = _at if ir.children(other) else nodes.placed
                return node if other is node else at(other, node.span)
        return nodes.placed(result, node.span)

    return fold(root, ir.children, one)


_LONGEST_REMARK = 240


_SPACE = re.compile(r"[\s_-]+")


class SchemaOutline:
    """Gives the members of objects rules of their own, and nodes of rules the spans of schemas.

    ``spans`` are the spans of JSON Pointers in the author's text, ``pointer`` returns the pointer
    that comments show. ``rules`` are those of ``writer``, as people read them, and ``meaning``
    the same with the automata of the rules that all schemas share. ``comments`` are what to say of
    rules, ``spans`` where their schemas are, by their names; ``members`` are the rules of members.
    """

    def __init__(
        self, writer: Writer, spans: Mapping[str, Span], pointer: Callable[[str], str]
    ) -> None:
        self._writer = writer
        self._document = writer.schemas.document
        self._pointer_spans = spans
        self._pointer = pointer
        self._properties: dict[tuple[str, Expression, int], str] = {}
        # Rules of values that are where the rules of their members are.
        self._inner: set[str] = set()
        self._bodies: dict[str, Node] = {}
        self.members: set[str] = set()
        self.spans: dict[str, Span] = {}
        self.comments: dict[str, str] = {}
        rules = with_texts(writer.start, writer.to_read())
        # The rules that all schemas share have no members.
        for name, body in rules.items():
            is_own = name in writer.rules
            self._bodies[name] = fold(body, ir.children, self._outlined) if is_own else body
        for number, (expression, name) in enumerate(writer.names.items()):
            if name in rules:
                self.spans[name] = self._span(expression)
                if not number or (isinstance(expression, Ref) and name not in self._inner):
                    self._remark(name, expression)
        spans = self.spans
        self.rules = {
            name: _at(body, spans.get(name, NOWHERE)) for name, body in self._bodies.items()
        }
        self.meaning: Mapping[str, Node] = {**self.rules, **writer.prelude.bodies()}

    def _outlined(self, node: Node, operands: list[Node]) -> Node:
        match node:
            case ir.Sequence(notation=Value(schema)):
                return _at(nodes.sequence(*operands), self._span(schema))
            case ir.Sequence(notation=Property(name, schema, column)):
                return self._member(name, schema, column, operands)
            case _:
                return ir.rebuild(node, operands)

    def _member(
        self, name: str, schema: Expression | Subschema, column: int, operands: list[Node]
    ) -> Node:
        """Return a call of the rule of a member, which equal members share."""
        if isinstance(schema, Subschema):
            schema = self._document.inside(schema, "properties", name)
        span = self._span(schema)
        rule = self._properties.get((name, schema, column))
        if rule is None:
            is_taken = name in NAMES or name in self._writer.rules or not name
            rule = self._writer.rules.fresh(f"{name}_property" if is_taken else name)
            self._properties[name, schema, column] = rule
            self.members.add(rule)
            self._bodies[rule] = nodes.sequence(*operands)
            self.spans[rule] = span
            self._remark(rule, schema, name)
            self._inner.add(self._writer.names.get(schema, ""))
        return nodes.placed(nodes.call(rule), span)

    def _span(self, expression: Expression) -> Span:
        """Return the span of a schema; an expression of several has no span of its own."""
        if not isinstance(expression, Ref):
            return NOWHERE
        return self._pointer_spans.get(self._document.subschema(expression).pointer, NOWHERE)

    def _remark(self, rule: str, expression: Expression, name: str | None = None) -> None:
        """Comment on a rule: where its schema is, and what the schema says of itself.

        A member has none where there is no more to say than its ``name``, in whatever case.
        """
        expressions = (expression, *getattr(expression, "operands", ()))
        subschema = next(
            (self._document.subschema(e) for e in expressions if isinstance(e, Ref)), None
        )
        if subschema is None:
            return
        texts = [subschema.contents.get(keyword) for keyword in ("title", "description")]
        sentences = [
            " ".join(sentence.split()).rstrip(".")
            for sentence in texts
            if isinstance(sentence, str)
        ]
        if name is not None and not subschema.contents.get("properties"):
            sentences = [
                sentence
                for sentence in sentences
                if sentence.casefold() != _SPACE.sub(" ", name).casefold()
            ]
            if not any(sentences):
                return
        remark = ". ".join(sentence for sentence in sentences if sentence)
        if len(remark) > _LONGEST_REMARK:
            remark = textwrap.shorten(remark, _LONGEST_REMARK)
        pointer = self._pointer(subschema.pointer) or "the whole schema"
        self.comments[rule] = f"{pointer}: {remark}" if remark else pointer


def _at(root: Node, span: Span) -> Node:
    """Return an expression whose parts without a place are at ``span``."""

    def one(node: Node, operands: list[Node]) -> Node:
        node = ir.rebuild(node, operands)
        return (
            replace(node, span=span) if node.span is NOWHERE and node is not nodes.EMPTY else node
        )

    return root if span is NOWHERE else fold(root, ir.children, one)


class ReadableSchema:
    """The rules of a schema as people read them, and the tree of them.

    ``automata`` are those that rules stand for. Raises ProblemError for a limit.
    """

    def __init__(self, writer: Writer, outline: SchemaOutline) -> None:
        start, expressions = writer.start, Expressions(writer)
        written = expressions.write(start, outline.rules)
        self.comments, others = dict(outline.comments), expressions.other_names.comments
        sections = {
            "Formats": expressions.format_names.values(),
            "Other keys": others,
            "JSON": writer.prelude.rules,
        }
        behind = dict.fromkeys(name for names in sections.values() for name in names)
        kept = self.comments.keys() | behind.keys()
        rules = tidied(start, written, kept, expressions.called)
        callees = {name: expressions.called(body) for name, body in rules.items()}
        order = [
            name
            for name in in_order(start, callees, self.comments, outline.members)
            if name not in behind
        ]
        for title, names in sections.items():
            used = [name for name in names if name in rules]
            order += used
            self.comments.update((name, others[name]) for name in used if name in others)
            if used:
                comment = self.comments.get(used[0])
                self.comments[used[0]] = f"{title}. {comment}" if comment else title
        self.spans = {name: outline.spans.get(name, NOWHERE) for name in order}
        self._rules = {name: nodes.placed(rules[name], self.spans[name]) for name in order}
        self._shared = writer.prelude.rules
        shared = writer.prelude.bodies().items()
        bodies = {name: body.dfa for name, body in shared if isinstance(body, Regular)}
        self.automata: Mapping[str, Dfa] = {**bodies, **expressions.automata}

    def rules(self) -> dict[str, Node]:
        """Return the rules in the order of the tree, flat and without empty parts, as that is."""
        return {
            name: body if self._shared.get(name) is body else settled(body)
            for name, body in self._rules.items()
        }

    def document(self, source: Source) -> tree.Document:
        """Return the tree of the rules."""
        definitions = tuple(
            definition(name, of_ir(body, leaf_of, list), self.spans[name])
            for name, body in self._rules.items()
        )
        return tree.Document(source, definitions, (), remarks=self.comments)


def leaf_of(node: Regular | Call) -> tree.Expression:
    """Return a call, or an automaton as its regular expression."""
    if isinstance(node, Call):
        return reference(node.nonterminal)
    if isinstance(node, nodes.Uncompiled):
        return regex(str(node.notation), parsed=node.parsed)
    # With its automaton a second reading of the rules need not compile it.
    return replace(regex(str(node.notation)), dfa=node.dfa)


def with_texts(start: str, rules: Mapping[str, Node]) -> Mapping[str, Node]:
    """Return rules without nodes that have no texts: values that always need another one inside.

    Where that is so of ``start`` itself all stays as it is; a reader of the rules reports it.
    """
    facts = analyse(ir.GrammarRules(start, rules)).facts
    are_needless = facts[start].productive and not all(form.productive for form in facts.values())
    return useful(rules) if are_needless else rules


def in_order(
    start: str,
    called: Mapping[str, Iterable[str]],
    titles: Container[str],
    members: Container[str],
) -> list[str]:
    """Return rules in the order in which a reader meets them, depth first.

    ``called`` are the rules that each calls. A rule without a title is part of one with a title,
    and is after that; ``members`` are after all other parts of theirs.
    """
    ordered: dict[str, None] = {}
    pending = [start]
    while pending:
        heads = [pending.pop()]
        inner: dict[str, None] = {}
        while heads:
            stack = [heads.pop()]
            behind: dict[str, None] = {}
            while stack:
                rule = stack.pop()
                if rule in ordered:
                    continue
                ordered[rule] = None
                callees = list(dict.fromkeys(called[rule]))
                inner.update((name, None) for name in callees if name in titles)
                own = [name for name in callees if name not in titles]
                behind.update((name, None) for name in own if name in members)
                stack.extend(name for name in reversed(own) if name not in members)
            heads.extend(reversed(behind))
        pending.extend(reversed(inner))
    return list(ordered)


def tidied(
    start: str,
    rules: Mapping[str, Node],
    kept: Container[str],
    called: Callable[[Node], list[str]],
) -> dict[str, Node]:
    """Return rules of the same texts, without those of the empty text and second names of one rule.

    ``kept`` are names that stay, ``start`` is the rule that is not called.
    """
    tidy = dict(rules)
    while empty := {name for name, body in tidy.items() if body is EMPTY and name != start}:
        for name in empty:
            del tidy[name]

        def left(leaf: Node, empty: Container[str] = empty) -> Node:
            is_left_out = isinstance(leaf, Call) and leaf.nonterminal in empty
            return EMPTY if is_left_out else leaf

        tidy = {name: settled(body, left) for name, body in tidy.items()}
    calls = Counter(chain.from_iterable(map(called, tidy.values())))
    for name in list(tidy):
        body = tidy.get(name)
        while isinstance(body, Call):
            only = body.nonterminal
            if only in kept or calls[only] > 1 or only in (name, start):
                break
            body = tidy[name] = tidy.pop(only)
    return tidy


CHUNK = 32
"""Characters of words that one rule looks at."""

_HINT = "other_key"
"""Name of the rules of other names, numbered: none grows by those before it."""


class OtherNames:
    """Writes the names other than some words, each set of words once.

    ``comments`` are what to say of the rules, by name; ``rules`` are where rules go, and ``fresh``
    takes a hint for a name and returns the name.
    """

    def __init__(
        self, prelude: Prelude, fresh: Callable[[str], str], rules: dict[str, Node]
    ) -> None:
        self._prelude = prelude
        self._fresh = fresh
        self._rules = rules
        self._memo: dict[tuple[str, ...], Node] = {}
        self.comments: dict[str, str] = {}

    def write(self, words: tuple[str, ...]) -> Node:
        """Return the JSON texts of the names other than ``words``.

        All of these have only characters that stand for themselves.
        """
        key = tuple(sorted(words))
        if key not in self._memo:
            name = self._fresh(_HINT)
            self.comments[name] = f"All but {', '.join(map(spell_text, words))}"
            self._memo[key] = call(name)
            # Rules to write: the name, its first nodes, the rests of words that it avoids.
            pending = [(name, [text('"')], words)]
            while pending:
                name, first, rests = pending.pop()
                cut = _cut(rests)
                inner = {head: self._fresh(_HINT) for head in cut}
                self._rules[name] = sequence(*first, self._ways(rests, inner))
                pending += [(inner[head], [], cut[head]) for head in cut]
        return self._memo[key]

    def _ways(self, words: tuple[str, ...], inner: Mapping[str, str]) -> Node:
        """Return the rests of names other than ``words``; ``inner`` are rules by heads."""
        whole = dict.fromkeys(word for word in words if word[:CHUNK] not in inner)
        rest, end = call(self._prelude.use("name_rest").nonterminal), text('"')
        escaped: list[Node] = []
        if self._prelude.spelling.escape:
            escaped = [sequence(call(self._prelude.use("escape").nonterminal), rest)]
        plain = codepoints.difference(ANY, self._prelude.spelling.escaped)
        below, spelled = _trie([*whole, *inner])
        away: list[_Way] = []
        ends: list[_Way] = []
        for start, chars in below.items():
            if start in inner:
                continue
            written, letters = spelled[start]
            others, points = _but(chars, plain)
            away.append((written + others, (*letters, points)))
            if start and start not in whole:
                ends.append(spelled[start])
        ways = [sequence(_lines(away), rest)]
        if whole:
            ways += [sequence(alternation(map(text, whole)), way) for way in escaped]
        if ends or "" not in whole:
            begun = _lines(ends) if ends else EMPTY
            begun = begun if "" in whole or not ends else optional(begun)
            ways.append(sequence(begun, alternation([*escaped, end])))
        return alternation([*ways, *(sequence(text(head), call(inner[head])) for head in inner)])


def _cut(words: Several[str]) -> dict[str, tuple[str, ...]]:
    """Return the rests of words that are cut, by their heads."""
    rests: dict[str, tuple[str, ...]] = {}
    if max(map(len, words)) > CHUNK:
        for word in words:
            if len(word) >= CHUNK:
                rests[word[:CHUNK]] = (*rests.get(word[:CHUNK], ()), word[CHUNK:])
    return rests


_Way = tuple[str, tuple[CharacterSet, ...]]
"""One character after the other: as a regular expression, and their sets."""


def _trie(words: Several[str]) -> tuple[dict[str, str], dict[str, _Way]]:
    """Return for each beginning of words the characters that go on from it, and how it is spelt."""
    below = {"": ""}
    spelled: dict[str, _Way] = {"": ("", ())}
    for word in words:
        for end, char in enumerate(word):
            start, longer = word[:end], word[: end + 1]
            if longer not in below:
                below[start] += char
                below[longer] = ""
                written, letters = spelled[start]
                one, points = _letter(char)
                spelled[longer] = written + one, (*letters, points)
    return below, spelled


def _lines(ways: Iterable[_Way]) -> Node:
    """Return the alternatives, as many in one regular expression as fit on a line."""
    lines: list[list[_Way]] = []
    room = 0
    for way in ways:
        room -= len(way[0]) + 1
        if not lines or room < 0:
            lines.append([])
            room = WIDTH - len(way[0]) - 1
        lines[-1].append(way)
    return alternation(map(_line, lines))


def _line(ways: Several[_Way]) -> Node:
    """Return alternatives as one regular expression, with its tree."""
    branches = [Sequence(sets) if len(sets) > 1 else sets[0] for _, sets in ways]
    whole = Choice(tuple(branches)) if len(branches) > 1 else branches[0]
    return pattern("|".join(written for written, _ in ways), parsed=whole)


def _letter(char: str) -> tuple[str, CharacterSet]:
    return print_character(ord(char)), CharacterSet(from_text(char))


@lru_cache(maxsize=1_024)
def _but(chars: str, plain: CodePoints) -> tuple[str, CharacterSet]:
    """Return the characters of a set but some, as they are written and as a set.

    A process keeps 1,024 of them: names begin with the same few letters. Without, a conversion of a
    schema to KBNF makes a tenth more calls.
    """
    points = codepoints.difference(plain, from_text(chars))
    return print_characters(points), CharacterSet(points)
