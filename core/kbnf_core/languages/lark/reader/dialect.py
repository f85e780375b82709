r"""The dialect of a file, by detection, and what the other dialect would refuse.

And strings: Lark decodes like Python, but leaves escapes that it does not know as two characters;
LLGuidance reads JSON strings and, in addition, ``\xHH``.

Tests: tests/unit/languages/lark
"""

import json
import re
from collections.abc import Iterator
from enum import Enum

from kbnf_core.ir import Repeat
from kbnf_core.languages.lark.reader import tree as lark
from kbnf_core.languages.lark.reader.model import Lexing
from kbnf_core.languages.lark.reader.report import INVALID, LarkRefusedError, Report
from kbnf_core.text.json_text import as_number
from kbnf_core.text.source import Source, Span


class Dialect(Enum):
    """The language whose rules are used for strings, regular expressions and terminals."""

    LARK = "Lark"
    LLGUIDANCE = "LLGuidance"


_EXTENSIONS = (lark.Complement, lark.Foreign, lark.Guarded, lark.Intersection)


def dialect_of(document: lark.LarkDocument, lexing: Lexing | None) -> Dialect:
    """Return the dialect that ``lexing`` belongs to; without one, that of the file's constructs."""
    if lexing is Lexing.LLGUIDANCE:
        return Dialect.LLGUIDANCE
    if lexing in (Lexing.EARLEY, Lexing.LALR):
        return Dialect.LARK
    return Dialect.LARK if next(extensions(document), None) is None else Dialect.LLGUIDANCE


def default_lexing(dialect: Dialect, has_indenter: bool) -> Lexing:
    """Return how the dialect's own engine cuts text by default.

    Lark's dynamic lexer takes no indenter.
    """
    if dialect is Dialect.LLGUIDANCE:
        return Lexing.LLGUIDANCE
    return Lexing.LALR if has_indenter else Lexing.EARLEY


def extensions(document: lark.LarkDocument) -> Iterator[tuple[str, Span]]:
    """Yield what only LLGuidance has."""
    for statement in document.statements:
        if isinstance(statement, lark.OptionsStatement):
            yield "%llguidance", statement.span
        if isinstance(statement, lark.LarkDefinition):
            if statement.attributes:
                yield "an attribute", statement.attributes[0].span
            if statement.parameter is not None or "-" in statement.name.value:
                yield "this name", statement.name.span
        if isinstance(statement, lark.LarkDefinition | lark.IgnoreStatement):
            yield from _extended(statement.body)


def _extended(body: lark.Expression) -> Iterator[tuple[str, Span]]:
    for node in lark.postorder(body):
        if isinstance(node, _EXTENSIONS) or (
            isinstance(node, lark.Use) and node.parameter is not None
        ):
            yield "this construct", node.span


GBNF_HELPS = (
    "a file of rules with `::=` alone, the start `root` among them, is GBNF, or LLGuidance's older"
    " Lark; neither is read with `--lexing earley` or `lalr`",
    "GBNF with another start: `kbnf convert --from gbnf --start NAME FILE`",
)


def check_dialect(
    document: lark.LarkDocument, dialect: Dialect, report: Report, is_gbnf: bool = False
) -> None:
    """Report what the dialect does not have (E421); ``is_gbnf``: ``::=`` defines all rules."""
    for statement in document.statements:
        if isinstance(statement, lark.LarkDefinition):
            _check_name(statement.name, report)
            if statement.sign != ":" and not is_gbnf:
                message = "`::=` is not a sign of Lark; write `:`"
                report.error(INVALID, message, statement.span, *GBNF_HELPS)
    if dialect is Dialect.LARK:
        for construct, span in extensions(document):
            report.error(
                INVALID,
                f"{construct} is LLGuidance's, not Lark's",
                span,
                "use `--lexing llguidance`",
            )
        _check_lark(document, report)
    else:
        _check_llguidance(document, report)


def _check_name(name: lark.LarkName, report: Report) -> None:
    letters = [c for c in name.value if c.isalpha()]
    if name.value.startswith("__") or not (name.value.isupper() or name.value.islower()):
        report.error(
            INVALID,
            f"`{name.value}` is neither the name of a rule (small letters) nor of a terminal"
            " (capitals)"
            if letters
            else f"`{name.value}` is not a name",
            name.span,
        )


def _check_lark(document: lark.LarkDocument, report: Report) -> None:
    """Report what Lark reads and then refuses."""
    for statement in document.statements:
        if isinstance(statement, lark.Declare):
            for name in statement.names:
                if not name.is_terminal:
                    message = f"`%declare` is for terminals, and `{name.value}` is a rule"
                    report.error(INVALID, message, name.span)
        elif isinstance(statement, lark.IgnoreStatement):
            for node in lark.postorder(statement.body):
                if isinstance(node, lark.Use) and not node.name.is_terminal:
                    message = f"`%ignore` takes terminals, and `{node.name.value}` is a rule"
                    report.error(INVALID, message, node.span)
        elif isinstance(statement, lark.LarkDefinition):
            _check_lark_definition(statement, document.source, report)


def _check_lark_definition(definition: lark.LarkDefinition, source: Source, report: Report) -> None:
    name = definition.name
    before = source.text[: name.span.start]
    marks = before[len(before.rstrip("?!")) :]
    if "?" in marks and name.value.startswith("_"):
        message = f"`{name.value}` is always inlined, so it cannot be `?{name.value}`"
        report.error(INVALID, message, name.span, "leave out the `?`")
    if name.is_terminal:
        for node in lark.postorder(definition.body):
            if isinstance(node, lark.Group) and not source.slice(node.span).endswith(")"):
                report.error(INVALID, "a terminal has no aliases (`->`)", node.span)


_FLAGS = ("no_forcing", "allow_initial_skip", "allow_invalid_utf8", "ignore_once")


def _check_options(options: lark.OptionsStatement, report: Report) -> None:
    given = json.loads(options.text, parse_int=as_number)
    for name in _FLAGS:
        if isinstance(given, dict) and not isinstance(given.get(name, False), bool):
            report.error(INVALID, f"`{name}` is true or false", options.span)


def _check_llguidance(document: lark.LarkDocument, report: Report) -> None:
    for statement in document.statements:
        if isinstance(statement, lark.OptionsStatement):
            _check_options(statement, report)
        if not isinstance(statement, lark.LarkDefinition):
            continue
        if statement.priority is not None:
            report.error(
                INVALID,
                "LLGuidance has no priorities: priority not supported yet",
                statement.name.span,
            )
        if statement.template:
            report.error(
                INVALID,
                "LLGuidance has no templates: params not supported yet",
                statement.name.span,
            )
        for node in lark.postorder(statement.body):
            counted = isinstance(node, Repeat) and document.source.slice(node.span).endswith("}")
            if counted and isinstance(node, Repeat) and node.high == 0:
                report.error("E013", "the upper bound of a count cannot be 0", node.span)
            if isinstance(node, lark.TemplateUse):
                report.error(
                    INVALID, "LLGuidance has no templates: params not supported yet", node.span
                )


_HEX = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|(.))", re.DOTALL)


def decode(raw: str, dialect: Dialect) -> str:
    """Return the text that stands for itself in a string."""
    text = _decode_lark(raw) if dialect is Dialect.LARK else _decode_llguidance(raw)
    if any("\ud800" <= char <= "\udfff" for char in text):
        raise LarkRefusedError("E007", "half of a surrogate pair is not a character")
    return text


_ESCAPE = re.compile(r"\\(?:[xuU]\{[^}]*\}?|[xuU][0-9A-Fa-f]*|.)", re.DOTALL)
_PYTHON = re.compile(
    r"\\(?:x[0-9A-Fa-f]{2,}|u[0-9A-Fa-f]{4,}|U00(?:0[0-9A-Fa-f]|10)[0-9A-Fa-f]{4,}|[^xuU])",
    re.DOTALL,
)
"""An escape, and one that Python has."""


def _decode_lark(raw: str) -> str:
    return unescape(raw).replace("\\\\", "\\")


def unescape(raw: str) -> str:
    """Return ``raw`` as Lark's loader sees it, for strings and regular expressions alike."""
    from lark.exceptions import GrammarError
    from lark.load_grammar import eval_escaping

    try:
        return str(eval_escaping(raw))  # type: ignore[no-untyped-call]
    except (GrammarError, SyntaxError, ValueError):
        whole = next(
            (escape for escape in _ESCAPE.findall(raw) if not _PYTHON.fullmatch(escape)), raw[-1:]
        )
        message = f"`{whole}` is not an escape that Lark reads: it has those of Python"
        helps = (
            "write `\\x1f`, `\\u001f` or `\\U0001f600`; braces are LLGuidance's: `%llguidance {}`"
        )
        raise LarkRefusedError("E007", message, helps) from None


def _decode_llguidance(raw: str) -> str:
    spelt = _HEX.sub(lambda m: f"\\u00{m[1]}" if m[1] else m[0], raw)
    try:
        return str(json.loads(f'"{spelt}"'))
    except json.JSONDecodeError as error:
        raise LarkRefusedError("E007", f"LLGuidance reads strings as JSON: {error.msg}") from None
