"""How automata of strings and numbers are written for people: short lines, named formats.

What is written has the language of the automaton, as an expression where that is short, as rules
where it grows. Automata come with a ``Notation`` that says what they were made of.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

from kbnf_core.automata.algebra import Choice, Repeat, Sequence
from kbnf_core.automata.characters import CharacterDfa, to_characters
from kbnf_core.automata.codepoints import from_text, intersect
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.expression import (
    Builder,
    Spell,
    print_characters,
    print_expression,
    print_short,
)
from kbnf_core.automata.expression import Expression as Regex
from kbnf_core.automata.regex.syntax import Characters
from kbnf_core.automata.to_regex import to_expression
from kbnf_core.automata.traversal import fold
from kbnf_core.ir import Call, Node, Regular
from kbnf_core.ir.analysis import fixpoint, reachable
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.build import (
    EMPTY,
    Form,
    alternation,
    call,
    of_ir,
    regex,
    repeated,
    sequence,
    text,
    within_counts,
)
from kbnf_core.languages.json_schema.atoms import Matching
from kbnf_core.languages.json_schema.characters import ESCAPED, spell_text
from kbnf_core.languages.json_schema.format_rules import format_rules
from kbnf_core.languages.json_schema.linear import Step, write_linear
from kbnf_core.languages.json_schema.names import OtherNames, regex_but
from kbnf_core.languages.json_schema.prelude import regex as regex_of
from kbnf_core.languages.json_schema.value_sets import Restricted
from kbnf_core.languages.json_schema.write_scalars import (
    LONG,
    LONG_SET,
    MOST_LEAVES,
    Counted,
    Listed,
    Numbers,
    Others,
    Strings,
    as_written,
    format_name,
)
from kbnf_core.languages.json_schema.writer import Writer
from kbnf_core.text.source import NOWHERE

WIDTH = 68
"""Columns of a regular expression that stays in one piece; a longer one becomes several."""


class Notations:
    """Writes the rules of ``writer`` as trees, and adds the rules that this needs.

    ``format_names`` are the rules of formats, by their names in the library; ``dead`` the rules
    without texts, with those of them that each calls.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._scalars = writer.scalars
        self._prelude = writer.prelude
        self._fresh = writer.rules.fresh
        self._builder = Builder()
        self._forms: dict[str, Form] = {}
        # What stands for the rules of strings: calls of rules with names for people, or forms.
        self._texts: dict[str, Form] = {}
        self.other_names = OtherNames(writer.prelude, self._fresh, self._forms, self._plain)
        self.format_names: dict[str, str] = {}
        self.dead: dict[str, set[str]] = {}

    def rules(self, start: str) -> dict[str, Form]:
        """Return the rules that ``start`` needs. Raises ProblemError for what grows too large.

        What has no texts is left out: values that need another one inside, always. Where that is so
        of ``start`` itself all stays as it is; whoever reads the rules says so.
        """
        writer, pending, callees = self._writer, [start], dict[str, list[str]]()
        while pending:
            name = pending.pop()
            if name in callees:
                continue
            if name not in self._forms:
                with writer.placing(writer.owner(name)):
                    self._forms[name] = self._form(writer.body(name))
            callees[name] = called(self._forms[name])
            pending += reversed(callees[name])
        order = dict.fromkeys([*writer.bodies, *self._forms])
        rules = {name: self._forms[name] for name in order if name in callees}
        known = fixpoint(callees, False, lambda name, known: _has_text(rules[name], known))
        self.dead = {
            name: {each for each in callees[name] if not known[each]}
            for name, has_text in known.items()
            if not has_text
        }
        if not self.dead or start in self.dead:
            return rules
        pruned = {name: _pruned(form, known) for name, form in rules.items()}
        kept = {name: form for name, form in pruned.items() if form is not None}
        used = reachable([start], {name: called(form) for name, form in kept.items()})
        return {name: form for name, form in kept.items() if name in used}

    def _form(self, root: Node) -> Form:
        return of_ir(root, self._leaf)

    def _leaf(self, node: Regular | Call) -> Form:
        if isinstance(node, Call):
            name = node.nonterminal
            return self._text(name) if name in self._scalars.hints else call(name)
        form = self._automaton(node)
        # Whoever reads the rules again need not compile it.
        return replace(form, dfa=node.dfa) if isinstance(form, tree.Pattern) else form

    def _automaton(self, node: Regular) -> Form:
        match node.notation:
            case str() as pattern:
                return regex(pattern)
            case Strings(part, dfa, hint):
                return self._strings(part, dfa, hint)
            case Listed(texts):
                return alternation(map(text, texts))
            case Counted(lengths, length, most, hint):
                found = self._scalars.by_rules(lengths, length, most, hint)
                return EMPTY if found is None else self._form(found)
            case Others(words):
                return self._others(words)
            case Numbers(hint):
                return self._numbers(node.dfa, hint)
            case _:
                raise TypeError("an automaton that nobody knows how to write")

    def _text(self, name: str) -> Form:
        """Return what stands for a rule of strings: the strings, where they are short."""
        if name not in self._texts:
            form = self._form(self._writer.bodies[name])
            if _is_long(form, LONG):
                rule = self._fresh(self._scalars.hints[name])
                self._forms[rule] = form
                form = call(rule)
            self._texts[name] = form
        return self._texts[name]

    def _strings(self, part: Restricted, dfa: Dfa, hint: str) -> Form:
        """Return the JSON texts of a set of strings, whose automaton is ``dfa``."""
        form = self._format(part)
        if form is not None:
            return form
        found = as_written(part, self._builder)
        if found is None:
            characters = to_characters(dfa)
            try:
                found = to_expression(characters, self._builder, MOST_LEAVES)
            except LimitError:
                spell = self._prelude.spelling.spell
                return sequence(text('"'), self._linear(characters, spell, hint), text('"'))
        return self._in_quotes(found)

    def _others(self, words: tuple[str, ...]) -> Form:
        """Return the JSON texts of the strings that are none of ``words``."""
        is_plain = not intersect(from_text("".join(words)), ESCAPED)
        if self._prelude.spelling.is_usual and is_plain:
            return self.other_names.write(words)
        return self._quoted(regex_but(words, self._builder))

    def _numbers(self, dfa: Dfa, hint: str) -> Form:
        """Return the texts of a set of numbers, whose automaton is ``dfa``."""
        characters = to_characters(dfa)
        try:
            found = to_expression(characters, self._builder, MOST_LEAVES)
        except LimitError:
            return self._linear(characters, print_characters, hint)
        return self._plain(found)

    def _linear(self, characters: CharacterDfa, spelling: Spell, hint: str) -> Form:
        def step(state: int) -> Step[int]:
            edges = [(write(spelling(points)), to) for points, to in characters.edges[state]]
            return Step(characters.accepting[state], edges)

        # What is run has it as it is, so only the work of writing it is bounded.
        rules = self._writer.rules
        write = partial(regex_of, budget=rules.budget)
        found = write_linear(0, step, rules, hint, len(characters.edges))
        return EMPTY if found is None else self._form(found)

    def _format(self, part: Restricted) -> Form | None:
        """Return a call of a format's rules; None where it has none."""
        name = format_name(part)
        atom = part.literals[0][0]
        if name is None or not isinstance(atom, Matching) or not self._prelude.spelling.is_usual:
            return None
        rules = format_rules(name, atom.regex)
        if not rules:
            return None
        fresh = [(rule, body) for rule, body in rules if rule not in self.format_names]
        self.format_names.update((rule, self._fresh(rule)) for rule, _ in fresh)
        names = self.format_names

        def leaf(part: tree.Leaf) -> Form:
            if isinstance(part, tree.Reference):
                return call(names[part.name.value])
            return replace(part, span=NOWHERE)

        for rule, body in fresh:
            self._forms[names[rule]] = replaced(body, leaf)
        return call(self.format_names[rules[0][0]])

    def _quoted(self, found: Regex) -> Form:
        """Return the JSON texts of strings as one regular expression."""
        inner = print_expression(found, self._prelude.spelling.spell)
        return regex(f'"(?:{inner})"' if isinstance(found, Choice) else f'"{inner}"')

    def _in_quotes(self, found: Regex) -> Form:
        """Return the JSON texts of strings, a long expression in pieces."""
        whole = self._quoted(found)
        if not _is_long(whole, WIDTH):
            return whole
        return sequence(text('"'), self._pieces(found, self._prelude.spelling.spell), text('"'))

    def _plain(self, found: Regex) -> Form:
        """Return texts as they are."""
        return self._pieces(found, print_characters)

    def _pieces(self, root: Regex, spell: Spell) -> Form:
        """Return a regular expression as a form in which no piece is long."""
        written = print_short(root, spell, WIDTH)
        is_set = isinstance(root, Characters)
        if written is not None and not (is_set and len(written) > LONG_SET):
            return _piece(root, written)
        match root:
            case Characters(points):
                return self._form(self._scalars.set_of(points))
            case Choice(items):
                return alternation(self._pieces(item, spell) for item in items)
            case Repeat(item, low, high):
                return repeated(self._pieces(item, spell), low, high)
            case Sequence(items):
                return sequence(*self._joined(items, spell))

    def _joined(self, items: tuple[Regex, ...], spell: Spell) -> Iterator[Form]:
        """Yield items, as many in one piece as fit."""
        pending: list[Regex] = []
        for item in items:
            if pending and print_short(Sequence((*pending, item)), spell, WIDTH) is None:
                yield self._together(pending, spell)
                pending = []
            pending.append(item)
        yield self._together(pending, spell)

    def _together(self, items: list[Regex], spell: Spell) -> Form:
        if len(items) == 1:
            return self._pieces(items[0], spell)
        whole = Sequence(tuple(items))
        return _piece(whole, print_expression(whole, spell))


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


def _is_long(form: Form, most: int) -> bool:
    """Tell whether a form is better a rule, or several pieces."""
    if isinstance(form, tree.Pattern | tree.Terminal):
        return len(form.text.value) > most
    return not isinstance(form, tree.Reference)


def called(form: Form) -> list[str]:
    """Return the names that a form calls, in order, as often as it does."""
    nodes = tree.postorder(form)
    return [node.name.value for node in nodes if isinstance(node, tree.Reference)]


def _has_text(root: Form, productive: Mapping[str, bool]) -> bool:
    def one(form: Form, parts: list[bool]) -> bool:
        match form:
            case tree.Reference(name):
                return productive[name.value]
            case tree.Alternation():
                return any(parts)
            case tree.Repetition(low=0):
                return True
            case _:
                return all(parts)

    return fold(root, tree.children, one)


def _pruned(root: Form, productive: Mapping[str, bool]) -> Form | None:
    """Return a form without its parts that have no texts; None if that is all of it."""

    def one(form: Form, parts: list[Form | None]) -> Form | None:
        if isinstance(form, tree.Reference):
            return form if productive[form.name.value] else None
        left = [part for part in parts if part is not None]
        if left == list(tree.children(form)):
            return form
        if isinstance(form, tree.Alternation):
            return alternation(left) if left else None
        if isinstance(form, tree.Repetition) and form.low == 0 and not left:
            return EMPTY
        return rebuilt(form, left, lambda leaf: leaf) if len(left) == len(parts) else None

    return fold(root, tree.children, one)


def replaced(root: Form, of: Callable[[tree.Leaf], Form]) -> Form:
    """Return a form with ``of(leaf)`` for each leaf, without places, brackets and large counts."""
    return fold(root, tree.children, lambda form, parts: rebuilt(form, parts, of))


def rebuilt(form: Form, parts: list[Form], of: Callable[[tree.Leaf], Form]) -> Form:
    """Return a form with other parts, or ``of(form)`` of a leaf."""
    match form:
        case tree.Sequence():
            return sequence(*parts)
        case tree.Alternation():
            return alternation(parts)
        case tree.Repetition(_, low, high):
            return within_counts(parts[0], low, high)
        case tree.Bracket():
            return parts[0]
        case _:
            return of(form)
