r"""Formats and patterns of JSON Schema as regular expressions of our dialect, matched as a whole.

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

*The format* ``regex``. ECMA-262's expressions are not a regular language, since groups nest. What
is allowed is what Python, JavaScript, Go and Rust read alike: literals, escapes of punctuation and
of the usual classes, brackets with ranges of letters and digits, groups ``DEPTH`` deep,
alternatives, anchors, and counts of up to three digits that do not run backwards. Look-around,
references back and named groups are left out.

*Patterns* are ECMA-262's. A pattern may match anywhere in a string; the result matches the whole
string. ``\d``, ``\w`` and ``\b`` are ASCII, ``\s`` is ECMA's. Look-ahead at the start of a pattern
is a condition of its own on the whole string. Other look-around and back-references stay as they
are: the dialect's parser says what is wrong with them.

A pattern that counts characters (``^[a-z].{0,2000}$``) is taken apart: what may occur, and how many
characters in all. So a count is a number, as in ``maxLength``, and not as many copies of a state.

Tests: tests/unit/languages/json_schema/test_readable.py, test_shipped_patterns.py
"""

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from kbnf_core.automata.algebra import Repeat
from kbnf_core.automata.algebra import Sequence as Items
from kbnf_core.automata.codepoints import ANY
from kbnf_core.automata.expression import Builder, Expression, print_expression
from kbnf_core.automata.regex.syntax import Characters
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


ANY_TEXT = "(?s:.)*"
"""The regular expression of all strings."""

_SPACES = (
    r"\t\n\x0b\x0c\r \u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}"
    r"\u{3000}\u{feff}"
)
_SETS = {"d": "0-9", "w": "A-Za-z0-9_", "s": _SPACES}
_CONTROL = r"c([A-Za-z])"
_PAIR = r"u([dD][89abAB][0-9A-Fa-f]{2})\\u([dD][c-fC-F][0-9A-Fa-f]{2})"
_UNIT = r"u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})"
_ESCAPE = re.compile(rf"\\(?:{_PAIR}|{_UNIT}|{_CONTROL}|(?P<other>[\s\S]))")


# Characters and ranges of them by number, of which long classes consist; no halves of pairs.
_NUMBERS = re.compile(r"(?:\\u(?![dD][89a-fA-F])[0-9A-Fa-f]{4}-?)+")


_LOOK_AHEAD = re.compile(r"\(\?([=!])")
_STEP = re.compile(r"\\[\s\S]|\[\^?\]?(?:\\[\s\S]|[^\]\\])*\]|[\s\S]")


def conditions(pattern: str) -> list[tuple[str, bool]]:
    """Return regular expressions of whole strings, and whether each must match or must not.

    The first is the pattern without its look-ahead, the others are that.
    """
    rest, found = pattern, []
    while rest.startswith("^") and (begin := _LOOK_AHEAD.match(rest, 1)):
        end = _closing(rest, begin.end())
        if end is None:
            break
        found.append((to_whole(f"^(?:{rest[begin.end() : end]})"), begin[1] == "="))
        rest = "^" + rest[end + 1 :]
    # Behind a bar the condition would not hold, and what is repeated is none.
    if not found or len(_translate(rest)) > 1 or _REPEATED.match(rest, 1):
        return [(to_whole(pattern), True)]
    return [(to_whole(rest), True), *found]


LARGE = 64
"""Counts up to this one are states."""

_COUNT = re.compile(r"\{(?:[0-9]*,)?0*[1-9][0-9]+\}|\{0*[1-9][0-9]+,\}")
"""A count that may be large."""


def without_count(whole: str) -> tuple[str, Length | None]:
    """Return a regular expression of whole strings without its large count, and the lengths.

    The strings of both together are those of ``whole``: one character is repeated, and whatever is
    around it has one length. None where there is no such count.
    """
    if not _COUNT.search(whole):
        return whole, None
    builder = Builder()
    read = builder.read(whole)
    if read is None:
        return whole, None
    items = _at_least_beside_any(builder, read)
    loops = [place for place, item in enumerate(items) if _is_large(item)]
    around = [_fixed_length(item) for place, item in enumerate(items) if place not in loops]
    lengths = [length for length in around if length is not None]
    if len(loops) != 1 or len(lengths) < len(around):
        return print_expression(builder.sequence(items)), None
    loop = items[loops[0]]
    assert isinstance(loop, Repeat)  # noqa: S101 - as a large count is
    high = None if loop.high is None else loop.high + sum(lengths)
    items[loops[0]] = builder.repetition(loop.body, 0, None)
    found = print_expression(builder.sequence(items))
    return found, Length(loop.low + sum(lengths), high)


def _at_least_beside_any(builder: Builder, read: Expression) -> list[Expression]:
    """Return the items of a sequence; beside any text it is enough to repeat as often as needed."""
    items = list(read.parts if isinstance(read, Items) else (read,))
    for place, item in enumerate(items):
        beside = [*items[max(place - 1, 0) : place], *items[place + 1 : place + 2]]
        if isinstance(item, Repeat) and item.high is not None and any(map(_is_any, beside)):
            items[place] = builder.repetition(item.body, item.low, item.low)
    whole = builder.sequence(items)
    return list(whole.parts if isinstance(whole, Items) else (whole,))


def _is_any(item: Expression) -> bool:
    """Tell whether an item is any text, or all texts from some length on."""
    return (
        isinstance(item, Repeat)
        and item.high is None
        and isinstance(item.body, Characters)
        and item.body.points == ANY
    )


def _is_large(item: Expression) -> bool:
    """Tell whether an item is a character that is repeated, to a large bound."""
    if not isinstance(item, Repeat) or not isinstance(item.body, Characters):
        return False
    return item.low != item.high and max(item.low, item.high or 0) > LARGE


def _fixed_length(item: Expression) -> int | None:
    """Return how many characters an item has, where that is one number that is quickly found."""
    if isinstance(item, Characters):
        return 1
    if isinstance(item, Repeat) and isinstance(item.body, Characters) and item.low == item.high:
        return item.low
    return None


_REPEATED = re.compile(r"[*+?{]")


def _closing(pattern: str, index: int) -> int | None:
    """Return where the group ends in which ``index`` is."""
    depth = 0
    for step in _STEP.finditer(pattern, index):
        if step[0] == ")" and not depth:
            return step.start()
        depth += (step[0] == "(") - (step[0] == ")")
    return None


def to_whole(pattern: str) -> str:
    """Return a regular expression for the strings in which ``pattern`` matches somewhere."""
    branches = _translate(pattern)
    # Anchors of all branches are those of the pattern: inside, no reader takes it apart.
    starts = all(branch.startswith("^") for branch in branches)
    ends = all(branch.endswith("$") and not branch.endswith("\\$") for branch in branches)
    inner = "|".join(branch[starts : len(branch) - ends] for branch in branches)
    if "|" in inner and not (starts and ends):
        inner = f"(?:{inner})"
    return f"{'' if starts else ANY_TEXT}{inner}{'' if ends else ANY_TEXT}"


def _translate(pattern: str) -> list[str]:
    """Return the alternatives of the pattern outside of groups, in our dialect."""
    branches: list[str] = []
    written: list[str] = []
    index = depth = 0
    in_set = False
    while index < len(pattern):
        char = pattern[index]
        numbers = _NUMBERS.match(pattern, index)
        if numbers:
            each = numbers[0].split("\\u")[1:]
            written += [f"\\u{{{number[:4]}}}{number[4:]}" for number in each]
            index = numbers.end()
            continue
        escape = _ESCAPE.match(pattern, index)
        if escape:
            written.append(_escape(escape, in_set))
            index = escape.end()
            continue
        if in_set:
            in_set = char != "]"
            written.append(_member(pattern, index))
        elif pattern.startswith(("[^]", "[]"), index):
            # ECMA's sets of everything and of nothing.
            length = 3 if pattern[index + 1] == "^" else 2
            written.append("(?s:.)" if length == 3 else "[^\\s\\S]")
            index += length
            continue
        else:
            in_set = char == "["
            if char == "[" and pattern[index + 1 : index + 2] == "^":
                char, index = "[^", index + 1
            depth += (char == "(") - (char == ")")
            if char == "|" and depth == 0:
                branches.append("".join(written))
                written = []
            else:
                written.append(char)
        index += 1
    return [*branches, "".join(written)]


def _member(pattern: str, index: int) -> str:
    """Return a character of a set; what only our dialect reads as an operator is escaped."""
    char = pattern[index]
    doubled = char in "&~" and pattern[index + 1 : index + 2] == char
    # After a class such as \w a hyphen is no range.
    after_class = char == "-" and re.search(r"\\[dwsDWS]$", pattern[:index]) is not None
    return "\\" + char if char == "[" or doubled or after_class else char


def _escape(found: re.Match[str], in_set: bool) -> str:
    high, low, unit, byte, control, other = found.groups()
    if high is not None:
        point = 0x10000 + ((int(high, 16) & 0x3FF) << 10) + (int(low, 16) & 0x3FF)
        return f"\\u{{{point:x}}}"
    if unit is not None or byte is not None:
        return f"\\u{{{unit or byte}}}"
    if control is not None:
        return f"\\x{ord(control) & 31:02x}"
    return _letter(other, in_set)


def _letter(char: str, in_set: bool) -> str:
    """Return an escape of one character."""
    if char in _SETS:
        return _SETS[char] if in_set else f"[{_SETS[char]}]"
    if char.lower() in _SETS:
        return f"[^{_SETS[char.lower()]}]"
    if char in "bB" and not in_set:
        return f"(?-u:\\{char})"
    if char == "b":
        return "\\x08"
    if char == "0":
        return "\\x00"
    return char if not char.isascii() or char in "<>" else "\\" + char
