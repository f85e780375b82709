r"""Parses ANTLR 4: the text of one file in, its rules, options and imports out. Never raises.

*Statements.* A statement ends with its semicolon, or, where it is code for the generated parser
(``@header {...}``, ``catch [...] {...}``), with the brace that closes it. Braces in texts and
comments of that code do not count. Arguments, return values and code before the colon of a rule say
nothing about its texts, and are left out; so are labels, element options and actions inside of it.

*Trees* are those of KBNF, with a few leaves more: ``.``, ``~x``, ``x*?``, and a predicate or a
command after the arrow, which are empty. A set of characters is a pattern.

Escapes are those of ANTLR: ``\n \r \t \b \f \\``, ``\uXXXX``, ``\u{...}``, and in sets
``\] \- \p{...} \P{...}``; any other character after a backslash is that character.

Tests: tests/unit/languages/antlr
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from kbnf_core.automata import traversal
from kbnf_core.automata.codepoints import CodePoints, complement
from kbnf_core.automata.regex.unicode import named_property, property_value
from kbnf_core.kbnf import build, tree
from kbnf_core.kbnf.notation import Hints, NotationBuilder, Rules, cover, one_of, words_of
from kbnf_core.kbnf.statements import (
    Lexer,
    Statement,
    StatementParser,
    Word,
    parse_statements,
    span_of,
)
from kbnf_core.text.budget import Budget
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source, Span

END_OF_TEXT, ANYTHING = "EOF", "."
"""Names that no rule has."""

_LATER = frozenset(("catch", "finally"))
_BLOCKS = frozenset(("tokens", "channels"))
_HEAD = frozenset(("grammar", "lexer", "parser", "import", "mode"))
_MODIFIERS = frozenset(("public", "private", "protected"))

_CODE = re.compile(r"""[{}]|//[^\n]*+|/\*(?s:.*?)\*/|"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'""")
"""What counts in the code of an action: braces, but not those in comments and texts."""


@dataclass(slots=True, eq=False, repr=False)
class AntlrRule(tree.Definition):
    """A rule; ``mode`` is that of a token, empty for the one that a text begins in."""

    is_fragment: bool = False
    mode: str = ""


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Negation(tree.Reference):
    """``~x``: one character, or token, that is not one of ``body``."""

    body: tree.Expression


@dataclass(slots=True, eq=False, repr=False)
class Lazy(tree.Repetition):
    """``x*?``: as few repetitions as the next symbol permits."""


@dataclass(slots=True, eq=False, repr=False)
class Predicate(tree.Reference):
    """``{...}?``: code that decides whether the rule may go on."""


@dataclass(slots=True, eq=False, repr=False, kw_only=True)
class Command(tree.Reference):
    """``skip`` or ``type(ID)``, after the ``->`` of a token's alternative."""

    argument: str


def children(node: tree.Expression) -> tuple[tree.Expression, ...]:
    """Return the direct parts of ``node``; those of a lazy choice are its branches."""
    if isinstance(node, Negation):
        return (node.body,)
    if isinstance(node, Lazy) and isinstance(node.body, tree.Alternation):
        return node.body.branches
    return tree.children(node)


def leaves(root: tree.Expression) -> Iterator[tree.Expression]:
    """Yield the nodes without operands, and negations, in order."""
    for node in traversal.postorder(root, children):
        if not tree.children(node):
            yield node


class NamedReference(NamedTuple):
    """A name of another grammar, or the value of an option, and where it is."""

    value: str
    span: Span


@dataclass(slots=True, eq=False)
class AntlrFile:
    """A parsed file.

    ``imports`` are the grammars whose rules are those of this one, too; ``tokens`` are names of
    tokens that code makes; ``broken`` those of rules with mistakes.
    """

    source: Source
    rules: list[AntlrRule] = field(default_factory=list)
    options: dict[str, NamedReference] = field(default_factory=dict)
    imports: list[NamedReference] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    findings: list[Diagnostic] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    comments: list[tree.Comment] = field(default_factory=list)


def parse_file(source: Source, limits: Limits, budget: Budget) -> AntlrFile:
    """Parse the text of a file. Raises WorkLimitError for one with too many words."""
    file = AntlrFile(source)
    statements: list[Statement] = []
    modes: dict[int, str] = {}
    mode = ""
    for statement in _split(source.text, file.comments, budget):
        first = statement.words[0]
        if _is_rule(statement.words):
            statements.append(_without_prologue(statement))
            modes[statements[-1].words[0].start_pos] = mode
        elif first.value == "mode" and len(statement.words) > 1:
            mode = statement.words[1].value
        else:
            _read_head(file, statement.words)
    rules: Rules[AntlrRule] = Rules(source, limits, _parser(), _NOTATION, _HINTS)
    read = parse_statements(statements, rules)
    file.rules = [replace(rule, mode=modes[rule.span.start]) for rule in read.trees]
    file.findings, file.broken = read.findings, read.broken
    return file


def _split(text: str, comments: list[tree.Comment], budget: Budget) -> Iterator[Statement]:
    """Yield the statements of a text, with its comments in the list. Raises WorkLimitError."""
    lexer = Lexer(_parser(), text)
    words: list[Word] = []
    for word in words_of(lexer.words(), comments, budget):
        if word.type == "ACTION":
            lexer.position = _end_of_code(text, word.start_pos)
            code = text[word.start_pos : lexer.position]
            words.append(Word("ACTION", code, word.start_pos, lexer.position))
        elif word.type not in ("SEMI", "ELEMENT_OPTIONS"):
            words.append(word)
        is_code = word.type == "ACTION" and (not _is_rule(words) or words[0].value in _LATER)
        if words and (is_code or word.type == "SEMI" or words[0].type == "OPTIONS"):
            yield Statement(words)
            words = []
    if words:
        yield Statement(words)


def _end_of_code(text: str, start: int) -> int:
    """Return where the brace at ``start`` is closed; the end of the text if nowhere."""
    depth = 0
    for mark in _CODE.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(mark[0], 0)
        if depth == 0:
            return mark.end()
    return len(text)


def _is_rule(words: list[Word]) -> bool:
    """Return whether words begin a rule: not the head of a file, and not code."""
    first = words[0]
    if first.type == "AT" or first.type == "OPTIONS" or first.value in _LATER:
        return False
    if first.value in _BLOCKS and len(words) > 1:
        return words[1].type != "ACTION"
    is_head = first.value in _HEAD and len(words) > 1 and words[1].type == "NAME"
    return not is_head


def _without_prologue(statement: Statement) -> Statement:
    """Return a rule without the words between its name and its colon."""
    words = [
        word for word in statement.words if word.value not in _MODIFIERS or word.type != "NAME"
    ]
    name = 1 if words[0].type == "FRAGMENT" else 0
    colon = next((i for i, word in enumerate(words) if word.type == "DEFINE"), len(words))
    if colon > name and words[name : name + 1] and words[name].type == "NAME":
        words[name + 1 : colon] = []
    return Statement(words)


def _read_head(file: AntlrFile, words: list[Word]) -> None:
    """Take a statement that is not a rule into account; code is left out."""
    first = words[0]
    if first.type == "OPTIONS":
        file.options |= {
            name: NamedReference(value.strip("'"), span)
            for (name, value), span in _within(first, r"(\w+)\s*=\s*('[^']*'|[\w.]+)")
        }
    elif first.value == "import":
        # `import x = Y`: the name of the file is the last one before a comma.
        following = [*words[2:], Word("COMMA", ",", 0, 0)]
        file.imports += [
            NamedReference(word.value, span_of(word))
            for word, after in zip(words[1:], following, strict=True)
            if word.type == "NAME" and after.type == "COMMA"
        ]
    elif first.value == "tokens":
        file.tokens |= {name for (name,), _ in _within(words[1], r"([^\W\d]\w*)")}


def _within(word: Word, pattern: str) -> Iterator[tuple[tuple[str, ...], Span]]:
    """Yield the groups of each match of a pattern in a word, and where it is."""
    for match in re.finditer(pattern, word.value):
        yield match.groups(), Span(word.start_pos + match.start(), word.start_pos + match.end())


class _AntlrBuilder(NotationBuilder):
    """The methods that the parser calls, beside those of every notation."""

    def definition(self, values: list[Any]) -> AntlrRule:
        """``fragment? name : alternation``."""
        made = super().definition(values)
        return AntlrRule(made.name, made.body, made.span, is_fragment=len(values) > 3)

    def command(self, words: list[Word]) -> tree.Expression:
        """``skip`` or ``type(ID)``."""
        span = span_of(words[0]).cover(span_of(words[-1]))
        argument = words[2].value if len(words) > 1 else ""
        return Command(tree.Name(words[0].value, span), span, argument=argument)

    def labelled(self, values: list[Any]) -> tree.Expression:
        """``name=x`` or ``names+=x``."""
        node: tree.Expression = values[2]
        return node

    def action(self, words: list[Word]) -> tree.Expression:
        """``{...}``: code that changes nothing about the texts."""
        del words
        return build.EMPTY

    def predicate(self, words: list[Word]) -> tree.Expression:
        """``{...}?``."""
        span = span_of(words[0])
        return Predicate(tree.Name("{}?", span), span)

    def repeated(self, values: list[Any]) -> tree.Expression:
        """``x?``, ``x*`` or ``x+``, each with a ``?`` after it if it is lazy."""
        body, operator = values
        plain = super().repeated(values)
        if len(operator.value) == 1 or not isinstance(plain, tree.Repetition):
            return plain
        return Lazy(body, plain.low, plain.high, span_of(operator), plain.span)

    def unescaped(self, word: Word) -> str:
        """Return the text between quotes."""
        return unescaped(word.value[1:-1])

    def set_(self, values: list[Word]) -> tree.Expression:
        """``[a-z]``."""
        return one_of(_members(values[0].value[1:-1]), span_of(values[0]))

    def any(self, words: list[Word]) -> tree.Expression:
        """``.``."""
        return build.call(ANYTHING, span_of(words[0]))

    def negation(self, values: list[Any]) -> tree.Expression:
        """``~x``."""
        span = span_of(values[0]).cover(cover(values[1:]))
        return Negation(tree.Name("~", span), span, body=values[1])


_ESCAPE = re.compile(r"\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_LAST = 0x10FFFF


def unescaped(text: str) -> str:
    """Return what the escapes of a text stand for; halves of pairs are joined or left out."""

    def one(escape: re.Match[str]) -> str:
        digits = escape[1] or escape[2]
        if digits:
            return chr(min(int(digits, 16), _LAST))
        return _CONTROLS.get(escape[3], escape[3])

    plain = _ESCAPE.sub(one, text)
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")


_MEMBER = re.compile(
    r"\\([pP])\{([^{}]*)\}|(\\u\{[0-9a-fA-F]+\}|\\u[0-9a-fA-F]{4}|\\.|[^\\])"
    r"(?:-(\\u\{[0-9a-fA-F]+\}|\\u[0-9a-fA-F]{4}|\\.|[^\\]))?",
    re.DOTALL,
)


def _members(written: str) -> Iterator[tuple[int, int]]:
    """Yield the ranges of ``[...]``, given the text between the brackets."""
    for member in _MEMBER.finditer(written):
        if member[1]:
            points = _property(member[2])
            yield from points if member[1] == "p" else complement(points)
        else:
            low = _point(member[3])
            yield low, low if member[4] is None else _point(member[4])


def _point(written: str) -> int:
    escape = _ESCAPE.fullmatch(written)
    if escape is not None and (escape[1] or escape[2]):
        return min(int(escape[1] or escape[2], 16), _LAST)
    return ord(unescaped(written))


def _property(name: str) -> CodePoints:
    key, _, value = name.partition("=")
    return (property_value(key, value) if value else named_property(name)) or ()


_NOTATION = _AntlrBuilder()
_HINTS = Hints(
    "a rule is written `name : ... ;`",
    ":",
    {
        '"': "texts are written in single quotes: `'text'`",
        "/": "alternatives are separated by `|`; tokens have sets such as `[a-z]`",
        "^": "trees of ANTLR 3 are not part of ANTLR 4",
        "!": "trees of ANTLR 3 are not part of ANTLR 4",
        "}": "this brace closes nothing",
    },
)


@cache
def _parser() -> StatementParser:
    return StatementParser(Path(__file__).parent, _NOTATION)
