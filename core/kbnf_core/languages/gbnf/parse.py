r"""Parses GBNF: text in, a syntax tree of KBNF and findings out. Never raises.

The tree has the names and spans of the GBNF text, and the meaning that llama.cpp gives it: of
several definitions of a name the last one applies. Time is linear in the length of the text.

*Rules.* A rule begins with a name that is first on its line and has a sign after it, and goes on to
the next such name. llama.cpp ends it at the line break, unless that is in parentheses or after
``::=`` or ``|``; the words before which it would refuse one are ``Statement.odd``. A part that is
written as nothing becomes the empty text.

*Strings and classes.* The escapes are those of llama.cpp, the same in both: ``\t \n \r``,
``\\ \" \[ \] \-``, ``\xHH``, ``\uHHHH`` and ``\UHHHHHHHH``. Numbers are code points; llama.cpp does
not check that they are characters, so they may be halves of surrogate pairs or beyond U+10FFFF.

*Tokens.* ``!<text>`` is any one token but the one that ``text`` is: KBNF needs the number of that
token, which a vocabulary knows. Without one it is any token, and that is a loss.

*Checks.* A construct that llama.cpp refuses and other readers accept is a warning (W411); so is one
with another meaning than it seems to have (W413, W414).

Tests: tests/unit/languages/gbnf
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kbnf_core.automata.codepoints import from_ranges
from kbnf_core.conversion.rewrite import rewrite
from kbnf_core.kbnf.build import nothing, regex, text
from kbnf_core.kbnf.parsed import Loss, Parsed
from kbnf_core.kbnf.read import number
from kbnf_core.kbnf.statements import (
    SIGNS,
    Lexer,
    Metasyntax,
    Mistake,
    Statement,
    StatementParser,
    Word,
    parse_statements,
    shown,
    span_of,
    too_deep,
)
from kbnf_core.kbnf.tree import (
    Alternation,
    Bracket,
    BracketKind,
    Comment,
    Concatenation,
    Definition,
    Document,
    Expression,
    Leaf,
    Name,
    Reference,
    Repetition,
    Terminal,
    Text,
    TokenName,
    TokenSet,
    children,
    postorder,
)
from kbnf_core.languages.gbnf import explain as about
from kbnf_core.languages.gbnf.explain import llama_says, nothing_to_repeat
from kbnf_core.languages.gbnf.left_recursion import check_left_recursion
from kbnf_core.text.diagnostics import Diagnostic, Label
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import Source, Span
from kbnf_core.text.suggest import Suggestions

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary

_GOES_ON = frozenset({"DEFINE", "OR"})


@cache
def gbnf_parser() -> StatementParser:
    """Return the parser of GBNF."""
    return StatementParser(Path(__file__).parent, GbnfBuilder())


def split(text: str) -> tuple[list[Statement], tuple[Comment, ...]]:
    """Split ``text`` into rules, and the comments in and between them, in linear time."""
    comments: list[Comment] = []
    words: list[Word] = []
    first_of_line: list[bool] = []
    begins = True
    for word in Lexer(gbnf_parser(), text).words():
        if word.type == "COMMENT":
            comments.append(Comment(word.value[1:], span_of(word)))
        elif word.type == "NEWLINE":
            begins = True
        else:
            words.append(word)
            first_of_line.append(begins)
            begins = False
    return _group(words, first_of_line), tuple(comments)


def _group(words: list[Word], first_of_line: list[bool]) -> list[Statement]:
    statements: list[Statement] = []
    depth = 0
    for index, word in enumerate(words):
        sign = words[index + 1].type if index + 1 < len(words) else ""
        # Also inside of a bracket: one that is never closed spoils its own rule alone.
        if first_of_line[index] and word.type == "NAME" and sign in SIGNS:
            statements.append(Statement([word]))
            depth = 0
            continue
        if not statements:
            statements.append(Statement())
        current = statements[-1]
        goes_on = depth > 0 or (current.words and current.words[-1].type in _GOES_ON)
        if first_of_line[index] and current.words and not goes_on:
            current.odd.append(word)
        depth += (word.type == "LPAR") - (word.type == "RPAR")
        current.words.append(word)
    return statements


_SIMPLE = {"t": "\t", "n": "\n", "r": "\r"}

_CODE_POINT = re.compile(
    r"""(?P<plain>[^\\])
      | \\(?:(?P<simple>[tnr\\"\[\]-])
      | x(?P<two>[0-9A-Fa-f]{2})
      | u(?P<four>[0-9A-Fa-f]{4})
      | U(?P<eight>[0-9A-Fa-f]{8}))
      | (?P<bad>\\.|\\)""",
    re.VERBOSE | re.DOTALL,
)


class CodePoint(NamedTuple):
    """One code point as it is written: its number, None for an invalid escape, and its place.

    ``plain`` says that it stands for itself, without a backslash.
    """

    point: int | None
    span: Span
    plain: bool


class ClassMember(NamedTuple):
    """A range of a class, both ends included; reversed ranges are empty."""

    low: int
    high: int
    span: Span


class CharacterClass(NamedTuple):
    """The contents of ``[...]`` or ``[^...]``."""

    negated: bool
    members: tuple[ClassMember, ...]


def code_points(raw: str, start: int) -> Iterator[CodePoint]:
    """Split ``raw``, a string or class with its delimiters that is at ``start``."""
    for match in _CODE_POINT.finditer(raw, 1, len(raw) - 1):
        span = Span(start + match.start(), start + match.end())
        kind = match.lastgroup or "bad"
        yield CodePoint(_point(kind, match[kind]), span, kind == "plain")


def is_scalar(point: int) -> bool:
    """Return whether ``point`` is a character: no half of a surrogate pair, not beyond Unicode."""
    return point <= 0x10FFFF and not 0xD800 <= point <= 0xDFFF


def read_class(raw: str, start: int) -> CharacterClass:
    """Read a class as llama.cpp does: any member may begin a range, if `-` and a member follow."""
    points = [point_ for point_ in code_points(raw, start) if point_.point is not None]
    negated = raw.startswith("[^")
    members: list[ClassMember] = []
    at = 1 if negated else 0
    while at < len(points):
        ranged = at + 2 < len(points) and points[at + 1].plain and points[at + 1].point == ord("-")
        low, high = points[at], points[at + 2 if ranged else at]
        members.append(ClassMember(low.point or 0, high.point or 0, low.span.cover(high.span)))
        at += 3 if ranged else 1
    return CharacterClass(negated, tuple(members))


def _point(kind: str, written: str) -> int | None:
    match kind:
        case "plain":
            return ord(written)
        case "simple":
            return ord(_SIMPLE.get(written, written))
        case "bad":
            return None
        case _:
            return int(written, 16)


_ANY = "(?s:.)"

_CONTROLS = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_SPECIAL = frozenset("\\[]^-&~")
"""What means something in a class of a regular expression."""


def string_leaf(raw: str, span: Span) -> Leaf:
    """Return the leaf of ``"..."``; what contains no character at some place matches nothing."""
    if "\\" not in raw:
        return Terminal(Text(raw[1:-1], span, range(span.start + 1, span.end)), span)
    result = [(p.point, p.span.start) for p in code_points(raw, span.start) if p.point is not None]
    if not all(is_scalar(point) for point, _ in result):
        return nothing(span)
    value = "".join(chr(point) for point, _ in result)
    return Terminal(Text(value, span, (*(offset for _, offset in result), span.end - 1)), span)


def class_leaf(raw: str, span: Span) -> Leaf:
    """Return the leaf of a class; ``[]`` and ``[^]`` are the empty text in llama.cpp."""
    negated, members = read_class(raw, span.start)
    if not members:
        return text("", span)
    ranges = [range_ for low, high, _ in members for range_ in from_ranges([(low, high)])]
    # There are members, but none that is a character: halves of pairs, numbers beyond the last.
    if not ranges:
        return any_leaf(span) if negated else nothing(span)
    inner = "".join(_range(low, high) for low, high in ranges)
    return regex(f"[{'^' if negated else ''}{inner}]", span)


def any_leaf(span: Span) -> Leaf:
    """Return the leaf of ``.``: any one character, line breaks too."""
    return regex(_ANY, span)


def _range(low: int, high: int) -> str:
    if low == high:
        return _member(low)
    return f"{_member(low)}{'' if high == low + 1 else '-'}{_member(high)}"


def _member(point: int) -> str:
    char = chr(point)
    if char in _CONTROLS:
        return _CONTROLS[char]
    if char in _SPECIAL:
        return "\\" + char
    return char if char.isprintable() else f"\\x{{{point:X}}}"


_Branch: TypeAlias = Expression | Word | None

_BOUNDS: dict[str, tuple[int, int | None]] = {
    "QUESTION": (0, 1),
    "STAR": (0, None),
    "PLUS": (1, None),
}

COUNT = re.compile(
    r"\{\s*(?P<low>[0-9]*)\s*(?:(?P<comma>,)\s*(?P<high>[0-9]*)\s*)?\}",
)
"""A count; llama.cpp wants its lower bound."""

MAX_TOKEN_ID = 2**32 - 1
EXCLUDED_NAME = "!"
"""Names of nonterminals that stand for ``!<text>``, any token but one, begin with it."""


class GbnfBuilder:
    """The methods that Lark calls; stateless, so one serves every parse."""

    def definition(self, values: tuple[Word, Word, list[_Branch]]) -> Definition:
        """``name ::= alternation``."""
        name, sign, branches = values
        body = _join(branches, span_of(sign).end)
        span = span_of(name).cover(span_of(sign)).cover(body.span)
        return Definition(Name(name.value, span_of(name)), body, span)

    def alternation(self, branches: list[_Branch]) -> list[_Branch]:
        """``x | y``: the branches, None for empty ones, and the bars between them."""
        return branches

    def sequence(self, items: list[Expression]) -> Expression | None:
        """``x y``, one symbol alone, or nothing."""
        if len(items) <= 1:
            return items[0] if items else None
        return Concatenation(tuple(items), items[0].span.cover(items[-1].span))

    def repetition(self, values: tuple[Expression, Word]) -> Repetition:
        """``x`` and its operator; an invalid count has a finding of its own."""
        body, operator = values
        low, high = _BOUNDS.get(operator.type) or read_count(operator.value) or (0, 0)
        # llama.cpp takes a bound above its limit for none. It is kept as it is written as long as
        # it can be counted here, as other readers do.
        if high is not None and low <= LLAMA_LIMIT and high > DEFAULT_LIMITS.repetition:
            high = None
        operator_span = span_of(operator)
        return Repetition(body, low, high, operator_span, body.span.cover(operator_span))

    def reference(self, words: list[Word]) -> Reference:
        """``name``."""
        span = span_of(words[0])
        return Reference(Name(words[0].value, span), span)

    def string(self, words: list[Word]) -> Leaf:
        """``"..."``."""
        return string_leaf(words[0].value, span_of(words[0]))

    def class_(self, words: list[Word]) -> Leaf:
        """``[...]``."""
        return class_leaf(words[0].value, span_of(words[0]))

    def any(self, words: list[Word]) -> Leaf:
        """``.``."""
        return any_leaf(span_of(words[0]))

    def token(self, words: list[Word]) -> Leaf:
        """``<[id]>``, ``<text>``, ``!<[id]>`` or ``!<text>``."""
        span = span_of(words[0])
        excluded = words[0].value.startswith("!")
        text = words[0].value.removeprefix("!")
        if text.startswith("<["):
            # A larger number is reported later; it has to fit 32 bits until then.
            token_id = min(number(text[2:-2]), MAX_TOKEN_ID)
            return TokenSet(((token_id, token_id),), excluded, span)
        if excluded:
            return Reference(Name(EXCLUDED_NAME + text, span), span)
        return TokenName(Text(text, span, tuple(range(span.start, span.end))), span)

    def group(self, values: tuple[Word, list[_Branch], Word]) -> Bracket:
        """``( x )``."""
        opening, branches, closing = values
        body = _join(branches, span_of(opening).end)
        return Bracket(BracketKind.GROUP, body, span_of(opening).cover(span_of(closing)))


def read_count(written: str) -> tuple[int, int | None] | None:
    """Return the bounds of ``{...}``, numbers beyond reason as MANY; None if it is not a count."""
    match = COUNT.fullmatch(written)
    if match is None or not (match["low"] or match["high"]):
        return None
    low = number(match["low"] or "0")
    if not match["comma"]:
        return low, low
    return low, number(match["high"]) if match["high"] else None


def _join(branches_: list[_Branch], start: int) -> Expression:
    """Return the branches as one expression; the first would be at ``start``."""
    branches: list[Expression] = []
    for branch in branches_:
        if isinstance(branch, Word):
            start = span_of(branch).end
        else:
            branches.append(branch or text("", Span(start, start)))
            start = branches[-1].span.end
    if len(branches) == 1:
        return branches[0]
    return Alternation(tuple(branches), branches[0].span.cover(branches[-1].span))


LLAMA_LIMIT = 2000
"""Counts above it llama.cpp refuses, or treats as having no bound."""

_DIGITS = {"x": 2, "u": 4, "U": 8}


def check_words(source: Source, statement: Statement) -> Iterator[Diagnostic]:
    """Yield the mistakes in the words of a rule, and in its line breaks."""
    for word in statement.words:
        if word.type in ("STRING", "CLASS"):
            yield from _check_characters(source, word)
        if word.type == "CLASS" and ("-" in word.value or word.value in _EMPTY):
            yield from _check_class(source, word)
        elif word.type == "COUNT":
            yield from _check_count(source, word)
    if "_" in statement.words[0].value:
        yield _underscore(source, statement.words[0])
    if statement.odd:
        yield _broken_line(source, statement.odd[0])


_EMPTY = frozenset(('""', "[]", "[^]"))
"""What matches the empty text alone."""


def _has_counts(statement: Statement) -> bool:
    """Return whether anything in a rule is counted, or may be refused as an operand or a token."""
    # A group that makes so many symbols is refused under any operator, `?` too.
    return len(statement.words) > LLAMA_LIMIT or any(
        word.type in ("COUNT", "TOKEN") or word.value in _EMPTY for word in statement.words
    )


def check_definition(
    source: Source, definition: Definition, limits: Limits, mentioned: set[str]
) -> Iterator[Diagnostic]:
    """Yield the mistakes in the operators of a rule, and in its tokens.

    ``mentioned`` are the names of the rules before this one in the text, and what they use.
    """
    mentioned.add(definition.name.value)
    # What llama.cpp makes symbols of in a part, and how many it counts for where it is repeated.
    symbols: dict[int, int] = {}
    sizes: dict[int, int] = {}
    for node in postorder(definition.body):
        symbols[id(node)] = sum(symbols[id(node_)] for node_ in children(node))
        sizes[id(node)] = 1
        match node:
            case Reference(name) if name.value not in mentioned:
                mentioned.add(name.value)
                symbols[id(node)] = 1
            case Bracket():
                symbols[id(node)] += 1
                sizes[id(node)] = symbols[id(node)]
            case Repetition():
                size = sizes[id(node.body)]
                yield from _check_repetition(source, node, size, limits)
                symbols[id(node)] += 1 if node.high is None else node.high - node.low
                sizes[id(node)] = size * _copies(node)
            case TokenSet() if MAX_TOKEN_ID in node.ranges[0]:
                yield Diagnostic("E016", f"token ids end at {MAX_TOKEN_ID - 1}", source, node.span)


def _copies(node: Repetition) -> int:
    """Return by how much llama.cpp multiplies the size of a repeated expression."""
    if node.high is None or node.high > LLAMA_LIMIT:
        return max(node.low, 1)
    return max(node.high, 1)


def _check_characters(source: Source, word: Word) -> Iterator[Diagnostic]:
    if word.value.isascii() and "\\" not in word.value and "\0" not in word.value:
        return
    for point in code_points(word.value, span_of(word).start):
        if point.point is None:
            yield _bad_escape(source, point, word.type)
        elif not is_scalar(point.point) or (point.point == 0 and word.type == "STRING"):
            yield _no_character(source, point.point, point.span)
        elif source.slice(point.span) == r"\-":
            message = r"llama.cpp before August 2026 refuses `\-`"
            help_ = "write `-` first or last in a class" if word.type == "CLASS" else "write `-`"
            yield _refused(source, point.span, message, "unknown escape at", help_)


def _bad_escape(source: Source, point: CodePoint, word: str) -> Diagnostic:
    written = source.slice(point.span)
    if written[1:] in about.CLASSES:
        return about.class_escape(source, point.span, word)
    digits = _DIGITS.get(written[-1])
    if digits is not None:
        message = f"`{written}` is followed by {digits} hexadecimal digits"
        says = f"expecting {digits} hex chars at"
    else:
        message, says = f"{shown(written)} is not an escape", "unknown escape at"
    helps = (r"GBNF knows \t \n \r \\ \" \[ \] \xHH \uHHHH \UHHHHHHHH",)
    return Diagnostic("E007", message, source, point.span, notes=(llama_says(says),), helps=helps)


def _no_character(source: Source, point: int, span: Span) -> Diagnostic:
    if point == 0:
        notes = ("llama.cpp reads it, but can never generate it",)
        return Diagnostic("W413", "U+0000 can never match in llama.cpp", source, span, notes=notes)
    message = f"U+{point:04X} is not a character, so nothing can match it"
    return Diagnostic("W413", message, source, span)


def _check_class(source: Source, word: Word) -> Iterator[Diagnostic]:
    class_read = read_class(word.value, span_of(word).start)
    if word.value in _EMPTY:
        notes = (
            "in llama.cpp it is the empty text; other readers treat it as nothing or anything",
        )
        yield Diagnostic("W413", "this class is empty", source, span_of(word), notes=notes)
    for low, high, span in class_read.members:
        if high < low:
            notes = ("llama.cpp treats it as an empty range; other readers refuse it",)
            yield Diagnostic("W413", "this range is reversed", source, span, notes=notes)


def _check_count(source: Source, word: Word) -> Iterator[Diagnostic]:
    match = COUNT.fullmatch(word.value)
    if read_count(word.value) is None or match is None:
        says = "expecting ',' at" if "," not in word.value else "expecting an int at"
        message = f"{shown(word.value)} is not a count"
        helps = ("a count is written `{3}`, `{2,}` or `{2,5}`",)
        notes = (llama_says(says),)
        yield Diagnostic("E001", message, source, span_of(word), notes=notes, helps=helps)
    elif not match["low"]:
        message = "llama.cpp refuses a count without its lower bound"
        yield _refused(source, span_of(word), message, "expecting an int at", "write `0` in front")


def _underscore(source: Source, word: Word) -> Diagnostic:
    message = f"llama.cpp refuses the `_` in `{word.value}`"
    help_ = "write `-` in place of `_`"
    return _refused(source, span_of(word), message, "expecting newline or end at", help_)


def _broken_line(source: Source, word: Word) -> Diagnostic:
    message = "llama.cpp ends the rule at the line break before this"
    help_ = "end the line before with `|`, or put the rule in parentheses"
    return _refused(source, span_of(word), message, "expecting name at", help_)


def _refused(source: Source, span: Span, message: str, says: str, help_: str) -> Diagnostic:
    notes = (llama_says(says),)
    return Diagnostic("W411", message, source, span, notes=notes, helps=(help_,))


def _check_repetition(
    source: Source, node: Repetition, size: int, limits: Limits
) -> Iterator[Diagnostic]:
    if isinstance(node.body, Terminal) and not node.body.text.value:
        if "\\" in source.slice(node.body.span):
            # An invalid escape has a finding of its own.
            return
        yield nothing_to_repeat(source, node.operator, shown(source.slice(node.operator)))
        return
    high = node.low if node.high is None else node.high
    if high < node.low:
        message = "this count has its larger number first"
        notes = ("llama.cpp does not notice, and never ends",)
        yield Diagnostic("E013", message, source, node.operator, notes=notes)
    elif high > limits.repetition:
        message = f"this count is above {limits.repetition}"
        yield Diagnostic("E013", message, source, node.operator)
    elif node.low > LLAMA_LIMIT or size * _copies(node) > LLAMA_LIMIT:
        notes = (llama_says("number of repetitions exceeds sane defaults"),)
        message = f"llama.cpp refuses more than {LLAMA_LIMIT} repetitions"
        if size > 1:
            message += f", and this part counts for {size:,}"
        yield Diagnostic("W414", message, source, node.operator, notes=notes)
    elif high > LLAMA_LIMIT or _is_read_as_unbounded(source, node):
        message = f"llama.cpp reads an upper bound above {LLAMA_LIMIT} as none at all"
        bound = ("so it is read here, too",) if node.high is None else ()
        yield Diagnostic("W414", message, source, node.operator, notes=bound)


def _is_read_as_unbounded(source: Source, node: Repetition) -> bool:
    """Return whether a repetition without an upper bound is written with one."""
    written = read_count(source.slice(node.operator)) if node.high is None else None
    return written is not None and written[1] is not None


def check_names(
    source: Source,
    definitions: list[Definition],
    kept: Mapping[str, Definition],
    broken: set[str],
) -> tuple[set[str], list[Diagnostic]]:
    """Return the names that are used and not defined, and the findings about all names."""
    defined = frozenset(kept) | broken
    missing = _undefined(definitions, defined)
    suggestions = Suggestions(defined)
    return set(missing), [
        *_check_redefinitions(source, definitions, kept),
        *(_undefined_finding(source, name, suggestions) for name in missing.values()),
    ]


def _check_redefinitions(
    source: Source, definitions: list[Definition], kept: Mapping[str, Definition]
) -> Iterator[Diagnostic]:
    """Yield a W412 for every definition that a later one replaces."""
    for definition in definitions:
        last = kept[definition.name.value]
        if definition is not last:
            name = definition.name
            message = f"this definition of `{name.value}` is replaced by a later one"
            label = Label(last.name.span, "this one counts")
            notes = ("llama.cpp says nothing; other readers refuse the file, KBNF joins them",)
            yield Diagnostic("W412", message, source, name.span, labels=(label,), notes=notes)


def _undefined(definitions: list[Definition], defined: frozenset[str]) -> dict[str, Name]:
    """Return the first use of every name that has no definition."""
    result: dict[str, Name] = {}
    for definition in definitions:
        for node in postorder(definition.body):
            if isinstance(node, Reference) and not _is_defined(node.name.value, defined):
                result.setdefault(node.name.value, node.name)
    return result


def _is_defined(name: str, defined: frozenset[str]) -> bool:
    return name in defined or name.startswith(EXCLUDED_NAME)


def _undefined_finding(source: Source, name: Name, suggestions: Suggestions) -> Diagnostic:
    """Return the E101 for a name that is used and not defined."""
    close = suggestions.closest(name.value)
    return Diagnostic(
        "E101",
        f"the rule `{name.value}` is not defined",
        source,
        name.span,
        notes=(llama_says(f"Undefined rule identifier '{name.value}'"),),
        helps=(f"did you mean `{close}`?" if close else f"define it: `{name.value} ::= ...`",),
    )


def parse_gbnf(
    source: Source, limits: Limits = DEFAULT_LIMITS, vocabulary: "Vocabulary | None" = None
) -> Parsed:
    """Parse ``source``; ``vocabulary`` says the numbers of excluded tokens.

    Rules with mistakes are left out of the document, and their names are kept in its
    ``broken_names``, as are names that are used and not defined at all.
    """
    statements, comments = split(source.text)
    read = parse_statements(statements, _GbnfRules(source, limits))
    kept = {definition.name.value: definition for definition in read.trees}
    missing, misnamed = check_names(source, read.trees, kept, read.broken)
    findings = [*read.findings, *_check_last_lines(source, statements), *misnamed]
    if not (read.trees or findings):
        findings.append(about.no_rules(source))
    definitions = tuple(d for d in read.trees if kept[d.name.value] is d)
    definitions, losses = _with_excluded(source, definitions, vocabulary)
    document = Document(source, definitions, comments, frozenset(read.broken | missing))
    return _GbnfParsed(document, tuple(sorted(findings, key=Diagnostic.sort_key)), losses=losses)


class _GbnfParsed(Parsed):
    def lint(self) -> tuple[Diagnostic, ...]:
        return tuple(check_left_recursion(self.document.source, self.document.definitions))


class _GbnfRules(Metasyntax[Definition]):
    """The rules of a text."""

    def __init__(self, source: Source, limits: Limits) -> None:
        super().__init__(source, limits)
        self._mentioned: set[str] = set()

    def parser(self) -> StatementParser:
        return gbnf_parser()

    def refuse(self, statement: Statement) -> Iterable[Diagnostic] | None:
        if not statement.is_definition:
            return (about.no_name(self.source, statement.words[0]),)
        sign = statement.words[1]
        return (about.wrong_sign(self.source, sign),) if sign.type == "WRONG_SIGN" else None

    def explain(self, statement: Statement, mistake: Mistake) -> Iterable[Diagnostic]:
        del statement
        return (too_deep(mistake, self.limits) or about.explain(mistake),)

    def validate(self, statement: Statement, tree: Definition) -> Iterator[Diagnostic]:
        yield from check_words(self.source, statement)
        if _has_counts(statement):
            yield from check_definition(self.source, tree, self.limits, self._mentioned)
        else:
            self._mentioned.update(word.value for word in statement.words if word.type == "NAME")

    def names(self, statement: Statement) -> Iterable[str]:
        return super().names(statement) if statement.is_definition else ()


def _check_last_lines(source: Source, statements: list[Statement]) -> Iterator[Diagnostic]:
    """Yield rules that end in ``::=`` or ``|`` before another: there llama.cpp reads on."""
    for statement, _ in pairwise(statements):
        last = statement.words[-1]
        if statement.is_definition and last.type in ("DEFINE", "OR"):
            yield about.reads_on(source, last)


def _with_excluded(
    source: Source, definitions: tuple[Definition, ...], vocabulary: "Vocabulary | None"
) -> tuple[tuple[Definition, ...], tuple[Loss, ...]]:
    """Return the rules with a set of tokens for every ``!<text>``, and the unknown tokens."""
    losses: dict[str, Loss] = {}

    def change(leaf: Leaf) -> Leaf:
        if not (isinstance(leaf, Reference) and leaf.name.value.startswith(EXCLUDED_NAME)):
            return leaf
        ids = _ids(leaf.name.value.removeprefix(EXCLUDED_NAME), vocabulary)
        if ids:
            return TokenSet(tuple((token_id, token_id) for token_id in ids), True, leaf.span)
        losses.setdefault(leaf.name.value, _unknown_token(leaf.name))
        return TokenSet(((0, MAX_TOKEN_ID),), False, leaf.span)

    if "!<" not in source.text:
        return definitions, ()
    changed = tuple(
        replace(definition, body=rewrite(definition.body, change)) for definition in definitions
    )
    return changed, tuple(losses.values())


def _ids(text: str, vocabulary: "Vocabulary | None") -> tuple[int, ...]:
    """Return the numbers of the tokens that are spelled ``text``, a special one first."""
    if vocabulary is None:
        return ()
    special = vocabulary.special_tokens.get(text)
    return vocabulary.token_ids(text.encode()) if special is None else (special,)


def _unknown_token(name: Name) -> Loss:
    text = name.value.removeprefix(EXCLUDED_NAME)
    return Loss(
        "W402",
        f"`{name.value}` excludes a token whose number is not known",
        name.span,
        notes=(f"without a vocabulary it stands for any token, `{text}` too",),
        helps=("`kbnf convert-gbnf --vocab FILE` finds the number",),
    )
