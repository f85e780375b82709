"""Writes sets of strings and of numbers: as automata, or as rules where those grow.

From an automaton of strings its JSON texts follow (``json_strings.quoted``). A ``Notation`` beside
an automaton says what it was made of, for ``readable``, which writes it where somebody reads it.

*Counts.* Where at most one thing repeats in an expression, its words of some lengths are a count of
it (``write_one_loop``). Where something with many states repeats within bounds, as words with
blanks between do, these stay bounds (``write_large_counts``). In the automaton of the JSON strings
of some lengths (``counted``) a count is a state. After the states that count (``Lengths.counted``)
come those that need not. Few sets of characters label all of their edges: they and the quotes are
symbols of one automaton, which is minimised before its symbols are spelled in bytes.

Tests: tests/unit/languages/json_schema/test_counts_in_patterns.py, test_counted.py
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import chain, groupby
from math import prod

from kbnf_core.automata import operations, traversal
from kbnf_core.automata.algebra import Choice, Repeat, children, fold
from kbnf_core.automata.algebra import Sequence as Items
from kbnf_core.automata.chosen_kernel import AUTOMATA
from kbnf_core.automata.codepoints import (
    ANY,
    CodePoints,
    difference,
    from_ranges,
    from_text,
    partition,
)
from kbnf_core.automata.decimals import EQUAL, compared
from kbnf_core.automata.dfa import (
    ACCEPT,
    DEAD,
    Dfa,
    SymbolDfa,
    join,
    rows_over,
    separate,
)
from kbnf_core.automata.expression import Builder, Expression, Spell, print_expression
from kbnf_core.automata.expression import Expression as Regex
from kbnf_core.automata.json_strings import Spelling, is_spelt_once, quoted
from kbnf_core.automata.lengths import (
    MOST_BRANCHES,
    Length,
    Lengths,
    is_implied,
    is_loop,
    is_looped,
    length_of,
    lengths_of,
    ways_of,
    word_lengths,
)
from kbnf_core.automata.nfa import minimise
from kbnf_core.automata.regex.syntax import CharacterSet
from kbnf_core.automata.spell import letters_of, spell
from kbnf_core.automata.to_regex import to_expression
from kbnf_core.ir import Call, Literal, Node, Notation, Regular
from kbnf_core.ir.build import EMPTY, alternation, call, repeated, sequence, text
from kbnf_core.languages.json_schema import SchemaLimits
from kbnf_core.languages.json_schema.algebra import number_text
from kbnf_core.languages.json_schema.counts import Step, write_linear
from kbnf_core.languages.json_schema.keywords import (
    ENDLESS_BLANKS,
    ENDLESS_DIGITS,
    Problem,
    narrowed,
    too_large,
    too_many_states,
)
from kbnf_core.languages.json_schema.rules import Prelude, SchemaRules, regex
from kbnf_core.languages.json_schema.type_keywords import NamedFormat, bounded_format, named
from kbnf_core.languages.json_schema.value_sets import (
    FRACTION_DIGITS,
    HIGHEST,
    INTEGER,
    LOWEST,
    WHOLE,
    Compared,
    Kind,
    Matching,
    Multiple,
    OneOf,
    Restricted,
    compiled_pattern,
    digits,
    integers,
)
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError
from kbnf_core.text.source import NOWHERE

LARGE = 4_096
"""States from which on the lengths of words are asked of the patterns first."""

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


@dataclass(slots=True, eq=False, repr=False)
class Strings(Notation):
    """The JSON texts of a set of strings, whose automaton is ``dfa``."""

    values: Restricted
    dfa: Dfa
    hint: str


@dataclass(slots=True, eq=False, repr=False)
class Listed(Notation):
    """Some texts, in their order."""

    texts: tuple[str, ...]


@dataclass(slots=True, eq=False, repr=False)
class CountedStrings(Notation):
    """The JSON texts of strings of some lengths; ``most`` states may count them."""

    lengths: Lengths
    length: Length
    most: int
    hint: str


@dataclass(slots=True, eq=False, repr=False)
class OtherStrings(Notation):
    """The JSON texts of all strings but those that a set leaves out."""

    values: Restricted
    hint: str


@dataclass(slots=True, eq=False, repr=False)
class Numbers(Notation):
    """The texts of a set of numbers."""

    hint: str


class ScalarWriter:
    """Writes strings, numbers and the names of members; memoises their rules.

    ``hints`` are the names that people should read for the rules of strings. A counted repetition
    is a rule of its own: in the middle of another the automaton of that would be taken apart for
    it.
    """

    def __init__(self, prelude: Prelude, rules: SchemaRules, limits: SchemaLimits) -> None:
        self._prelude = prelude
        self._rules = rules
        self._limits = limits
        self._builder = Builder()
        self._sets: dict[CodePoints, Node] = {}
        self._memo: dict[Restricted, Node] = {}
        self._without_quotes: dict[tuple[Restricted, bool], Node | None] = {}
        self.hints: dict[str, str] = {}

    def write(self, values: Restricted, hint: str, *, is_key: bool = False) -> Node | None:
        """Return the texts of a set of strings or numbers with their ends; None for none."""
        if values.kind is Kind.NUMBER:
            number = self._number(values, hint)
            return None if number is None else self._prelude.ended(number, is_key=is_key)
        if not values.literals:
            return self._prelude.any_string(is_key=is_key)
        if values.finite is not None:
            return self._prelude.ended(self._texts(values.finite), is_key=is_key)
        # An upper bound of the length bounds loops, too.
        if self._prelude.has_bounded_digits and (
            values.length is None or values.length.high is None
        ):
            values = self._with_bounded_runs(values)
        plain, quoted = self._plain(values, hint, is_key), self._remembered(values, hint)
        if quoted is None:
            return None
        whole = self._prelude.ended(quoted, is_key=is_key)
        return whole if plain is None else alternation([plain, whole])

    def _plain(self, values: Restricted, hint: str, is_key: bool) -> Node | None:
        """Return the strings without quotes, in a syntax that has such: a rule, with their end.

        So nothing completes before the end, and masks take free text as a block.
        """
        key = values, is_key
        if key not in self._without_quotes:
            unquoted, form = self._prelude.plain(values, self._rules.budget), None
            if unquoted is not None:
                name = self._rules.fresh(f"{hint}_plain")
                self._rules.add(name, self._prelude.ended(unquoted, is_key=is_key))
                form = call(name)
            self._without_quotes[key] = form
        return self._without_quotes[key]

    def _with_bounded_runs(self, values: Restricted) -> Restricted:
        """Return strings without endless loops of digits or of blanks, where there are such.

        Where a loop overlaps with the words before it, an automaton has a state for each set of
        turns that it may be in. Where those are too many, loops stay endless, and a note says so.
        """
        few = with_bounded_runs(values)
        if few == values:
            return values
        try:
            return (
                few if self._large_counts(few) or not few.is_empty(self._rules.budget) else values
            )
        except LimitError as error:
            is_blank = with_bounded_runs(values, _RUNS[1:]) != values
            characters, code = (
                ("whitespace", ENDLESS_BLANKS) if is_blank else ("digits", ENDLESS_DIGITS)
            )
            message = f"a loop of {characters} in this pattern has no end"
            help_ = f"at most {MOST_RUN} turns would take {error}; bound the loop in the pattern"
            self._rules.note(Problem(code, message, "pattern", help_))
            return values

    def _texts(self, values: Sequence[str]) -> Node:
        """Return the JSON texts of some strings; raises ProblemError beyond the limit of states."""
        spelling = self._prelude.spelling
        texts = tuple(listed for value in values if (listed := spelling.listed(value)) is not None)
        if len(values) < MANY_TEXTS or len(texts) < len(values):
            self._refuse_many(sum(map(len, values)))
            return alternation(map(self._listed, values))
        most = FEWER * self._limits.states
        if sum(map(len, texts)) > most:
            # Before the automaton is made: a list of this length need not be built to be refused.
            self._refuse_many(_letters_of(texts, most) // FEWER)
        automaton = operations.literals(listed.encode() for listed in texts)
        self._refuse_many(automaton.state_count)
        return Regular(automaton, NOWHERE, Listed(texts))

    def _regex(self, pattern: str) -> Node:
        return regex(pattern, self._rules.budget)

    def _items(self, items: Sequence[Regex]) -> Node:
        """Return a sequence as one regular expression."""
        written = print_items(items, self._prelude.spelling.spell)
        return self._regex(written) if written else EMPTY

    def _refuse_many(self, states: int) -> None:
        if states > self._limits.states:
            raise too_many_states(self._limits.states)

    def _listed(self, value: str) -> Node:
        """Return the JSON texts of one string."""
        spelling = self._prelude.spelling
        text_listed = spelling.listed(value)
        if text_listed is not None:
            return text(text_listed)
        return self._regex(f'"{"".join(spelling.spell(from_text(char)) for char in value)}"')

    def _remembered(self, values: Restricted, hint: str) -> Node | None:
        """Return strings whose automaton is larger than a name; it is a rule."""
        cached = self._memo.get(values)
        if cached is not None:
            return cached
        form = self._string(values, hint)
        if form is None:
            return None
        if _is_long(form):
            name = self._rules.fresh(f"{hint}_text")
            named_format = format_of(values)
            self.hints[name] = named_format.name if named_format else hint
            self._rules.add(name, form)
            form = call(name)
        self._memo[values] = form
        return form

    def _string(self, values: Restricted, hint: str) -> Node | None:
        words = values.excluded
        if words and all(
            not wanted and isinstance(atom, OneOf) for atom, wanted in values.literals
        ):
            automaton = all_but(words, self._prelude.spelling)
            if automaton is not None:
                return Regular(automaton, NOWHERE, OtherStrings(values, hint))
        atom, length = values.literals[0][0], values.length
        if _is_length(values) and isinstance(atom, Length):
            characters = repeated(self._prelude.use("character"), atom.low, atom.high)
            return sequence(text('"'), characters, text('"'))
        counts = self._large_counts(values)
        if counts is not None:
            return sequence(text('"'), counts, text('"'))
        if length is not None:
            return self._counted(values.of_any_length, length, hint)
        dfa = values.dfa(self._rules.budget)
        if dfa.is_empty:
            return None
        spelling = self._prelude.spelling
        if spelling.also:
            # Characters of several bytes have escapes, so symbols are characters, not bytes.
            whole = counted(lengths_of(dfa), Length(0, None), LARGE, spelling, self._rules.budget)
        else:
            whole = quoted(dfa, spelling)
        return Regular(whole, NOWHERE, Strings(values, dfa, hint))

    def _large_counts(self, values: Restricted) -> Node | None:
        """Return the strings of a pattern without quotes, where much is repeated in it."""
        words, length = values.of_any_length, values.length or Length(0, None)
        atom, wanted = words.literals[0]
        if not wanted or not isinstance(atom, Matching) or named(atom.regex) is not None:
            return None
        if not may_repeat_much(atom.regex):
            return None
        whole = as_written(words, self._builder)
        if whole is None:
            return None
        return write_large_counts(whole, length, self._items)

    def _counted(self, values: Restricted, length: Length, hint: str) -> Node | None:
        """Return the strings of a set that have one of some lengths."""
        budget = self._rules.budget
        dfa = values.dfa(budget)
        if dfa.is_empty:
            return None
        if dfa.state_count > LARGE and self._is_implied(values, length):
            return self._remembered(values, hint)
        lengths = lengths_of(dfa)
        left = lengths.left_of(length)
        if left is None:
            return self._remembered(values, hint)
        if not lengths.has_word(left, budget):
            return None
        whole = self._looped(values, lengths)
        if whole is not None:
            form = write_one_loop(whole, left, self._items)
            return None if form is None else sequence(text('"'), form, text('"'))
        form = self._by_states(lengths, left, FEW_STATES, hint)
        return form or self._narrowed(values, lengths, left, hint)

    def _looped(self, values: Restricted, lengths: Lengths) -> Regex | None:
        """Return the expression of a set that has few ways with one loop each, else None."""
        atom, wanted = values.literals[0]
        if len(values.literals) == 1 and wanted and isinstance(atom, Matching):
            is_read, whole = _looped_pattern(atom.regex)
            if is_read:
                return whole
            whole = _expression(lengths)
        else:
            whole = as_written(values, self._builder) or _expression(lengths)
        return whole if whole is not None and is_looped(whole) else None

    def _is_implied(self, values: Restricted, length: Length) -> bool:
        """Return whether one pattern of several bounds the length, before all words are visited."""
        singly = (Restricted(values.kind, (literal,)) for literal in values.literals)
        written = (as_written(literal, self._builder) for literal in singly)
        return any(is_implied(length, whole) for whole in written if whole is not None)

    def _narrowed(
        self, values: Restricted, lengths: Lengths, length: Length, hint: str
    ) -> Node | None:
        """Count with states, as long as they are not too many; leave out longer strings."""
        atom = values.literals[0][0]
        usual = None
        if len(values.literals) == 1 and isinstance(atom, Matching):
            usual = bounded_format(atom.regex, length)
        if usual is not None:
            self._rules.note(narrowed(usual.says, "maxLength"))
            bounded = Restricted(Kind.STRING, ((Matching(usual.regex), True),))
            return self._string(bounded, hint)
        most, budget = self._limits.steps, self._rules.budget
        low, high = max(length.low, lengths.bounds.low), length.high
        bound: Length | None = length
        while bound is None or not self._can_count(lengths, bound, most):
            if high is None or high <= low:
                raise too_large("states of a counted value", most, "steps")
            # Halved, so that a bound that can be counted is reached in as many steps as the bound
            # has bits, each of which makes ``most`` states at most.
            high = max(low, high // 2)
            bound = Length(length.low, high)
            bound = bound if lengths.has_word(bound, budget) else None
        # Noted before the states are written, which may make another value the current one.
        if high is not None and high != length.high:
            message = f"strings of more than {high:,} characters are left out"
            self._rules.note(narrowed(message, "maxLength"))
        return self._by_states(lengths, bound, most, hint)

    def _can_count(self, lengths: Lengths, length: Length, most: int) -> bool:
        """Return whether so many states are enough to count."""
        tails = _tails(lengths)
        try:
            states, _ = lengths.counted(length, most, self._rules.budget, tails)
            # With too many tails ``by_rules`` counts their states too, so these must fit as well.
            if sum(state in tails for state, _ in states) > MOST_TAILS:
                lengths.counted(length, most, self._rules.budget, ends=())
        except LimitError:
            return False
        return True

    def _by_states(self, lengths: Lengths, length: Length, most: int, hint: str) -> Node | None:
        """Return strings of some lengths by an automaton that counts; as rules where it is large.

        None where it has more than ``most`` states that count.
        """
        spelling, budget = self._prelude.spelling, self._rules.budget
        try:
            dfa = counted(lengths, length, most, spelling, budget)
        except LimitError:
            return self.by_rules(lengths, length, most, hint)
        return Regular(dfa, NOWHERE, CountedStrings(lengths, length, most, hint))

    def by_rules(self, lengths: Lengths, length: Length, most: int, hint: str) -> Node | None:
        """Return strings by rules for the states that count; None where those are too many."""
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
                edges = [(self.set_of(points), -1 - to) for points, to in free]
                return Step(state == end or words.accepting[-1 - state], edges)
            here, count = states[state]
            if here not in tails:
                edges = [(self.set_of(points), to) for points, to in rows[state]]
                return Step(words.accepting[here] and count >= length.low, edges)
            high = None if length.high is None else length.high - count
            left = Length(max(length.low - count, 0), high)
            form = write_one_loop(tails[here], left, self._items)
            return Step(form is EMPTY, [] if form is None or form is EMPTY else [(form, end)])

        most += len(words.edges)
        form = write_linear(0, step, self._rules, hint, most)
        return None if form is None else sequence(text('"'), form, text('"'))

    def set_of(self, points: CodePoints) -> Node:
        """Return one character of a set; a long one is a rule."""
        if points == ANY and self._prelude.is_canonical:
            return self._prelude.use("character")
        if points not in self._sets:
            spelled = self._prelude.spelling.spell(points)
            form = self._regex(spelled)
            if len(spelled) > LONG_SET:
                name = self._rules.fresh("characters")
                self._rules.add(name, form)
                form = call(name)
            self._sets[points] = form
        return self._sets[points]

    def _number(self, values: Restricted, hint: str) -> Node | None:
        if not values.literals:
            return self._prelude.use("number")
        if values.literals == ((INTEGER, True),):
            return self._prelude.use("integer")
        if values.finite is not None:
            return self._numbers(values.finite)
        numbers = values.dfa(self._rules.budget)
        dfa = operations.intersect(numbers, self._decimals(values))
        if dfa.is_empty and self._prelude.has_bounded_digits:
            # None has so few digits.
            dfa = operations.intersect(numbers, self._decimals(values, is_wide=True))
        return None if dfa.is_empty else Regular(dfa, NOWHERE, Numbers(hint))

    def _decimals(self, values: Restricted, *, is_wide: bool = False) -> Dfa:
        """Return the texts to use for numbers; of any number of digits where ``is_wide``.

        Integers have a fraction only where that is asked for. Multiples of another number have no
        more digits after the point than that, where digits are bounded or LLGuidance's are meant.
        Where there are no negative numbers there is no negative zero.
        """
        atoms = [atom for atom, wanted in values.literals if wanted]
        compares = [atom for atom in atoms if isinstance(atom, Compared)]
        bounds = [atom.bound for atom in compares]
        divisors = [atom.divisor for atom in atoms if isinstance(atom, Multiple)]
        decimals = [_decimals_of(divisor) for divisor in divisors]
        whole, fraction = integers(None), digits(None)
        are_bounded = self._prelude.has_bounded_digits and not is_wide
        if are_bounded:
            whole = WHOLE
            if not all(LOWEST <= number <= HIGHEST for number in (*bounds, *divisors)):
                whole = integers(
                    max(number.adjusted() + 1 for number in (*bounds, *divisors) if number)
                )
            fraction = digits(max(FRACTION_DIGITS, *map(_decimals_of, bounds), *decimals, 1))
        below_one = ""
        if decimals and min(decimals) == 0:
            behind = self._prelude.whole_fraction
        elif decimals and (self._prelude.has_bounded_digits or self._prelude.has_exact_decimals):
            behind = rf"(?:\.{digits(min(decimals))})?"
        else:
            behind = rf"(?:\.{fraction})?"
            if are_bounded and any(not atom.bound and not atom.wanted & EQUAL for atom in compares):
                # Next to zero, digits count from the first that is not 0: else each 0 is a case.
                below_one = r"|-?0\.0{0,16}[1-9][0-9]{0,16}"
        # A number with 0 before the point is one of ``below_one``.
        if below_one:
            whole = whole.replace("0|", "", 1)
        texts = Matching(f"{whole}{behind}{below_one}").dfa()
        # Negative numbers are allowed, and negative zero with them.
        if all(atom.holds(_JUST_BELOW_ZERO) for atom in compares):
            return texts
        zeros, negative = compared(Decimal(0), EQUAL), Matching("-(?s:.)*").dfa()
        return operations.difference(texts, operations.intersect(zeros, negative))

    def _numbers(self, values: Iterable[Decimal]) -> Node:
        """Return the texts of some numbers; zeros after the point change nothing.

        Numbers that take the same zeros share them, so that no number needs an automaton. Where
        digits are bounded, numbers have the zeros that they have in the schema, or none.
        """
        zeros, are_bounded = self._prelude.whole_fraction, self._prelude.has_bounded_digits
        if self._prelude.has_exact_decimals or (are_bounded and not zeros):
            texts = ((number_text(value), str(value)) for value in values)
            taken = filter(self._prelude.takes_number, chain.from_iterable(texts))
            return alternation(map(text, dict.fromkeys(taken)))
        whole: dict[str, None] = {}
        fractions: dict[str, None] = {}
        others: dict[str, None] = {}
        for value in values:
            plain, written = number_text(value), str(value)
            (fractions if "." in plain else whole)[plain] = None
            if written.strip("0123456789-.") and self._prelude.takes_number(written):
                others[written] = None
        groups = (
            (whole, self._regex(zeros) if zeros else EMPTY),
            (fractions, EMPTY if are_bounded else self._regex("0*")),
        )
        forms = [
            sequence(alternation(map(text, group)), behind) for group, behind in groups if group
        ]
        return alternation([*forms, *map(text, others)])


def as_written(values: Restricted, builder: Builder) -> Regex | None:
    """Return the expression as it was written, where there is just one."""
    if len(values.literals) != 1:
        return None
    atom, wanted = values.literals[0]
    return builder.read(atom.regex) if wanted and isinstance(atom, Matching) else None


def format_of(values: Restricted) -> NamedFormat | None:
    """Return the format that a set of strings is; None for another set."""
    atom, wanted = values.literals[0]
    is_alone = len(values.literals) == 1 and wanted
    return named(atom.regex) if is_alone and isinstance(atom, Matching) else None


MANY_TEXTS = 12
"""Listed strings of which one automaton is made, instead of a node for each."""

FEWER = 2
"""How many letters, those of common beginnings once, are taken to be one state at least."""


def _letters_of(texts: Sequence[str], most: int) -> int:
    """Return how many letters texts have, those of common beginnings once, as far as ``most``."""
    count, last = 0, ""
    for text_ in sorted(texts):
        pairs = zip(last, text_, strict=False)
        count += len(text_) - next((n for n, (a, b) in enumerate(pairs) if a != b), len(last))
        last = text_
        if count > most:
            break
    return count


@lru_cache(maxsize=64)
def _looped_pattern(regex: str) -> tuple[bool, Regex | None]:
    """Return whether a pattern has an expression, and it if it has few ways with one loop each.

    A process keeps 64, since formats come again with other lengths: without them such a schema
    takes 1.4 times as long (`email`).
    """
    whole = Builder().read(regex)
    if whole is None:
        return False, None
    return True, whole if is_looped(whole) else None


def _expression(lengths: Lengths) -> Regex | None:
    """Return an expression for the words that may be one of few loops; None for other words."""
    if lengths.ways is None or lengths.ways > MOST_BRANCHES:
        return None
    try:
        return to_expression(lengths.words, Builder(), MOST_LEAVES)
    except LimitError:
        return None


def _tails(lengths: Lengths) -> Mapping[int, Regex]:
    """Return what follows the states in which one thing is repeated, where nothing else is."""
    tails = {}
    for state in lengths.loops():
        try:
            tail = to_expression(lengths.behind(state), Builder(), MOST_LEAVES)
        except LimitError:
            continue
        if is_looped(tail):
            tails[state] = tail
    return tails


def with_bounded_runs(values: Restricted, runs: tuple[CodePoints, ...] = _RUNS) -> Restricted:
    """Return strings whose patterns have no endless loops of ``runs``, digits and blanks."""
    literals = (
        (Matching(_bounded_runs(atom.regex, runs)), True)
        if wanted and isinstance(atom, Matching) and named(atom.regex) is None
        else (atom, wanted)
        for atom, wanted in values.literals
    )
    return Restricted(values.kind, tuple(literals))


def _bounded_runs(pattern: str, runs: tuple[CodePoints, ...]) -> str:
    if not _LOOPS & set(pattern):
        return pattern
    builder = Builder()
    whole = builder.read(pattern)
    if whole is None:
        return pattern

    def one(node: Regex, operands: list[Regex]) -> Regex:
        match node:
            case Repeat(CharacterSet(points), low, None) if any(
                not difference(points, run) for run in runs
            ):
                return builder.repetition(operands[0], low, max(low, MOST_RUN))
            case Repeat(_, low, high):
                return builder.repetition(operands[0], low, high)
            case CharacterSet():
                return node
            case Items():
                return builder.sequence(operands)
            case Choice():
                return builder.alternation(operands)

    bounded = fold(whole, one)
    return pattern if bounded is whole else print_expression(bounded)


def _decimals_of(number: Decimal) -> int:
    """Return the digits after the point of a number."""
    return max(-int(number.normalize().as_tuple().exponent), 0)


def _is_long(form: Node) -> bool:
    """Return whether an expression is better a rule."""
    match form:
        case Regular(notation=str() as pattern):
            return len(pattern) > LONG
        case Literal(data):
            return len(data.decode()) > LONG
        case _:
            return not isinstance(form, Call)


def _is_length(values: Restricted) -> bool:
    """Return whether a set is all strings of some lengths."""
    atom, wanted = values.literals[0]
    return len(values.literals) == 1 and wanted and isinstance(atom, Length)


Write = Callable[[Sequence[Expression]], Node]
"""Writes items one after the other, as one regular expression."""


LONG_BODY, MANY = 64, 256
"""Characters of a repeated body, and of all its copies, from which on it is written once."""

_BOUNDS = re.compile(r"\{0*+(\d*)(?:,0*+(\d*))?\}")
_ONE = re.compile(r"\\u\{\w+\}|\\.|\[(?:\\.|[^\]\\])*\]")
"""An escape, or a set."""


def may_repeat_much(pattern: str) -> bool:
    """Return quickly whether a pattern may have something for ``write_large_counts``."""
    items = _ONE.sub("x", pattern)
    bounds = [int(high or low or 0) for low, high in _BOUNDS.findall(items)]
    return len(bounds) > 1 and len(items) * prod(max(bound, 1) for bound in bounds) >= MANY


def write_large_counts(whole: Expression, length: Length, write: Write) -> Node | None:
    """Return what an expression matches, where it has no shorter words and repeats much.

    None where nothing is repeated so often that its copies have many states, or where more than
    the expression says how long words are.
    """
    if length.high is not None or length.low > word_lengths(whole).low:
        return None

    def opened(item: Expression) -> tuple[Expression, ...]:
        return children(item) if isinstance(item, Items | Choice) else ()

    def one(item: Expression, forms: list[Node | None]) -> Node | None:
        if isinstance(item, Repeat) and _repeats_much(item):
            return repeated(write((item.body,)), item.low, item.high)
        if not any(forms):
            return None
        pairs = zip(forms, children(item), strict=True)
        if isinstance(item, Choice):
            return alternation(form or write((item_single,)) for form, item_single in pairs)
        forms_joined: list[Node] = []
        for is_form, run in groupby(pairs, lambda pair: pair[0] is not None):
            some = list(run)
            forms_joined += [form for form, _ in some if form is not None]
            if not is_form:
                forms_joined.append(write([item_single for _, item_single in some]))
        return sequence(*forms_joined)

    return traversal.fold(whole, opened, one)


def _repeats_much(item: Repeat[Expression]) -> bool:
    """Return whether a repetition within bounds has copies of many states."""
    if item.high is None or item.high < 2:
        return False
    long = fold(item.body, _size)
    return long >= LONG_BODY and long * item.high >= MANY and word_lengths(item.body).low > 0


def _size(item: Expression, operands: list[int]) -> int:
    """Return how many characters are written where each repetition is as many copies."""
    if isinstance(item, Repeat):
        return operands[0] * max(item.low, item.high or 1)
    return 1 if isinstance(item, CharacterSet) else sum(operands)


def write_one_loop(whole: Expression, length: Length, write: Write) -> Node | None:
    """Return what an expression that ``is_looped`` matches of some lengths; None for nothing."""
    forms = [_one_loop(items, length, write) for items in ways_of([whole]) or ()]
    branches = [form for form in forms if form is not None]
    return alternation(branches) if branches else None


def _one_loop(items: Sequence[Expression], length: Length, write: Write) -> Node | None:
    """Return the strings of one way; None where none of them has a length that is allowed."""
    index = next((i for i, item in enumerate(items) if is_loop(item)), len(items))
    around = sum(length_of(item) or 0 for i, item in enumerate(items) if i != index)
    low = max(length.low - around, 0)
    high = None if length.high is None else length.high - around
    before, after = map(write, (items[:index], items[index + 1 :]))
    if high is not None and high < 0:
        return None
    if index == len(items):
        return before if not low else None
    loop = items[index]
    assert isinstance(loop, Repeat)  # noqa: S101 - for the types
    size = length_of(loop.body) or 1
    counts = Length(max(loop.low, -(-low // size)), None if high is None else high // size)
    if counts.high is not None and counts.high < counts.low:
        return None
    unit = write((loop.body,))
    return sequence(before, repeated(unit, counts.low, counts.high), after)


def print_items(items: Sequence[Expression], spell: Spell) -> str:
    """Return the regular expression of items one after the other."""
    return "".join(_in_group(item, spell) for item in items)


def _in_group(item: Expression, spell: Spell) -> str:
    written = print_expression(item, spell)
    return f"(?:{written})" if isinstance(item, Choice) else written


MOST_STATES = 200_000
"""States over bytes."""


def counted(lengths: Lengths, length: Length, most: int, spelling: Spelling, budget: Budget) -> Dfa:
    """Return the JSON texts of the words, of which there are some, that have some length.

    Raises LimitError beyond ``most`` states that count, or ``MOST_STATES``.
    """
    sets = dict.fromkeys(points for row in lengths.words.edges for points, _ in row)
    blocks = partition(list(sets))
    members = dict(zip(sets, blocks.members, strict=True))
    dfa = _over_blocks(lengths, length, most, members, blocks.block_count, budget)
    texts = [_automaton(spelling.spell(from_ranges(points))) for points in blocks.ranges()]
    return spell(minimise(dfa, budget), letters_of([*texts, _automaton('"')]), MOST_STATES, budget)


def _over_blocks(
    lengths: Lengths,
    length: Length,
    most: int,
    members: dict[CodePoints, tuple[int, ...]],
    quote: int,
    budget: Budget,
) -> SymbolDfa:
    """Return the words in quotes; ``quote`` is the symbol after those of the blocks."""
    words = lengths.words
    counting, leaving = lengths.counted(length, most, budget, ends=())
    free = len(counting)
    # States that count come first, then those that need not: a target below 0 is one of these, from
    # -1 down.
    edges = [[(points, to if to >= 0 else free - 1 - to) for points, to in row] for row in leaving]
    edges += [[(points, free + to) for points, to in row] for row in words.edges]
    accepting = [words.accepting[here] and count >= length.low for here, count in counting]
    accepting += words.accepting
    start, end = len(edges), len(edges) + 1
    rows = [[DEAD] * (quote + 1) for _ in range(end + 1)]
    for state, may_end in enumerate(accepting):
        row = rows[state]
        for points, target in edges[state]:
            for block in members[points]:
                row[block] = target
        if may_end:
            row[quote] = end
    rows[start][quote] = 0
    return SymbolDfa(rows, [*([0] * end), ACCEPT], [start])


def _automaton(regex: str) -> Dfa:
    compiled = compiled_pattern(regex)
    assert compiled.dfa is not None  # noqa: S101 - the expression is ours
    return compiled.dfa


def all_but(words: Sequence[str], spelling: Spelling) -> Dfa | None:
    """Return the texts of all other strings; None where a word has several texts.

    This is minimal: an added state and a state of any string differ by a word. (That states are
    not breadth first does not matter to grammars.)
    """
    spelt = [spelling.text(word) if is_spelt_once(word) else None for word in words]
    texts = [text.encode() for text in spelt if text is not None]
    if len(texts) < len(words):
        return None
    anything = compiled_pattern(f'"{spelling.character}*"').dfa
    assert anything is not None  # noqa: S101 - the pattern is ours
    classes = join([anything.classes, separate(b"".join(texts))])
    rows = AUTOMATA.leave_out(
        rows_over(anything, classes), [text.translate(classes) for text in texts]
    )
    accepting = [*anything.accepting, *([False] * (len(rows) - anything.state_count))]
    return Dfa(classes, rows, accepting)
