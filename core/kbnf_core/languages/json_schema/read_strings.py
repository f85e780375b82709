"""``minLength``, ``maxLength``, ``pattern`` and ``format``."""

from collections.abc import Iterator, Mapping

from kbnf_core.automata.regex import compile_regex
from kbnf_core.languages.json_schema.arguments import pointer_to, take_length
from kbnf_core.languages.json_schema.atoms import Length, Literal, Matching
from kbnf_core.languages.json_schema.document import Place
from kbnf_core.languages.json_schema.formats import HALF_ENFORCED
from kbnf_core.languages.json_schema.limits import SchemaLimits
from kbnf_core.languages.json_schema.patterns import conditions
from kbnf_core.languages.json_schema.problems import (
    UNKNOWN_FORMAT,
    Problem,
    invalid,
    unsupported,
    without_effect,
)


def read_length(place: Place, limits: SchemaLimits) -> Iterator[Literal]:
    """Yield the restriction of ``minLength`` and ``maxLength``."""
    low = take_length(place, "minLength", limits) or 0
    high = take_length(place, "maxLength", limits)
    if low or high is not None:
        yield Length(low, high), True


def read_format(
    place: Place, formats: Mapping[str, str], notes: list[Problem]
) -> Iterator[Literal]:
    """Yield the restriction of ``format``.

    By the specification a format that it does not define says nothing about values; since that
    is seldom what was meant, it is added to ``notes``.
    """
    if "format" not in place.contents:
        return
    name = place.contents["format"]
    pointer = pointer_to(place, "format")
    if not isinstance(name, str):
        raise invalid("`format` is a string", pointer)
    if name in HALF_ENFORCED:
        notes.append(without_effect(HALF_ENFORCED[name], pointer))
    if name not in formats:
        hint = "say with `pattern` what it means"
        notes.append(Problem(UNKNOWN_FORMAT, f"the format `{name}` is not known", pointer, hint))
    elif formats[name]:
        yield Matching(formats[name]), True


def read_pattern(place: Place) -> Iterator[Literal]:
    """Yield the restriction of ``pattern``."""
    if "pattern" in place.contents:
        yield from matching(place.contents["pattern"], pointer_to(place, "pattern"))


def matching(pattern: object, pointer: str) -> Iterator[Literal]:
    """Yield the strings in which a pattern, in the sense of JSON Schema, matches somewhere."""
    if not isinstance(pattern, str):
        raise invalid("a pattern is a string", pointer)
    for whole, wanted in conditions(pattern):
        problems = compile_regex(whole).problems
        if problems:
            raise unsupported(f"in the pattern `{pattern}`: {problems[0].message}", pointer)
        yield Matching(whole), wanted
