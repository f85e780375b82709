"""The formats of JSON Schema as regular expressions of our dialect, matched as a whole.

Those of ``Formats.RFC`` follow the RFCs that JSON Schema names, as far as they are regular: a
hostname's length is not counted, and so on. A leap second is known by offsets of whole and of half
hours only. Those of ``Formats.PLAIN`` are parts of them which programs read: Python's ``datetime``
has no year 0 and no leap second, Go's ``time.RFC3339`` no small ``t`` and ``z``; the ``url`` crate
of Rust, by which pydantic reads addresses, has ports to 65535 and no ``%`` in a host; pydantic's
e-mail addresses have no quoted part, and a dot in their domain. Numbers in them have few digits.
They know formats that pydantic writes beside those of JSON Schema. LLGuidance has days and seconds
of its own, see ``formats_of``. The empty pattern allows everything.

For a bound on the length that cannot be counted exactly there are bounded forms of them: each
is a subset of its format, and of the strings that are short enough.

*The format* ``regex``. ECMA-262's expressions are not a regular language, since groups nest. What
is allowed is what Python, JavaScript, Go and Rust read alike: literals, escapes of punctuation and
of the usual classes, brackets with ranges of letters and digits, groups ``DEPTH`` deep,
alternatives, anchors, and counts of up to three digits that do not run backwards. Look-around,
references back and named groups are left out.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

from kbnf_core.languages.json_schema.options import Formats, Standard
from kbnf_core.languages.json_schema.value_sets import Length

DEPTH = 3
"""How deep groups may nest in the format ``regex``."""

LEFT_OUT = (
    "of `regex`, look-around, references back, named groups, groups nested more than"
    f" {DEPTH} deep and ranges but of letters or digits are left out"
)

META = r"\\^$.|?*+()\[\]{}"
LITERAL = rf"[^{META}\x00-\x1f\x7f]"
PUNCTUATION = r"[!-/:;=?@\[-`{-~]"
"""What a backslash makes a literal."""

MEMBER = r"[^\\\]\[^\-&~\x00-\x1f\x7f]"
"""A character that stands for itself in brackets."""

CLASSES = "[dDwWsStnrfv]"
"""What a backslash makes a class, or a control character."""

RANGES = tuple(
    f"{first}-[{first}-{letters[-1]}]"
    for letters in ("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789")
    for first in letters
)


def _counts() -> tuple[str, ...]:
    """Return the counts in braces: one, a least one, or two of which the first is not larger."""
    pairs = [f"{a},(?:[{a}-9]|[1-9][0-9]{{1,2}})" for a in range(10)]
    for tens in range(1, 10):
        more = f"|[{tens + 1}-9][0-9]" if tens < 9 else ""
        pairs += [f"{tens}{a},(?:{tens}[{a}-9]{more}|[1-9][0-9]{{2}})" for a in range(10)]
    return (r"(?:0|[1-9][0-9]{0,2}),?", *pairs)


COUNTS = _counts()


def _whole() -> str:
    escape = rf"\\(?:{CLASSES}|{PUNCTUATION}|x[0-9A-Fa-f]{{2}}|u[0-9A-Fa-f]{{4}})"
    bracket = rf"\[\^?(?:-?(?:{'|'.join(RANGES)}|{MEMBER}|{escape})+-?|-)\]"
    atom = rf"{LITERAL}|\.|{escape}|{bracket}"
    anchor = r"[\^$|]|\\[bB]"
    quantifier = rf"(?:[*+?]|\{{(?:{'|'.join(COUNTS)})\}})\??"
    found = rf"(?:(?:{atom})(?:{quantifier})?|{anchor})*"
    for _ in range(DEPTH):
        found = rf"(?:(?:{atom}|\((?:\?:)?{found}\))(?:{quantifier})?|{anchor})*"
    return found


REGEX = _whole()


def _listed(patterns: tuple[str, ...]) -> str:
    return " | ".join(f"#'{each}'" for each in patterns)


_NESTED = "\n".join(
    f"regex_{depth} ::= ((regex_atom | '(' '?:'? regex_{depth - 1} ')') regex_quantifier?"
    " | regex_mark)*;"
    for depth in range(DEPTH, 0, -1)
)

RULES = rf"""
regex_string ::= '"' regex_{DEPTH} '"';
{_NESTED}
regex_0 ::= (regex_atom regex_quantifier? | regex_mark)*;
regex_mark ::= #r'[\^$|]|\\\\[bB]';
regex_atom ::= #r'[^"{META}\x00-\x1f\x7f]|\\"' | '.' | regex_escape | regex_bracket;
regex_escape ::=
    #r'\\\\(?:{CLASSES}|[!#-/:;=?@\[\]-`{{-~]|\\["\\]|x[0-9A-Fa-f]{{2}}|u[0-9A-Fa-f]{{4}})';
regex_bracket ::= '[' '^'? ('-'? regex_member+ '-'? | '-') ']';
regex_member ::= regex_range | #r'[^"\\\]\[^\-&~\x00-\x1f\x7f]|\\"' | regex_escape;
regex_range ::= {_listed(RANGES)};
regex_quantifier ::= (#'[*+?]' | '{{' regex_count '}}') '?'?;
regex_count ::= {_listed(COUNTS)};
"""
"""The same texts, spelt as JSON strings, as rules for people to read."""


_MONTHS = r"(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
_LEAP_YEAR = r"(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_DATE = rf"(?:[0-9]{{4}}-(?:{_MONTHS}|02-(?:0[1-9]|1[0-9]|2[0-8]))|{_LEAP_YEAR}-02-29)"
FRACTION = r"(?:\.[0-9]+)?"
"""The fraction of a second."""
_OFFSET = r"(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"


def _leap_seconds() -> str:
    """Return the times that are 23:59:60 in UTC, by offsets of whole and of half hours."""
    found = [rf"23:59:60{FRACTION}[Zz]"]
    for hour in range(24):
        east, west = (hour + 1) % 24, 23 - hour
        whole = rf"59:60{FRACTION}(?:\+{east:02}|-{west:02}):00"
        half = rf"29:60{FRACTION}(?:\+{hour:02}|-{west:02}):30"
        found.append(rf"{hour:02}:(?:{whole}|{half})")
    return "|".join(found)


_TIME = rf"(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]{FRACTION}{_OFFSET}|{_leap_seconds()})"
_THEIR_DATE = rf"[0-9]{{4}}-(?:{_MONTHS}|02-(?:0[1-9]|[12][0-9]))"
_THEIR_TIME = rf"(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]|60){FRACTION}{_OFFSET}"
_CLOCK = r"T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)"
_DAYS = r"(?:[0-9]+D|[0-9]+M(?:[0-9]+D)?|[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?)"

_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_H16 = r"[0-9A-Fa-f]{1,4}"
_LS32 = rf"(?:{_H16}:{_H16}|{_IPV4})"
_IPV6 = "|".join(
    [
        rf"(?:{_H16}:){{6}}{_LS32}",
        rf"::(?:{_H16}:){{5}}{_LS32}",
        *(
            rf"(?:(?:{_H16}:){{0,{before}}}{_H16})?::(?:{_H16}:){{{4 - before}}}{_LS32}"
            for before in range(5)
        ),
        rf"(?:(?:{_H16}:){{0,5}}{_H16})?::{_H16}",
        rf"(?:(?:{_H16}:){{0,6}}{_H16})?::",
    ]
)

_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOSTNAME = rf"{_LABEL}(?:\.{_LABEL})*"
_BEYOND = r"[^\x00-\x7f\u3002\uff0e\uff61]"
_IDN_LABEL = rf"(?:[A-Za-z0-9]|{_BEYOND})(?:(?:[A-Za-z0-9-]|{_BEYOND})*(?:[A-Za-z0-9]|{_BEYOND}))?"
_IDN_HOSTNAME = rf"{_IDN_LABEL}(?:[.\u3002\uff0e\uff61]{_IDN_LABEL})*"
ATOM_CHARACTERS = r"A-Za-z0-9!#$%&'*+/=?^_`{|}~\-"
"""What the words of the local part of an address are made of."""
_ATOM = rf"[{ATOM_CHARACTERS}]+"
_IDN_ATOM = rf"(?:[{ATOM_CHARACTERS}]|{_BEYOND})+"
_QUOTED = r'"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"'
_LITERAL = rf"\[(?:{_IPV4}|IPv6:(?:{_IPV6}))\]"

_UNRESERVED = r"A-Za-z0-9\-._~"
_DELIMITERS = r"!$&'()*+,;="


BEYOND_ASCII = r"\u{a0}-\u{10ffff}"
"""What IRIs have beside the characters of URIs."""


def uri_characters(extra: str) -> tuple[str, str]:
    """Return one character of a path, and the set of those of a host's name."""
    plain = rf"(?:[{_UNRESERVED}{_DELIMITERS}:@{extra}]|%[0-9A-Fa-f]{{2}})"
    return plain, f"{_UNRESERVED}{_DELIMITERS}{extra}"


def _uri(extra: str, *, relative: bool, port: str = "[0-9]*") -> str:
    """Return RFC 3986's syntax (RFC 3987's with ``extra`` characters)."""
    escaped = "%[0-9A-Fa-f]{2}"
    plain = rf"(?:[{_UNRESERVED}{_DELIMITERS}:@{extra}]|{escaped})"
    no_colon = rf"(?:[{_UNRESERVED}{_DELIMITERS}@{extra}]|{escaped})"
    user = rf"(?:[{_UNRESERVED}{_DELIMITERS}:{extra}]|{escaped})*"
    name = rf"(?:[{_UNRESERVED}{_DELIMITERS}{extra}]|{escaped})*"
    literal = rf"\[(?:{_IPV6}|[vV][0-9A-Fa-f]+\.[{_UNRESERVED}{_DELIMITERS}:]+)\]"
    authority = rf"(?:{user}@)?(?:{literal}|{name})(?::{port})?"
    tail = rf"(?:\?(?:{plain}|[/?])*)?(?:#(?:{plain}|[/?])*)?"
    rooted = rf"//{authority}(?:/{plain}*)*|/(?:{plain}+(?:/{plain}*)*)?"
    absolute = rf"[A-Za-z][A-Za-z0-9+.-]*:(?:{rooted}|{plain}+(?:/{plain}*)*)?{tail}"
    if not relative:
        return absolute
    return rf"{absolute}|(?:{rooted}|{no_colon}+(?:/{plain}*)*)?{tail}"


_PART = r" {0,8}[0-9]{1,3}%? {0,8}"
_VARIABLE = r"(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*"
_VALUE = rf"{_VARIABLE}(?:\*|:[1-9][0-9]{{0,3}})?"
_URI_TEMPLATE = (
    r"(?:[^\x00-\x20\x7f\"%<>\\^`{|}]|%[0-9A-Fa-f]{2}"
    rf"|\{{[+#./;?&=,!@|]?{_VALUE}(?:,{_VALUE})*\}})*"
)
_POINTER = r"(?:/(?:[^/~]|~[01])*)*"

FORMATS: dict[str, str] = {
    "date-time": rf"{_DATE}[Tt]{_TIME}",
    "date": _DATE,
    "time": _TIME,
    "duration": rf"P(?:{_DAYS}(?:{_CLOCK})?|{_CLOCK}|[0-9]+W)",
    "email": rf"(?:{_ATOM}(?:\.{_ATOM})*|{_QUOTED})@(?:{_HOSTNAME}|{_LITERAL})",
    "idn-email": rf"{_IDN_ATOM}(?:\.{_IDN_ATOM})*@(?:{_IDN_HOSTNAME}|{_LITERAL})",
    "hostname": _HOSTNAME,
    "idn-hostname": _IDN_HOSTNAME,
    "ipv4": _IPV4,
    "ipv6": _IPV6,
    "uuid": "[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}",
    "uri": _uri("", relative=False),
    "uri-reference": _uri("", relative=True),
    "iri": _uri(BEYOND_ASCII, relative=False),
    "iri-reference": _uri(BEYOND_ASCII, relative=True),
    "uri-template": _URI_TEMPLATE,
    "json-pointer": _POINTER,
    "relative-json-pointer": rf"(?:0|[1-9][0-9]*)(?:#|{_POINTER})",
    "regex": REGEX,
    "unknown": "",
    # Draft 3.
    "color": rf"#[0-9A-Fa-f]{{3}}(?:[0-9A-Fa-f]{{3}})?|[A-Za-z]+|rgb\({_PART}(?:,{_PART}){{2}}\)",
    "ip-address": _IPV4,
    "host-name": _HOSTNAME,
}

_YEAR = "(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})"
_PLAIN_LEAP_YEAR = (
    "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
)
_PLAIN_DATE = rf"(?:{_YEAR}-(?:{_MONTHS}|02-(?:0[1-9]|1[0-9]|2[0-8]))|{_PLAIN_LEAP_YEAR}-02-29)"
PLAIN_FRACTION = r"(?:\.[0-9]{1,9})?"
"""The fraction of a second, as Go and Rust keep it."""
_PLAIN_TIME = (
    rf"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]{PLAIN_FRACTION}"
    r"(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)
_FEW_DIGITS = "[0-9]{1,6}"
PORT = "[1-5]?[0-9]{1,4}"
"""The number of a port, to 59,999; 65,535 is the last that there is."""
_WORD = "[A-Za-z0-9](?:-?[A-Za-z0-9])*"
_PLAIN_HOST = rf"(?:(?:{_WORD}\.)*[A-Za-z](?:-?[A-Za-z0-9])*|{_IPV4}|\[(?:{_IPV6})\])"
_PLAIN_PATH, _ = uri_characters("")


_SOME = rf"(?:{_PLAIN_PATH}|/)*"
_TAIL = rf"(?:\?(?:{_PLAIN_PATH}|[/?])*)?(?:#(?:{_PLAIN_PATH}|[/?])*)?"
_SCHEME = "[A-Za-z][A-Za-z0-9+.-]*"


def plain_address(scheme: str, most: int | None = None) -> str:
    """Return addresses with a host, or of files where the scheme is ``file``."""
    if scheme == "file":
        return rf"file:///{_SOME}"
    if most is not None:
        return _bounded_address(most, scheme)[0]
    user = rf"(?:[{_UNRESERVED}]+(?::[{_UNRESERVED}]*)?@)?"
    return rf"{scheme}://{user}{_PLAIN_HOST}(?::{PORT})?(?:/{_SOME})?{_TAIL}"


def _plain_uri() -> str:
    """Return addresses with a host or a file, and those of four schemes that have neither."""
    there = "|".join(map(plain_address, (_SCHEME, "file")))
    return rf"{there}|(?:data|mailto|tel|urn):{_PLAIN_PATH}{_SOME}{_TAIL}"


def _plain_uuid(version: int) -> str:
    start, hexadecimal = "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}", "[0-9A-Fa-f]{3}"
    return rf"{start}-{version}{hexadecimal}-[89ABab]{hexadecimal}-[0-9A-Fa-f]{{12}}"


def _base64(last: str) -> str:
    """Return texts of base64, with ``last`` for its last two values."""
    one = f"[A-Za-z0-9{last}]"
    return rf"(?:{one}{{4}})*(?:{one}[AQgw]==|{one}{{2}}[AEIMQUYcgkosw048]=)?"


_NET = rf"{_OCTET}\.0\.0\.0/8|{_OCTET}\.{_OCTET}\.0\.0/16|(?:{_OCTET}\.){{3}}0/24|{_IPV4}(?:/32)?"
_IPV4_INTERFACE = rf"{_IPV4}(?:/(?:3[0-2]|[12]?[0-9]))?"
_IPV6_INTERFACE = rf"(?:{_IPV6})(?:/(?:12[0-8]|1[01][0-9]|[1-9]?[0-9]))?"

_PLAIN = {
    "date-time": rf"{_PLAIN_DATE}T{_PLAIN_TIME}",
    "date": _PLAIN_DATE,
    "time": _PLAIN_TIME,
    "duration": FORMATS["duration"].replace("[0-9]+", _FEW_DIGITS),
    "email": (
        rf"[{ATOM_CHARACTERS}](?:\.?[{ATOM_CHARACTERS}]){{0,31}}"
        r"@(?:[A-Za-z0-9](?:-?[A-Za-z0-9]){0,30}\.){1,3}[A-Za-z]{2,24}"
    ),
    "uri": _plain_uri(),
    "uri-reference": _uri("", relative=True, port=PORT),
    "iri": _uri(BEYOND_ASCII, relative=False, port=PORT),
    "iri-reference": _uri(BEYOND_ASCII, relative=True, port=PORT),
    "relative-json-pointer": rf"(?:0|[1-9][0-9]{{0,5}})(?:#|{_POINTER})",
    # What pydantic writes for its types.
    **{f"uuid{version}": _plain_uuid(version) for version in range(1, 9)},
    "base64": _base64("+/"),
    "base64url": _base64("_-"),
    "ipvanyaddress": rf"{_IPV4}|{_IPV6}",
    "ipv4interface": _IPV4_INTERFACE,
    "ipv6interface": _IPV6_INTERFACE,
    "ipvanyinterface": rf"{_IPV4_INTERFACE}|{_IPV6_INTERFACE}",
    "ipv4network": _NET,
    "ipv6network": rf"(?:{_IPV6})(?:/128)?",
    "ipvanynetwork": rf"{_NET}|(?:{_IPV6})(?:/128)?",
}

_THEIRS = {
    "date-time": rf"{_THEIR_DATE}[Tt]{_THEIR_TIME}",
    "date": _THEIR_DATE,
    "time": _THEIR_TIME,
    "regex": "",
}

HALF_ENFORCED = {
    "idn-hostname": "of `idn-hostname` the letters are enforced, not IDNA's tables",
    "idn-email": "of `idn-email` the letters are enforced, not IDNA's tables",
}
"""What is reported of formats that are beyond a regular language."""

NARROWED = {"regex": LEFT_OUT}
"""What is left out of such a format, so that nothing passes that it refuses."""


@cache
def formats_of(standard: Standard, formats: Formats | None = Formats.RFC) -> Mapping[str, str]:
    """Return the formats as the standard has them; those of LLGuidance are never plain."""
    if standard is Standard.LLGUIDANCE:
        return FORMATS | _THEIRS
    return FORMATS | _PLAIN if formats is Formats.PLAIN else FORMATS


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
        regex = FORMATS[name].replace(FRACTION, rf"(?:\.[0-9]{{1,{digits}}})?")
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
