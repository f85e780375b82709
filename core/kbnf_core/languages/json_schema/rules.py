r"""The rules that the schemas of a document become, by name, with those that all schemas share.

*Shared.* These rules are whitespace, separators, and JSON's types. Arrays and objects are laid out
here: contents in brackets, with commas between.

*Of a document.* Rules are named after definitions and properties. Keywords that are refused or left
out are reported of that schema: of the one whose rule is written (``current``), or of the value in
it that was visited last (``inner``). Nothing here refers to the writers, which refer to this: so
all of them go when the last one is forgotten.

*Block YAML* is another syntax of the same values (``BlockShared``). Objects and arrays are written
once, for both. For this one the separators are marks, calls of rules that nobody defines: ``LINE``
between members and between items, ``COLON`` after a key, ``DASH`` before an item, ``GAP`` before a
scalar or an empty collection; the content of a collection has the notation ``Block``.
``lay_out`` replaces the rules that have marks by copies for each column in which they are needed,
and for each place of a value: at the start of a document, after a colon, after a dash. In these
copies marks are line breaks with blanks. Each level has ``STEP`` columns more than the one around
it, so a rule that calls itself has at most ``MOST_COLUMNS // STEP`` copies; deeper values have no
text.

    object after a colon      a line break, members in deeper lines      key:
                                                                           inner: 1
    object after a dash       a blank, its first member                  - key: 1
                                                                           other: 2
    empty, or a scalar        a blank, its text, a line break            key: {}

A string may be plain where that is plainly safe: in one line, without the marks of a comment or of
a value, beginning with a letter or with a sign that means nothing there, and none of the words
(`yes`, `null`) that YAML 1.1, by PyYAML's resolver, or YAML 1.2, by its core schema, reads as
something else. So, but for a few words, the first character decides whether a string is plain. Any
string may be in double quotes, with the escapes of JSON and those of characters that are line
breaks or not printable in YAML; of listed texts there is one form, plain if it is safe. Numbers
have an exponent only after a fraction, and with a sign: YAML 1.1 reads others as strings. Scalars
end with their line break, and keys with their colon, so that nothing completes within them.

Tests: tests/unit/languages/json_schema/test_places.py, test_yaml.py
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import NamedTuple

from kbnf_core import ir
from kbnf_core.automata import operations, traversal
from kbnf_core.automata.codepoints import ANY, CodePoints, difference, from_text, union
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.expression import print_characters
from kbnf_core.automata.json_strings import ANY_CHARACTER, LETTERS, Spelling, spell_text
from kbnf_core.automata.lengths import Length
from kbnf_core.ir import Node, Notation, calls
from kbnf_core.ir.analysis import reachable
from kbnf_core.ir.build import EMPTY, alternation, call, optional, repeated, sequence, text
from kbnf_core.ir.names import HintedNames
from kbnf_core.languages.json_schema import Digits, Escapes, Integers, Options, Standard, Whitespace
from kbnf_core.languages.json_schema.algebra import ANYTHING, Expression, Ref
from kbnf_core.languages.json_schema.document import Subschema
from kbnf_core.languages.json_schema.keywords import Problem, too_large, unsupported
from kbnf_core.languages.json_schema.schemas import Schemas
from kbnf_core.languages.json_schema.value_sets import (
    EXPONENT,
    FRACTION_DIGITS,
    LONG_HIGH,
    LOWEST,
    SHORT_WHOLE,
    STEPS,
    Restricted,
    compiled_pattern,
    digits,
    integers,
)
from kbnf_core.lower.facts import analyse, nullable_names, nullable_nodes, without_empty
from kbnf_core.lower.regular import automaton_of
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.locks import cached_property
from kbnf_core.text.source import NOWHERE


def enclosed(opening: str, closing: str, content: ir.Node, gap: ir.Node) -> ir.Node:
    """Return ``content`` in brackets, with gaps inside."""
    if content is EMPTY:
        return sequence(text(opening), gap, text(closing))
    if isinstance(content, ir.Repeat) and (content.low, content.high) == (0, 1):
        inner = optional(sequence(content.body, gap))
        return sequence(text(opening), gap, inner, text(closing))
    return sequence(text(opening), gap, content, gap, text(closing))


def listed(item: ir.Node, comma: ir.Node, low: int, high: int | None) -> ir.Node:
    """Return ``low`` to ``high`` items, at least one of which there may be."""
    most = None if high is None else high - 1
    whole = sequence(item, repeated(sequence(comma, item), max(low - 1, 0), most))
    return whole if low else optional(whole)


_GAPS = {
    Whitespace.FLEXIBLE: r"[ \t\n\r]*",
    Whitespace.BOUNDED: r"(?:\r?\n[ \t]{0,64}| )?",
    Whitespace.PRINTED: r"(?:\n[ \t]{0,32}| )?",
}

_STATES = 1_000
"""States of the largest automaton that stands for a rule."""

ORDER = (
    "ws", "comma", "colon", "character", "string", "int64_high", "int64_low", "whole", "integer",
    "number", "boolean", "value", "object", "array", "escape", "name_rest", "other_name", "member",
)  # fmt: skip
NAMES = frozenset({"start", *ORDER})


def gap_of(options: Options) -> str:
    """Return the regular expression of a gap between two tokens; empty where there is none."""
    if options.whitespace_pattern is not None:
        return f"(?:{options.whitespace_pattern})?" if options.whitespace_pattern else ""
    return _GAPS.get(options.whitespace or Whitespace.PRINTED, "")


def regex(pattern: str, budget: Budget) -> ir.Node:
    """Return what a regular expression matches. Raises ProblemError for one that is too large."""
    compiled = compiled_pattern(pattern)
    budget.spend(compiled.work)
    if compiled.dfa is None:
        raise unsupported(compiled.problems[0].message, "")
    return ir.Regular(compiled.dfa, NOWHERE, pattern)


def _regex(pattern: str) -> ir.Node:
    return regex(pattern, Budget(DEFAULT_LIMITS.work))


def _separator(pattern: str | None, default: str) -> ir.Node:
    """Return a separator; one without operators is shown as the text that it is."""
    wanted = default if pattern is None else pattern
    return _regex(wanted) if _OPERATORS & set(wanted) else text(wanted)


_OPERATORS = frozenset("\\.^$|?*+()[]{}")


@dataclass(slots=True, eq=False, repr=False)
class Texts(Notation):
    """Literal texts; the automaton of the node accepts exactly these."""

    hint: str


class Shared:
    """The shared rules by name, with their calls; a process keeps those of a few options.

    ``before_scalar`` and ``before_item`` are for a syntax that has something there, ``ends`` for
    one in which scalars and keys have an end.
    """

    before_scalar: ir.Node = EMPTY
    before_item: ir.Node = EMPTY
    ends: tuple[str, str] = ("", "")

    def __init__(self, options: Options, prefix: str, has_whole_fractions: bool) -> None:
        self.are_bounded = options.digits is not Digits.ANY
        self.whole_fraction = ""
        if has_whole_fractions and options.integers is Integers.FRACTION:
            self.whole_fraction = r"(?:\.0)?" if self.are_bounded else r"(?:\.0+)?"
        fraction, exponent = digits(None), "[eE][+-]?[0-9]+"
        if self.are_bounded:
            fraction, exponent = digits(FRACTION_DIGITS), EXPONENT
        behind = self._behind(fraction, exponent)
        self.spelling = self._spelling(options)
        self._prefix = prefix
        gap, is_compact = gap_of(options), not gap_of(options)
        comma = _separator(options.item_separator, ",")
        colon = _separator(options.key_separator, ":")
        self.calls = {name: ir.Call(prefix + name, NOWHERE) for name in NAMES}
        self.gap = EMPTY if is_compact else self.calls["ws"]
        # Printers write nothing before a comma or a colon, and break no line after a colon.
        is_printed = options.whitespace_pattern is None and options.whitespace is Whitespace.PRINTED
        before = EMPTY if is_printed else self.gap
        after_name = optional(text(" ")) if is_printed else self.gap
        self.comma = comma if is_compact else self.calls["comma"]
        self.colon = colon if is_compact else self.calls["colon"]
        character = self.spelling.character
        self.is_canonical = options.escapes not in (Escapes.ANY, Escapes.UNICODE)
        if options.escapes is Escapes.ANY:
            character = ANY_CHARACTER
        elif options.escapes is Escapes.UNICODE:
            character = self.spelling.unicode_character
        values = ("object", "array", "string", "number", "boolean")
        self._patterns = {
            "ws": gap,
            "character": character,
            "string": f'"{character}*"',
            "whole": integers(None),
            "integer": integers(None) + self.whole_fraction,
            "number": integers(None) + behind,
            "escape": self.spelling.escape,
            "name_rest": f'{self.spelling.character}*"',
            "other_name": self.spelling.with_needless or "",
        }
        self._rules: dict[str, ir.Node] = {
            "comma": sequence(before, comma, self.gap),
            "colon": sequence(before, colon, after_name),
            "int64_high": alternation(map(_regex, LONG_HIGH)),
            "int64_low": alternation(
                [sequence(text("-"), self.calls["int64_high"]), text(str(LOWEST))]
            ),
            "boolean": alternation([text("true"), text("false")]),
            "value": alternation([*map(self.calls.__getitem__, values), text("null")]),
            "object": enclosed("{", "}", self._any("member"), self.gap),
            "array": enclosed("[", "]", self._any("value"), self.gap),
            "member": sequence(self.calls["string"], self.colon, self.calls["value"]),
        }
        if self.are_bounded:
            self._rules |= self._bounded_numbers(behind)
        self._needed: dict[str, tuple[str, ...]] = {}
        self._bodies: dict[str, ir.Node] = {}

    def _spelling(self, options: Options) -> Spelling:
        letters = LETTERS if options.allowed_escapes is None else options.allowed_escapes
        return Spelling(letters, options.standard is Standard.LLGUIDANCE)

    def _behind(self, fraction: str, exponent: str) -> str:
        """Return the regular expression of the fraction and exponent of a number."""
        return rf"(?:\.{fraction})?(?:{exponent})?"

    def string(self, form: ir.Node) -> ir.Node:
        """Return a string, with its end, where a value is."""
        return form if self.before_scalar is EMPTY else sequence(self.before_scalar, form)

    def scalar(self, form: ir.Node) -> ir.Node:
        """Return another scalar where a value is."""
        return form if self.before_scalar is EMPTY else self.string(self.ended(form))

    def ended(self, form: ir.Node, *, is_key: bool = False) -> ir.Node:
        """Return a scalar with the text that must be after it."""
        end = self.ends[is_key]
        return sequence(form, text(end)) if end else form

    def item(self, form: ir.Node) -> ir.Node:
        """Return an item of an array."""
        return form if self.before_item is EMPTY else sequence(self.before_item, form)

    def enclosed(self, opening: str, closing: str, content: ir.Node, gap: ir.Node) -> ir.Node:
        """Return an array or object with ``content``, with gaps inside."""
        return enclosed(opening, closing, content, gap)

    def takes_number(self, written: str) -> bool:
        """Return whether the text of a number in a schema is one of the syntax."""
        del written
        return True

    def plain(self, values: Restricted, budget: Budget) -> ir.Node | None:
        """Return the strings of a set that may be written without quotes; None for none."""
        del values, budget
        return None

    def _bounded_numbers(self, behind: str) -> dict[str, ir.Node]:
        """Return the rules of integers of 64 bits, and of numbers: those with ``behind``."""
        high, low = self.calls["int64_high"], self.calls["int64_low"]
        whole = alternation([_regex(SHORT_WHOLE), high, low])
        integer = whole
        if self.whole_fraction:
            integer = sequence(self.calls["whole"], _regex(self.whole_fraction))
        # ``integer`` may end in a whole fraction already, which another one would follow.
        first = self.calls["whole" if self.whole_fraction else "integer"]
        number = sequence(first, _regex(behind))
        return {"whole": whole, "integer": integer, "number": number}

    def rule(self, name: str) -> ir.Node:
        """Return a rule as somebody reads it."""
        if name not in self._rules:
            self._rules[name] = _regex(self._patterns[name])
        return self._rules[name]

    def _any(self, name: str) -> ir.Node:
        return listed(self.calls[name], self.comma, 0, None)

    def needed(self, name: str) -> tuple[str, ...]:
        """Return a rule and those that it needs, in the order of their first calls."""
        if name not in self._needed:
            names: dict[str, None] = {}
            pending = [name]
            while pending:
                here = pending.pop()
                if here not in names:
                    names[here] = None
                    called = [call_inside.nonterminal for call_inside in ir.calls(self.rule(here))]
                    pending.extend(
                        call_inside.removeprefix(self._prefix) for call_inside in reversed(called)
                    )
            self._needed[name] = tuple(names)
        return self._needed[name]

    def body(self, name: str) -> ir.Node:
        """Return the meaning of a rule: its automaton, unless it contains values."""
        if name not in self._bodies:
            for needed in reversed(self.needed(name)):
                if needed not in self._bodies:
                    self._bodies[needed] = self._meaning(needed)
        return self._bodies[name]

    def _meaning(self, name: str) -> ir.Node:
        body = self.rule(name)
        if "value" in self.needed(name) or isinstance(body, ir.Regular):
            return body
        # A whitespace pattern of the user may need more states than a rule is worth: it stays a
        # rule.
        try:
            return ir.Regular(automaton_of(body, self._callee, _STATES), NOWHERE)
        except LimitError:
            return body

    def _callee(self, name: str) -> Dfa:
        body = self.body(name.removeprefix(self._prefix))
        if isinstance(body, ir.Regular):
            return body.dfa
        raise LimitError("states", _STATES)


json_rules = lru_cache(maxsize=16)(Shared)
"""A process keeps those of 16 options; made anew for each schema, first masks take 1.3 times as
long."""


# Block YAML

STEP = 2
"""Columns of a level."""

MOST_COLUMNS = 64
"""The greatest column."""

LONGEST = 512
"""Characters of the longest plain string where a schema bounds its length."""

LINE, COLON, DASH, GAP = (
    ir.Call(f"<{name}>", NOWHERE) for name in ("line", "colon", "dash", "gap")
)
MARKS: Mapping[str, Node] = {
    LINE.nonterminal: text(" "),
    COLON.nonterminal: EMPTY,
    DASH.nonterminal: text("-"),
    GAP.nonterminal: EMPTY,
}

END, KEY_END = "\n", ":"
"""The texts that end a scalar, and a key."""

_SPECIAL: CodePoints = ((0x7F, 0x9F), (0x2028, 0x2029), (0xFEFF, 0xFEFF), (0xFFFE, 0xFFFF))
"""Characters that JSON has as themselves, and that YAML breaks lines at or does not print."""


def _solid(others: str) -> str:
    """Return the regular expression of a character: no blank or control, and not of ``others``."""
    left_out = union(((0, 0x20), *_SPECIAL), from_text(others))
    return print_characters(difference(ANY, left_out))


_INDICATORS = ",[]{}#&*!|>'\"%@`-?:"
_AFTER = rf"(?:{_solid(':')}|:+{_solid(':')})"
"""One character in a word, or colons and the character after them."""
_WORD = rf"(?:{_solid('#:')}|:+{_solid(':')}){_AFTER}*"
_PLAIN = rf"{_solid(f'{_INDICATORS}0123456789+.~=<')}{_AFTER}*(?: +{_WORD})*"
"""Plain scalars of one line that begin with a letter, or a sign without a meaning there."""

_WORDS = "[yYnN]|[yY]es|YES|[nN]o|NO|[tT]rue|TRUE|[fF]alse|FALSE|[oO]n|ON|[oO]ff|OFF|[nN]ull|NULL"
"""Those that YAML 1.1 or 1.2 reads as something else than a string."""

_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+(?:[eE][-+][0-9]+)?)?")
_ESCAPES = {code: f"\\u{code:04x}" for a, b in _SPECIAL for code in range(a, b + 1)}


@cache
def safe_strings() -> Dfa:
    """Return the strings that may be plain."""
    plain, words = compiled_pattern(_PLAIN).dfa, compiled_pattern(_WORDS).dfa
    assert plain is not None  # noqa: S101 - of a constant
    assert words is not None  # noqa: S101 - of a constant
    return operations.difference(plain, words)


def is_safe(value: str) -> bool:
    """Return whether a string may be written without quotes."""
    return safe_strings().accepts(value.encode("utf-8", "surrogatepass"))


@dataclass(slots=True, eq=False, repr=False)
class Block(Notation):
    """The inside of a collection, whose text is ``empty`` where that is the empty word."""

    empty: str


@dataclass(frozen=True)
class _BlockSpelling(Spelling):
    """The spelling of strings in double quotes; listed ones are plain where that is safe."""

    def listed(self, value: str) -> str | None:
        return value if is_safe(value) else self.text(value)

    def key(self, value: str) -> str:
        written = value if is_safe(value) else spell_text(value).translate(_ESCAPES)
        return f"{written}{KEY_END}"


class BlockShared(Shared):
    """The shared rules of block YAML; those with marks are laid out with the others."""

    before_scalar, before_item, ends = GAP, DASH, (END, KEY_END)

    def __init__(self, options: Options, prefix: str, has_whole_fractions: bool) -> None:
        super().__init__(options, prefix, has_whole_fractions)
        self.gap, self.comma, self.colon = EMPTY, LINE, COLON
        quoted, calls = self.rule("string"), self.calls
        scalars = (calls["number"], calls["boolean"], text("null"))
        strings = {
            name: alternation([self._plain(end), sequence(quoted, text(end))])
            for name, end in (("string", END), ("other_name", KEY_END))
        }
        self._rules |= {
            **strings,
            "value": alternation(
                [
                    calls["object"],
                    calls["array"],
                    self.string(calls["string"]),
                    *map(self.scalar, scalars),
                ]
            ),
            "object": _block("{}", listed(calls["member"], LINE, 0, None)),
            "array": _block("[]", listed(self.item(calls["value"]), LINE, 0, None)),
            "member": sequence(calls["other_name"], COLON, calls["value"]),
            **MARKS,
        }

    def _plain(self, end: str) -> Node:
        plain = operations.concatenate(safe_strings(), operations.literal(end.encode()))
        return ir.Regular(plain, NOWHERE, Texts("plain"))

    def _spelling(self, options: Options) -> Spelling:
        del options
        return _BlockSpelling(LETTERS, also=_SPECIAL)

    def _behind(self, fraction: str, exponent: str) -> str:
        signed = exponent.replace("[+-]?", "[+-]").replace(r"\+?", r"\+")
        return rf"(?:\.{fraction}(?:{signed})?)?"

    def enclosed(self, opening: str, closing: str, content: Node, gap: Node) -> Node:
        """Return the inside of a collection, marked as one."""
        del gap
        return _block(opening + closing, content)

    def takes_number(self, written: str) -> bool:
        """Return whether the text of a number is one in YAML, too."""
        return _NUMBER.fullmatch(written) is not None

    def plain(self, values: Restricted, budget: Budget) -> Node | None:
        """Return the strings of a set that may be plain; None where there are none, or too many.

        Where the set has a bound on lengths they have at most ``LONGEST`` characters.
        """
        lengths = [atom for atom, wanted in values.literals if wanted and isinstance(atom, Length)]
        others = tuple(literal for literal in values.literals if literal[0] not in lengths)
        strings = safe_strings()
        try:
            if others:
                strings = operations.intersect(Restricted(values.kind, others).dfa(budget), strings)
            for literal in lengths:
                if literal.low > LONGEST:
                    return None
                few = Length(
                    literal.low, None if literal.high is None else min(literal.high, LONGEST)
                )
                strings = operations.intersect(strings, few.dfa(), budget=budget)
        except LimitError:
            return None
        return None if strings.is_empty else ir.Regular(strings, NOWHERE, Texts("plain"))


def _block(empty: str, content: Node) -> Node:
    return ir.Sequence((content,), NOWHERE, Block(empty))


block_rules = lru_cache(maxsize=16)(BlockShared)
"""A process keeps those of 16 options, as it does of JSON."""


class Prelude:
    """The shared rules that are in use, by name; asking for one adds what it needs."""

    def __init__(
        self,
        options: Options,
        prefix: str,
        *,
        has_whole_fractions: bool = False,
        rules_of: Callable[[Options, str, bool], Shared] = json_rules,
    ) -> None:
        self._shared = rules_of(options, prefix, has_whole_fractions)
        self.whole_fraction = self._shared.whole_fraction
        self.has_bounded_digits = self._shared.are_bounded
        # Whether the characters of any string are spelt as those of a pattern.
        self.is_canonical = self._shared.is_canonical
        self.has_exact_decimals = options.standard is Standard.LLGUIDANCE
        self.spelling = self._shared.spelling
        self.rules: dict[str, ir.Node] = {}

    def use(self, name: str) -> ir.Call:
        """Return a call of a shared rule."""
        if name not in self.rules:
            shared = self._shared
            for needed in shared.needed(name):
                self.rules.setdefault(needed, shared.rule(needed))
        return self._shared.calls[name]

    def automaton(self, name: str) -> Dfa:
        """Return the automaton of a shared rule that has one."""
        body = self._shared.body(name)
        assert isinstance(body, ir.Regular)  # noqa: S101 - none contains values
        return body.dfa

    def bodies(self) -> dict[str, ir.Node]:
        """Return the meanings of the rules in use, by name without a prefix, in one order."""
        return {name: self._shared.body(name) for name in ORDER if name in self.rules}

    @property
    def gap(self) -> ir.Node:
        """The whitespace between two tokens."""
        return self._used("ws", self._shared.gap)

    @property
    def comma(self) -> ir.Node:
        """A comma and its gaps."""
        return self._used("comma", self._shared.comma)

    @property
    def colon(self) -> ir.Node:
        """A colon and its gaps."""
        return self._used("colon", self._shared.colon)

    def _used(self, name: str, form: ir.Node) -> ir.Node:
        """Return what stands for a rule: its call, or, where there are no gaps, a form."""
        return self.use(name) if form is self._shared.calls[name] else form

    def enclosed(self, opening: str, closing: str, content: ir.Node) -> ir.Node:
        """Return an array or object with ``content``."""
        return self._shared.enclosed(opening, closing, content, self.gap)

    def value(self, name: str) -> ir.Node:
        """Return a call of the shared rule of a type where a value is."""
        form = self.use(name)
        if name in ("value", "object", "array"):
            return form
        return self.string(form) if name == "string" else self.scalar(form)

    def string(self, form: ir.Node) -> ir.Node:
        """Return a string, with its end, where a value is."""
        return self._shared.string(form)

    def ended(self, form: ir.Node, *, is_key: bool) -> ir.Node:
        """Return a scalar with the text that must be after it."""
        return self._shared.ended(form, is_key=is_key)

    def any_string(self, *, is_key: bool) -> ir.Node:
        """Return any string, with its end."""
        return self.use("other_name" if self._shared.ends[is_key] and is_key else "string")

    def scalar(self, form: ir.Node) -> ir.Node:
        """Return a scalar where a value is."""
        return self._shared.scalar(form)

    def item(self, form: ir.Node) -> ir.Node:
        """Return an item of an array."""
        return self._shared.item(form)

    def takes_number(self, written: str) -> bool:
        """Return whether the text of a number in a schema is one of the syntax."""
        return self._shared.takes_number(written)

    def plain(self, values: Restricted, budget: Budget) -> ir.Node | None:
        """Return the strings of a set that may be written without quotes; None for none."""
        return self._shared.plain(values, budget)


@dataclass(slots=True, eq=False, repr=False)
class Property(Notation):
    """A named member of an object, a sequence whose last operand is the value.

    ``schema`` is that of the value, or the schema of the object that has it in ``properties``;
    ``column`` is that of its line, in a syntax with columns.
    """

    name: str
    schema: Expression | Subschema
    column: int = 0


@dataclass(slots=True, eq=False, repr=False)
class Value(Notation):
    """A value that is written where it is in another one, and its schema."""

    schema: Ref


class SchemaRules(dict[str, Node]):
    """The rules of the schemas of one document; all names begin with ``prefix`` and ``own``.

    ``owner`` is the schema that rules are added for, ``copies`` are the rules that each was made
    from, in a syntax with columns.
    """

    def __init__(self, schemas: Schemas, prefix: str, start: str, own: str) -> None:
        super().__init__()
        self.schemas = schemas
        self.budget = schemas.budget
        self.owners: dict[str, Expression] = {}
        self.copies: dict[str, str] = {}
        self.owner: Expression = ANYTHING
        self.current: Expression = ANYTHING
        self.inner: Ref | None = None
        self._most = schemas.limits.rules
        self._names = HintedNames(prefix, NAMES | {start}, own)

    def fresh(self, hint: str) -> str:
        """Return a name like ``hint`` that no rule has."""
        return self._names.fresh(hint)

    def add(self, name: str, node: Node) -> None:
        """Add or replace a rule. Raises ProblemError beyond the limit of rules."""
        self[name] = node
        self.owners[name] = self.owner
        if len(self) > self._most:
            raise too_large("rules", self._most, "rules", self.pointer())

    def write(self, expression: Expression) -> None:
        """Go on with the rule of another schema."""
        self.current = self.owner = expression
        self.inner = expression if isinstance(expression, Ref) else None

    def pointer(self, keyword: str = "") -> str:
        """Return the JSON Pointer of the schema being written, or of a keyword of it."""
        return self._pointer_in(self.current, keyword)

    def inner_pointer(self, keyword: str = "") -> str:
        """Return the JSON Pointer of the value being written, or of a keyword of its schema."""
        if self.inner is None:
            return self.pointer(keyword)
        subschema = self.schemas.document.subschema(self.inner)
        return subschema.pointer + (
            f"/{keyword}" if keyword and keyword in subschema.contents else ""
        )

    def note(self, problem: Problem) -> None:
        """Note a problem of a keyword, its pointer, of the value being written."""
        placed = problem._replace(pointer=self.inner_pointer(problem.pointer))
        self.schemas.notes.append(placed)

    def pointers_of(self, names: Iterable[str], rules: Mapping[str, Node]) -> dict[str, str]:
        """Return the JSON Pointers of rules: of the schema of each, or of the first that calls it.

        ``rules`` are the meanings of all.
        """
        callers: dict[str, str] = {}
        for rule, body in rules.items():
            for call_inside in calls(body):
                callers.setdefault(call_inside.nonterminal, rule)
        pointers: dict[str, str] = {}
        for name in names:
            at, way = name, {name: None}
            # Rules that are called by one another alone lead in a circle, to no owner.
            while at not in self.owners and at not in pointers and callers.get(at, at) not in way:
                at = callers[at]
                way[at] = None
            pointer = (
                pointers[at] if at in pointers else self._pointer_in(self.owners.get(at, ANYTHING))
            )
            pointers.update(dict.fromkeys(way, pointer))
        return pointers

    def _pointer_in(self, expression: Expression, keyword: str = "") -> str:
        inner = [expression, *getattr(expression, "operands", ())]
        subschemas = [self.schemas.document.subschema(e) for e in inner if isinstance(e, Ref)]
        for subschema in subschemas:
            if keyword and keyword in subschema.contents:
                return f"{subschema.pointer}/{keyword}"
        return subschemas[0].pointer if subschemas else ""


# The layout by column


class _Copy(NamedTuple):
    """A rule in a column and at the place of a value: after one of ``COLON``, ``DASH`` or none.

    None where the rule does not depend on it.
    """

    rule: str
    column: int | None
    mark: str | None


_At = tuple[Node, int, str]
"""An expression, the column of the lines around it, and the mark before it, if it is a value."""

_START = ""
NOTHING: Node = ir.Choice((), NOWHERE)
_SEPARATORS = (COLON.nonterminal, DASH.nonterminal)


class _Layout:
    """Makes the copies of rules that a document needs.

    ``is_cut`` says whether some collection has no text, as it is too deep.
    """

    def __init__(
        self, rules: Mapping[str, Node], shared: Container[str], fresh: Callable[[str], str]
    ) -> None:
        self._rules = {**rules, **MARKS}
        self._shared = shared
        self._fresh = fresh
        self._names: dict[_Copy, str] = {}
        self._queue: list[_Copy] = []
        self._taken: set[str] = set()
        # The content of a collection may be empty, which is printed apart (``{}``), so rules in it
        # have copies without the empty word: their names by rule, and the rules by these names.
        self._filled: dict[str, str] = {}
        self._whole: dict[str, str] = {}
        self._contents: dict[int, Node | None] = {}
        self._nullables: dict[int, dict[int, bool]] = {}
        self.is_cut = False
        callers: dict[str, set[str]] = {}
        for name, body in self._rules.items():
            for called in ir.calls(body):
                callers.setdefault(called.nonterminal, set()).add(name)
        # Those that call a mark or have a collection, themselves or by others.
        blocks = {name for name, body in self._rules.items() if _has_block(body)}
        self._with_columns = reachable({LINE.nonterminal, *blocks}, callers)
        self._with_marks = reachable({GAP.nonterminal, *blocks}, callers)

    def is_marked(self, name: str) -> bool:
        """Return whether a rule has marks, or is one."""
        return name in MARKS or name in self._with_columns or name in self._with_marks

    @cached_property
    def _nullable(self) -> set[str]:
        return nullable_names(self._rules)

    def copies(self, start: str) -> Iterator[tuple[str, str, Node]]:
        """Yield the name of each rule that ``start`` needs, what it is a copy of, and its body."""
        self._name(start, 0, _START)
        for copy in self._queue:
            whole = self._whole.get(copy.rule)
            root = self._rules[copy.rule] if whole is None else self._some(self._rules[whole])
            at = (root or NOTHING, copy.column or 0, copy.mark or _START)
            body = traversal.fold(at, self._inside, self._laid_out)
            yield self._names[copy], whole or copy.rule, body

    def _name(self, rule: str, column: int, mark: str) -> str:
        whole = self._whole.get(rule, rule)
        has_column, has_mark = whole in self._with_columns, whole in self._with_marks
        if not (has_column or has_mark) and rule in self._shared:
            return rule
        copy = _Copy(rule, column if has_column else None, mark if has_mark else None)
        name = self._names.get(copy)
        if name is None:
            name = self._fresh(rule) if rule in self._taken else rule
            self._taken.add(rule)
            self._names[copy] = name
            self._queue.append(copy)
        return name

    def _inside(self, at: _At) -> Sequence[_At]:
        """Return the operands of an expression, with the column and the mark before each."""
        node, column, mark = at
        if not isinstance(node, ir.Sequence):
            return [(operand, column, mark) for operand in ir.children(node)]
        if isinstance(node.notation, Block):
            content, inner = self._filled_content(node.operands[0]), _inner(column, mark)
            return [] if content is None or inner > MOST_COLUMNS else [(content, inner, _START)]
        inside: list[_At] = []
        for operand in node.operands:
            inside.append((operand, column, mark))
            mark = _START
            if isinstance(operand, ir.Call) and operand.nonterminal in _SEPARATORS:
                mark = operand.nonterminal
        return inside

    def _laid_out(self, at: _At, operands: list[Node]) -> Node:
        node, column, mark = at
        match node:
            case ir.Sequence(notation=Block(empty)):
                return self._collection(node.operands[0], empty, at, operands)
            case ir.Sequence(notation=Property() as member):
                member = replace(member, column=column)
                return replace(node, operands=tuple(operands), notation=member)
            case ir.Sequence(notation=None):
                return sequence(*operands)
            case ir.Call(name) if name == LINE.nonterminal:
                return text(" " * column)
            case ir.Call(name) if name == GAP.nonterminal:
                return text(" ") if mark else EMPTY
            case ir.Call(name) if name in MARKS:
                return MARKS[name]
            case ir.Call(name):
                return call(self._name(name, column, mark))
            case _:
                return ir.rebuild(node, operands)

    def _collection(self, content: Node, empty: str, at: _At, operands: list[Node]) -> Node:
        """Return a collection: its empty text, or what opens it and its content."""
        _, column, mark = at
        forms: list[Node] = []
        if self._is_nullable(content):
            forms.append(text(f" {empty}{END}" if mark else f"{empty}{END}"))
        if operands:
            in_a_line = "\n" + " " * _inner(column, mark)
            opening = {_START: "", DASH.nonterminal: " "}.get(mark, in_a_line)
            forms.append(sequence(text(opening), *operands))
        self.is_cut |= not forms and _inner(column, mark) > MOST_COLUMNS
        return alternation(forms) if forms else NOTHING

    def _is_nullable(self, node: Node) -> bool:
        return self._where_nullable(node)[id(node)]

    def _filled_content(self, content: Node) -> Node | None:
        """Return the content of a collection that is not empty, made once for all columns."""
        if id(content) not in self._contents:
            self._contents[id(content)] = self._some(content)
        return self._contents[id(content)]

    def _where_nullable(self, root: Node) -> dict[int, bool]:
        """Return by identity which nodes of an expression have the empty word, for all columns."""
        nullable = self._nullables.get(id(root))
        if nullable is None:
            nullable = self._nullables[id(root)] = nullable_nodes(root, self._nullable)
        return nullable

    def _some(self, root: Node) -> Node | None:
        """Return an expression without the empty word; None for no other."""
        return without_empty(root, self._where_nullable(root), self._filled_rule)

    def _filled_rule(self, name: str) -> str:
        """Return the name of the rule of the texts of another one but the empty one."""
        filled = self._filled.get(name)
        if filled is None:
            filled = self._filled[name] = self._fresh(name)
            self._whole[filled] = name
        return filled


def _inner(column: int, mark: str) -> int:
    """Return the column of the content of a collection."""
    return column + STEP if mark else column


def _has_block(body: Node) -> bool:
    return any(
        isinstance(node, ir.Sequence) and isinstance(node.notation, Block)
        for node in ir.postorder(body)
    )


def lay_out(start: str, rules: SchemaRules, prelude: Prelude) -> None:
    """Replace the rules that ``start`` needs by their copies; shared ones stay without marks.

    Raises ProblemError beyond the limit of rules.
    """
    shared = prelude.rules
    layout, owners = _Layout({**rules, **shared}, shared, rules.fresh), dict(rules.owners)
    rules.clear()
    for name, rule, body in layout.copies(start):
        rules.budget.spend(STEPS)
        rules.copies[name] = rule
        rules.owner = owners.get(rule, ANYTHING)
        rules.add(name, body)
    prelude.rules = {name: body for name, body in shared.items() if not layout.is_marked(name)}
    # Only a value that is cut everywhere has no text, and the question takes a pass over all rules.
    if layout.is_cut:
        facts = analyse(ir.GrammarRules(start, {**rules, **prelude.rules})).facts
        if not facts[start].productive:
            raise unsupported(f"a value of this has more than {MOST_COLUMNS // STEP} levels", "")
