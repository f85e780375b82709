r"""Parses ANTLR 4: the text of one file in, its rules, options and imports out. Never raises.

*Statements.* A statement ends with its semicolon, or, where it is code for the generated parser
(``@header {...}``, ``catch [...] {...}``), with the brace that closes it. Braces in texts and
comments of that code do not count. Arguments, return values and code before the colon of a rule say
nothing about its texts, and are left out; so are labels, element options and actions inside of it.

Escapes are those of ANTLR: ``\n \r \t \b \f \\``, ``\uXXXX``, ``\u{...}``, and in sets
``\] \- \p{...} \P{...}``; any other character after a backslash is that character.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from kbnf_core import ir
from kbnf_core.automata.codepoints import (
    ASCII,
    CodePoints,
    complement,
    difference,
    from_ranges,
    union,
)
from kbnf_core.automata.regex.unicode import fold_case, named_property, property_value
from kbnf_core.frontend import too_much_work
from kbnf_core.kbnf.parsed import Parsed
from kbnf_core.kbnf.statements import (
    Lexer,
    Metasyntax,
    Mistake,
    Statement,
    StatementParser,
    Word,
    counted,
    parse_statements,
    shown,
    span_of,
    too_deep,
)
from kbnf_core.kbnf.tree import Comment, Document
from kbnf_core.languages.antlr import tree
from kbnf_core.text.budget import Budget
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.errors import WorkLimitError
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import NOWHERE, Source, Span

_LATER = frozenset(("catch", "finally"))
_BLOCKS = frozenset(("tokens", "channels"))
_HEAD = frozenset(("grammar", "lexer", "parser", "import", "mode"))
_MODIFIERS = frozenset(("public", "private", "protected"))

_CODE = re.compile(r"""[{}]|//[^\n]*+|/\*(?s:.*?)\*/|"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'""")
"""What counts in the code of an action: braces, but not those in comments and texts."""


class Option(NamedTuple):
    """``name = value`` of a grammar or a rule."""

    name: str
    value: str
    span: Span


class Import(NamedTuple):
    """The name of a grammar whose rules are those of this one, too."""

    name: str
    span: Span


@dataclass(slots=True, eq=False)
class File:
    """A parsed file. ``is_lexer`` says whether it has rules of the lexer only.

    ``tokens`` are names of tokens that code makes; ``broken`` those of rules with mistakes.
    """

    source: Source
    rules: list[tree.Rule] = field(default_factory=list)
    options: dict[str, Option] = field(default_factory=dict)
    imports: list[Import] = field(default_factory=list)
    tokens: dict[str, Span] = field(default_factory=dict)
    findings: list[Diagnostic] = field(default_factory=list)
    broken: frozenset[str] = frozenset()
    comments: tuple[Comment, ...] = ()
    is_lexer: bool = False

    @property
    def ignores_case(self) -> bool:
        """Whether the letters of tokens match both cases."""
        option = self.options.get("caseInsensitive")
        return option is not None and option.value == "true"


def parse_file(source: Source, limits: Limits, budget: Budget) -> File:
    """Parse the text of a file; of one with too many words, nothing but that finding is left."""
    file = File(source)
    statements: list[Statement] = []
    modes: list[str] = []
    mode = ""
    comments: list[Comment] = []
    try:
        split = [*_split(source.text, comments, budget)]
    except WorkLimitError as error:
        file.findings.append(too_much_work(Parsed(Document(source, (), ()), ()), error))
        return file
    for statement in split:
        first = statement.words[0]
        if _is_rule(statement.words):
            statements.append(_without_prologue(statement))
            modes.append(mode)
        elif first.value == "mode" and len(statement.words) > 1:
            mode = statement.words[1].value
        else:
            _read_head(file, statement.words)
    metasyntax = _Antlr(source, limits)
    by_start = {
        statement.words[0].start_pos: mode
        for statement, mode in zip(statements, modes, strict=True)
    }
    read = parse_statements(statements, metasyntax)
    file.rules = [replace(rule, mode=by_start[rule.span.start]) for rule in read.trees]
    file.findings += read.findings
    file.broken = frozenset(read.broken)
    file.comments = tuple(comments)
    return file


def _split(text: str, comments: list[Comment], budget: Budget) -> Iterator[Statement]:
    """Yield the statements of a text, with its comments in the list. Raises WorkLimitError."""
    lexer = Lexer(_parser(), text)
    words: list[Word] = []
    for word in counted(lexer.words(), budget):
        if word.type == "COMMENT":
            comments.append(Comment(word.value[2:].removesuffix("*/"), span_of(word)))
        elif word.type == "SEMI":
            if words:
                yield Statement(words)
            words = []
        elif word.type == "ACTION":
            lexer.place = _end_of_code(text, word.start_pos)
            words.append(
                Word("ACTION", text[word.start_pos : lexer.place], word.start_pos, lexer.place)
            )
            if not _is_rule(words) or words[0].value in _LATER:
                yield Statement(words)
                words = []
        elif word.type == "OPTIONS" and not words:
            yield Statement([word])
        elif word.type != "ELEMENT_OPTIONS":
            words.append(word)
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
    """Tell whether words begin a rule: not the head of a file, and not code."""
    first = words[0]
    if first.type == "AT" or first.type == "OPTIONS" or first.value in _LATER:
        return False
    if first.value in _BLOCKS and len(words) > 1:
        return words[1].type != "ACTION"
    is_head = first.value in _HEAD and len(words) > 1 and words[1].type == "NAME"
    return not is_head


def _without_prologue(statement: Statement) -> Statement:
    """Return a rule without what is between its name and its colon."""
    words = [
        word for word in statement.words if word.value not in _MODIFIERS or word.type != "NAME"
    ]
    name = 1 if words[0].type == "FRAGMENT" else 0
    colon = next((i for i, word in enumerate(words) if word.type == "COLON"), len(words))
    if colon > name and words[name : name + 1] and words[name].type == "NAME":
        words[name + 1 : colon] = []
    return Statement(words)


def _read_head(file: File, words: list[Word]) -> None:
    """Take a statement that is not a rule into account; code is left out."""
    first = words[0]
    names = [word for word in words[1:] if word.type == "NAME"]
    if first.type == "OPTIONS":
        file.options |= {each.name: each for each in _options(first)}
    elif first.value == "lexer":
        file.is_lexer = True
    elif first.value == "import":
        # `import x = Y`: the name of the file is the last one before a comma.
        groups = " ".join(word.value for word in words[1:]).split(",")
        wanted = [group.split()[-1] for group in groups if group.split()]
        file.imports += [
            Import(each.value, span_of(each)) for each in names if each.value in wanted
        ]
    elif first.value == "tokens":
        block = words[1]
        file.tokens |= {
            name[0]: Span(block.start_pos + name.start(), block.start_pos + name.end())
            for name in re.finditer(r"[^\W\d]\w*", block.value)
        }


def _options(word: Word) -> Iterator[Option]:
    for each in re.finditer(r"(\w+)\s*=\s*('[^']*'|[\w.]+)", word.value):
        span = Span(word.start_pos + each.start(), word.start_pos + each.end())
        yield Option(each[1], each[2].strip("'"), span)


class _Alternatives(NamedTuple):
    """The body of a rule or a group, and the commands of its alternatives."""

    body: tree.Node
    commands: tuple[tree.Command, ...]


class _Builder:
    """The methods that the parser calls; stateless."""

    def definition(self, parts: list[Any]) -> tree.Rule:
        """``fragment? name : alternation``."""
        is_fragment = parts[0].type == "FRAGMENT"
        name, body = parts[int(is_fragment)], parts[-1]
        last = span_of(parts[-2]) if body.body.span == NOWHERE else body.body.span
        span = span_of(parts[0]).cover(last)
        return tree.Rule(name.value, body.body, body.commands, is_fragment, span, span_of(name))

    def alternation(self, parts: list[Any]) -> _Alternatives:
        """``x | y``, or one alternative alone."""
        branches = [part for part in parts if not isinstance(part, Word)]
        commands = tuple(each for branch in branches for each in branch.commands)
        if len(branches) == 1:
            return _Alternatives(branches[0].body, commands)
        bodies = tuple(branch.body for branch in branches)
        return _Alternatives(ir.Choice(bodies, _cover(bodies)), commands)

    def sequence(self, parts: list[Any]) -> _Alternatives:
        """``x y # label -> command``."""
        commands = tuple(part for part in parts if isinstance(part, tree.Command))
        items = tuple(
            part for part in parts if part is not None and not isinstance(part, Word | tree.Command)
        )
        if len(items) == 1:
            return _Alternatives(items[0], commands)
        return _Alternatives(ir.Sequence(items, _cover(items)), commands)

    def command(self, parts: list[Word]) -> tree.Command:
        """``skip`` or ``type(ID)``."""
        argument = parts[2].value if len(parts) > 1 else ""
        return tree.Command(parts[0].value, argument, span_of(parts[0]).cover(span_of(parts[-1])))

    def labelled(self, parts: list[Any]) -> tree.Node:
        """``name=x`` or ``names+=x``."""
        node: tree.Node = parts[2]
        return node

    def action(self, parts: list[Word]) -> None:
        """``{...}``: code that changes nothing about the texts."""

    def predicate(self, parts: list[Word]) -> tree.Node:
        """``{...}?``."""
        return tree.Predicate(span_of(parts[0]))

    def repetition(self, parts: list[Any]) -> tree.Node:
        """``x?``, ``x*`` or ``x+``, each with a ``?`` after it if it is lazy."""
        body, operator = parts
        span = body.span.cover(span_of(operator))
        low, high = {"?": (0, 1), "*": (0, None), "+": (1, None)}[operator.value[0]]
        kind = tree.Lazy if len(operator.value) > 1 else ir.Repeat
        return kind(body, low, high, span)

    def use(self, parts: list[Word]) -> tree.Node:
        """``name`` or ``name[arguments]``."""
        return tree.Use(parts[0].value, span_of(parts[0]))

    def string(self, parts: list[Word]) -> tree.Node:
        """``'text'``."""
        return tree.Text(unescaped(parts[0].value[1:-1]), span_of(parts[0]))

    def range(self, parts: list[Word]) -> tree.Node:
        """``'a'..'z'``."""
        low, high = (unescaped(parts[index].value[1:-1]) for index in (0, 2))
        span = span_of(parts[0]).cover(span_of(parts[2]))
        bounds = [(ord(low), ord(high))] if len(low) == len(high) == 1 else []
        return tree.Characters(from_ranges(bounds), span)

    def set_(self, parts: list[Word]) -> tree.Node:
        """``[a-z]``."""
        return tree.Characters(read_set(parts[0].value[1:-1]), span_of(parts[0]))

    def any(self, parts: list[Word]) -> tree.Node:
        """``.``."""
        return tree.Anything(span_of(parts[0]))

    def negation(self, parts: list[Any]) -> tree.Node:
        """``~x``."""
        return tree.Negation(parts[1], span_of(parts[0]).cover(parts[1].span))

    def group(self, parts: list[Any]) -> tree.Node:
        """``( x )``."""
        node: tree.Node = parts[-2].body
        return node


def _cover(nodes: Iterable[tree.Node]) -> Span:
    """Return the span of parts in order; nowhere for none."""
    spans = [node.span for node in nodes if node.span != NOWHERE]
    return spans[0].cover(spans[-1]) if spans else NOWHERE


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


def read_set(written: str) -> CodePoints:
    """Return the characters of ``[...]``, given what is between the brackets."""
    ranges: list[tuple[int, int]] = []
    for member in _MEMBER.finditer(written):
        if member[1]:
            points = _property(member[2])
            ranges.extend(points if member[1] == "p" else complement(points))
        else:
            low = _point(member[3])
            ranges.append((low, low if member[4] is None else _point(member[4])))
    return from_ranges(ranges)


def _point(written: str) -> int:
    escape = _ESCAPE.fullmatch(written)
    if escape is not None and (escape[1] or escape[2]):
        return min(int(escape[1] or escape[2], 16), _LAST)
    return ord(unescaped(written))


def _property(name: str) -> CodePoints:
    key, _, value = name.partition("=")
    return (property_value(key, value) if value else named_property(name)) or ()


def both_cases(points: CodePoints) -> CodePoints:
    """Return characters in upper and lower case, as the option ``caseInsensitive`` has them."""
    others = difference(points, ASCII)
    return union(fold_case(points, unicode=False), fold_case(others, unicode=True))


@cache
def _parser() -> StatementParser:
    return StatementParser(Path(__file__).parent, _Builder())


class _Antlr(Metasyntax[tree.Rule]):
    """The rules of a file."""

    def parser(self) -> StatementParser:
        return _parser()

    def names(self, statement: Statement) -> Iterable[str]:
        words = statement.words
        name = words[1:2] if words[0].type == "FRAGMENT" else words[:1]
        return (word.value for word in name if word.type == "NAME")

    def refuse(self, statement: Statement) -> Iterable[Diagnostic] | None:
        if any(word.type == "COLON" for word in statement.words):
            return None
        message = f"expected a rule, found {shown(statement.words[0].value)}"
        helps = ("a rule is written `name : ... ;`",)
        return (Diagnostic("E001", message, self.source, span_of(statement.words[0]), helps=helps),)

    def explain(self, statement: Statement, mistake: Mistake) -> Iterator[Diagnostic]:
        del statement
        yield too_deep(mistake, self.limits) or _explained(mistake)


_OPEN = {
    "OPEN_STRING": ("this text is never closed", "'"),
    "OPEN_SET": ("this set is never closed", "]"),
    "OPEN_COMMENT": ("this comment is never closed", "*/"),
}
_FOREIGN = {
    '"': "texts are written in single quotes: `'text'`",
    "/": "alternatives are separated by `|`; tokens have sets such as `[a-z]`",
    "^": "trees of ANTLR 3 are not part of ANTLR 4",
    "!": "trees of ANTLR 3 are not part of ANTLR 4",
    "}": "this brace closes nothing",
}


def _explained(mistake: Mistake) -> Diagnostic:
    """Return the finding for a rule that stops making sense."""
    word = mistake.word
    if word is not None and word.type in _OPEN:
        message, closing = _OPEN[word.type]
        start = span_of(word).start
        helps = (f"close it with `{closing}`",)
        return Diagnostic("E004", message, mistake.source, Span(start, start + 1), helps=helps)
    if word is not None and word.type == "COLON":
        return mistake.finding(
            "E002", "the rule before this one is not ended", "", "end it with `;`"
        )
    if word is None and mistake.inside is not None:
        message = f"expected `)`, found {mistake.found}"
        return Diagnostic("E003", message, mistake.source, span_of(mistake.inside))
    code = "E003" if word is not None and word.type == "RPAR" else "E001"
    hint = _FOREIGN.get(word.value[:1]) if word is not None else None
    return mistake.finding(
        code, f"{mistake.found} is not allowed here", "", *([hint] if hint else [])
    )
