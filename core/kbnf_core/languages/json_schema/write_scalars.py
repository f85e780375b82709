"""Writes sets of strings and of numbers: as regular expressions, or as rules where those grow."""

from decimal import Decimal

from kbnf_core.automata import operations
from kbnf_core.automata.characters import CharacterDfa, to_characters
from kbnf_core.automata.codepoints import from_text
from kbnf_core.automata.decimals import EQUAL, compared
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.expression import (
    Alternation,
    Builder,
    Spell,
    print_characters,
    print_expression,
)
from kbnf_core.automata.expression import Expression as Regex
from kbnf_core.automata.to_regex import to_expression
from kbnf_core.languages.json_schema.additional_names import all_but, regex_but
from kbnf_core.languages.json_schema.atoms import (
    INTEGER,
    Compared,
    Length,
    Matching,
    Multiple,
    OneOf,
)
from kbnf_core.languages.json_schema.build_tree import (
    EMPTY,
    Form,
    LaterText,
    alternation,
    call,
    later,
    regex,
    repeated,
    sequence,
    text,
)
from kbnf_core.languages.json_schema.formats import formats_of
from kbnf_core.languages.json_schema.limits import SchemaLimits
from kbnf_core.languages.json_schema.linear import Rules, Step, write_linear
from kbnf_core.languages.json_schema.options import Standard
from kbnf_core.languages.json_schema.prelude import Prelude
from kbnf_core.languages.json_schema.regexes import read_regex
from kbnf_core.languages.json_schema.value_sets import Kind, Restricted
from kbnf_core.languages.json_schema.values import number_text
from kbnf_core.syntax import tree

MOST_LEAVES = 400
"""Sets of characters in one regular expression; beyond it, rules are easier to follow."""

LONG = 100
"""Characters of a regular expression that gets a rule of its own."""

BLOCK = 64
"""Characters that are counted together: an automaton with thousands of counts is slow to build.

Where a token can reach from one block into the next its mask takes longer, so a block has more
characters than nearly every token.
"""

_JUST_BELOW_ZERO = Decimal("-1e-1000")

_FORMAT_NAMES = {
    pattern: name
    for standard in Standard
    for name, pattern in formats_of(standard).items()
    if pattern
}


class ScalarWriter:
    """Writes strings, numbers and the names of members; memoises their rules."""

    def __init__(self, prelude: Prelude, rules: Rules, limits: SchemaLimits) -> None:
        self._prelude = prelude
        self._rules = rules
        self._limits = limits
        self._builder = Builder()
        self._blocks: dict[int, Form] = {}
        self._known: dict[tuple[Restricted, bool], Form] = {}
        self.automata: dict[tree.Pattern, Dfa] = {}

    def write(self, part: Restricted, wish: str) -> Form | None:
        """Return the JSON texts of a set of strings or numbers; None if there is none."""
        if part.kind is Kind.NUMBER:
            return self._number(part, wish)
        if not part.literals:
            return self._prelude.use("string")
        if part.finite is not None:
            return alternation(map(self._listed, part.finite))
        atom, wanted = part.literals[0]
        if len(part.literals) == 1 and wanted and isinstance(atom, Length):
            return sequence(text('"'), self._characters(atom), text('"'))
        return self._remembered(part, wish)

    def _listed(self, value: str) -> Form:
        """Return the JSON texts of one string."""
        spelling = self._prelude.spelling
        known = spelling.text(value)
        if known is not None:
            return text(known)
        return regex(f'"{"".join(spelling.spell(from_text(char)) for char in value)}"')

    def _characters(self, length: Length) -> Form:
        """Return so many characters."""
        least = self._exactly(length.low)
        if length.high is None:
            return sequence(least, repeated(self._prelude.use("character"), 0, None))
        return sequence(least, self._up_to(length.high - length.low))

    def _exactly(self, count: int) -> Form:
        level = _level(count)
        whole, rest = divmod(count, BLOCK**level)
        more = self._exactly(rest) if rest else EMPTY
        return sequence(repeated(self._block(level), whole, whole), more)

    def _up_to(self, count: int) -> Form:
        """Return at most so many: fewer whole blocks than fit, and then at most what is left."""
        level = _level(count // 2)
        if level == 0:
            return repeated(self._block(0), 0, count)
        whole, rest = divmod(count, BLOCK**level)
        return sequence(
            repeated(self._block(level), 0, whole - 1), self._up_to(BLOCK**level + rest)
        )

    def _block(self, level: int) -> Form:
        """Return ``BLOCK ** level`` characters."""
        if level == 0:
            return self._prelude.use("character")
        if level not in self._blocks:
            inner = self._block(level - 1)
            name = self._rules.fresh(f"characters_{BLOCK**level}")
            self._rules.add(name, repeated(inner, BLOCK, BLOCK))
            self._blocks[level] = call(name)
        return self._blocks[level]

    def _remembered(self, part: Restricted, wish: str) -> Form | None:
        """Return strings by a regular expression; a long one, or a format's, is a rule."""
        known = self._known.get((part, False))
        if known is not None:
            return known
        atom, wanted = part.literals[0]
        if len(part.literals) == 1 and wanted and isinstance(atom, Matching):
            wish = _FORMAT_NAMES.get(atom.regex, wish)
        form = self._string(part, wish)
        if form is None:
            return None
        if _is_long(form):
            name = self._rules.fresh(wish)
            self._rules.add(name, form)
            form = call(name)
        self._known[part, False] = form
        return form

    def _string(self, part: Restricted, wish: str) -> Form | None:
        words = part.excluded
        automaton = (
            all_but(words, self._prelude.spelling)
            if len(words) and _only_leaves_out(part)
            else None
        )
        if automaton is not None:
            pattern = later(lambda: self._quoted(regex_but(words, self._builder)))
            self.automata[pattern] = automaton
            return pattern
        found = self._readable(part)
        if found is None:
            if part.dfa(self._rules.budget).is_empty:
                return None
            characters = to_characters(part.dfa(self._rules.budget))
            try:
                found = to_expression(characters, self._builder, MOST_LEAVES)
            except LimitError:
                form = self._linear(characters, self._prelude.spelling.spell, wish)
                return None if form is None else sequence(text('"'), form, text('"'))
        return regex(self._quoted(found))

    def _quoted(self, found: Regex) -> str:
        """Return the regular expression of the JSON texts of strings."""
        inner = print_expression(found, self._prelude.spelling.spell)
        return f'"(?:{inner})"' if isinstance(found, Alternation) else f'"{inner}"'

    def _decimals(self, part: Restricted) -> Dfa:
        """Return the texts to use for numbers.

        LLGuidance's integers have no fraction, its multiples no zeros behind the divisor's
        digits. Where there are no negative numbers there is no negative zero.
        """
        atoms = [atom for atom, wanted in part.literals if wanted]
        places = [
            max(-int(atom.divisor.normalize().as_tuple().exponent), 0)
            for atom in atoms
            if isinstance(atom, Multiple)
        ]
        fraction = r"(?:\.[0-9]+)?"
        if places and min(places) == 0:
            fraction = self._prelude.whole_fraction
        elif places and self._prelude.has_exact_decimals:
            fraction = rf"(?:\.[0-9]{{1,{min(places)}}})?"
        whole = Matching(_INTEGER_DIGITS + fraction).dfa()
        if all(atom.holds(_JUST_BELOW_ZERO) for atom in atoms if isinstance(atom, Compared)):
            return whole
        return operations.difference(whole, _negative_zero())

    def _readable(self, part: Restricted) -> Regex | None:
        """Return the expression as it was written, where there is just one; or a listed rest."""
        if len(part.literals) != 1:
            return None
        atom, wanted = part.literals[0]
        if wanted and isinstance(atom, Matching):
            return read_regex(atom.regex, self._builder)
        if not wanted and part.excluded:
            return regex_but(part.excluded, self._builder)
        return None

    def _linear(self, characters: CharacterDfa, spelling: Spell, wish: str) -> Form | None:
        def step(state: int) -> Step[int]:
            edges = [(regex(spelling(points)), to) for points, to in characters.edges[state]]
            return Step(characters.accepting[state], edges)

        return write_linear(0, step, self._rules, wish, self._limits.steps)

    def _number(self, part: Restricted, wish: str) -> Form | None:
        if not part.literals:
            return self._prelude.use("number")
        if part.literals == ((INTEGER, True),):
            return self._prelude.use("integer")
        if part.finite is not None:
            spelled = [t for value in part.finite for t in (number_text(value), str(value))]
            return alternation(map(text, dict.fromkeys(spelled)))
        dfa = operations.intersect(part.dfa(self._rules.budget), self._decimals(part))
        if dfa.is_empty:
            return None
        characters = to_characters(dfa)
        try:
            found = to_expression(characters, self._builder, MOST_LEAVES)
        except LimitError:
            return self._linear(characters, print_characters, wish)
        return regex(print_expression(found))


_INTEGER_DIGITS = "-?(?:0|[1-9][0-9]*)"


def _level(count: int) -> int:
    """Return the largest level whose block is not larger than ``count``."""
    level = 0
    while BLOCK ** (level + 1) <= count:
        level += 1
    return level


def _is_long(form: Form) -> bool:
    match form:
        case tree.Pattern(text=LaterText()):
            return True
        case tree.Pattern(text=text) | tree.Terminal(text=text):
            return len(text.value) > LONG
        case _:
            return False


def _only_leaves_out(part: Restricted) -> bool:
    """Tell whether a set is everything but some values."""
    return all(not wanted and isinstance(atom, OneOf) for atom, wanted in part.literals)


def _negative_zero() -> Dfa:
    return operations.intersect(compared(Decimal(0), EQUAL), Matching("-(?s:.)*").dfa())
