"""Refusals of an engine for grammars in its own language, which it reads unconverted.

llama.cpp: the findings of the GBNF parser (W411, I411, W414) are reused.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.frontend import Reading
from kbnf_core.languages.lark.reader import tree as lark
from kbnf_core.languages.lark.reader.parse import parse_lark
from kbnf_core.limits import DEFAULT_LIMITS
from kbnf_core.source import Source, Span
from kbnf_core.syntax import tree


class Refused(NamedTuple):
    """A span, the construct there, and its replacement."""

    what: str
    span: Span
    help: str


_LOOK_ROUND = "write what is meant without it"
_NO_LOOK_ROUND = re.compile(
    r"\\[1-9bB]|\(\?(?:<?[=!]|[>(]|P=)|(?P<skipped>\\.|\[\^?\]?(?:\\.|[^\]\\])*\])", re.DOTALL
)


def llama_cpp_refuses(reading: Reading) -> Iterator[Diagnostic]:
    """Yield the findings of the reader that tell of a refusal, in GBNF."""
    for finding in reading.diagnostics:
        # A W414 without a note tells of a count that is read in another way, but taken.
        if finding.code in {"W411", "I411"} or (finding.code == "W414" and finding.notes):
            yield finding


def xgrammar_refuses(reading: Reading) -> Iterator[Refused]:
    """Yield what xgrammar refuses of GBNF."""
    for definition in reading.document.definitions:
        for node in tree.postorder(definition.body):
            written = reading.document.source.slice(node.span)
            match node:
                case tree.TokenName() | tree.TokenSet():
                    yield Refused("a token", node.span, "special tokens cannot be written there")
                case tree.Terminal() if not written:
                    yield Refused("an empty alternative", node.span, 'write `""`')
                case tree.Pattern() if written == ".":
                    yield Refused("`.`", node.span, "write a class, such as `[^\\n]`")
    for finding in reading.diagnostics:
        if finding.code == "W412":
            yield Refused("a second definition", finding.span, "join the two with `|`")
        elif finding.code == "W411" and reading.document.source.slice(finding.span)[:2] == "{,":
            yield Refused("a count without its lower bound", finding.span, "write `0` in front")


def llguidance_refuses(reading: Reading) -> Iterator[Refused]:
    """Yield what llguidance refuses of Lark."""
    return refused_lark(reading.document.source)


def refused_lark(source: Source) -> Iterator[Refused]:
    """Yield what llguidance refuses of a Lark text, which is not read further than that takes."""
    for statement in parse_lark(source, DEFAULT_LIMITS).document.statements:
        match statement:
            case lark.Definition():
                yield from _in_definition(statement)
            case lark.Declare(_, span):
                yield Refused("`%declare`", span, "define the terminals")
            case lark.Import(dots, module, _, span) if dots or module[:1] != ("common",):
                yield Refused("an import from elsewhere than `common`", span, "copy what is used")


def _in_definition(statement: lark.Definition) -> Iterator[Refused]:
    place = statement.name.span
    if statement.template:
        yield Refused("a template", place, "write out what it stands for")
    if statement.priority is not None:
        yield Refused("a priority", place, "make the terminals differ, or mark one `[lazy]`")
    if statement.definer is not lark.Definer.NEW:
        yield Refused(f"`{statement.definer.value}`", place, "change the definition itself")
    for node in lark.postorder(statement.body):
        if isinstance(node, lark.Regexp):
            yield from _in_regexp(node)


def _in_regexp(node: lark.Regexp) -> Iterator[Refused]:
    if "l" in node.flags:
        yield Refused("the flag `l`", node.span, "leave it out")
    for found in _NO_LOOK_ROUND.finditer(node.raw):
        if not found["skipped"]:
            yield Refused(f"`{found[0]}` in a regular expression", node.span, _LOOK_ROUND)
