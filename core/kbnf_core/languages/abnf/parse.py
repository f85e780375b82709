"""Parses ABNF: text in, a syntax tree of KBNF and findings out. Never raises.

Names mean the same in upper and lower case; the tree has them as their first definition writes
them. Core rules (RFC 5234, appendix B.1) that are used and not defined are added. Spans point into
the ABNF text. Time is linear in its length.

*Rules.* A rule begins with a name that is first on its line and has a sign after it, and goes on to
the next such name. ABNF wants the lines by which a rule goes on to be indented more than the rule;
the words that begin others are ``Statement.odd``.

*Values.* RFC 5234 leaves open how characters are encoded. Values up to 127 are ASCII. Above, they
are octets where no value of the text passes 255, as in the grammars of protocols (``obs-text`` of
HTTP, UTF-8's own), and else code points in UTF-8, as in those of texts (JSON).

*Checks.* What the grammar of ABNF does not say is checked beside: characters, values, counts and
indentation.

Tests: tests/unit/languages/abnf
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypeAlias

from kbnf_core.automata.codepoints import from_ranges
from kbnf_core.automata.expression import print_characters
from kbnf_core.conversion.rewrite import rewrite
from kbnf_core.ir.analysis import callers_of, reachable
from kbnf_core.kbnf.build import escaped, nothing, regex, text
from kbnf_core.kbnf.parsed import Parsed
from kbnf_core.kbnf.pragmas import read_pragmas
from kbnf_core.kbnf.read import number
from kbnf_core.kbnf.statements import (
    SIGNS,
    Lexer,
    Metasyntax,
    Mistake,
    Statement,
    StatementParser,
    Word,
    character,
    parse_statements,
    shown,
    span_of,
    too_deep,
)
from kbnf_core.kbnf.tree import (
    Alternation,
    Bracket,
    BracketKind,
    ByteString,
    Comment,
    Concatenation,
    Definition,
    Document,
    Expression,
    Leaf,
    Name,
    Reference,
    Repetition,
    postorder,
    uses_in,
)
from kbnf_core.languages.abnf import explain as about
from kbnf_core.languages.abnf.explain import not_indented
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import Source, Span
from kbnf_core.text.suggest import Suggestions

LAST_ASCII, LAST_OCTET, LAST_POINT = 0x7F, 0xFF, 0x10FFFF
OCTETS = "%x"
"""Begins the names of rules that are made for ranges of octets; no other name does."""

_BASES = {"b": 2, "d": 10, "x": 16}
_MANY_DIGITS = 40
"""A value of more digits, leading zeros aside, counts as one beyond every limit."""


def read_value(written: str) -> tuple[list[int], bool]:
    """Return the numbers of ``%x41.42`` or ``%x30-39``, and whether they are a range."""
    base = _BASES[written[1].lower()]
    is_range = "-" in written
    return [_number(digits, base) for digits in re.split("[.-]", written[2:])], is_range


def are_octets(values: Iterable[str]) -> bool:
    """Return whether the numbers of ``values`` above 127 are octets."""
    highest = max((max(read_value(value)[0]) for value in values), default=0)
    return LAST_ASCII < highest <= LAST_OCTET


def is_character(number: int) -> bool:
    """Return whether ``number`` is one of Unicode's characters."""
    return bool(from_ranges([(number, number)]))


def text_leaf(value: str, is_exact: bool, span: Span) -> Expression:
    """Return the leaf of a string, whose ASCII letters match both cases unless it ``is_exact``."""
    if is_exact or not re.search("[A-Za-z]", value):
        return text(value, span)
    # Without `-u`, `k` and `s` would match the Kelvin sign and the long s, too.
    return regex(f"(?i-u:{escaped(value)})", span)


def numbers_leaf(numbers: list[int], octets: bool, span: Span) -> Expression:
    """Return the leaf of numbers, one after the other, without those beyond the characters."""
    if octets and max(numbers) > LAST_ASCII:
        return ByteString(bytes(numbers), span)
    return text("".join(map(chr, filter(is_character, numbers))), span)


def range_leaf(low: int, high: int, octets: bool, span: Span) -> Expression:
    """Return what matches one character, or octet, from ``low`` to ``high``.

    Octets above 127 are a use of a rule that `octet_rule` makes: each would be a leaf.
    """
    if not octets or high <= LAST_ASCII:
        return _one_of(low, high, span)
    return Reference(Name(f"{OCTETS}{low:02X}-{high:02X}", span), span)


def _one_of(low: int, high: int, span: Span) -> Expression:
    """Return any one character of a range, which excludes halves of surrogate pairs."""
    points = from_ranges([(low, high)])
    return regex(print_characters(points), span) if points else nothing(span)


def octet_rule(name: str, span: Span) -> Definition:
    """Return the rule of a range of octets, by the name that `range_leaf` gives it."""
    low, high = (int(digits, 16) for digits in name.removeprefix(OCTETS).split("-"))
    branches: list[Expression] = []
    if low <= LAST_ASCII:
        branches.append(_one_of(low, LAST_ASCII, span))
    first = max(low, LAST_ASCII + 1)
    branches.extend(ByteString(bytes([octet]), span) for octet in range(first, high + 1))
    body = branches[0] if len(branches) == 1 else Alternation(tuple(branches), span)
    return Definition(Name(name, span), body, span)


def _number(digits: str, base: int) -> int:
    significant = digits.lstrip("0") or "0"
    return int(significant, base) if len(significant) <= _MANY_DIGITS else LAST_POINT + 1


@cache
def abnf_parser(octets: bool) -> StatementParser:
    """Return the parser of ABNF whose values above 127 are ``octets``, or else code points."""
    return StatementParser(Path(__file__).parent, AbnfBuilder(octets))


def split(text: str) -> tuple[list[Statement], tuple[Comment, ...]]:
    """Split ``text`` into rules, and the comments in and between them, in linear time."""
    comments: list[Comment] = []
    words: list[Word] = []
    columns: list[int | None] = []
    line: int | None = 0
    for word in Lexer(abnf_parser(False), text).words():
        span = span_of(word)
        if word.type == "COMMENT":
            comments.append(Comment(word.value[1:], span))
        elif word.type == "NEWLINE":
            line = span.end
        else:
            words.append(word)
            columns.append(None if line is None else span.start - line)
            line = None
    return _group(words, columns), tuple(comments)


def _group(words: list[Word], columns: list[int | None]) -> list[Statement]:
    """Return the rules; ``columns`` are those of words that are first on their lines."""
    statements: list[Statement] = []
    margin = 0
    for index, (word, column) in enumerate(zip(words, columns, strict=True)):
        sign = words[index + 1].type if index + 1 < len(words) else ""
        if not statements or (column is not None and word.type == "NAME" and sign in SIGNS):
            statements.append(Statement())
            margin = column or 0
        elif column is not None and column <= margin:
            statements[-1].odd.append(word)
        statements[-1].words.append(word)
    return statements


def check_words(source: Source, statement: Statement) -> Iterator[Diagnostic]:
    """Yield the mistakes inside the words of a rule, and in its line breaks."""
    for word in statement.words:
        match word.type:
            case "STRING":
                yield from _check_string(source, word)
            case "VALUE":
                yield from _check_value(source, word)
            case _:
                pass
    if statement.odd:
        yield not_indented(source, statement.odd[0])


def check_definition(
    source: Source, definition: Definition, limits: Limits
) -> Iterator[Diagnostic]:
    """Yield the mistakes in the counts in ``definition``."""
    for node in postorder(definition.body):
        if isinstance(node, Repetition):
            high = node.low if node.high is None else node.high
            if high < node.low:
                message = "this count has its larger number first"
                yield Diagnostic("E013", message, source, node.operator)
            elif high > limits.repetition:
                message = f"this count is above {limits.repetition}"
                yield Diagnostic("E013", message, source, node.operator)


def _check_string(source: Source, word: Word) -> Iterator[Diagnostic]:
    if word.value.isascii() and word.value.isprintable():
        return
    start = span_of(word).start
    for offset, char in enumerate(word.value, start):
        if not (char.isascii() and char.isprintable()):
            message = f"{character(char)} is not allowed in a string of ABNF"
            helps = (f"write its value: `%x{ord(char):X}`",)
            yield Diagnostic("E001", message, source, Span(offset, offset + 1), helps=helps)


def _check_value(source: Source, word: Word) -> Iterator[Diagnostic]:
    numbers, is_range = read_value(word.value)
    if is_range and numbers[1] < numbers[0]:
        message = "this range has its larger value first"
        yield Diagnostic("E001", message, source, span_of(word))
    elif not all(map(is_character, numbers)):
        message = f"{shown(word.value)} is not a character"
        helps = ("characters end at %x10FFFF, without %xD800-DFFF",)
        yield Diagnostic("E001", message, source, span_of(word), helps=helps)


_Values: TypeAlias = list[Word | Expression]


class AbnfBuilder:
    """The methods that Lark calls; stateless but for what values above 127 are."""

    def __init__(self, octets: bool) -> None:
        self._octets = octets

    def definition(self, values: tuple[Word, Word, Expression]) -> Definition:
        """``name = alternation``."""
        name, _, body = values
        return Definition(_name(name), body, span_of(name).cover(body.span))

    def alternation(self, operands: _Values) -> Expression:
        """``x / y``, or one branch alone."""
        branches = [operand for operand in operands if not isinstance(operand, Word)]
        if len(branches) == 1:
            return branches[0]
        return Alternation(tuple(branches), branches[0].span.cover(branches[-1].span))

    def concatenation(self, items: list[Expression]) -> Expression:
        """``x y``, or one part alone."""
        if len(items) == 1:
            return items[0]
        return Concatenation(tuple(items), items[0].span.cover(items[-1].span))

    def repeated(self, values: tuple[Word, Expression]) -> Repetition:
        """``2*5x``, and other counts in front."""
        repeat, body = values
        low, high = read_repeat(repeat.value)
        operator = span_of(repeat)
        return Repetition(body, low, high, operator, operator.cover(body.span))

    def reference(self, words: list[Word]) -> Reference:
        """``name``."""
        return Reference(_name(words[0]), span_of(words[0]))

    def prose(self, words: list[Word]) -> Reference:
        """``<name>``, or a description for people: a use of a rule that nothing can define."""
        span = span_of(words[0])
        inner = Span(span.start + 1, span.end - 1)
        return Reference(Name(words[0].value[1:-1], inner), span)

    def string(self, words: list[Word]) -> Expression:
        """``"..."``, ``%i"..."`` or ``%s"..."``."""
        mark, _, text = words[0].value[:-1].partition('"')
        return text_leaf(text, mark.lower() == "%s", span_of(words[0]))

    def value(self, words: list[Word]) -> Expression:
        """``%x41.42`` or ``%x30-39``."""
        span = span_of(words[0])
        numbers, is_range = read_value(words[0].value)
        if not is_range:
            return numbers_leaf(numbers, self._octets, span)
        return range_leaf(numbers[0], numbers[1], self._octets, span)

    def group(self, values: tuple[Word, Expression, Word]) -> Expression:
        """``( x )``, or ``[ x ]``: none or one."""
        start, body, end = values
        span = span_of(start).cover(span_of(end))
        return Bracket(BracketKind(start.value + end.value), body, span)


def read_repeat(written: str) -> tuple[int, int | None]:
    """Return the bounds of ``2*5``, ``1*``, ``*`` or ``3``."""
    low, star, high = written.partition("*")
    if not star:
        return number(low), number(low)
    return number(low), number(high) if high else None


def _name(token: Word) -> Name:
    return Name(token.value, span_of(token))


_PATTERNS = {
    "ALPHA": "[A-Za-z]",
    "BIT": "[01]",
    "CHAR": r"[\x{1}-\x{7F}]",
    "CR": r"\r",
    "CRLF": r"\r\n",
    "CTL": r"[\x{0}-\x{1F}\x{7F}]",
    "DIGIT": "[0-9]",
    "DQUOTE": '"',
    "HEXDIG": "[0-9A-Fa-f]",
    "HTAB": r"\t",
    "LF": r"\n",
    "LWSP": r"(?:[ \t]|\r\n[ \t])*",
    "SP": " ",
    "VCHAR": "[!-~]",
    "WSP": r"[ \t]",
}

_OCTET = "OCTET"

_CORE_RULES = {name.lower(): name for name in (*_PATTERNS, _OCTET)}
"""The core rules by their names in lower case."""


def _made_rule(name: str, span: Span) -> Definition | None:
    """Return a predefined core rule, with the span of its first use.

    That is a core rule, or a range of octets; None for any other.
    """
    if name.startswith(OCTETS):
        return octet_rule(name, span)
    if name == _OCTET:
        return replace(octet_rule(f"{OCTETS}00-FF", span), name=Name(name, span))
    if name not in _PATTERNS:
        return None
    return Definition(Name(name, span), regex(_PATTERNS[name], span), span)


def parse_abnf(source: Source, limits: Limits = DEFAULT_LIMITS, start: str | None = None) -> Parsed:
    """Parse ``source``; rules with mistakes are left out, as in ``parse_kbnf``.

    The start is the given one, in whatever case, else the pragma's, else the first rule.
    """
    statements, comments = split(source.text)
    metasyntax = _AbnfRules(source, limits, statements)
    read = parse_statements(statements, metasyntax)
    findings = [*read.findings, *_check_signs(source, statements)]
    if not (read.trees or findings):
        findings.append(about.no_rules(source))
    names = _canonical(read.trees)
    definitions = [_renamed(tree, names) for tree in read.trees]
    definitions += _made_rules(definitions, {*names, *map(str.lower, read.broken)})
    broken = frozenset(names.get(name.lower(), name) for name in read.broken)
    document = Document(
        source, tuple(definitions), comments, broken, predefined=_predefined(definitions)
    )
    wanted = start or read_pragmas(document)[0].start or _first(statements)
    wanted = names.get(wanted.lower(), wanted) if wanted else None
    document, gaps = _without_gaps(document, wanted)
    result = tuple(sorted([*findings, *gaps], key=Diagnostic.sort_key))
    return Parsed(document, result, wanted)


def _without_gaps(document: Document, start: str | None) -> tuple[Document, list[Diagnostic]]:
    """Return the rules without those that lead to undefined ones, unless ``start`` leads to one.

    An undefined rule is prose, or a rule of another document. The findings report each first use.
    """
    uses: dict[str, list[Name]] = {}
    for definition in document.definitions:
        uses.setdefault(definition.name.value, []).extend(uses_in(definition.body))
    defined = uses.keys() | document.broken_names
    graph = {name: {use.value for use in findings} for name, findings in uses.items()}
    needed = reachable([start] if start and not document.broken_names else uses, graph)
    gaps = {
        use.value: use for findings in uses.values() for use in findings if use.value not in defined
    }
    if not gaps:
        return document, []
    findings: list[Diagnostic] = []
    wanted: set[str] = set()
    suggestions = Suggestions(defined)
    for name, called in uses.items():
        for use in {use.value: use for use in reversed(called) if use.value in gaps}.values():
            if name in needed:
                findings.append(about.undefined(document.source, use, suggestions))
                wanted.add(use.value)
            else:
                findings.append(about.left_out(document.source, name, use, start or ""))
    without = reachable(gaps, callers_of(graph)) - needed
    kept = tuple(
        definition for definition in document.definitions if definition.name.value not in without
    )
    # What only a rule uses that is left out is not unused.
    used = {name_used for name in without & graph.keys() for name_used in graph[name]}
    changed = replace(
        document,
        definitions=kept,
        broken_names=document.broken_names | wanted,
        predefined=document.predefined | used,
    )
    return changed, findings


class _AbnfRules(Metasyntax[Definition]):
    """The rules of a text."""

    def __init__(self, source: Source, limits: Limits, statements: list[Statement]) -> None:
        super().__init__(source, limits)
        self._octets = are_octets(
            word.value
            for statement in statements
            for word in statement.words
            if word.type == "VALUE"
        )

    def parser(self) -> StatementParser:
        return abnf_parser(self._octets)

    def refuse(self, statement: Statement) -> Iterable[Diagnostic] | None:
        if not statement.is_definition:
            return (about.no_name(self.source, statement.words[0]),)
        sign = statement.words[1]
        return (about.wrong_sign(self.source, sign),) if sign.type == "WRONG_SIGN" else None

    def explain(self, statement: Statement, mistake: Mistake) -> Iterator[Diagnostic]:
        if statement.odd and statement.odd[0] is mistake.before:
            yield about.not_indented(self.source, statement.odd[0])
        else:
            yield too_deep(mistake, self.limits) or about.explain(mistake)

    def validate(self, statement: Statement, tree: Definition) -> Iterator[Diagnostic]:
        yield from check_words(self.source, statement)
        yield from check_definition(self.source, tree, self.limits)


def _canonical(definitions: list[Definition]) -> dict[str, str]:
    """Return the names that are defined, by what they are in lower case."""
    result: dict[str, str] = {}
    for definition in definitions:
        result.setdefault(definition.name.value.lower(), definition.name.value)
    return result


def _renamed(definition: Definition, names: Mapping[str, str]) -> Definition:
    def name_of(name: Name) -> Name:
        lower = name.value.lower()
        return replace(name, value=names.get(lower) or _CORE_RULES.get(lower, name.value))

    def change(leaf: Leaf) -> Leaf:
        return replace(leaf, name=name_of(leaf.name)) if isinstance(leaf, Reference) else leaf

    return replace(definition, name=name_of(definition.name), body=rewrite(definition.body, change))


def _made_rules(definitions: list[Definition], defined: set[str]) -> list[Definition]:
    """Return the core rules, and others, that are used and not ``defined`` (in lower case)."""
    missing: dict[str, Name] = {}
    for definition in definitions:
        for node in postorder(definition.body):
            if isinstance(node, Reference) and node.name.value.lower() not in defined:
                missing.setdefault(node.name.value, node.name)
    made = (_made_rule(name, first.span) for name, first in missing.items())
    return [rule for rule in made if rule is not None]


def _predefined(definitions: list[Definition]) -> frozenset[str]:
    """Return the core rules, be they written out, and the rules that are made for octets."""
    names = (definition.name.value for definition in definitions)
    return frozenset(
        octet for octet in names if octet.lower() in _CORE_RULES or octet[:2] == OCTETS
    )


def _check_signs(source: Source, statements: list[Statement]) -> Iterator[Diagnostic]:
    """Yield a finding for every second ``=`` of a name, and every first ``=/``."""
    first: dict[str, Statement] = {}
    for statement in statements:
        if not statement.is_definition:
            continue
        name, sign = statement.words[:2]
        earlier = first.setdefault(name.value.lower(), statement)
        if earlier is not statement and sign.value == "=":
            yield about.defined_again(source, name, earlier.words[0])
        elif earlier is statement and sign.value == "=/":
            yield about.nothing_to_add_to(source, sign, name.value)


def _first(statements: list[Statement]) -> str | None:
    return next(
        (statement.words[0].value for statement in statements if statement.is_definition), None
    )
