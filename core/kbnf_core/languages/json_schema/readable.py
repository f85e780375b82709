"""Writes rules for a person: one for each property, named formats, short lines, comments.

The rules are those that are run. ``Outline`` gives the members in them rules of their own, with
names, spans and comments of schemas; ``Trees`` makes trees of KBNF of all. Rules that say little,
of nothing or of one other rule, are left out in the end.

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
from kbnf_core.automata.json_strings import ESCAPED, spell_text
from kbnf_core.automata.operations import concatenate, continued, difference, is_equal
from kbnf_core.automata.operations import intersect as intersection
from kbnf_core.automata.regex.syntax import CharacterSet
from kbnf_core.automata.to_regex import CharacterDfa, to_characters, to_expression
from kbnf_core.automata.traversal import fold
from kbnf_core.ir import Call, Node, Regular
from kbnf_core.ir import build as nodes
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.build import (
    EMPTY,
    Form,
    alternation,
    call,
    definition,
    is_empty,
    of_ir,
    optional,
    regex,
    repeated,
    sequence,
    text,
    within_counts,
)
from kbnf_core.kbnf.build import placed as placed_form
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
from kbnf_core.languages.json_schema.type_keywords import Named, rule_of, rules
from kbnf_core.languages.json_schema.value_sets import (
    FAR,
    SHORT_WHOLE,
    WHOLE,
    Restricted,
    automaton_within,
)
from kbnf_core.languages.json_schema.writer import Writer
from kbnf_core.lower.facts import analyse, useful
from kbnf_core.text.errors import LimitError
from kbnf_core.text.source import NOWHERE, Source, Span


@cache
def format_rules(format_: Named) -> tuple[tuple[str, tree.Expression], ...]:
    """Return the rules of a format and what they call, its own first, which is in quotes."""
    own = rule_of(format_.name)
    find, order = rules(format_.kind), [own]
    for rule in order:
        order.extend(
            called_rule
            for called_rule in dict.fromkeys(called(find(rule)))
            if called_rule not in order
        )
    return tuple((rule, find(rule)) for rule in order)


WIDTH = 68
"""Columns of a regular expression that stays in one piece; a longer one becomes several."""


class Trees:
    """Writes the rules of ``writer`` as trees, and adds the rules that this needs.

    ``format_names`` are the rules of formats, by their names in the library; ``other_names`` writes
    those of other keys. ``called`` returns the names that a form calls, for each form once.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._scalars = writer.scalars
        self._prelude = writer.prelude
        self._fresh = writer.rules.fresh
        self._builder = Builder()
        self._quoted_texts = ShortTexts(writer.prelude.spelling.spell, WIDTH)
        self._plain_texts = ShortTexts(print_characters, WIDTH)
        self._forms: dict[str, Form] = {}
        # What stands for the rules of strings: calls of rules with names for people, or forms.
        self._texts: dict[str, Form] = {}
        # Calls of the rules of automata that are too large for one expression; equal ones have one,
        # of numbers and of strings: values in both are spelt alike.
        self._large: dict[CharacterDfa, Form] = {}
        self.other_names = OtherNames(writer.prelude, self._fresh, self._forms)
        self.format_names: dict[str, str] = {}
        self.called = cache(called)

    def write(self, start: str, rules: Mapping[str, Node]) -> dict[str, Form]:
        """Return the rules that ``start`` needs. Raises ProblemError for what grows too large."""
        writer, pending, written = self._writer, [start], dict[str, Form]()
        while pending:
            name = pending.pop()
            if name in written:
                continue
            if name not in self._forms:
                body = rules.get(name) or writer.body(name)
                with writer.placing(writer.rules.owners.get(name, ANYTHING)):
                    self._forms[name] = self._form(body)
            written[name] = self._forms[name]
            pending += reversed(self.called(written[name]))
        return written

    def _form(self, root: Node) -> Form:
        return of_ir(root, self._leaf)

    def _leaf(self, node: Regular | Call) -> Form:
        if isinstance(node, Call) and node.nonterminal in self._scalars.hints:
            return self._text(node.nonterminal)
        if isinstance(node, Call) or isinstance(node.notation, str):
            return _shared_leaf(node)
        form = self._automaton(node)
        return replace(form, dfa=node.dfa) if isinstance(form, tree.Pattern) else form

    def _automaton(self, node: Regular) -> Form:
        match node.notation:
            case Strings(values, dfa, hint):
                return self._strings(values, dfa, hint)
            case Listed(texts):
                return alternation(map(text, texts))
            case CountedStrings(lengths, length, most, hint):
                form = self._scalars.by_rules(lengths, length, most, hint)
                return EMPTY if form is None else self._form(form)
            case OtherStrings(values, hint):
                return self._others(values, hint)
            case Texts(hint):
                return self._some_numbers(node.dfa, hint)
            case Numbers(hint):
                return self._numbers(node.dfa, hint)
            case _:
                raise TypeError("an automaton that nobody knows how to write")

    def _text(self, name: str) -> Form:
        """Return what stands for a rule of strings: the strings, where they are short."""
        if name not in self._texts:
            form = self._form(self._writer.rules[name])
            if _is_long(form, LONG):
                rule = self._fresh(self._scalars.hints[name])
                self._forms[rule] = form
                form = call(rule)
            self._texts[name] = form
        return self._texts[name]

    def _strings(self, values: Restricted, dfa: Dfa, hint: str) -> Form:
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

    def _others(self, values: Restricted, hint: str) -> Form:
        """Return the JSON texts of the strings other than some words."""
        words = values.excluded
        if intersect(from_text("".join(words)), self._prelude.spelling.escaped):
            return self._strings(values, values.dfa(self._writer.rules.budget), hint)
        return self.other_names.write(words)

    def _numbers(self, dfa: Dfa, hint: str) -> Form:
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

    def _some_numbers(self, dfa: Dfa, hint: str) -> Form:
        """Return texts of numbers, whose automaton is ``dfa``, without shared rules."""
        characters = to_characters(dfa)
        if characters in self._large:
            return self._large[characters]
        try:
            return self._plain(to_expression(characters, self._builder, MOST_LEAVES))
        except LimitError:
            return self._linear(characters, print_characters, hint)

    def _linear(self, characters: CharacterDfa, spelling: Spell, hint: str) -> Form:
        def step(state: int) -> Step[int]:
            edges = [(write(spelling(points)), to) for points, to in characters.edges[state]]
            return Step(characters.accepting[state], edges)

        # The rules that are run have the automaton itself, so only the work of writing it is
        # bounded.
        rules = self._writer.rules
        write = partial(regex_of, budget=rules.budget)
        form = write_linear(0, step, rules, hint, len(characters.edges))
        name = self._fresh(hint)
        self._forms[name] = EMPTY if form is None else self._form(form)
        self._large[characters] = call(name)
        return self._large[characters]

    def _format(self, values: Restricted) -> Form | None:
        """Return a call of a format's rules; None where it has none."""
        format_ = format_of(values)
        if format_ is None or not self._prelude.spelling.is_usual:
            return None
        rules_of_format = format_rules(format_)
        whole = f"{rules_of_format[0][0]}_string"
        if whole in self.format_names:
            return call(self.format_names[whole])
        fresh = [
            (rule, body) for rule, body in rules_of_format[1:] if rule not in self.format_names
        ]
        for rule in (whole, *(rule for rule, _ in fresh)):
            self.format_names[rule] = self._fresh(rule)
        names = self.format_names

        def leaf(node: tree.Leaf) -> Form:
            if isinstance(node, tree.Reference):
                return call(names[node.name.value])
            return self._spelled(node)

        quote = text('"')
        for rule, body in fresh:
            self._forms[names[rule]] = replaced(body, leaf)
        own = sequence(quote, replaced(rules_of_format[0][1], leaf), quote)
        self._forms[names[whole]] = own
        return call(names[whole])

    def _spelled(self, leaf: tree.Leaf) -> Form:
        """Return a leaf of a format's rule with the characters spelled as in JSON strings."""
        if isinstance(leaf, tree.Terminal):
            return text(spell_text(leaf.text.value)[1:-1])
        assert isinstance(leaf, tree.Pattern)  # noqa: S101 - the rules have no other leaves
        text_ = self._builder.read(leaf.text.value)
        if text_ is None or not fold(text_, regex_children, _has_escapes):
            return replace(leaf, span=NOWHERE)
        return regex(print_expression(text_, self._prelude.spelling.spell))

    def _quoted(self, expression: Regex) -> Form:
        """Return the JSON texts of strings as one regular expression."""
        inner = print_expression(expression, self._prelude.spelling.spell)
        return regex(f'"(?:{inner})"' if isinstance(expression, Choice) else f'"{inner}"')

    def _in_quotes(self, expression: Regex) -> Form:
        """Return the JSON texts of strings, a long expression in pieces."""
        if self._quoted_texts.of(expression) is not None:
            whole = self._quoted(expression)
            if not _is_long(whole, WIDTH):
                return whole
        return sequence(text('"'), self._form_of(expression, self._quoted_texts), text('"'))

    def _plain(self, expression: Regex) -> Form:
        """Return texts as they are."""
        return self._form_of(expression, self._plain_texts)

    def _form_of(self, root: Regex, texts: ShortTexts) -> Form:
        """Return a regular expression as a form in which no piece is long."""
        written = texts.of(root)
        is_set = isinstance(root, CharacterSet)
        if written is not None and not (is_set and len(written) > LONG_SET):
            return self._pattern_of(root, written)
        match root:
            case CharacterSet(points):
                return self._form(self._scalars.set_of(points))
            case Choice(items):
                return alternation(self._form_of(item, texts) for item in items)
            case Repeat(item, low, high):
                return repeated(self._form_of(item, texts), low, high)
            case Sequence(items):
                return sequence(*self._joined(items, texts))

    def _joined(self, items: tuple[Regex, ...], texts: ShortTexts) -> Iterator[Form]:
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

    def _together(self, items: tuple[Regex, ...], written: str | None, texts: ShortTexts) -> Form:
        if written is None or len(items) == 1:
            return self._form_of(items[0], texts)
        return self._pattern_of(Sequence(items), written)

    def _pattern_of(self, root: Regex, written: str) -> Form:
        """Return a regular expression, or the only text that it is."""
        items = root.operands if isinstance(root, Sequence) else (root,)
        letters = []
        for item in items:
            points = item.points if isinstance(item, CharacterSet) else ()
            if len(points) != 1 or points[0][0] != points[0][1]:
                return regex(written)
            letters.append(chr(points[0][0]))
        only = self._prelude.spelling.text("".join(letters))
        return regex(written) if only is None else text(only[1:-1])


def _has_escapes(root: Regex, flags: list[bool]) -> bool:
    """Return whether an expression has characters that JSON strings spell by an escape."""
    return any(flags) or (isinstance(root, CharacterSet) and bool(intersect(root.points, ESCAPED)))


def _shared_leaf(node: Regular | Call) -> Form:
    """Return a call, or an automaton as the pattern that it was made of."""
    if isinstance(node, Call):
        return call(node.nonterminal)
    # With its automaton a second reading of the rules need not compile it.
    return replace(regex(str(node.notation)), dfa=node.dfa)


_FEW, _SHORT = 7, 25
"""Parts of a form, itself among them, and characters in them, that need no rule of their own."""


def _is_long(form: Form, most: int) -> bool:
    """Return whether a form is better a rule, or several pieces; ``most`` is the length of one."""
    if isinstance(form, tree.Pattern | tree.Terminal):
        return len(form.text.value) > most
    nodes = list(tree.postorder(form))
    texts = [leaf.text.value for leaf in nodes if isinstance(leaf, tree.Pattern | tree.Terminal)]
    has_choice = any(isinstance(leaf, tree.Alternation) for leaf in nodes)
    return has_choice or len(nodes) > _FEW or sum(map(len, texts)) > _SHORT


def called(form: Form) -> list[str]:
    """Return the names that a form calls, in order, as often as it does."""
    nodes = tree.postorder(form)
    return [node.name.value for node in nodes if isinstance(node, tree.Reference)]


def replaced(root: Form, of: Callable[[tree.Leaf], Form]) -> Form:
    """Return a form with ``of(leaf)`` for each leaf, without spans, brackets and large counts."""
    return fold(root, tree.children, lambda form, operands: rebuilt(form, operands, of))


def rebuilt(form: Form, operands: list[Form], of: Callable[[tree.Leaf], Form]) -> Form:
    """Return a form with other operands, or ``of(form)`` of a leaf."""
    match form:
        case tree.Sequence():
            return sequence(*operands)
        case tree.Alternation():
            return alternation(operands)
        case tree.Repetition(_, low, high):
            return within_counts(operands[0], low, high)
        case tree.Bracket():
            return operands[0]
        case _:
            return of(form)


_LONGEST_REMARK = 240


_SPACE = re.compile(r"[\s_-]+")


class Outline:
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
        for name, body in rules.items():
            self._bodies[name] = fold(body, ir.children, self._outlined)
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


def readable(writer: Writer, outline: Outline, source: Source) -> tree.Document:
    """Return the tree of the rules that ``writer`` has written. Raises ProblemError for a limit."""
    start, trees = writer.start, Trees(writer)
    written = trees.write(start, outline.rules)
    comments, others = outline.comments, trees.other_names.comments
    sections = {
        "Formats": trees.format_names.values(),
        "Other keys": others,
        "JSON": writer.prelude.rules,
    }
    behind = dict.fromkeys(name for names in sections.values() for name in names)
    rules_read = tidied(start, written, comments.keys() | behind.keys(), trees.called)
    callees = {name: trees.called(form) for name, form in rules_read.items()}
    ordered = in_order(start, callees, comments, outline.members)
    order = [name for name in ordered if name not in behind]
    for title, names in sections.items():
        used = [name for name in names if name in rules_read]
        order += used
        comments.update((name, others[name]) for name in used if name in others)
        if used:
            comment = comments.get(used[0])
            comments[used[0]] = f"{title}. {comment}" if comment else title
    spans = {name: outline.spans.get(name, NOWHERE) for name in order}
    definitions = [
        definition(name, placed_form(rules_read[name], spans[name]), spans[name]) for name in order
    ]
    return tree.Document(source, tuple(definitions), (), remarks=comments)


def with_texts(start: str, rules: Mapping[str, Node]) -> Mapping[str, Node]:
    """Return rules without nodes that have no texts: values that always need another one inside.

    Where that is so of ``start`` itself all stays as it is; a reader of the rules reports it.
    """
    facts = analyse(ir.Grammar(start, rules)).facts
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
    rules: Mapping[str, Form],
    kept: Container[str],
    called: Callable[[Form], list[str]] = called,
) -> dict[str, Form]:
    """Return rules of the same texts, without those of the empty text and second names of one rule.

    ``kept`` are names that stay, ``start`` is the rule that is not called.
    """
    tidy = dict(rules)
    while empty := {name for name, form in tidy.items() if is_empty(form) and name != start}:
        for name in empty:
            del tidy[name]

        def left(leaf: tree.Leaf, empty: Container[str] = empty) -> Form:
            is_left_out = isinstance(leaf, tree.Reference) and leaf.name.value in empty
            return EMPTY if is_left_out else leaf

        tidy = {name: replaced(form, left) for name, form in tidy.items()}
    calls = Counter(chain.from_iterable(map(called, tidy.values())))
    for name in list(tidy):
        form = tidy.get(name)
        while isinstance(form, tree.Reference):
            only = form.name.value
            if only in kept or calls[only] > 1 or only in (name, start):
                break
            form = tidy[name] = tidy.pop(only)
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
        self, prelude: Prelude, fresh: Callable[[str], str], rules: dict[str, Form]
    ) -> None:
        self._prelude = prelude
        self._fresh = fresh
        self._rules = rules
        self._memo: dict[tuple[str, ...], Form] = {}
        self.comments: dict[str, str] = {}

    def write(self, words: tuple[str, ...]) -> Form:
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

    def _ways(self, words: tuple[str, ...], inner: Mapping[str, str]) -> Form:
        """Return the rests of names other than ``words``; ``inner`` are rules by heads."""
        whole = dict.fromkeys(word for word in words if word[:CHUNK] not in inner)
        rest, end = call(self._prelude.use("name_rest").nonterminal), text('"')
        escaped: list[Form] = []
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


def _lines(ways: Iterable[_Way]) -> Form:
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


def _line(ways: Several[_Way]) -> Form:
    """Return alternatives as one regular expression, with its tree."""
    branches = [Sequence(sets) if len(sets) > 1 else sets[0] for _, sets in ways]
    whole = Choice(tuple(branches)) if len(branches) > 1 else branches[0]
    return regex("|".join(written for written, _ in ways), parsed=whole)


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
