"""How automata of strings and numbers are written for people: short lines, named formats.

What is written has the language of the automaton, as an expression where that is short, as rules
where it grows; ``write_scalars`` says which of these functions is asked for which automaton.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from kbnf_core.automata.algebra import Choice, Repeat, Sequence
from kbnf_core.automata.characters import CharacterDfa, to_characters
from kbnf_core.automata.codepoints import from_text, intersect
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.expression import Builder, Spell, print_characters, print_expression
from kbnf_core.automata.expression import Expression as Regex
from kbnf_core.automata.regex.syntax import Characters
from kbnf_core.automata.to_regex import to_expression
from kbnf_core.automata.traversal import fold
from kbnf_core.ir.analysis import fixpoint, reachable
from kbnf_core.kbnf import tree
from kbnf_core.languages.json_schema.atoms import Length, Matching
from kbnf_core.languages.json_schema.build_tree import (
    EMPTY,
    MOST,
    Form,
    Regular,
    Step,
    alternation,
    call,
    placed,
    regex,
    repeated,
    sequence,
    text,
    within_counts,
    write_linear,
)
from kbnf_core.languages.json_schema.characters import ESCAPED, spell_text
from kbnf_core.languages.json_schema.format_rules import format_rules
from kbnf_core.languages.json_schema.lengths import Lengths
from kbnf_core.languages.json_schema.names import OtherNames, regex_but
from kbnf_core.languages.json_schema.value_sets import Restricted
from kbnf_core.languages.json_schema.write_scalars import (
    LONG_SET,
    MOST_LEAVES,
    Notation,
    as_written,
    format_name,
    is_long,
)
from kbnf_core.languages.json_schema.writer import Writer, called
from kbnf_core.text.source import NOWHERE

WIDTH = 68
"""Columns of a regular expression that stays in one piece; a longer one becomes several."""


class Notations(Notation):
    """Writes the automata in the rules of ``writer``, and adds the rules that this needs.

    ``format_names`` are the rules of formats, by their names in the library; ``dead`` the rules
    without texts, with those of them that each calls.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._scalars = writer.scalars
        self._prelude = writer.prelude
        self._rules = writer.rules
        self._builder = Builder()
        # What stands for the rules of strings: calls of rules with names for people, or forms.
        self._texts: dict[str, Form] = {}
        self.other_names = OtherNames(writer.prelude, writer.rules, self._plain)
        self.format_names: dict[str, str] = {}
        self.dead: dict[str, set[str]] = {}

    def rules(self, start: str) -> dict[str, Form]:
        """Return the rules that ``start`` needs. Raises ProblemError for what grows too large.

        What has no texts is left out: values that need another one inside, always. Where that is so
        of ``start`` itself all stays as it is; whoever reads the rules says so.
        """
        writer, pending, found = self._writer, [start], set[str]()
        while pending:
            name = pending.pop()
            if name in found:
                continue
            found.add(name)
            if name in writer.forms:
                with writer.placing(writer.owner(name)):
                    writer.forms[name] = self._written(writer.forms[name])
            form = writer.form(name)
            # The last that is called comes first.
            pending.extend(called(form) if form else ())
        rules = {name: form for name, form in writer.with_shared().items() if name in found}
        callees = {name: list(called(form)) for name, form in rules.items()}
        known = fixpoint(
            callees, False, lambda name, known: _pruned(rules[name], known) is not None
        )
        self.dead = {
            name: {each for each in callees[name] if not known[each]}
            for name, has_text in known.items()
            if not has_text
        }
        if not self.dead or start in self.dead:
            return rules
        pruned = {name: _pruned(form, known) for name, form in rules.items()}
        kept = {name: form for name, form in pruned.items() if form is not None}
        used = reachable([start], {name: list(called(form)) for name, form in kept.items()})
        return {name: form for name, form in kept.items() if name in used}

    def _written(self, root: Form) -> Form:
        """Return a form with automata, and counts that no grammar has, as they are written."""
        if not any(map(self._is_written, tree.postorder(root))):
            return root

        def leaf(part: tree.Leaf) -> Form:
            if isinstance(part, Regular):
                form = part.notation(self)
                # Whoever reads the rules again need not compile it.
                return replace(form, dfa=part.dfa) if type(form) is tree.Pattern else form
            if isinstance(part, tree.Reference) and part.name.value in self._scalars.hints:
                return self._text(part.name.value)
            return part

        def one(form: Form, parts: list[Form]) -> Form:
            found = rebuilt(form, parts, leaf)
            return found if found is form or form.span == NOWHERE else placed(found, form.span)

        return fold(root, tree.children, one)

    def _is_written(self, part: Form) -> bool:
        """Tell whether a part of a form is written otherwise where somebody reads it."""
        match part:
            case Regular():
                return True
            case tree.Reference(name):
                return name.value in self._scalars.hints
            case tree.Repetition(_, low, high):
                return max(low, high or 0) > MOST
            case _:
                return False

    def _text(self, name: str) -> Form:
        """Return what stands for a rule of strings: the strings, where they are short."""
        if name not in self._texts:
            form = self._written(self._writer.forms[name])
            if is_long(form):
                rule = self._rules.fresh(self._scalars.hints[name])
                self._rules.add(rule, form)
                form = call(rule)
            self._texts[name] = form
        return self._texts[name]

    def strings(self, part: Restricted, dfa: Dfa, hint: str) -> Form:
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

    def counted(self, lengths: Lengths, length: Length, most: int, hint: str) -> Form:
        """Return the JSON texts of strings of some lengths."""
        return self._scalars.by_rules(lengths, length, most, hint) or EMPTY

    def others(self, words: tuple[str, ...]) -> Form:
        """Return the JSON texts of the strings that are none of ``words``."""
        is_plain = not intersect(from_text("".join(words)), ESCAPED)
        if self._prelude.spelling.is_usual and is_plain:
            return self.other_names.write(words)
        return self._quoted(regex_but(words, self._builder))

    def numbers(self, dfa: Dfa, hint: str) -> Form:
        """Return the texts of a set of numbers, whose automaton is ``dfa``."""
        characters = to_characters(dfa)
        try:
            found = to_expression(characters, self._builder, MOST_LEAVES)
        except LimitError:
            return self._linear(characters, print_characters, hint)
        return self._plain(found)

    def _linear(self, characters: CharacterDfa, spelling: Spell, hint: str) -> Form:
        def step(state: int) -> Step[int]:
            edges = [(regex(spelling(points)), to) for points, to in characters.edges[state]]
            return Step(characters.accepting[state], edges)

        # What is run has it as it is, so only the work of writing it is bounded.
        return write_linear(0, step, self._rules, hint, len(characters.edges)) or EMPTY

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
        self.format_names.update((rule, self._rules.fresh(rule)) for rule, _ in fresh)
        names = self.format_names

        def called(leaf: tree.Leaf) -> Form:
            if isinstance(leaf, tree.Reference):
                return call(names[leaf.name.value])
            return replace(leaf, span=NOWHERE)

        for rule, body in fresh:
            self._rules.add(names[rule], replaced(body, called))
        return call(self.format_names[rules[0][0]])

    def _quoted(self, found: Regex) -> Form:
        """Return the JSON texts of strings as one regular expression."""
        inner = print_expression(found, self._prelude.spelling.spell)
        return regex(f'"(?:{inner})"' if isinstance(found, Choice) else f'"{inner}"')

    def _in_quotes(self, found: Regex) -> Form:
        """Return the JSON texts of strings, a long expression in pieces."""
        whole = self._quoted(found)
        if not is_long(whole, WIDTH):
            return whole
        return sequence(text('"'), self._pieces(found, self._prelude.spelling.spell), text('"'))

    def _plain(self, found: Regex) -> Form:
        """Return texts as they are."""
        return self._pieces(found, print_characters)

    def _pieces(self, root: Regex, spell: Spell) -> Form:
        """Return a regular expression as a form in which no piece is long."""
        written = print_expression(root, spell)
        match root:
            case Characters(points) if len(written) > LONG_SET:
                return self._scalars.set_of(points)
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
