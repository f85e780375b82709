"""Writes sets of strings and of numbers: as regular expressions, or as rules where those grow.

From an automaton of strings to that of their JSON texts, without a regular expression between.

Its bytes are symbols: those that stand for themselves are spelt so, the others behind a backslash.
"""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import chain

from kbnf_core.automata import operations
from kbnf_core.automata.algebra import NOTHING, Choice, Repeat, fold
from kbnf_core.automata.algebra import Sequence as Items
from kbnf_core.automata.alphabet import ByteClasses, class_count, first_bytes, join, separate
from kbnf_core.automata.characters import CharacterDfa, to_characters
from kbnf_core.automata.codepoints import CodePoints, difference, from_text
from kbnf_core.automata.decimals import EQUAL, compared
from kbnf_core.automata.dfa import ACCEPT, DEAD, Dfa, SymbolDfa, empty, rows_over
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.expression import Builder, Spell, print_characters, print_expression
from kbnf_core.automata.expression import Expression as Regex
from kbnf_core.automata.regex.syntax import Characters
from kbnf_core.automata.spell import Letters, spell
from kbnf_core.automata.to_regex import to_expression
from kbnf_core.kbnf import tree
from kbnf_core.languages.json_schema.atoms import (
    INTEGER,
    Atom,
    Compared,
    Length,
    Matching,
    Multiple,
    OneOf,
)
from kbnf_core.languages.json_schema.build_tree import (
    EMPTY,
    Form,
    Known,
    Rules,
    Step,
    alternation,
    call,
    regex,
    sequence,
    text,
    write_linear,
)
from kbnf_core.languages.json_schema.characters import Spelling
from kbnf_core.languages.json_schema.formats import bounded_format, formats_of
from kbnf_core.languages.json_schema.lengths import Lengths, lengths_of
from kbnf_core.languages.json_schema.names import all_but, regex_but
from kbnf_core.languages.json_schema.options import Formats, SchemaLimits, Standard
from kbnf_core.languages.json_schema.prelude import (
    FRACTION_DIGITS,
    WHOLE_DIGITS,
    Prelude,
    digits,
    integers,
)
from kbnf_core.languages.json_schema.problems import too_large, too_many_states
from kbnf_core.languages.json_schema.value_sets import Kind, Restricted
from kbnf_core.languages.json_schema.values import number_text
from kbnf_core.languages.json_schema.write_counts import (
    MOST_BRANCHES,
    Counter,
    is_looped,
    write_one_loop,
)

_WRITTEN = b'"\\bfnrtu0123456789abcdefABCDEF'


@lru_cache(maxsize=64)
def quoted(dfa: Dfa, spelling: Spelling) -> Dfa:
    """Return the JSON texts of the strings of ``dfa``, as ``Spelling.spell`` spells them."""
    if dfa.is_empty:
        return empty()
    symbols = join([dfa.classes, _codes(spelling)])
    quote = class_count(symbols)
    end = dfa.state_count
    rows = [
        [*row, end if ends else DEAD]
        for row, ends in zip(rows_over(dfa, symbols), dfa.accepting, strict=True)
    ]
    rows += [[DEAD] * (quote + 1), [*([DEAD] * quote), 0]]
    tags = [*([0] * end), ACCEPT, 0]
    return spell(SymbolDfa(rows, tags, [end + 1]), _letters(symbols, spelling), sys.maxsize)


def _codes(spelling: Spelling) -> ByteClasses:
    return separate(code for code, _ in spelling.escapes)


@lru_cache(maxsize=64)
def _letters(symbols: ByteClasses, spelling: Spelling) -> Letters:
    """Return how the classes ``symbols`` are spelt, and the quote, which is one more."""
    count = class_count(symbols)
    classes = join([symbols, separate(_WRITTEN)])
    escapes = dict(spelling.escapes)
    ways = [(bytes((byte,)), symbols[byte]) for byte in first_bytes(classes) if byte not in escapes]
    ways.append((b'"', count))
    ways += [(b"\\" + written, symbols[code]) for code in escapes for written in escapes[code]]
    edges: list[dict[int, int]] = [{} for _ in range(count + 1)]
    _add_state(edges, [(written.translate(classes), symbol) for written, symbol in ways])
    ends = [*range(count + 1), *([DEAD] * (len(edges) - count - 1))]
    return Letters(classes, edges, ends)


def _add_state(edges: list[dict[int, int]], ways: Sequence[tuple[bytes, int]]) -> int:
    """Add the state from which texts lead to states; the longest text has some ten bytes."""
    below: dict[int, list[tuple[bytes, int]]] = {}
    for written, target in ways:
        below.setdefault(written[0], []).append((written[1:], target))
    found = {
        byte: rest[0][1] if rest[0][0] == b"" else _add_state(edges, rest)
        for byte, rest in sorted(below.items())
    }
    edges.append(found)
    return len(edges) - 1


MOST_LEAVES = 400
"""Sets of characters in one regular expression; beyond it, rules are easier to follow."""

FEW_STATES = 256
"""States that count, before a format is given in a bounded form."""

LONG = 100
"""Characters of a regular expression that gets a rule of its own."""

MOST_TAILS = 32
"""Counted repetitions that each end a string after another count."""

LONG_SET = 40
"""Characters of a set that gets a rule of its own where it comes again and again."""

MOST_RUN = 64
"""Digits, or blanks, that a loop of a pattern takes, where digits are bounded."""

_BLANKS = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff"
_RUNS = (
    from_text("0123456789"),
    from_text(_BLANKS + "".join(map(chr, range(0x2000, 0x200B)))),
)
_LOOPS = frozenset("*+,")

_JUST_BELOW_ZERO = Decimal("-1e-1000")

_FORMAT_NAMES = {
    pattern: name
    for standard in Standard
    for formats in (Formats.PLAIN, Formats.RFC)
    for name, pattern in formats_of(standard, formats).items()
    if pattern
}


class ScalarWriter:
    """Writes strings, numbers and the names of members; memoises their rules.

    ``note`` takes what is to be said of values that are left out.
    """

    def __init__(
        self, prelude: Prelude, rules: Rules, limits: SchemaLimits, note: Callable[[str], None]
    ) -> None:
        self._prelude = prelude
        self._rules = rules
        self._limits = limits
        self._builder = Builder()
        self._counter = Counter(rules)
        self._note = note
        self._sets: dict[CodePoints, Form] = {}
        self._known: dict[tuple[Restricted, bool], Form] = {}

    def write(self, part: Restricted, wish: str) -> Form | None:
        """Return the JSON texts of a set of strings or numbers; None if there is none."""
        if part.kind is Kind.NUMBER:
            return self._number(part, wish)
        if not part.literals:
            return self._prelude.use("string")
        if part.finite is not None:
            return self._texts(part.finite)
        if self._prelude.has_bounded_digits and part.length is None:
            few = _with_bounded_runs(part)
            if few != part and not few.is_empty(self._rules.budget):
                part = few
        atom, wanted = part.literals[0]
        if len(part.literals) == 1 and wanted and isinstance(atom, Length):
            character = self._prelude.use("character")
            return sequence(text('"'), self._times(character, atom), text('"'))
        return self._remembered(part, wish)

    def _times(self, unit: Form, length: Length) -> Form:
        """Return so many of ``unit``."""
        return self._counter.times(unit, length)

    def _texts(self, values: Sequence[str]) -> Form:
        """Return the JSON texts of some strings; raises ProblemError beyond the limit of states."""
        self._refuse_many(sum(map(len, values)))
        return alternation(map(self._listed, values))

    def _refuse_many(self, states: int) -> None:
        if states > self._limits.states:
            raise too_many_states(self._limits.states)

    def _listed(self, value: str) -> Form:
        """Return the JSON texts of one string."""
        spelling = self._prelude.spelling
        known = spelling.text(value)
        if known is not None:
            return text(known)
        return regex(f'"{"".join(spelling.spell(from_text(char)) for char in value)}"')

    def _remembered(self, part: Restricted, wish: str) -> Form | None:
        """Return strings by a regular expression; a long one, or a format's, is a rule."""
        known = self._known.get((part, False))
        if known is not None:
            return known
        atom, wanted = part.literals[0]
        form: Form | None = None
        if len(part.literals) == 1 and wanted and isinstance(atom, Matching):
            wish = _FORMAT_NAMES.get(atom.regex, wish)
            form = self._format(wish, atom.regex)
        form = form or self._string(part, wish)
        if form is None:
            return None
        if is_long(form):
            name = self._name(part, wish)
            self._rules.add(name, form)
            form = call(name)
        self._known[part, False] = form
        return form

    def _name(self, part: Restricted, wish: str) -> str:
        """Return a name for the rule of a set of strings."""
        del part
        return self._rules.fresh(wish)

    def _string(self, part: Restricted, wish: str) -> Form | None:
        words = part.excluded
        automaton = (
            all_but(words, self._prelude.spelling)
            if len(words) and _only_leaves_out(part)
            else None
        )
        if automaton is not None:
            return self._others(words, automaton)
        length = part.length
        if length is not None:
            return self._counted(part.of_any_length, length, wish)
        return self._of_any_length(part, wish)

    def _of_any_length(self, part: Restricted, wish: str) -> Form | None:
        """Return the strings of a set that says nothing of lengths."""
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
        return self._in_quotes(found)

    def _others(self, words: tuple[str, ...], automaton: Dfa) -> Form:
        """Return the names that are none of ``words``; their automaton is known."""
        del automaton
        return regex(self._quoted(regex_but(words, self._builder)))

    def _format(self, name: str, pattern: str) -> Form | None:
        """Return a format by rules of its own; here it is an expression as any other."""
        del name, pattern
        return None

    def _in_quotes(self, found: Regex) -> Form:
        """Return the JSON texts of strings."""
        return regex(self._quoted(found))

    def _plain(self, found: Regex) -> Form:
        """Return texts as they are."""
        return regex(print_expression(found))

    def _counted(self, part: Restricted, length: Length, wish: str) -> Form | None:
        """Return the strings of a set that have one of some lengths."""
        budget = self._rules.budget
        dfa = part.dfa(budget)
        if dfa.is_empty:
            return None
        lengths = lengths_of(dfa)
        left = lengths.left_of(length)
        if left is None:
            return self._remembered(part, wish)
        if not lengths.has_word(left, budget):
            return None
        whole = self._readable(part) or _expression(lengths)
        if whole is not None and is_looped(whole):
            form = self._looped(whole, left)
            return None if form is None else sequence(text('"'), form, text('"'))
        form = self._by_states(lengths, left, FEW_STATES, wish)
        return form or self._narrowed(part, lengths, left, wish)

    def _narrowed(
        self, part: Restricted, lengths: Lengths, length: Length, wish: str
    ) -> Form | None:
        """Count with states, as long as they are not too many; leave out what is longer."""
        atom = part.literals[0][0]
        usual = None
        if len(part.literals) == 1 and isinstance(atom, Matching):
            usual = bounded_format(atom.regex, length)
        if usual is not None:
            self._note(usual.says)
            return self._in_quotes(self._builder.read(usual.regex) or NOTHING)
        most = self._limits.steps
        low, high = max(length.low, lengths.shortest[0]), length.high
        form = self._by_states(lengths, length, most, wish)
        while form is None and high is not None and high > low:
            high = max(low, high // 2)
            bound = Length(length.low, high)
            if lengths.has_word(bound, self._rules.budget):
                form = self._by_states(lengths, bound, most, wish)
        if form is None:
            raise too_large("states of a counted value", most, "steps")
        if high != length.high:
            self._note(f"strings of more than {high:,} characters are left out")
        return form

    def _by_states(self, lengths: Lengths, length: Length, most: int, wish: str) -> Form | None:
        """Return strings by an automaton that counts; None where it has too many states."""
        tails = _tails(lengths)
        try:
            states, rows = lengths.counted(length, most, self._rules.budget, tails)
            if sum(state in tails for state, _ in states) > MOST_TAILS:
                tails = {}
                states, rows = lengths.counted(length, most, self._rules.budget, tails)
        except LimitError:
            return None
        words = lengths.words
        end = -1 - len(words.edges)

        def step(state: int) -> Step[int]:
            if state < 0:
                free = words.edges[-1 - state] if state != end else ()
                edges = [(self._set(points), -1 - to) for points, to in free]
                return Step(state == end or words.accepting[-1 - state], edges)
            here, count = states[state]
            if here not in tails:
                edges = [(self._set(points), to) for points, to in rows[state]]
                return Step(words.accepting[here] and count >= length.low, edges)
            high = None if length.high is None else length.high - count
            left = Length(max(length.low - count, 0), high)
            form = self._looped(tails[here], left)
            return Step(form is EMPTY, [] if form is None or form is EMPTY else [(form, end)])

        most += len(words.edges)
        form = write_linear(0, step, self._rules, wish, most)
        return None if form is None else sequence(text('"'), form, text('"'))

    def _looped(self, whole: Regex, length: Length) -> Form | None:
        return write_one_loop(whole, length, self._times, self._prelude.spelling.spell)

    def _set(self, points: CodePoints) -> Form:
        """Return one character of a set; a long one is a rule."""
        if points not in self._sets:
            spelled = self._prelude.spelling.spell(points)
            form = regex(spelled)
            if len(spelled) > LONG_SET:
                name = self._rules.fresh("characters")
                self._rules.add(name, form)
                form = call(name)
            self._sets[points] = form
        return self._sets[points]

    def _quoted(self, found: Regex) -> str:
        """Return the regular expression of the JSON texts of strings."""
        inner = print_expression(found, self._prelude.spelling.spell)
        return f'"(?:{inner})"' if isinstance(found, Choice) else f'"{inner}"'

    def _number_texts(self, part: Restricted) -> Dfa:
        """Return the decimal texts of a set of numbers, with more digits where none has so few."""
        numbers = part.dfa(self._rules.budget)
        found = operations.intersect(numbers, self._decimals(part))
        if found.is_empty and self._prelude.has_bounded_digits:
            return operations.intersect(numbers, self._decimals(part, is_wide=True))
        return found

    def _decimals(self, part: Restricted, *, is_wide: bool = False) -> Dfa:
        """Return the texts to use for numbers; of any number of digits where ``is_wide``.

        Integers have a fraction only where that is asked for. Multiples of another number have no
        more digits behind the point than that, where digits are bounded or LLGuidance's are meant.
        Where there are no negative numbers there is no negative zero.
        """
        atoms = [atom for atom, wanted in part.literals if wanted]
        bounds = [atom.bound for atom in atoms if isinstance(atom, Compared)]
        divisors = [atom.divisor for atom in atoms if isinstance(atom, Multiple)]
        places = [_places(divisor) for divisor in divisors]
        most, fraction = None, digits(None)
        if self._prelude.has_bounded_digits and not is_wide:
            most = max(WHOLE_DIGITS, *map(_whole_digits, (*bounds, *divisors)), 1)
            fraction = digits(max(FRACTION_DIGITS, *map(_places, bounds), *places, 1))
        below_one = ""
        if places and min(places) == 0:
            behind = self._prelude.whole_fraction
        elif places and (self._prelude.has_bounded_digits or self._prelude.has_exact_decimals):
            behind = rf"(?:\.{digits(min(places))})?"
        else:
            behind = rf"(?:\.{fraction})?"
            if most is not None and any(_leaves_out_zero(atom) for atom in atoms):
                # Next to zero, digits count from the first that is not 0: else each 0 is a case.
                below_one = r"|-?0\.0{0,16}[1-9][0-9]{0,16}"
        whole = integers(most)
        if below_one:
            whole = whole.replace("0|", "", 1)
        texts = Matching(f"{whole}{behind}{below_one}").dfa()
        if all(atom.holds(_JUST_BELOW_ZERO) for atom in atoms if isinstance(atom, Compared)):
            return texts
        return operations.difference(texts, _negative_zero())

    def _readable(self, part: Restricted) -> Regex | None:
        """Return the expression as it was written, where there is just one; or a listed rest."""
        if len(part.literals) != 1:
            return None
        atom, wanted = part.literals[0]
        if wanted and isinstance(atom, Matching):
            return self._builder.read(atom.regex)
        if not wanted and part.excluded:
            return regex_but(part.excluded, self._builder)
        return None

    def _numbers(self, values: Iterable[Decimal]) -> Form:
        """Return the texts of some numbers; zeros behind the point change nothing.

        Numbers that take the same zeros share them, so that no number needs an automaton. Where
        digits are bounded, numbers have the zeros that they have in the schema, or none.
        """
        zeros, are_bounded = self._prelude.whole_fraction, self._prelude.has_bounded_digits
        if self._prelude.has_exact_decimals or (are_bounded and not zeros):
            each = ((number_text(value), str(value)) for value in values)
            return alternation(map(text, dict.fromkeys(chain.from_iterable(each))))
        whole: dict[str, None] = {}
        fractions: dict[str, None] = {}
        others: dict[str, None] = {}
        for value in values:
            plain, written = number_text(value), str(value)
            (fractions if "." in plain else whole)[plain] = None
            if written.strip("0123456789-."):
                others[written] = None
        groups = (
            (whole, regex(zeros) if zeros else EMPTY),
            (fractions, EMPTY if are_bounded else regex("0*")),
        )
        found = [
            sequence(alternation(map(text, group)), behind) for group, behind in groups if group
        ]
        return alternation([*found, *map(text, others)])

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
            return self._numbers(part.finite)
        return self._decimal_texts(part, wish)

    def _decimal_texts(self, part: Restricted, wish: str) -> Form | None:
        """Return the decimal texts of a set of numbers."""
        dfa = self._number_texts(part)
        if dfa.is_empty:
            return None
        characters = to_characters(dfa)
        try:
            found = to_expression(characters, self._builder, MOST_LEAVES)
        except LimitError:
            return self._linear(characters, print_characters, wish)
        return self._plain(found)


@lru_cache(maxsize=64)
def _expression(lengths: Lengths) -> Regex | None:
    """Return an expression for the words that may be one of few loops; None where it is none."""
    if lengths.ways is None or lengths.ways > MOST_BRANCHES:
        return None
    try:
        return to_expression(lengths.words, Builder(), MOST_LEAVES)
    except LimitError:
        return None


@lru_cache(maxsize=64)
def _tails(lengths: Lengths) -> Mapping[int, Regex]:
    """Return what follows the states in which one thing is repeated, where nothing else is."""
    found = {}
    for state in lengths.loops():
        try:
            tail = to_expression(lengths.behind(state), Builder(), MOST_LEAVES)
        except LimitError:
            continue
        if is_looped(tail):
            found[state] = tail
    return found


def _with_bounded_runs(part: Restricted) -> Restricted:
    """Return strings whose patterns have no endless loops of digits or of blanks."""
    literals = (
        (Matching(_bounded_runs(atom.regex)), True)
        if wanted and isinstance(atom, Matching) and atom.regex not in _FORMAT_NAMES
        else (atom, wanted)
        for atom, wanted in part.literals
    )
    return Restricted(part.kind, tuple(literals))


@lru_cache(maxsize=1024)
def _bounded_runs(pattern: str) -> str:
    if not _LOOPS & set(pattern):
        return pattern
    builder = Builder()
    found = builder.read(pattern)
    if found is None:
        return pattern

    def one(node: Regex, parts: list[Regex]) -> Regex:
        match node:
            case Repeat(Characters(points), low, None) if any(
                not difference(points, run) for run in _RUNS
            ):
                return builder.repetition(parts[0], low, max(low, MOST_RUN))
            case Repeat(_, low, high):
                return builder.repetition(parts[0], low, high)
            case Characters():
                return node
            case Items():
                return builder.sequence(parts)
            case Choice():
                return builder.alternation(parts)

    bounded = fold(found, one)
    return pattern if bounded is found else print_expression(bounded)


def _leaves_out_zero(atom: Atom) -> bool:
    """Tell whether a bound is 0, and not itself allowed."""
    return isinstance(atom, Compared) and not atom.bound and not atom.wanted & EQUAL


def _places(number: Decimal) -> int:
    """Return the digits behind the point of a number."""
    return max(-int(number.normalize().as_tuple().exponent), 0)


def _whole_digits(number: Decimal) -> int:
    """Return the digits before the point of a number."""
    return max(number.adjusted(), 0) + 1 if number else 1


def is_long(form: Form, most: int = LONG) -> bool:
    """Tell whether a form is better a rule."""
    match form:
        case Known():
            return True
        case tree.Pattern(text=text) | tree.Terminal(text=text):
            return len(text.value) > most
        case _:
            return not isinstance(form, tree.Reference)


def _only_leaves_out(part: Restricted) -> bool:
    """Tell whether a set is everything but some values."""
    return all(not wanted and isinstance(atom, OneOf) for atom, wanted in part.literals)


def _negative_zero() -> Dfa:
    return operations.intersect(compared(Decimal(0), EQUAL), Matching("-(?s:.)*").dfa())
