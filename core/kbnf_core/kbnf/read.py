"""Parses KBNF: text in, syntax tree and findings out. Never raises, whatever the text.

A text is cut into words, and the words into statements, one definition each if all is well; any
text falls into words (see the last part of ``grammar.lark``), so nothing there can fail. Each
statement is parsed for itself, so that every mistake of a file is found and none is found twice.
While Lark reduces its rules, the tree is built part by part: each method of the builder is called
with the parts of the rule (or alias) of its name, tokens and what the methods made of inner rules.
What the grammar does not say, words that are nearly right and numbers, is checked after that.

Time is linear in the length of the text. What explains mistakes is imported for the first one.
Patterns are also spelled without the raw form here, for engines that read KBNF and do not know it.

Tests: tests/unit/kbnf
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Set
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from kbnf_core.ir.families import MARK, family_of
from kbnf_core.kbnf.escapes import characters_of, decode, decode_bytes, decode_raw
from kbnf_core.kbnf.parsed import Parsed
from kbnf_core.kbnf.printer import quote
from kbnf_core.kbnf.statements import (
    NAMES,
    SIGNS,
    Lexer,
    Metasyntax,
    Mistake,
    Statement,
    StatementParser,
    Word,
    character,
    parse_statements,
    parse_words,
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
    Exception_,
    Expression,
    Name,
    Number,
    Pattern,
    PatternKind,
    Reference,
    Repetition,
    Terminal,
    Text,
    TokenName,
    TokenSet,
    postorder,
)
from kbnf_core.text.diagnostics import Diagnostic, Fix, Severity, TextEdit
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import Source, Span

if TYPE_CHECKING:
    from kbnf_core.kbnf.explain import ForeignWords


def without_raw(text: str) -> str:
    r"""Return a text of KBNF with each ``#r"\d"`` written ``#"\\d"``; all else stays."""
    document = parse_kbnf(Source(text)).document
    patterns = [
        node
        for definition in document.definitions
        for node in postorder(definition.body)
        if isinstance(node, Pattern) and node.is_raw
    ]
    texts, end = [], 0
    for pattern in sorted(patterns, key=lambda pattern_read: pattern_read.span.start):
        texts += [text[end : pattern.span.start], f"#{quote(pattern.text.value)}"]
        end = pattern.span.end
    return "".join((*texts, text[end:]))


DEFINITION_LINE = re.compile(
    r"^[ \t]*(?P<name>[A-Za-z_]\w*+)(?:@\w++)?[ \t]*(?P<sign>:(?:[ \t]*:)?(?:[ \t]*=)?|=|->)",
    re.MULTILINE,
)
"""A line that looks like the start of a definition."""

_REREAD = 4
"""How many times the length of a text may be read again before `Words` refuses."""


@cache
def kbnf_parser() -> StatementParser:
    """Return the parser of KBNF."""
    return StatementParser(Path(__file__).parent, TreeBuilder())


_LINE_COMMENT = re.compile(r"""(?:\#(?=[ \t!]|$)(?![ \t]*['"])|//)[^\n]*""", re.MULTILINE)
"""A comment as other languages write it, up to the end of its line. A pattern is ``#"..."``."""


class Words:
    """Reads the words of a text, from the start or from any position on.

    ``comments`` are those passed so far, ``foreign_comments`` the places of those that are written
    as in other languages; a byte order mark in front is skipped.
    """

    def __init__(self, text: str) -> None:
        self.comments: list[Comment] = []
        self.foreign_comments: list[Span] = []
        self._text = text
        self._lexer = Lexer(kbnf_parser(), text)
        self._budget = _REREAD * len(text)
        self._go_to(None)

    def go_back(self, index: int) -> bool:
        """Read again from ``index`` on; refuse (False) where that could take for ever."""
        self._budget -= self._lexer.position - index
        if self._budget < 0:
            return False
        self._go_to(index)
        while self.comments and self.comments[-1].span.start >= index:
            self.comments.pop()
        while self.foreign_comments and self.foreign_comments[-1].start >= index:
            self.foreign_comments.pop()
        return True

    def _go_to(self, index: int | None) -> None:
        self._words = self._without_foreign_comments(self._lexer.words(index))
        self._ahead: list[Word] = []

    def _without_foreign_comments(self, words: Iterator[Word]) -> Iterator[Word]:
        for word in words:
            if word.value in ("#", "/"):
                comment = _LINE_COMMENT.match(self._text, span_of(word).start)
                if comment is not None:
                    self.foreign_comments.append(Span(*comment.span()))
                    self._lexer.position = comment.end()
                    continue
            yield word

    def statements(self) -> Iterator[Statement]:
        """Yield the statements; ``odd`` are invalid blanks between their words."""
        while (statement := self.statement()).words:
            yield statement

    def statement(self) -> Statement:
        """Return the words up to and including a ``;``; none at the end of the text."""
        statement = Statement(self._ahead)
        words, self._ahead = self._ahead, []
        for word in self._words:
            if word.type == "COMMENT":
                self.comments.append(Comment(word.value[2:-2], span_of(word)))
            elif word.type == "ODD_BLANK":
                statement.odd.append(word)
            elif word.type in SIGNS and self._starts_definition(words, word):
                statement.following = words.pop()
                self._ahead = [statement.following, word]
                break
            else:
                words.append(word)
                if word.type == "END":
                    break
        return statement

    def _starts_definition(self, words: list[Word], sign: Word) -> bool:
        """Return whether the last of ``words`` and ``sign`` start another definition."""
        if len(words) < 2 or words[-1].type not in NAMES:
            return False
        # Other signs than ours occur within a rule of other languages, too: there only a name at
        # the start of a line begins a definition.
        between = span_of(words[-2]).end, span_of(words[-1]).start
        return sign.value == "::=" or self._text.find("\n", *between) >= 0


MOST_FORMS = 20
"""Mistakes of one definition after which reading goes on; each takes reading it again."""


def parse_kbnf(
    source: Source, limits: Limits = DEFAULT_LIMITS, words: Words | None = None
) -> Parsed:
    """Parse ``source``, by ``words`` where the caller wants to know them.

    Definitions with mistakes are left out of the document, their names are kept in its
    ``broken_names``. A definition that lacks nothing but its ``;`` (E002, W001) is kept.
    """
    words = words or Words(source.text)
    metasyntax = _KbnfStatements(source, limits, words)
    read = parse_statements(words.statements(), metasyntax)
    findings = [*read.findings, *metasyntax.unended]
    if words.foreign_comments:
        from kbnf_core.kbnf.explain import line_comment

        findings += [line_comment(source, span) for span in words.foreign_comments]
    if not (read.trees or findings):
        from kbnf_core.kbnf import explain as about

        findings.append(about.no_rules(source))
    # A text without errors is KBNF, whatever else it may look like.
    if any(finding.severity is Severity.ERROR for finding in findings):
        from kbnf_core.kbnf.detect import other_language

        foreign = other_language(source)
        if foreign is not None:
            return Parsed(Document(source, (), ()), (foreign,))
    comments = tuple(words.comments)
    document = Document(source, tuple(read.trees), comments, frozenset(read.broken))
    return Parsed(document, tuple(sorted(findings, key=Diagnostic.sort_key)))


_DEFINED = re.compile(r"([\w-]++)(?:@\w++)?\s*+(?=::=|=)")


class _KbnfStatements(Metasyntax[Definition]):
    """The statements of a text; ``unended`` are the findings about missing ``;``."""

    def __init__(self, source: Source, limits: Limits, words: Words) -> None:
        super().__init__(source, limits)
        self.unended: list[Diagnostic] = []
        self._words = words
        self._lost = False
        self._angled: list[Diagnostic] = []
        self._names: frozenset[str] | None = None

    def parser(self) -> StatementParser:
        return kbnf_parser()

    def intended(self, words: list[Word]) -> list[Word]:
        """Return ``words`` with the slips put right that `check_words` and `_check_end` report."""
        intended = [word.as_kind("NAME") if word.type == "BAD_NAME" else word for word in words]
        if words[1].type != "DEFINE":
            intended[1] = words[1].as_kind("DEFINE")
        if words[-1].type != "END":
            end = span_of(words[-1]).end
            intended.append(Word("END", "", end, end))
        return intended

    def refuse(self, statement: Statement) -> Iterable[Diagnostic] | None:
        self._angled = []
        if "JUNK" in statement.kinds:
            from kbnf_core.kbnf.explain import angled_names

            statement.words, self._angled = angled_names(self.source, statement.words)
        if statement.is_definition:
            return None
        if self._lost:  # It is what remains of a statement that went wrong.
            return ()
        from kbnf_core.kbnf import explain as about

        self._lost = True
        return (about.no_definition(self.source, statement),)

    def validate(self, statement: Statement, tree: Definition) -> Iterator[Diagnostic]:
        return self._checked(statement, tree, self._angled)

    def _checked(
        self, statement: Statement, tree: Definition, foreign: list[Diagnostic]
    ) -> Iterator[Diagnostic]:
        """Yield ``foreign``, and the other findings about a statement that has a tree."""
        self._lost = False
        self._check_end(statement)
        yield from foreign
        yield from _not_within(check_words(self.source, statement, self._defined), foreign)
        if not statement.kinds.isdisjoint(NUMBERED):
            yield from check_definition(self.source, tree, self.limits)

    def explain(self, statement: Statement, mistake: Mistake) -> Iterator[Diagnostic]:
        from kbnf_core.kbnf import explain as about
        from kbnf_core.kbnf.explain import explain, foreign_form

        foreign = self._angled.copy()
        runaway = None
        while (cut := about.quoted_in_slashes(mistake)) is None:
            runaway = self._runaway_string(mistake)
            if runaway is not None:
                break
            form = foreign_form(mistake) if len(foreign) < MOST_FORMS else None
            if form is None:
                break
            foreign.append(form.finding)
            parsed = parse_words(_without(mistake.words, form), self)
            if not isinstance(parsed, Mistake):
                yield from self._checked(statement, parsed, foreign)
                return
            mistake = parsed
        self._lost = True
        yield from foreign
        if cut is not None:
            self._words.go_back(cut.span.end)
            yield cut
            return
        if runaway is not None:
            yield about.open_string(self.source, runaway)
            return
        for slip in _not_within(check_words(self.source, statement, self._defined), foreign):
            if slip.span.start < mistake.span.start:
                yield slip
        yield too_deep(mistake, self.limits) or explain(mistake)

    def _defined(self) -> Set[str]:
        if self._names is None:
            self._names = frozenset(_DEFINED.findall(self.source.text))
        return self._names

    def names(self, statement: Statement) -> Iterator[str]:
        words = statement.words
        for name, sign in pairwise(words):
            if name.type in NAMES and sign.type in SIGNS:
                title = family_of(name.value)
                yield intended_name(title) or title
        if words[-1].type == "OPEN_COMMENT":
            for line in DEFINITION_LINE.finditer(words[-1].value):
                yield line["name"]

    def _check_end(self, statement: Statement) -> None:
        last = statement.words[-1]
        if last.type == "END":
            return
        from kbnf_core.kbnf import explain as about

        if statement.following is None:
            finding = about.missing_last_semicolon(self.source, last)
        else:
            finding = about.missing_semicolon(self.source, last, statement.following.value)
        self.unended.append(finding)

    def _runaway_string(self, mistake: Mistake) -> Word | None:
        """Return the quoted text that lacks its closing quote, if that explains the mistake.

        Where a later quote closed it by accident, it has swallowed the start of a definition:
        reading goes on there.
        """
        unclosed = next((word for word in mistake.words if word.type == "OPEN_STRING"), None)
        for word in mistake.words[: mistake.index + 1]:
            line_break = word.value.find("\n") if word.type in ("STRING", "RAW") else -1
            if line_break < 0:
                continue
            line = DEFINITION_LINE.search(word.value, line_break + 1)
            # A text may have a line like `a = b`; that is a definition only where a quote is
            # missing.
            if line is None or (line["sign"] != "::=" and unclosed is None):
                continue
            if self._words.go_back(span_of(word).start + line.start()):
                return word
        return unclosed


def _without(words: list[Word], form: "ForeignWords") -> list[Word]:
    """Return ``words`` with a name, or a bar, in the place of those of another language."""
    standin = words[form.first].as_kind(form.kind)
    return [*words[: form.first], standin, *words[form.behind :]]


def _not_within(findings: Iterable[Diagnostic], others: list[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield the findings whose subject is not within that of another one."""
    for finding in findings:
        if not any(o.span.start <= finding.span.start < o.span.end for o in others):
            yield finding


MAX_TOKEN_ID = 2**32 - 1
_REGEXES = frozenset({"REGEX", "EARLY", "COMPLEMENT"})

NUMBERED = frozenset({"COUNT_OPEN", "EXCEPT", "TOKEN_OPEN"})
"""The types of words after which numbers are."""


def check_words(
    source: Source, statement: Statement, defined: Callable[[], Set[str]]
) -> Iterator[Diagnostic]:
    """Yield the mistakes inside the words of a definition, and between them.

    ``defined`` returns the names of the text, right or wrong, that a sign follows.
    """
    words = statement.words
    for index, word in enumerate(words):
        if word.type == "STRING" and _lacks_mark(words, index):
            yield _lacking_mark(source, words[index - 1])
        elif word.type == "STRING":
            yield from _check_string(source, word, words[index - 1].type in _REGEXES)
        elif word.type == "BAD_NAME":
            yield _bad_name(source, word, defined())
    if words[1].type == "WRONG_SIGN":
        yield _wrong_sign(source, words[1])
    last = span_of(words[-1]).start
    for blank in statement.odd:
        if span_of(words[0]).start < span_of(blank).start < last:
            yield _odd_blank(source, blank)


def _check_string(source: Source, word: Word, in_regex: bool) -> Iterator[Diagnostic]:
    if "\\" not in word.value:
        return
    quoted_characters = list(characters_of(word.value, span_of(word).start))
    if all(quoted.value is not None for quoted in quoted_characters):
        return
    from kbnf_core.kbnf.explain import bad_escape, meant_for_regex

    for quoted in quoted_characters:
        if quoted.value is None:
            yield bad_escape(source, quoted, in_regex)
        elif in_regex and quoted.value in ("\b", "\f"):
            # Beside `\w` it is the regex that was meant, and one fix must not settle the other.
            yield meant_for_regex(source, quoted)


def _lacks_mark(words: list[Word], index: int) -> bool:
    """Return whether a text with wrong escapes is after an ``r``, as Python's raw strings."""
    mark = words[index - 1]
    touches = mark.value == "r" and mark.end_pos == words[index].start_pos
    return touches and any(
        character.value is None for character in characters_of(words[index].value, 0)
    )


def _lacking_mark(source: Source, mark: Word) -> Diagnostic:
    fix = Fix("insert `#`", (TextEdit(Span(span_of(mark).start, span_of(mark).start), "#"),))
    message = 'a raw pattern is written `#r"..."`'
    return Diagnostic("E001", message, source, span_of(mark), helps=(fix.message,), fixes=(fix,))


_NO_MARKS = {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d"}
"""Letters beyond ASCII that are not made of one of ASCII and a mark."""


def intended_name(written: str) -> str | None:
    """Return the name that is nearest to one with other letters or hyphens; None if none is."""
    plain = "".join(_NO_MARKS.get(letter, letter) for letter in written.replace("-", "_"))
    name = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
    # As many letters: marks are dropped, and not letters of another script.
    is_spelt = len(name) == len(unicodedata.normalize("NFC", plain))
    return name if is_spelt and name.isidentifier() else None


_EMPTY = frozenset("εϵλΛ")
"""The signs of books for the empty text."""


def _bad_name(source: Source, word: Word, defined: Set[str]) -> Diagnostic:
    from kbnf_core.kbnf.explain import class_around

    span = span_of(word)
    in_class = class_around(source, span)
    if in_class is not None:
        return in_class
    message = f"{shown(word.value)} is not a name"
    help_ = "names are made of ASCII letters, digits and `_`, and do not start with a digit"
    intended = intended_name(word.value)
    fixes: tuple[Fix, ...] = ()
    if word.value in _EMPTY:
        help_, fixes = (
            "the empty text is written `''`",
            (Fix("write `''`", (TextEdit(span, "''"),)),),
        )
    elif intended is not None:
        help_ = f"write `{intended}`: {help_}"
        if not {word.value, intended} <= defined:
            # Else the two rules would become one.
            fixes = (Fix(f"write `{intended}`", (TextEdit(span, intended),)),)
    return Diagnostic("E001", message, source, span, helps=(help_,), fixes=fixes)


def _wrong_sign(source: Source, word: Word) -> Diagnostic:
    fix = Fix("write `::=`", (TextEdit(span_of(word), "::="),))
    message = f"a rule is defined with `::=`, not {shown(word.value)}"
    return Diagnostic("E006", message, source, span_of(word), "expected `::=`", fixes=(fix,))


def _odd_blank(source: Source, word: Word) -> Diagnostic:
    fix = Fix("write a space", (TextEdit(span_of(word), " "),))
    message = f"{character(word.value)} is not a blank inside a rule"
    helps = ("use a space, a tab or a line break",)
    return Diagnostic("E001", message, source, span_of(word), helps=helps, fixes=(fix,))


def check_definition(
    source: Source, definition: Definition, limits: Limits
) -> Iterator[Diagnostic]:
    """Yield the mistakes in the numbers of ``definition`` (E013, E014, E016)."""
    for node in postorder(definition.body):
        match node:
            case Repetition():
                yield from _check_repetition(source, node, limits.repetition)
            case Exception_() if node.limit > limits.exception_length:
                message = f"the limit of `except!` is above {limits.exception_length}"
                helps = ("leave it out to have no limit",)
                yield Diagnostic("E014", message, source, node.span, helps=helps)
            case TokenSet():
                yield from _check_token_set(source, node)
            case _:
                pass


def _check_repetition(source: Source, node: Repetition, limit: int) -> Iterator[Diagnostic]:
    high = node.low if node.high is None else node.high
    if high < node.low and not node.is_counted_by_number:
        message = "this count has its larger number first"
        yield Diagnostic("E013", message, source, node.operator)
    elif max(node.low, high) > limit:
        yield Diagnostic("E013", f"this count is above {limit}", source, node.operator)


def _check_token_set(source: Source, node: TokenSet) -> Iterator[Diagnostic]:
    if any(high < low for low, high in node.ranges):
        message = "a range of token ids has its larger number first"
        yield Diagnostic("E016", message, source, node.span)
    if any(max(ids) > MAX_TOKEN_ID for ids in node.ranges):
        yield Diagnostic("E016", f"token ids end at {MAX_TOKEN_ID}", source, node.span)


class Operator(NamedTuple):
    """A postfix operator: its bounds, and where it is."""

    low: int
    high: int | None
    span: Span
    numbers: tuple[Number | None, Number | None] = (None, None)


Tokens: TypeAlias = list[Word]

_BOUNDS: dict[str, tuple[int, int | None]] = {
    "QUESTION": (0, 1),
    "STAR": (0, None),
    "PLUS": (1, None),
}

MANY = 10**18
"""Every number of more digits counts as this one, which is above every limit."""


class TreeBuilder:
    """The methods that Lark calls; stateless, so one serves every parse."""

    def definition(self, values: tuple[Word, Word, Expression, Word]) -> Definition:
        """``name ::= alternation ;``."""
        head, _, body, end = values
        name, mark, variable = head.value.partition(MARK)
        start = head.start_pos + len(name)
        bound = Name(variable, Span(start + len(MARK), head.end_pos)) if mark else None
        return Definition(Name(name, Span(head.start_pos, start)), body, _cover(head, end), bound)

    def alternation(self, branches: list[Expression]) -> Alternation:
        """``x | y``."""
        return Alternation(tuple(branches), _from(branches[0], branches[-1]))

    def sequence(self, items: list[Expression]) -> Concatenation:
        """``x y``."""
        return Concatenation(tuple(items), _from(items[0], items[-1]))

    def repetition(self, values: tuple[Expression, Operator]) -> Repetition:
        """``x`` and its operator."""
        body, (low, high, operator, numbers) = values
        span = Span(body.span.start, operator.end)
        return Repetition(body, low, high, operator, span, numbers)

    def operator(self, tokens: Tokens) -> Operator:
        """``?``, ``*`` or ``+``."""
        low, high = _BOUNDS[tokens[0].type]
        return Operator(low, high, _span(tokens[0]))

    def exactly(self, tokens: Tokens) -> Operator:
        """``{3}``."""
        start, count, end = tokens
        bound, value = _bound(count)
        return Operator(bound, bound, _cover(start, end), (value, value))

    def at_least(self, tokens: Tokens) -> Operator:
        """``{2,}``."""
        start, low, end = tokens
        bound, value = _bound(low)
        return Operator(bound, None, _cover(start, end), (value, None))

    def at_most(self, tokens: Tokens) -> Operator:
        """``{,5}``."""
        start, high, end = tokens
        bound, value = _bound(high)
        return Operator(0, bound, _cover(start, end), (None, value))

    def between(self, tokens: Tokens) -> Operator:
        """``{2,5}``."""
        start, low, high, end = tokens
        (least, first), (most, second) = _bound(low), _bound(high)
        return Operator(least, most, _cover(start, end), (first, second))

    def reference(self, tokens: Tokens) -> Reference:
        """``name``, used as a symbol."""
        word = tokens[0]
        name, mark, written = word.value.partition(MARK)
        end = word.start_pos + len(name)
        number = _number(mark + written, end) if mark else None
        return Reference(Name(name, Span(word.start_pos, end)), _span(word), number)

    def name(self, tokens: Tokens) -> Name:
        """``name``, as the argument of `except!`."""
        return _name(tokens[0])

    def terminal(self, tokens: Tokens) -> Terminal:
        """``"text"`` alone."""
        text = _text(tokens[0])
        return Terminal(text, text.span)

    def byte_string(self, tokens: Tokens) -> ByteString:
        """``#b"..."``."""
        mark, text = tokens
        return ByteString(decode_bytes(text.value, _span(text).start), _cover(mark, text))

    def pattern(self, tokens: Tokens) -> Pattern:
        """``#"..."`` and its relatives."""
        mark, text = tokens
        return Pattern(PatternKind(mark.value), _text(text), _cover(mark, text))

    def raw_pattern(self, tokens: Tokens) -> Pattern:
        """``#r"..."``."""
        span = _span(tokens[0])
        value, origins = decode_raw(tokens[0].value, span.start)
        text = Text(value, Span(span.start + len("#r"), span.end), origins)
        return Pattern(PatternKind.REGEX, text, span, is_raw=True)

    def bracket(self, values: tuple[Word, Expression, Word]) -> Bracket:
        """``(x)``, ``[x]`` or ``{x}``."""
        start, body, end = values
        return Bracket(BracketKind(start.value + end.value), body, _cover(start, end))

    def exception(self, values: list[Word | Terminal | Name]) -> Exception_:
        """``except!(x)`` or ``except!(x, limit)``: the third part is x, the fourth the limit."""
        excluded = cast(Terminal | Name, values[2])
        limit = values[3] if len(values) > 4 else "0"
        return Exception_(excluded, number(cast(str, limit)), _ends(values))

    def token_name(self, tokens: Tokens) -> TokenName:
        """``#token"..."``."""
        mark, text = tokens
        return TokenName(_text(text), _cover(mark, text))

    def token_set(self, values: list[Word | tuple[int, int]]) -> TokenSet:
        """``#token[...]``."""
        ranges = tuple(value for value in values if not isinstance(value, Word))
        negated = isinstance(values[1], Word)
        return TokenSet(ranges, negated, _ends(values))

    def ids(self, tokens: Tokens) -> tuple[int, int]:
        """``5`` or ``1-5`` in a token set."""
        return number(tokens[0]), number(tokens[-1])


_NUMBER = re.compile(
    r"@(?P<relation>>?=?)(?:(?P<variable>[A-Za-z_]\w*))?(?P<sign>[+-]?)(?P<add>[0-9]*)"
)


def _number(written: str, start: int) -> Number:
    """Return the number that is written at ``start``, as ``@n+2``."""
    match = _NUMBER.fullmatch(written)
    if match is None:
        raise ValueError(f"{written!r} is not the number of a family")
    first, last = match.span("variable")
    variable = Name(match["variable"], Span(start + first, start + last)) if first >= 0 else None
    span = Span(start, start + len(written))
    add = number(match["add"])
    return Number(variable, -add if match["sign"] == "-" else add, match["relation"], span)


def _bound(word: Word) -> tuple[int, Number | None]:
    """Return a bound of a count, or 0 and the number that it depends on."""
    if word.type == "VALUE":
        return 0, _number(word.value, word.start_pos)
    return number(word.value), None


def number(digits: str) -> int:
    """Return the value of decimal ``digits``, however many there are; at most `MANY`."""
    # Python refuses to convert more than 4,300 digits.
    significant = digits.lstrip("0")
    return int(significant or "0") if len(significant) <= len(str(MANY)) - 1 else MANY


def _span(token: Word) -> Span:
    return _cover(token, token)


def _cover(first: Word, last: Word) -> Span:
    return Span(first.start_pos, last.end_pos)


def _from(first: Expression, last: Expression) -> Span:
    return Span(first.span.start, last.span.end)


def _ends(values: object) -> Span:
    """Return the span of a list of parts that starts and ends with a token."""
    tokens = cast(Tokens, values)
    return _cover(tokens[0], tokens[-1])


def _name(token: Word) -> Name:
    return Name(token.value, _span(token))


def _text(token: Word) -> Text:
    span = _span(token)
    value, origins = decode(token.value, span.start)
    return Text(value, span, origins)
