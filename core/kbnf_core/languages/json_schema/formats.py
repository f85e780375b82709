"""The formats of JSON Schema: rules, and the same as regular expressions of our dialect.

``formats.kbnf`` is the source: rules of the texts of each format, before they are spelled as JSON
strings. People read these rules (``readable``). ``formats.json`` has their regular expressions,
matched as a whole, which ``kbnf_testing.shipped_patterns`` writes: no process makes them again.

Those of ``Formats.RFC`` follow the RFCs that JSON Schema names, as far as they are regular: a
hostname's length is not counted, and so on. A leap second is known by offsets of whole and of half
hours only. Those of ``Formats.PLAIN`` are parts of them which programs read: Python's ``datetime``
has no year 0 and no leap second, Go's ``time.RFC3339`` no small ``t`` and ``z``; the ``url`` crate
of Rust, by which pydantic reads addresses, has ports to 65535 and no ``%`` in a host; pydantic's
e-mail addresses have no quoted part, and a dot in their domain. Numbers in them have few digits.
They know formats that pydantic writes beside those of JSON Schema. LLGuidance has days and seconds
of its own. The empty pattern allows everything.

For a bound on the length that cannot be counted exactly there are bounded forms of them: each
is a subset of its format, and of the strings that are short enough.

*The format* ``regex``. ECMA-262's expressions are not a regular language, since groups nest. What
is allowed is what Python, JavaScript, Go and Rust read alike: literals, escapes of punctuation and
of the usual classes, brackets with ranges of letters and digits, groups ``DEPTH`` deep,
alternatives, anchors, and counts of up to three digits that do not run backwards. Look-around,
references back and named groups are left out.

Tests: tests/unit/languages/json_schema/test_readable.py, test_shipped_patterns.py
"""

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from kbnf_core.kbnf import tree
from kbnf_core.languages.json_schema.options import Formats, Standard
from kbnf_core.languages.json_schema.value_sets import Length
from kbnf_core.text.source import Source

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
    known = _parsed()
    return lambda name: next(known[each] for p in PREFIXES[kind] if (each := p + name) in known)


@cache
def _parsed() -> Mapping[str, tree.Expression]:
    # Only texts for people need it.
    from kbnf_core.kbnf.read import parse_kbnf

    document = parse_kbnf(Source(SOURCE.read_text("ascii"))).document
    return {definition.name.value: definition.body for definition in document.definitions}


@cache
def _expressions() -> Mapping[str, Mapping[str, str]]:
    """Return the regular expressions, by kind and rule; the file has those that a kind changes."""
    found: dict[str, dict[str, str]] = json.loads(EXPRESSIONS.read_text("ascii"))
    of_rfc = found[PLAIN] | found[RFC]
    return {PLAIN: found[PLAIN], RFC: of_rfc, THEIRS: of_rfc | found[THEIRS]}


@cache
def formats_of(standard: Standard, formats: Formats | None = Formats.RFC) -> Mapping[str, str]:
    """Return the formats as the standard has them; those of LLGuidance are never plain."""
    kind = PLAIN if formats is Formats.PLAIN else RFC
    kind = THEIRS if standard is Standard.LLGUIDANCE else kind
    known = _expressions()[kind]
    return {name: known[rule_of(name)] for name in NAMES[kind]} | _FREE[kind]


class Named(NamedTuple):
    """A format by its name, and the kind whose rules it has."""

    name: str
    kind: str


def named(regex: str) -> Named | None:
    """Return the format with a regular expression; None where there is none."""
    return _by_expression().get(regex)


@cache
def _by_expression() -> Mapping[str, Named]:
    found: dict[str, Named] = {}
    for kind, names in NAMES.items():
        for name in names:
            found.setdefault(_expressions()[kind][rule_of(name)], Named(name, kind))
    return found


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
    known = _expressions()[PLAIN]
    if scheme == "file":
        return f"file:///{known['rest_of_path']}"
    if most is not None:
        return _bounded_address(most, scheme)[0]
    return f"{scheme}://{known['address']}"


HALF_ENFORCED = {
    "idn-hostname": "of `idn-hostname` the letters are enforced, not IDNA's tables",
    "idn-email": "of `idn-email` the letters are enforced, not IDNA's tables",
}
"""What is reported of formats that are beyond a regular language."""

NARROWED = {"regex": LEFT_OUT}
"""What is left out of such a format, so that nothing passes that it refuses."""


class Bounded(NamedTuple):
    """A regular expression, and what is reported of the strings that it leaves out."""

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


def _bounded_uri(extra: str, *, relative: bool) -> Callable[[int], Bounded]:
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


def _bounded_plain_uri(most: int) -> Bounded:
    regex, parts = _bounded_address(most, "[A-Za-z][A-Za-z0-9+.-]{0,14}")
    says = f"texts with more than 4 labels of a host, {parts} characters of a path or of a query"
    return Bounded(regex, f"of `uri`, texts without a host and {says} are left out")


def _bounded_address(most: int, scheme: str) -> tuple[str, int]:
    """Return addresses with a host, of a scheme of up to 15 characters; and those of a path."""
    pairs = min(30, (most - 36) // 24)
    left = most - 34 - 8 * pairs
    parts, last = left * 2 // 15, left // 15
    plain, _ = uri_characters("")
    word = rf"[A-Za-z0-9](?:-?[A-Za-z0-9]){{0,{pairs}}}"
    host = rf"(?:{word}\.){{0,3}}[A-Za-z](?:-?[A-Za-z0-9]){{0,{pairs}}}"
    path = rf"(?:/(?:{plain}|/){{0,{parts}}})?"
    tail = rf"(?:\?(?:{plain}|[/?]){{0,{parts}}})?(?:#(?:{plain}|[/?]){{0,{last}}})?"
    return rf"{scheme}://{host}(?::{PORT})?{path}{tail}", parts


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
