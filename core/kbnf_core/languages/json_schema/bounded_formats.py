"""Formats in their usual, bounded forms: for a bound on the length that cannot be counted exactly.

Each is a subset of its format, and of the strings that are short enough.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from kbnf_core.languages.json_schema.atoms import Length
from kbnf_core.languages.json_schema.formats import (
    ATOM_CHARACTERS,
    BEYOND_ASCII,
    FORMATS,
    FRACTION,
    PORT,
    formats_of,
    uri_characters,
)
from kbnf_core.languages.json_schema.options import Formats, Standard


@dataclass(frozen=True, slots=True)
class Bounded:
    """A regular expression, and what is said of the strings that it leaves out."""

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
    """Return names of hosts, and what is left out."""
    labels = 4 if most >= 120 else 3 if most >= 60 else 2
    pairs = min(((most - labels + 1) // labels - 1) // 2, 31)
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


def _uri(extra: str, *, relative: bool) -> Callable[[int], Bounded]:
    def bounded(most: int) -> Bounded:
        host = min(100, most // 5)
        left = most - 16 - 3 - host - 6 - 3
        parts, last = left * 2 // 15, left // 15
        plain, named = uri_characters(extra)
        tail = rf"(?:\?(?:{plain}|[/?]){{0,{parts}}})?(?:#(?:{plain}|[/?]){{0,{last}}})?"
        path = rf"/(?:{plain}|/){{0,{parts}}}"
        authority = rf"//[{named}]{{0,{host}}}(?::{PORT})?(?:{path})?"
        rest = rf"{plain}(?:{plain}|/){{0,{parts - 1}}}"
        whole = rf"[A-Za-z][A-Za-z0-9+.-]{{0,14}}:(?:{authority}|{rest}){tail}"
        if relative:
            whole += rf"|(?:/(?:{rest})?)?{tail}"
        says = f"texts with more than {host} characters of a host, {parts} of a path or of a query"
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


def _plain_uri(most: int) -> Bounded:
    pairs = min(30, (most - 36) // 24)
    left = most - 34 - 8 * pairs
    parts, last = left * 2 // 15, left // 15
    plain, _ = uri_characters("")
    word = rf"[A-Za-z0-9](?:-?[A-Za-z0-9]){{0,{pairs}}}"
    host = rf"(?:{word}\.){{0,3}}[A-Za-z](?:-?[A-Za-z0-9]){{0,{pairs}}}"
    path = rf"(?:/(?:{plain}|/){{0,{parts}}})?"
    tail = rf"(?:\?(?:{plain}|[/?]){{0,{parts}}})?(?:#(?:{plain}|[/?]){{0,{last}}})?"
    says = f"texts with more than 4 labels of a host, {parts} characters of a path or of a query"
    return Bounded(
        rf"[A-Za-z][A-Za-z0-9+.-]{{0,14}}://{host}(?::{PORT})?{path}{tail}",
        f"of `uri`, texts without a host and {says} are left out",
    )


def _time(name: str, fixed: int) -> Callable[[int], Bounded]:
    def bounded(most: int) -> Bounded:
        digits = min(most - fixed, _MOST_DIGITS)
        regex = FORMATS[name].replace(FRACTION, rf"(?:\.[0-9]{{1,{digits}}})?")
        return Bounded(regex, f"of `{name}`, fractions of more than {digits} digits are left out")

    return bounded


@cache
def _forms() -> Mapping[str, Callable[[int], Bounded]]:
    """Return the forms by the expressions of the formats."""
    references = {
        "uri-reference": _uri("", relative=True),
        "iri": _uri(BEYOND_ASCII, relative=False),
        "iri-reference": _uri(BEYOND_ASCII, relative=True),
    }
    rfc = {
        **references,
        "date-time": _time("date-time", 26),
        "time": _time("time", 15),
        "email": _email,
        "hostname": _hostname,
        "uri": _uri("", relative=False),
    }
    plain = {**references, "email": _plain_email, "uri": _plain_uri}
    return {
        formats_of(Standard.JSON_SCHEMA, formats)[name]: form
        for formats, forms in ((Formats.PLAIN, plain), (Formats.RFC, rfc))
        for name, form in forms.items()
    }
