r"""The keywords of one type each, and which members and items keywords evaluate.

A function reads what keywords say of numbers, strings, arrays or objects in a schema of the
document. Their values are validated here where ``keywords.review`` has not: a reference may lead to
values that no keyword has as a schema, and drafts know nothing of keywords that came later.

*Evaluated.* ``unevaluatedProperties`` and ``unevaluatedItems`` are read by cases, since what a
schema evaluates depends on which of its alternatives apply. Each case is a condition and the
properties or items evaluated where it applies; the cases of a schema cover its values. Where more
applies, more is evaluated and so more is allowed; that is why alternatives need not exclude each
other: the union over all sets of alternatives that are compatible is exact.

A schema that a caller closes (``expressions.Closing``) is read by the same cases: it allows no
members but those that are evaluated.

*Formats.* ``formats.kbnf`` is the source: rules of the texts of each format, before they are
spelled as JSON strings. People read these rules (``readable``). ``formats.json`` has their regular
expressions, matched as a whole, which ``kbnf_testing.shipped_patterns`` writes: no process makes
them again.

Those of ``Formats.RFC`` follow the RFCs that JSON Schema names, as far as they are regular: a
hostname's length is not counted, and so on. A leap second is known by offsets of whole and of half
hours only. Those of ``Formats.PLAIN`` are parts of them which programs read: Python's ``datetime``
has no year 0 and no leap second, Go's ``time.RFC3339`` no small ``t`` and ``z``; the ``url`` crate
of Rust, by which pydantic reads addresses, has ports to 65535 and no ``%`` in a host; pydantic's
e-mail addresses have no quoted part, and a dot in their domain. Numbers in them have few digits.
They know formats that pydantic writes beside those of JSON Schema. LLGuidance has days and seconds
of its own. The empty pattern allows everything.

For a bound on the length that cannot be counted exactly there are bounded forms of them: each is a
subset of its format, and of the strings that are short enough.

*The format* ``regex``. ECMA-262's expressions are not a regular language, since groups nest.
Allowed is the syntax that Python, JavaScript, Go and Rust read alike: literals, escapes of
punctuation and of the usual classes, brackets with ranges of letters and digits, groups ``DEPTH``
deep, alternatives, anchors, and counts of up to three digits that do not run backwards.
Look-around, references back and named groups are left out.

Tests: tests/unit/languages/json_schema/test_readable.py, test_shipped_patterns.py
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from functools import cache, reduce
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from kbnf_core.automata.decimals import (
    EQUAL,
    GREATER,
    LESS,
    MOST_DIGITS,
    MOST_REMAINDERS,
    multiples,
)
from kbnf_core.automata.lengths import Length, without_count
from kbnf_core.automata.regex.compile import compile_within
from kbnf_core.automata.regex.ecma import ANY_TEXT, conditions
from kbnf_core.kbnf import tree
from kbnf_core.languages.json_schema import Formats, SchemaLimits, Standard
from kbnf_core.languages.json_schema.algebra import (
    ANYTHING,
    KEYS,
    NOTHING,
    AllOf,
    Contains,
    Expression,
    Objects,
    Others,
    OthersBehind,
    Ref,
    Region,
    WithoutProperty,
    both,
    either,
    other,
    split_regions,
)
from kbnf_core.languages.json_schema.document import SchemaDocument, Subschema
from kbnf_core.languages.json_schema.keywords import (
    UNKNOWN_FORMAT,
    Problem,
    invalid,
    narrowed,
    too_large,
    unsupported,
    without_effect,
)
from kbnf_core.languages.json_schema.value_sets import (
    STEPS,
    Compared,
    Literal,
    Matching,
    Multiple,
    Restricted,
)
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError
from kbnf_core.text.json_text import Json, pointer_below
from kbnf_core.text.source import Source


def pointer_to(subschema: Subschema, *steps: str) -> str:
    """Return the JSON Pointer of something in a schema."""
    return pointer_below(subschema.pointer, *steps)


def _count(subschema: Subschema, keyword: str, most: int, name: str) -> int | None:
    """Return a count that is not negative, None where the keyword is missing.

    ``name`` is the limit that it must not pass.
    """
    if keyword not in subschema.contents:
        return None
    value = _number(subschema.contents[keyword])
    if value is None or value < 0 or value != value.to_integral_value():
        raise invalid(f"`{keyword}` is a whole number, 0 or more", pointer_to(subschema, keyword))
    if value > most:
        raise too_large(f"as `{keyword}`", most, name, pointer_to(subschema, keyword))
    return int(value)


def take_number(subschema: Subschema, keyword: str) -> Decimal | None:
    """Return a number; None where the keyword is missing."""
    if keyword not in subschema.contents:
        return None
    value = _number(subschema.contents[keyword])
    if value is None:
        raise invalid(f"`{keyword}` is a number", pointer_to(subschema, keyword))
    return value


def _number(value: Json) -> Decimal | None:
    """Return a number of the document, or of a meta-schema, which has Python's own."""
    if isinstance(value, bool) or not isinstance(value, Decimal | int | float):
        return None
    # By its text: as a binary number 0.1 has 55 digits.
    return Decimal(str(value))


def take_object(subschema: Subschema, keyword: str) -> dict[str, Json]:
    """Return an object; an empty one where the keyword is missing."""
    value = subschema.contents.get(keyword, {})
    if not isinstance(value, dict):
        raise invalid(f"`{keyword}` is an object", pointer_to(subschema, keyword))
    return value


def take_list(subschema: Subschema, keyword: str) -> list[Json]:
    """Return an array that is not empty."""
    value = subschema.contents[keyword]
    if not isinstance(value, list):
        raise invalid(f"`{keyword}` is an array", pointer_to(subschema, keyword))
    return value


def take_names(value: Json, pointer: str) -> tuple[str, ...]:
    """Return an array of strings, each once."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise invalid("an array of strings belongs here", pointer)
    return tuple(dict.fromkeys(value))


def take_flag(subschema: Subschema, keyword: str) -> bool:
    """Return true or false; false where the keyword is missing."""
    value = subschema.contents.get(keyword, False)
    if not isinstance(value, bool):
        raise invalid(f"`{keyword}` is true or false", pointer_to(subschema, keyword))
    return value


_BOUNDS = (
    ("minimum", "exclusiveMinimum", GREATER),
    ("maximum", "exclusiveMaximum", LESS),
)


def read_bounds(subschema: Subschema) -> Iterator[Literal]:
    """Yield the restrictions of the bounds; draft 4 has flags that make them exclusive."""
    for inclusive, exclusive, side in _BOUNDS:
        flag = subschema.contents.get(exclusive)
        strict = isinstance(flag, bool)
        bound = take_number(subschema, inclusive)
        if bound is not None:
            _check_digits(bound, pointer_to(subschema, inclusive))
            yield Compared(bound, side if strict and flag else side | EQUAL), True
        bound = None if strict else take_number(subschema, exclusive)
        if bound is not None:
            _check_digits(bound, pointer_to(subschema, exclusive))
            yield Compared(bound, side), True


def _check_digits(bound: Decimal, pointer: str) -> None:
    exponent = bound.as_tuple().exponent
    size = bound.adjusted() if bound else 0
    # A comparison has a state for each digit, and the bound 1e400 has 401.
    if isinstance(exponent, int) and max(size, 0) - min(exponent, 0) >= MOST_DIGITS:
        raise unsupported(f"a bound of more than {MOST_DIGITS} digits", pointer)


def read_multiple(subschema: Subschema) -> Iterator[Literal]:
    """Yield the restriction of ``multipleOf``."""
    divisor = take_number(subschema, "multipleOf")
    pointer = pointer_to(subschema, "multipleOf")
    if divisor is None:
        return
    if divisor <= 0:
        raise invalid("`multipleOf` is greater than 0", pointer)
    # Made here, where an error has a pointer; it is memoised, so that writing finds it.
    try:
        multiples(divisor)
    except LimitError:
        message = f"more than {MOST_REMAINDERS:,} remainders to tell apart"
        raise unsupported(message, pointer) from None
    yield Multiple(divisor), True


def read_length(subschema: Subschema, limits: SchemaLimits) -> Iterator[Literal]:
    """Yield the restriction of ``minLength`` and ``maxLength``."""
    low = _count(subschema, "minLength", limits.length, "length") or 0
    high = _count(subschema, "maxLength", limits.length, "length")
    if low or high is not None:
        yield Length(low, high), True


def read_format(
    subschema: Subschema, formats: Mapping[str, str], notes: list[Problem]
) -> Iterator[Literal]:
    """Yield the restriction of ``format``.

    By the specification a format that it does not define does not restrict values; since that is
    seldom meant, it is added to ``notes``.
    """
    if "format" not in subschema.contents:
        return
    name = subschema.contents["format"]
    pointer = pointer_to(subschema, "format")
    if not isinstance(name, str):
        raise invalid("`format` is a string", pointer)
    if name in HALF_ENFORCED:
        notes.append(without_effect(HALF_ENFORCED[name], pointer))
    if name in LEFT_OUT_OF and formats.get(name):
        notes.append(narrowed(LEFT_OUT_OF[name], pointer))
    if name not in formats:
        hint = "describe the format with `pattern`"
        notes.append(Problem(UNKNOWN_FORMAT, f"the format `{name}` is not known", pointer, hint))
    elif formats[name]:
        yield Matching(formats[name]), True


def read_pattern(subschema: Subschema, budget: Budget) -> Iterator[Literal]:
    """Yield the restriction of ``pattern``."""
    if "pattern" in subschema.contents:
        pointer = pointer_to(subschema, "pattern")
        yield from matching(subschema.contents["pattern"], pointer, budget)


def matching(pattern: object, pointer: str, budget: Budget) -> Iterator[Literal]:
    """Yield the strings in which a pattern, in the sense of JSON Schema, matches somewhere."""
    if not isinstance(pattern, str):
        raise invalid("a pattern is a string", pointer)
    for whole, wanted in conditions(pattern):
        length = None
        # A count stays in a pattern that may not match: the complement of both is a disjunction.
        if wanted:
            whole, length = without_count(whole)  # noqa: PLW2901 - the rest of it
        problems = compile_within(budget, whole).problems
        if problems:
            raise unsupported(f"in the pattern `{pattern}`: {problems[0].message}", pointer)
        if whole != ANY_TEXT:
            yield Matching(whole), wanted
        if length is not None:
            yield length, True


def read_items(
    subschema: Subschema, document: SchemaDocument
) -> tuple[tuple[Expression, ...], Expression]:
    """Return what ``prefixItems``, ``items`` and ``additionalItems`` allow: first items, others.

    Before draft 2020-12 an array in ``items`` was what ``prefixItems`` is, and
    ``additionalItems`` what ``items`` is.
    """
    contents = subschema.contents
    listed = "items" if isinstance(contents.get("items"), list) else "prefixItems"
    if listed == "items" and "prefixItems" in contents and document.dialect == "draft2020-12":
        message = "`items` is a list of schemas, as `prefixItems` beside it is"
        raise invalid(message, pointer_to(subschema, "items"))
    rest = "additionalItems" if listed == "items" else "items"
    prefix: tuple[Expression, ...] = ()
    if listed in contents:
        count = len(take_list(subschema, listed))
        prefix = tuple(document.inside(subschema, listed, str(i)) for i in range(count))
    return prefix, document.inside(subschema, rest) if rest in contents else ANYTHING


def read_counts(
    subschema: Subschema, low: str, high: str, limits: SchemaLimits
) -> tuple[int | None, int | None]:
    """Return the least and the largest number of items or members; None for no bound."""
    least, most = (_count(subschema, keyword, limits.bound, "bound") for keyword in (low, high))
    return least, most


def read_contains(
    subschema: Subschema, document: SchemaDocument, limits: SchemaLimits
) -> tuple[Contains, ...]:
    """Return what ``contains``, ``minContains`` and ``maxContains`` ask for."""
    if "contains" not in subschema.contents:
        return ()
    low, high = read_counts(subschema, "minContains", "maxContains", limits)
    item = document.inside(subschema, "contains")
    return (Contains(item, 1 if low is None else low, high),)


def read_members(
    subschema: Subschema,
    document: SchemaDocument,
    rest: Expression,
    limits: SchemaLimits,
    budget: Budget,
) -> Objects:
    """Return what ``properties`` and ``patternProperties`` allow; all other members as ``rest``."""
    properties = take_object(subschema, "properties")
    if len(properties) > limits.bound:
        raise too_large("properties", limits.bound, "bound", pointer_to(subschema, "properties"))
    named = {name: document.inside(subschema, "properties", name) for name in properties}
    patterns = _read_patterns(subschema, document, budget)
    budget.spend(STEPS * len(named) * (1 + len(patterns)))
    for name, value in named.items():
        matching = [member for keys, member in patterns if keys.holds(name)]
        if matching:
            named[name] = both([value, *matching])
    pointer = pointer_to(subschema, "patternProperties")
    return Objects(tuple(named.items()), split_regions(patterns, rest, limits, pointer, budget))


def read_others(
    names: tuple[str, ...],
    patterns: tuple[str, ...],
    rest: Expression,
    limits: SchemaLimits,
    budget: Budget,
) -> Objects:
    """Return the objects of which all members contain ``rest`` but those with some names."""
    kept: list[Region] = [
        (Restricted(KEYS.kind, tuple(matching(pattern, "", budget))), ANYTHING)
        for pattern in patterns
    ]
    named = tuple((name, ANYTHING) for name in names)
    return Objects(named, split_regions(kept, rest, limits, "", budget))


def _read_patterns(subschema: Subschema, document: SchemaDocument, budget: Budget) -> list[Region]:
    patterns = []
    for pattern in take_object(subschema, "patternProperties"):
        pointer = pointer_to(subschema, "patternProperties", pattern)
        keys = Restricted(KEYS.kind, tuple(matching(pattern, pointer, budget)))
        patterns.append((keys, document.inside(subschema, "patternProperties", pattern)))
    return patterns


def read_required(subschema: Subschema) -> tuple[str, ...]:
    """Return the names in ``required``; draft 3's flag in a property says nothing here."""
    value = subschema.contents.get("required", [])
    return () if isinstance(value, bool) else take_names(value, pointer_to(subschema, "required"))


def read_dependencies(subschema: Subschema, document: SchemaDocument, keyword: str) -> Expression:
    """Return ``dependentRequired``, ``dependentSchemas``, or both as ``dependencies``."""
    conditions = []
    for name, value in take_object(subschema, keyword).items():
        if keyword == "dependentRequired" or isinstance(value, list):
            names = take_names(value, pointer_to(subschema, keyword, name))
            needed = both(other(WithoutProperty(needed)) for needed in names)
        elif isinstance(value, str) and keyword == "dependencies":
            needed = other(WithoutProperty(value))
        else:
            needed = document.inside(subschema, keyword, name)
        # The member that asks comes before those that it asks for.
        conditions.append(
            either((both((other(WithoutProperty(name)), needed)), WithoutProperty(name)))
        )
    return both(conditions)


def read_names(names: tuple[Restricted, ...], budget: Budget) -> Objects:
    """Return the objects whose members all have one of ``names``: what ``propertyNames`` allows."""
    regions: list[Region] = []
    rest: tuple[Restricted, ...] = (KEYS,)
    for keys in names:
        shared = [existing.meet(keys, budget) for existing in rest]
        regions += [(shared_names, ANYTHING) for shared_names in shared if shared_names is not None]
        rest = tuple(
            shared_names
            for existing in rest
            for outside in keys.remainder(budget)
            if (shared_names := existing.meet(outside, budget)) is not None
        )
    return Objects(regions=(*regions, *((keys, NOTHING) for keys in rest)))


_DYNAMIC = frozenset({"$dynamicRef", "$recursiveRef"})


class Evaluated(NamedTuple):
    """The evaluated members and items: names, names by pattern, so many items; or all of them.

    ``contained`` are schemas whose values are evaluated wherever they are among the items;
    ``has_properties`` says whether there was the keyword ``properties``.
    """

    names: frozenset[str] = frozenset()
    patterns: frozenset[str] = frozenset()
    items: int = 0
    contained: frozenset[Expression] = frozenset()
    all_members: bool = False
    all_items: bool = False
    has_properties: bool = False

    def join(self, more: "Evaluated") -> "Evaluated":
        """Return what either evaluates."""
        return Evaluated(
            self.names | more.names,
            self.patterns | more.patterns,
            max(self.items, more.items),
            self.contained | more.contained,
            self.all_members or more.all_members,
            self.all_items or more.all_items,
            self.has_properties or more.has_properties,
        )


Case = tuple[Expression, Evaluated]


def read_unevaluated(
    document: SchemaDocument, limits: SchemaLimits, subschema: Subschema, keyword: str
) -> Expression:
    """Return what ``unevaluatedProperties`` or ``unevaluatedItems`` allows beside its siblings."""
    value = document.inside(subschema, keyword)
    if value == ANYTHING:
        return ANYTHING
    pointer = pointer_to(subschema, keyword)
    reader = _EvaluationReader(document, limits, pointer, items=keyword == "unevaluatedItems")
    terms = []
    for condition, evaluated in reader.cases(subschema, (), without=keyword):
        rest: Expression = ANYTHING
        if keyword == "unevaluatedItems" and not evaluated.all_items:
            # A set has another order in each process, and rules are named in the order of
            # expressions.
            rest = OthersBehind(
                evaluated.items, either((value, *sorted(evaluated.contained, key=repr)))
            )
        elif keyword == "unevaluatedProperties" and not evaluated.all_members:
            names, patterns = sorted(evaluated.names), sorted(evaluated.patterns)
            rest = Others(tuple(names), tuple(patterns), value)
        terms.append(both((condition, rest)))
    return either(terms)


def read_closed(document: SchemaDocument, limits: SchemaLimits, subschema: Subschema) -> Expression:
    """Return the values of which no object has members that nothing evaluates.

    Objects stay open in cases without ``properties``, and where something speaks of all members.
    """
    terms = []
    reader = _EvaluationReader(document, limits, subschema.pointer, items=False)
    for condition, evaluated in reader.cases(subschema, ()):
        rest: Expression = ANYTHING
        if evaluated.has_properties and not evaluated.all_members:
            names, patterns = sorted(evaluated.names), sorted(evaluated.patterns)
            rest = Others(tuple(names), tuple(patterns), NOTHING)
        terms.append(both((condition, rest)))
    return either(terms)


class _EvaluationReader:
    """Finds the cases of one keyword, apart from those that the keyword itself evaluates."""

    def __init__(
        self, document: SchemaDocument, limits: SchemaLimits, pointer: str, *, items: bool
    ) -> None:
        self._document = document
        self._limits = limits
        self._pointer = pointer
        self._items = items

    def of(self, expression: Expression, open_: tuple[Expression, ...]) -> list[Case]:
        """Return the cases of a schema; of one that is being looked at, nothing is known."""
        if not isinstance(expression, Ref):
            return [(expression, Evaluated())]
        if expression in open_ or len(open_) > self._limits.applied:
            raise unsupported("what is evaluated depends on itself", self._pointer)
        subschema = self._document.subschema(expression)
        return [
            (condition if condition == expression else both((expression, condition)), evaluated)
            for condition, evaluated in self.cases(subschema, (*open_, expression))
        ]

    def cases(
        self, subschema: Subschema, open_: tuple[Expression, ...], without: str = ""
    ) -> list[Case]:
        """Return the cases of a schema object, conditions beside the schema itself."""
        result: list[Case] = [(ANYTHING, self._own(subschema, without))]
        for branch in self._branches(subschema, open_):
            result = self._merged(
                (both((condition, also)), evaluated.join(more))
                for condition, evaluated in result
                for also, more in branch
            )
        return result

    def _merged(self, cases: Iterable[Case]) -> list[Case]:
        """Join conditions under which the same is evaluated; of more, only the weakest counts."""
        by_evaluated: dict[Evaluated, list[Expression]] = {}
        for condition, evaluated in cases:
            by_evaluated.setdefault(evaluated, []).append(condition)
            most = self._limits.alternatives
            if len(by_evaluated) > most:
                raise too_large("combinations of what is evaluated", most, "alternatives")
        return [(either(conditions), evaluated) for evaluated, conditions in by_evaluated.items()]

    def _own(self, subschema: Subschema, without: str) -> Evaluated:
        contents = subschema.contents
        if without != "unevaluatedProperties" and "unevaluatedProperties" in contents:
            all_members = True
        else:
            all_members = "additionalProperties" in contents
        listed = contents.get("items")
        prefix = listed if isinstance(listed, list) else contents.get("prefixItems", ())
        rest = "additionalItems" if isinstance(listed, list) else "items"
        all_items = rest in contents or (
            without != "unevaluatedItems" and "unevaluatedItems" in contents
        )
        contained: frozenset[Expression] = frozenset()
        if self._items and "contains" in contents and self._document.contains_evaluates:
            contained = frozenset((self._document.inside(subschema, "contains"),))
        return Evaluated(
            frozenset(contents.get("properties", ())),
            frozenset(contents.get("patternProperties", ())),
            len(prefix),
            contained,
            all_members,
            all_items,
            "properties" in contents,
        )

    def _branches(
        self, subschema: Subschema, open_: tuple[Expression, ...]
    ) -> Iterator[list[Case]]:
        """Yield the cases of each applicator."""
        document, contents = self._document, subschema.contents
        if "$ref" in contents:
            yield self.of(document.follow(subschema, "$ref"), open_)
        for keyword in _DYNAMIC & contents.keys():
            yield self.of(document.follow_dynamic(subschema, keyword), open_)
        for number in range(len(contents.get("allOf", ()))):
            yield self.of(document.inside(subschema, "allOf", str(number)), open_)
        for keyword in ("anyOf", "oneOf"):
            if keyword in contents:
                branches = [
                    self.of(document.inside(subschema, keyword, str(number)), open_)
                    for number in range(len(contents[keyword]))
                ]
                # Two alternatives of `oneOf` never apply together.
                yield self._sets(branches, most=1 if keyword == "oneOf" else len(branches))
        if "if" in contents:
            yield list(self._conditional(subschema, open_))
        for keyword in ("dependentSchemas", "dependencies"):
            for name, value in contents.get(keyword, {}).items():
                if isinstance(value, dict):
                    cases = self.of(document.inside(subschema, keyword, name), open_)
                    absent = WithoutProperty(name)
                    yield [
                        (absent, Evaluated()),
                        *((both((other(absent), c)), e) for c, e in cases),
                    ]

    def _sets(self, branches: list[list[Case]], most: int) -> list[Case]:
        """Return the cases in which some of the alternatives apply, one at least."""
        plain = [i for i, cases in enumerate(branches) if all(e == Evaluated() for _, e in cases)]
        telling = [i for i in range(len(branches)) if i not in plain]
        # Alternatives that evaluate nothing need not be told apart from each other.
        result: list[Case] = [(c, e) for i in plain for c, e in branches[i]]
        for count in range(1, min(most, len(telling)) + 1):
            for chosen in combinations(telling, count):
                together = reduce(_product, (branches[i] for i in chosen))
                result = self._merged([*result, *together])
        return result

    def _conditional(self, subschema: Subschema, open_: tuple[Expression, ...]) -> Iterator[Case]:
        document, contents = self._document, subschema.contents
        condition = document.inside(subschema, "if")
        anything: list[Case] = [(AllOf(()), Evaluated())]
        then = (
            self.of(document.inside(subschema, "then"), open_) if "then" in contents else anything
        )
        otherwise = (
            self.of(document.inside(subschema, "else"), open_) if "else" in contents else anything
        )
        yield from _product(self.of(condition, open_), then)
        # A condition that fails evaluates nothing.
        for also, evaluated in otherwise:
            yield both((other(condition), also)), evaluated


def _product(left: list[Case], right: list[Case]) -> list[Case]:
    return [(both((a, b)), one.join(two)) for a, one in left for b, two in right]


SOURCE = Path(__file__).with_name("formats.kbnf")
EXPRESSIONS = SOURCE.with_suffix(".json")

DEPTH = 3
"""How deep groups may nest in the format ``regex``."""

LEFT_OUT = (
    "of `regex`, look-around, references back, named groups, groups nested more than"
    f" {DEPTH} deep and ranges but of letters or digits are left out"
)

PLAIN, RFC, THEIRS = "plain", "rfc", "llguidance"
PREFIXES = {PLAIN: ("",), RFC: ("rfc_", ""), THEIRS: ("llguidance_", "rfc_", "")}
"""By kind of formats: what the names of their rules begin with, the first that there is."""

_OF_ALL = (
    "date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname",
    "ipv4", "ipv6", "uuid", "uri", "uri-reference", "iri", "iri-reference", "uri-template",
    "json-pointer", "relative-json-pointer", "regex", "color", "ip-address", "host-name",
)  # fmt: skip
_OF_PYDANTIC = (
    *(f"uuid{version}" for version in range(1, 9)), "base64", "base64url", "ipvanyaddress",
    "ipv4interface", "ipv6interface", "ipvanyinterface", "ipv4network", "ipv6network",
    "ipvanynetwork",
)  # fmt: skip
NAMES = {PLAIN: (*_OF_ALL, *_OF_PYDANTIC), RFC: _OF_ALL, THEIRS: _OF_ALL}
_OF_DRAFT_3 = {"ip-address": "ipv4", "host-name": "hostname"}
_FREE = {PLAIN: {"unknown": ""}, RFC: {"unknown": ""}, THEIRS: {"unknown": "", "regex": ""}}
"""Formats that allow every text."""

HELPERS = ("address", "rest_of_path")
"""Rules whose expressions others need; see ``plain_address``."""


def rule_of(name: str) -> str:
    """Return the name of the rule of a format."""
    return _OF_DRAFT_3.get(name, name).replace("-", "_")


def rules(kind: str) -> Callable[[str], tree.Expression]:
    """Return a function from the names in the bodies of rules to the rules of a kind of formats."""
    parsed = _parsed()
    return lambda name: next(parsed[rule_] for p in PREFIXES[kind] if (rule_ := p + name) in parsed)


@cache
def _parsed() -> Mapping[str, tree.Expression]:
    # Only texts for people need it.
    from kbnf_core.kbnf.read import parse_kbnf

    document = parse_kbnf(Source(SOURCE.read_text("ascii"))).document
    return {definition.name.value: definition.body for definition in document.definitions}


@cache
def _expressions() -> Mapping[str, Mapping[str, str]]:
    """Return the regular expressions, by kind and rule; the file has those that a kind changes."""
    expressions: dict[str, dict[str, str]] = json.loads(EXPRESSIONS.read_text("ascii"))
    of_rfc = expressions[PLAIN] | expressions[RFC]
    return {PLAIN: expressions[PLAIN], RFC: of_rfc, THEIRS: of_rfc | expressions[THEIRS]}


@cache
def formats_of(standard: Standard, formats: Formats | None = Formats.RFC) -> Mapping[str, str]:
    """Return the formats as the standard has them; those of LLGuidance are never plain."""
    kind = PLAIN if formats is Formats.PLAIN else RFC
    kind = THEIRS if standard is Standard.LLGUIDANCE else kind
    by_name = _expressions()[kind]
    return {name: by_name[rule_of(name)] for name in NAMES[kind]} | _FREE[kind]


class NamedFormat(NamedTuple):
    """A format by its name, and the kind whose rules it has."""

    name: str
    kind: str


def named(regex: str) -> NamedFormat | None:
    """Return the format with a regular expression; None where there is none."""
    return _by_expression().get(regex)


@cache
def _by_expression() -> Mapping[str, NamedFormat]:
    by_expression: dict[str, NamedFormat] = {}
    for kind, names in NAMES.items():
        for name in names:
            by_expression.setdefault(_expressions()[kind][rule_of(name)], NamedFormat(name, kind))
    return by_expression


ATOM_CHARACTERS = r"A-Za-z0-9!#$%&'*+/=?^_`{|}~\-"
"""What the words of the local part of an address are made of."""

_UNRESERVED = r"A-Za-z0-9\-._~"
_DELIMITERS = r"!$&'()*+,;="

BEYOND_ASCII = r"\u{a0}-\u{10ffff}"
"""What IRIs have beside the characters of URIs."""

FRACTION = r"(?:\.[0-9]+)?"
"""The fraction of a second."""

PORT = "[1-5]?[0-9]{1,4}"
"""The number of a port, to 59,999; 65,535 is the last that there is."""


def uri_characters(extra: str) -> tuple[str, str]:
    """Return one character of a path, and the set of those of a host's name."""
    plain = rf"(?:[{_UNRESERVED}{_DELIMITERS}:@{extra}]|%[0-9A-Fa-f]{{2}})"
    return plain, f"{_UNRESERVED}{_DELIMITERS}{extra}"


def plain_address(scheme: str, most: int | None = None) -> str:
    """Return addresses with a host, or of files where the scheme is ``file``."""
    parsed = _expressions()[PLAIN]
    if scheme == "file":
        return f"file:///{parsed['rest_of_path']}"
    if most is not None:
        return _bounded_address(most, scheme)[0]
    return f"{scheme}://{parsed['address']}"


HALF_ENFORCED = {
    "idn-hostname": "of `idn-hostname` the letters are enforced, not IDNA's tables",
    "idn-email": "of `idn-email` the letters are enforced, not IDNA's tables",
}
"""The notes about formats that are beyond a regular language."""

LEFT_OUT_OF = {"regex": LEFT_OUT}
"""Strings left out of such a format, so that none passes that it refuses."""


class Bounded(NamedTuple):
    """A regular expression, and the note about the strings that it leaves out."""

    regex: str
    says: str


def bounded_format(regex: str, length: Length) -> Bounded | None:
    """Return the bounded form of the format with this expression; None where there is none."""
    form = _forms().get(regex)
    if form is None or length.high is None or length.high < _LEAST or length.low > 1:
        return None
    return form(min(length.high, _LONGEST))


_LEAST = 48
"""Characters below which the usual forms leave out too much."""

_LONGEST = 4_096
"""Characters that are counted; the automaton grows with them."""


_MOST_DIGITS = 24
"""Digits of a fraction that are counted."""


def _host(most: int) -> tuple[str, str]:
    """Return names of hosts, and the note about those left out."""
    labels = 4 if most >= 120 else 3 if most >= 60 else 2
    pairs = min(((most - labels + 1) // labels - 1) // 2, 31)
    # A pair is a letter with or without a hyphen before it: at most two characters, so that pairs
    # are counted instead of characters.
    label = rf"[A-Za-z0-9](?:-?[A-Za-z0-9]){{0,{pairs}}}"
    says = f"more than {labels} labels or {pairs + 1} letters and digits in a label"
    return rf"{label}(?:\.{label}){{0,{labels - 1}}}", says


def _hostname(most: int) -> Bounded:
    regex, says = _host(most)
    return Bounded(regex, f"of `hostname`, names with {says} are left out")


def _email(most: int) -> Bounded:
    pairs = min((most - 1) // 3 - 1, 62) // 2
    host, says = _host(most - 2 - 2 * pairs)
    local = rf"[{ATOM_CHARACTERS}](?:\.?[{ATOM_CHARACTERS}]){{0,{pairs}}}"
    says = f"{says}, or {pairs + 1} characters before `@`"
    return Bounded(f"{local}@{host}", f"of `email`, addresses with {says} are left out")


def _bounded_uri(extra: str, *, relative: bool) -> Callable[[int], Bounded]:
    def bounded(most: int) -> Bounded:
        host = min(100, most // 5)
        # 16 for the scheme, 3 for `//` and `/`, 6 for the port, 2 for `?` and `#`, and one to
        # spare. A character may be three, `%` and two digits, so path, query and fragment share a
        # third of the rest, as 2 : 2 : 1.
        left = most - 16 - 3 - host - 6 - 3
        lengths, last = left * 2 // 15, left // 15
        plain, named = uri_characters(extra)
        tail = rf"(?:\?(?:{plain}|[/?]){{0,{lengths}}})?(?:#(?:{plain}|[/?]){{0,{last}}})?"
        path = rf"/(?:{plain}|/){{0,{lengths}}}"
        authority = rf"//[{named}]{{0,{host}}}(?::{PORT})?(?:{path})?"
        rest = rf"{plain}(?:{plain}|/){{0,{lengths - 1}}}"
        whole = rf"[A-Za-z][A-Za-z0-9+.-]{{0,14}}:(?:{authority}|{rest}){tail}"
        if relative:
            whole += rf"|(?:/(?:{rest})?)?{tail}"
        says = (
            f"texts with more than {host} characters of a host, {lengths} of a path or of a query"
        )
        return Bounded(whole, f"of the format, {says} are left out")

    return bounded


def _plain_email(most: int) -> Bounded:
    pairs = min(31, (most - 28) // 8)
    labels = 2 if most >= 120 else 1
    more = min(30, ((most - 2 * pairs - 26) // labels - 2) // 2)
    local = rf"[{ATOM_CHARACTERS}](?:\.?[{ATOM_CHARACTERS}]){{0,{pairs}}}"
    host = rf"(?:[A-Za-z0-9](?:-?[A-Za-z0-9]){{0,{more}}}\.){{1,{labels}}}[A-Za-z]{{2,24}}"
    says = f"more than {labels + 1} labels, {more + 1} letters in one, or {pairs + 1} before `@`"
    return Bounded(f"{local}@{host}", f"of `email`, addresses with {says} are left out")


def _bounded_plain_uri(most: int) -> Bounded:
    regex, lengths = _bounded_address(most, "[A-Za-z][A-Za-z0-9+.-]{0,14}")
    says = f"texts with more than 4 labels of a host, {lengths} characters of a path or of a query"
    return Bounded(regex, f"of `uri`, texts without a host and {says} are left out")


def _bounded_address(most: int, scheme: str) -> tuple[str, int]:
    """Return addresses with a host, of a scheme of up to 15 characters; and those of a path."""
    pairs = min(30, (most - 36) // 24)
    left = most - 34 - 8 * pairs
    lengths, last = left * 2 // 15, left // 15
    plain, _ = uri_characters("")
    word = rf"[A-Za-z0-9](?:-?[A-Za-z0-9]){{0,{pairs}}}"
    host = rf"(?:{word}\.){{0,3}}[A-Za-z](?:-?[A-Za-z0-9]){{0,{pairs}}}"
    path = rf"(?:/(?:{plain}|/){{0,{lengths}}})?"
    tail = rf"(?:\?(?:{plain}|[/?]){{0,{lengths}}})?(?:#(?:{plain}|[/?]){{0,{last}}})?"
    return rf"{scheme}://{host}(?::{PORT})?{path}{tail}", lengths


def _time(name: str, fixed: int) -> Callable[[int], Bounded]:
    def bounded(most: int) -> Bounded:
        digits = min(most - fixed, _MOST_DIGITS)
        usual = formats_of(Standard.JSON_SCHEMA, Formats.RFC)[name]
        regex = usual.replace(FRACTION, rf"(?:\.[0-9]{{1,{digits}}})?")
        return Bounded(regex, f"of `{name}`, fractions of more than {digits} digits are left out")

    return bounded


@cache
def _forms() -> Mapping[str, Callable[[int], Bounded]]:
    """Return the forms by the expressions of the formats."""
    references = {
        "uri-reference": _bounded_uri("", relative=True),
        "iri": _bounded_uri(BEYOND_ASCII, relative=False),
        "iri-reference": _bounded_uri(BEYOND_ASCII, relative=True),
    }
    rfc = {
        **references,
        "date-time": _time("date-time", 26),
        "time": _time("time", 15),
        "email": _email,
        "hostname": _hostname,
        "uri": _bounded_uri("", relative=False),
    }
    plain = {**references, "email": _plain_email, "uri": _bounded_plain_uri}
    return {
        formats_of(Standard.JSON_SCHEMA, formats)[name]: form
        for formats, forms in ((Formats.PLAIN, plain), (Formats.RFC, rfc))
        for name, form in forms.items()
    }
