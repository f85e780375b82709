"""Gathers the definitions of a Lark file and of all files that it imports under flat names.

As in Lark, what an imported rule needs comes along as ``module__name``, and a module's
``%ignore`` does not. The libraries that come with both programs are written here for this project:
the languages are those of the originals, and there is no look-behind in them, so they read the same
in both dialects. LLGuidance lets a line break into an ``ESCAPED_STRING``. Of the grammars of Python
and of Lark itself, which only Lark ships, there are the terminals.

Tests: tests/unit/languages/lark
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from posixpath import dirname, join, normpath
from typing import Generic, TypeVar

from kbnf_core.automata.traversal import cyclic_components, fold, postorder
from kbnf_core.ir import Choice
from kbnf_core.ir.analysis import callees_first
from kbnf_core.languages.lark.reader import tree as lark
from kbnf_core.languages.lark.reader.parse import parse_lark
from kbnf_core.languages.lark.reader.report import IMPORT, INVALID, LarkRefusedError, Report
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError
from kbnf_core.text.files import Imports
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source, Span

_MOST_NESTED = 100
"""Terminals of a circle that are followed in a chain."""

_DEEPEST = 32
"""Files that import one another in a chain; more are taken for a cycle."""


@dataclass(slots=True, eq=False)
class Module:
    """A file: ``names`` are its names and the flat ones they stand for.

    ``site`` is where the main file imports it, None for the main file itself.
    """

    source: Source
    site: Span | None
    prefix: str
    depth: int
    names: dict[str, str] = field(default_factory=dict)

    def main_span(self, span: Span) -> Span:
        """Return where ``span`` is shown in the main file."""
        return span if self.site is None else self.site


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """A definition and the file in which its names have their meaning."""

    definition: lark.LarkDefinition
    module: Module


@dataclass(slots=True, eq=False)
class Gathered:
    """All definitions by flat name; several of one name are alternatives (``%extend``)."""

    main: Module
    entries: dict[str, list[Entry]] = field(default_factory=dict)
    ignored: list[tuple[lark.Expression, Span]] = field(default_factory=list)
    declared: set[str] = field(default_factory=set)
    options: list[lark.OptionsStatement] = field(default_factory=list)
    broken: frozenset[str] = frozenset()

    def entry(self, flat: str | None) -> Entry | None:
        """Return the definition of a flat name; those of ``%extend`` are joined to one."""
        entries = self.entries.get(flat or "")
        if not entries or len(entries) == 1:
            return entries[0] if entries else None
        first = entries[0].definition
        body = Choice(tuple(entry.definition.body for entry in entries), first.body.span)
        return Entry(replace(first, body=body), entries[0].module)


T = TypeVar("T")


@dataclass(slots=True)
class NamedTerminals(Generic[T]):
    """Builds what terminals stand for, named ones once; ``combine`` is the dialect's."""

    gathered: Gathered
    report: Report
    limits: Limits
    budget: Budget
    _terminals: dict[str, T | None] = field(default_factory=dict)
    _open: list[str] = field(default_factory=list)

    def combine(self, node: lark.Expression, values: list[T], module: Module) -> T | None:
        """Return the value of ``node`` from the values of its operands; None after a report."""
        raise NotImplementedError

    def operands(self, node: lark.Expression) -> Sequence[lark.Expression]:
        """Return the operands of a node whose values are combined."""
        return lark.children(node)

    def define(self, definition: lark.LarkDefinition, module: Module) -> T | None:
        """Return what a definition stands for; None after a report."""
        return self.evaluate(definition.body, module)

    def evaluate(self, root: lark.Expression, module: Module) -> T | None:
        """Return what a terminal expression stands for; None after a report."""

        def combine(node: lark.Expression, values: list[T | None]) -> T | None:
            whole = [value for value in values if value is not None]
            try:
                return self.combine(node, whole, module) if len(whole) == len(values) else None
            except LimitError as error:
                self.report.error(
                    "E203", f"this terminal needs {error}", module.main_span(node.span)
                )
            except LarkRefusedError as error:
                self.report.refused(error, module.main_span(node.span))
            return None

        return fold(root, self.operands, combine)

    def named(self, flat: str, span: Span) -> T | None:
        """Return what a named terminal stands for; None after a report."""
        if flat in self._open:
            self.report.error(INVALID, f"circular reference in terminal `{flat}`", span)
            return None
        if flat in self._terminals:
            return self._terminals[flat]
        if len(self._open) > _MOST_NESTED:
            self.report.error("E012", "terminals refer to one another too deeply", span)
            return None
        for name, entry in self._ahead(flat):
            self._open.append(name)
            self._terminals[name] = self.define(entry.definition, entry.module)
            self._open.pop()
        return self._terminals.get(flat)

    def _ahead(self, flat: str) -> list[tuple[str, Entry]]:
        """Return a terminal and those that it needs, these first, so that chains do not nest.

        Terminals in a circle are left out: the first one that is asked for reports it.
        """
        entries: dict[str, Entry] = {}
        callees: dict[str, list[str]] = {}
        pending = [flat]
        while pending:
            name = pending.pop()
            entry = self.gathered.entry(name)
            if name in callees or name in self._terminals or name in self._open or entry is None:
                continue
            nodes = postorder(entry.definition.body, self.operands)
            names = (node.name.value for node in nodes if isinstance(node, lark.Use))
            entries[name] = entry
            callees[name] = [entry.module.names.get(name_, "") for name_ in names]
            pending += callees[name]
        within = {
            name: [name_ for name_ in inner if name_ in callees] for name, inner in callees.items()
        }
        circles = {name for circle in cyclic_components(within) for name in circle} - {flat}
        order = callees_first([flat], within) if flat in within else []
        return [(name, entries[name]) for name in order if name not in circles]

    def used(self, use: lark.Use, module: Module) -> T | None:
        """Return what a name within a terminal stands for; None after a report."""
        name = use.name.value
        flat = module.names.get(name, "")
        if not use.name.is_terminal:
            raise LarkRefusedError(INVALID, f"rules are not allowed inside terminals: `{name}`")
        if flat in self.gathered.declared:
            raise LarkRefusedError(INVALID, f"`{name}` is declared only, it has no pattern")
        if self.gathered.entry(flat) is None:
            raise LarkRefusedError("E101", f"unknown name: `{name}`")
        return self.named(flat, module.main_span(use.span))


def gather(
    document: lark.LarkDocument, libraries: Mapping[str, str], imports: Imports, report: Report
) -> Gathered:
    """Return the definitions of ``document`` and of what it imports."""
    main = Module(document.source, None, "", 0)
    gathered = Gathered(main, broken=document.broken_names)
    _Gatherer(libraries, imports, report, gathered).add(document, main, {})
    return gathered


@dataclass(slots=True)
class _Gatherer:
    libraries: Mapping[str, str]
    imports: Imports
    report: Report
    gathered: Gathered

    def add(self, document: lark.LarkDocument, module: Module, wanted: Mapping[str, str]) -> None:
        """Add the statements of a file whose names ``wanted`` get the names given there."""
        for statement in document.statements:
            if isinstance(statement, lark.LarkDefinition) and statement.definer is lark.Definer.NEW:
                name = statement.name.value
                module.names.setdefault(name, wanted.get(name, _mangle(module.prefix, name)))
            elif isinstance(statement, lark.Declare):
                for declared in statement.names:
                    flat = wanted.get(declared.value, _mangle(module.prefix, declared.value))
                    module.names[declared.value] = flat
                    self.gathered.declared.add(flat)
        self._import_all(document, module, wanted)
        for statement in document.statements:
            if isinstance(statement, lark.LarkDefinition):
                self._define(statement, module)
            elif module.site is None and isinstance(statement, lark.IgnoreStatement):
                self.gathered.ignored.append((statement.body, statement.span))
            elif module.site is None and isinstance(statement, lark.OptionsStatement):
                self.gathered.options.append(statement)

    def _define(self, definition: lark.LarkDefinition, module: Module) -> None:
        name = definition.name.value
        flat = module.names.get(name, name)
        entry = Entry(definition, module)
        entries = self.gathered.entries
        is_defined = flat in entries
        if definition.definer is lark.Definer.NEW and is_defined:
            self.report.error(
                INVALID, f"`{name}` is defined twice", module.main_span(definition.name.span)
            )
        elif definition.definer is not lark.Definer.NEW and not is_defined:
            self.report.error(
                INVALID,
                f"`{definition.definer.value}` of `{name}`, which is not defined",
                module.main_span(definition.name.span),
            )
        elif definition.definer is lark.Definer.EXTEND:
            entries[flat].append(entry)
        else:
            entries[flat] = [entry]

    def _import_all(
        self, document: lark.LarkDocument, module: Module, wanted: Mapping[str, str]
    ) -> None:
        """Import each file once, with all names that are wanted from it."""
        merged: dict[tuple[int, tuple[str, ...]], list[lark.Import]] = {}
        for statement in document.statements:
            if isinstance(statement, lark.Import):
                merged.setdefault((statement.dots, statement.module), []).append(statement)
        for statements in merged.values():
            self._import(statements, module, wanted)

    def _import(
        self, statements: list[lark.Import], module: Module, wanted: Mapping[str, str]
    ) -> None:
        first = statements[0]
        site = module.main_span(first.span)
        source = self._find(first, module, site)
        if source is None:
            return
        aliases: dict[str, str] = {}
        for old, new in (pair for statement in statements for pair in statement.names):
            flat = wanted.get(new.value, _mangle(module.prefix, new.value))
            module.names[new.value] = aliases[old.value] = flat
        parsed = parse_lark(source)
        for finding in parsed.diagnostics:
            position = source.position(finding.span.start)
            message = f"{source.name}:{position.line}: {finding.message}"
            self.report.error(finding.code, message, site)
        prefix = _mangle(module.prefix, "__".join(first.module))
        inner = Module(source, site, prefix, module.depth + 1)
        self.add(parsed.document, inner, aliases)
        self._check_names(statements, inner, module)

    def _check_names(self, statements: list[lark.Import], inner: Module, module: Module) -> None:
        for old, _ in (pair for statement in statements for pair in statement.names):
            if old.value not in inner.names:
                close = get_close_matches(old.value, inner.names, n=1)
                there = ", ".join(sorted(inner.names))
                helps = f"did you mean `{close[0]}`?" if close else f"there are {there}"
                if not old.is_terminal and inner.source.name in self.libraries:
                    helps = (
                        "only terminals of libraries are here; put the grammar beside this file and"
                        " import it with a dot in front"
                    )
                message = f"`{inner.source.name}` does not define `{old.value}`"
                self.report.error(IMPORT, message, module.main_span(old.span), helps)

    def _find(self, statement: lark.Import, module: Module, site: Span) -> Source | None:
        name = ".".join(statement.module)
        if module.depth >= _DEEPEST:
            self.report.error(IMPORT, "these files import one another without an end", site)
            return None
        if statement.dots == 0:
            text = self.libraries.get(name)
            if text is None:
                names = ", ".join(sorted(self.libraries))
                self.report.error(
                    IMPORT,
                    f"there is no library `{name}` here; there is {names}",
                    site,
                    "import a file beside this one with a dot in front: `%import .name.RULE`",
                )
            return None if text is None else Source(text, name)
        above = [".."] * (statement.dots - 1)
        path = join(dirname(module.source.path or ""), *above, *statement.module) + ".lark"
        if not self.imports.permit(path, self.gathered.main.source.path):
            self.report.error(
                IMPORT,
                f"`{normpath(path)}` is not in the folder of the grammar or below it",
                site,
                "put it there, or permit other folders: `--allow-outside`, `imports=ANYWHERE`",
            )
            return None
        text = self.imports.load(normpath(path))
        if text is None:
            self.report.error(IMPORT, f"cannot read `{normpath(path)}`", site)
        return None if text is None else Source(text, normpath(path))


def _mangle(prefix: str, name: str) -> str:
    if not prefix:
        return name
    mark, rest = ("_", name[1:]) if name.startswith("_") else ("", name)
    return f"{mark}{prefix}__{rest}"


_NUMBERS = r"""
DIGIT: /[0-9]/
HEXDIGIT: /[0-9a-fA-F]/
INT: /[0-9]+/
SIGNED_INT: /[+-]?[0-9]+/
DECIMAL: /[0-9]+\.[0-9]*|\.[0-9]+/
_EXP: /[eE][+-]?[0-9]+/
FLOAT: /[0-9]+[eE][+-]?[0-9]+|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?/
SIGNED_FLOAT: /[+-]?(?:[0-9]+[eE][+-]?[0-9]+|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)/
NUMBER: /[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?/
SIGNED_NUMBER: /[+-]?(?:[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?)/
"""

_NAMES = r"""
LCASE_LETTER: /[a-z]/
UCASE_LETTER: /[A-Z]/
LETTER: /[A-Za-z]/
WORD: /[A-Za-z]+/
CNAME: /[_A-Za-z][_A-Za-z0-9]*/
"""

_BLANKS = r"""
WS_INLINE: /[ \t]+/
WS: /[ \t\f\r\n]+/
CR: /\r/
LF: /\n/
NEWLINE: /(?:\r?\n)+/
"""

_COMMENTS = r"""
SH_COMMENT: /#[^\n]*/
CPP_COMMENT: /\/\/[^\n]*/
SQL_COMMENT: /--[^\n]*/
C_COMMENT: /\/\*[^*]*\*+(?:[^\/*][^*]*\*+)*\//
"""

_LARK_STRINGS = r"""
_STRING_INNER: /.*?/
_STRING_ESC_INNER: /.*?(?<!\\)(?:\\\\)*?/
ESCAPED_STRING: /"(?:[^"\\\n]|\\[^\n])*"/
"""

_LLGUIDANCE_STRINGS = r"""
ESCAPED_STRING: /"(?:[^"\\]|\\[^\n])*"/
"""

_UNICODE = r"""
WS_INLINE: /[ \t\xa0]+/
WS: /[ \t\xa0\f\r\n]+/
"""

_PYTHON = r"""
SLASH: "/"
ASYNC: "async"
AWAIT: "await"
NAME: /[^\W\d]\w*/
COMMENT: /#[^\n]*/
_NEWLINE: /(?:\r?\n[\t ]*|#[^\n]*)+/
STRING: /(?:[ubf]?r?|r[ubf])(?:"(?!"")(?:[^"\\\n]|\\.)*"|'(?!'')(?:[^'\\\n]|\\.)*')/i
LONG_STRING: /(?:[ubf]?r?|r[ubf])(?:"{3}(?:[^\\]|\\.)*?"{3}|'{3}(?:[^\\]|\\.)*?'{3})/is
_SPECIAL_DEC: /[0-9](?:_?[0-9])*/
DEC_NUMBER: /[1-9](?:_?[0-9])*|0(?:_?0)*(?![1-9])/
HEX_NUMBER.2: /0[xX](?:_?[0-9a-fA-F])+/
OCT_NUMBER.2: /0[oO](?:_?[0-7])+/
BIN_NUMBER.2: /0[bB](?:_?[01])+/
_EXP: /[eE][-+]?[0-9](?:_?[0-9])*/
DECIMAL: "." _SPECIAL_DEC | _SPECIAL_DEC "." _SPECIAL_DEC?
FLOAT_NUMBER.2: _SPECIAL_DEC _EXP | DECIMAL _EXP?
IMAG_NUMBER.2: (_SPECIAL_DEC | FLOAT_NUMBER) /[jJ]/
"""

_LARK = r"""
OP: /[+*]|\?(?![a-z])/
RULE: /!?[_?]?[a-z][_a-z0-9]*/
TOKEN: /_?[A-Z][_A-Z0-9]*/
STRING: /"(?:[^"\\\n]|\\.)*"i?/
REGEXP: /\/(?!\/)(?:\\\/|\\\\|[^\/])*?\/[imslux]*/
_NL: /(?:\r?\n)+\s*/
_VBAR: /(?:(?:\r?\n)+\s*)?\|/
COMMENT: /\s*(?:\/\/|#)[^\n]*/
"""

_SHARED = _NUMBERS + _NAMES + _BLANKS + _COMMENTS

LARK_LIBRARIES: Mapping[str, str] = {
    "common": _SHARED + _LARK_STRINGS,
    "unicode": _UNICODE,
    "python": _PYTHON,
    "lark": _LARK,
}

LLGUIDANCE_LIBRARIES: Mapping[str, str] = {"common": _SHARED + _LLGUIDANCE_STRINGS}
