"""E502: constructs that the target engine of a grammar refuses.

A grammar in the engine's own language is checked as it is, any other one after its conversion. All
of this was measured: ``tests/golden/lint/targets.json`` has the verdicts of the engines, and their
versions.

For llama.cpp the findings of the reader of GBNF (W411, I411, W414) are reused.

Tests: tests/unit/lint/test_targets.py, tests/golden/lint
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from kbnf_core.frontend import Reading
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.printer import print_expression
from kbnf_core.lint.subject import Needs, Subject
from kbnf_core.text.diagnostics import Diagnostic, Rule
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.source import Source, Span

if TYPE_CHECKING:
    from kbnf_core.languages.lark.reader import tree as lark

Uses = Iterator[tuple["Feature", Span]]


class Feature(Enum):
    """A construct, as it is called in a message."""

    EXCEPTION = "`except!`"
    EXPANDED_EXCEPTION = "an `except!` of a nonterminal with more than texts side by side"
    RAW = "`#r`"
    EARLY = "`#e`"
    COMPLEMENT = "`#ex`"
    SUBSTRINGS = "`#substrs`"
    COUNTED = "counted repetition"
    FAMILY = "a rule with a number"
    BYTES = "`#b`"
    NO_TEXT = "bytes that are not UTF-8 text"
    TOKEN = "`#token`"
    COMMENT_IN_RULE = "a comment inside a rule"
    BRACKET_IN_QUOTES = "an unbalanced bracket in quotes inside brackets"
    NO_LAST_SEMICOLON = "a last rule without `;`"
    BYTE_ORDER_MARK = "a byte order mark"
    SAME_AS_START = "a rule with the same right side as the start"


def features_of(reading: Reading) -> Uses:
    """Yield every feature with each span that uses it."""
    for definition in reading.document.definitions:
        if definition.variable is not None:
            yield Feature.FAMILY, definition.name.span
    for node in reading.document.nodes():
        yield from _in_node(reading, node)
    yield from _expanded_exceptions(reading.document)
    yield from _in_text(reading)
    yield from _same_as_start(reading)


def _in_node(reading: Reading, node: tree.Expression) -> Uses:
    match node:
        case tree.Exception_():
            yield Feature.EXCEPTION, node.span
        case tree.ByteString(value):
            yield Feature.BYTES, node.span
            if not _is_text(value):
                yield Feature.NO_TEXT, node.span
        case tree.TokenName() | tree.TokenSet():
            yield Feature.TOKEN, node.span
        case tree.Pattern() if (node.kind, node.is_raw) in _PATTERNS:
            yield _PATTERNS[node.kind, node.is_raw], node.span
        case tree.Repetition(_, _, _, operator):
            if reading.document.source.slice(operator).startswith("{"):
                yield Feature.COUNTED, operator
        case tree.Bracket(kind, _, span):
            inside = reading.document.source.text[span.start + 1 : span.end - 1]
            if not _is_balanced(inside, kind.value):
                yield Feature.BRACKET_IN_QUOTES, span


def _expanded_exceptions(document: tree.Document) -> Uses:
    expanded = {
        definition.name.value
        for definition in document.definitions
        for branch in definition.branches
        for item in (branch.items if isinstance(branch, tree.Concatenation) else (branch,))
        if not isinstance(item, tree.Terminal)
    }
    for node in document.nodes():
        match node:
            case tree.Exception_(tree.Name(name)) if name in expanded:
                yield Feature.EXPANDED_EXCEPTION, node.span


_PATTERNS = {
    (tree.PatternKind.REGEX, True): Feature.RAW,
    (tree.PatternKind.EARLY, False): Feature.EARLY,
    (tree.PatternKind.COMPLEMENT, False): Feature.COMPLEMENT,
    (tree.PatternKind.SUBSTRINGS, False): Feature.SUBSTRINGS,
}


def _is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_balanced(text: str, brackets: str) -> bool:
    """Count brackets as the reference does: those in quotes like all others."""
    depth = 0
    for char in text:
        depth += (char == brackets[0]) - (char == brackets[1])
        if depth < 0:
            return False
    return depth == 0


def _in_text(reading: Reading) -> Uses:
    document = reading.document
    if document.source.text.startswith("\ufeff"):
        yield Feature.BYTE_ORDER_MARK, Span(0, 1)
    for comment in document.comments:
        if any(d.span.start < comment.span.start < d.span.end for d in document.definitions):
            yield Feature.COMMENT_IN_RULE, comment.span
    for finding in reading.diagnostics:
        if finding.code == "W001":
            yield Feature.NO_LAST_SEMICOLON, finding.span


def _same_as_start(reading: Reading) -> Uses:
    sides: dict[str, list[str]] = defaultdict(list)
    for definition in reading.document.definitions:
        sides[definition.name.value] += map(print_expression, definition.branches)
    for name, branches in sides.items():
        if name != reading.start and sorted(branches) == sorted(sides.get(reading.start, [])):
            yield Feature.SAME_AS_START, reading.name_span(name)


class RefusedConstruct(NamedTuple):
    """A span, the construct there, and its replacement."""

    construct: str
    span: Span
    help: str


_LOOK_ROUND = "write what is meant without it"
_NO_LOOK_ROUND = re.compile(
    r"\\[1-9bB]|\(\?(?:<?[=!]|[>(]|P=)|(?P<skipped>\\.|\[\^?\]?(?:\\.|[^\]\\])*\])", re.DOTALL
)


def llama_cpp_refuses(reading: Reading) -> Iterator[Diagnostic]:
    """Yield the findings of the reader that report a refusal, in GBNF."""
    for finding in (*reading.diagnostics, *reading.parsed.lint()):
        # A W414 without a note is about a count that is read in another way, but accepted.
        if finding.code in {"W411", "I411"} or (finding.code == "W414" and finding.notes):
            yield finding


def xgrammar_refuses(reading: Reading) -> Iterator[RefusedConstruct]:
    """Yield the constructs of GBNF that xgrammar refuses."""
    for node in reading.document.nodes():
        written = reading.document.source.slice(node.span)
        match node:
            case tree.TokenName() | tree.TokenSet():
                yield RefusedConstruct(
                    "a token", node.span, "special tokens cannot be written there"
                )
            case tree.Terminal() if not written:
                yield RefusedConstruct("an empty alternative", node.span, 'write `""`')
            case tree.Pattern() if written == ".":
                yield RefusedConstruct("`.`", node.span, "write a class, such as `[^\\n]`")
    for finding in reading.diagnostics:
        if finding.code == "W412":
            yield RefusedConstruct("a second definition", finding.span, "join the two with `|`")
        elif finding.code == "W411" and reading.document.source.slice(finding.span)[:2] == "{,":
            yield RefusedConstruct(
                "a count without its lower bound", finding.span, "write `0` in front"
            )


def refused_lark(source: Source) -> Iterator[RefusedConstruct]:
    """Yield the constructs of a Lark text that llguidance refuses, read no further than needed."""
    from kbnf_core.languages.lark.reader import tree as lark
    from kbnf_core.languages.lark.reader.parse import parse_lark

    for statement in parse_lark(source, DEFAULT_LIMITS).document.statements:
        match statement:
            case lark.LarkDefinition():
                yield from _in_definition(statement)
            case lark.Declare(_, span):
                yield RefusedConstruct("`%declare`", span, "define the terminals")
            case lark.Import(dots, module, _, span) if dots or module[:1] != ("common",):
                yield RefusedConstruct(
                    "an import from elsewhere than `common`", span, "copy what is used"
                )


def _in_definition(statement: "lark.LarkDefinition") -> Iterator[RefusedConstruct]:
    from kbnf_core.languages.lark.reader import tree as lark

    span = statement.name.span
    if statement.template:
        yield RefusedConstruct("a template", span, "write out its definition")
    if statement.priority is not None:
        yield RefusedConstruct(
            "a priority", span, "make the terminals differ, or mark one `[lazy]`"
        )
    if statement.definer is not lark.Definer.NEW:
        yield RefusedConstruct(f"`{statement.definer.value}`", span, "change the definition itself")
    for node in lark.postorder(statement.body):
        if isinstance(node, lark.Regexp):
            yield from _in_regexp(node)


def _in_regexp(node: "lark.Regexp") -> Iterator[RefusedConstruct]:
    if "l" in node.flags:
        yield RefusedConstruct("the flag `l`", node.span, "leave it out")
    for match in _NO_LOOK_ROUND.finditer(node.raw):
        if not match["skipped"]:
            yield RefusedConstruct(f"`{match[0]}` in a regular expression", node.span, _LOOK_ROUND)


RULES = (Rule("E502", "refused-by-target", "An engine named by `--target` refuses a construct."),)
NEEDS = Needs.DOCUMENT

_BOTH_KBNF: Mapping[Feature, str] = {
    Feature.RAW: 'write `#"..."`, with each backslash doubled',
    Feature.COUNTED: "write the turns out, or use a regular expression",
    Feature.FAMILY: "families are an extension; `kbnf convert --to gbnf` writes their rules out",
    Feature.BYTES: "only valid UTF-8 can be written there",
    Feature.TOKEN: "special tokens cannot be written there",
    Feature.COMMENT_IN_RULE: "move it before the rule",
    Feature.BRACKET_IN_QUOTES: "move the quoted text to a rule of its own",
    Feature.NO_LAST_SEMICOLON: "end the rule with `;`",
    Feature.BYTE_ORDER_MARK: "save the file without it",
    Feature.SAME_AS_START: "that engine crashes on it: change one of the two, such as by `| ''`",
}

REFUSED: Mapping[str, Mapping[Feature, str]] = {
    "kbnf-0.2": {
        **_BOTH_KBNF,
        Feature.EXPANDED_EXCEPTION: "write its texts as the alternatives of that nonterminal",
        Feature.EARLY: "it came with kbnf 0.3",
        Feature.COMPLEMENT: "it came with kbnf 0.3; `except!` excludes texts there",
        Feature.SUBSTRINGS: "it came with kbnf 0.3",
    },
    "kbnf-0.4": {
        **_BOTH_KBNF,
        Feature.EXCEPTION: 'kbnf 0.3 removed it: `#ex"..."` excludes a regular expression there',
    },
    "llama.cpp": {Feature.NO_TEXT: "it matches characters, no other bytes"},
    "llguidance": {Feature.NO_TEXT: "it matches characters, no other bytes"},
    "xgrammar": {
        Feature.NO_TEXT: "its grammars are converted as text: only valid UTF-8 can be kept",
        Feature.TOKEN: "special tokens cannot be written there",
    },
}
"""What each target refuses after conversion to its language, and what to do instead."""


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding for each construct that one of ``targets`` does not take."""
    for target in subject.options.targets:
        yield from _refused(subject.reading, target)


def _refused(reading: Reading, target: str) -> Iterator[Diagnostic]:
    match reading.language.name, target:
        case "GBNF", "llama.cpp":
            findings = llama_cpp_refuses(reading)
            yield from (replace(finding, code="E502") for finding in findings)
            return
        case "GBNF", "xgrammar":
            refused: Iterator[tuple[str, Span, str]] = xgrammar_refuses(reading)
        case "Lark", "llguidance":
            refused = refused_lark(reading.document.source)
        case _:
            refused = _refused_after_conversion(reading, target)
    for construct, span, help_ in refused:
        message = f"{target} does not accept {construct}"
        yield reading.finding("E502", message, span, helps=(help_,))


def _refused_after_conversion(reading: Reading, target: str) -> Iterator[tuple[str, Span, str]]:
    for feature, span in features_of(reading):
        if feature in REFUSED[target]:
            yield feature.value, span, REFUSED[target][feature]
