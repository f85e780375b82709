"""Parses ABNF: text in, a syntax tree of KBNF and findings out. Never raises.

Names mean the same in upper and lower case; the tree has them as their first definition writes
them. Core rules (RFC 5234, appendix B.1) that are
used and not defined are added. Time is linear in the length of the text.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from lark import Lark

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.languages.abnf import explain as about
from kbnf_core.languages.abnf.lexer import abnf_parser, split
from kbnf_core.languages.abnf.validate import check_definition, check_words
from kbnf_core.languages.abnf.values import OCTETS, are_octets, octet_rule
from kbnf_core.languages.conversion.build_tree import pattern
from kbnf_core.languages.conversion.rewrite import rewrite
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Source, Span
from kbnf_core.syntax.mistake import Mistake
from kbnf_core.syntax.parsed import Parsed
from kbnf_core.syntax.pragmas import read_pragmas
from kbnf_core.syntax.statements import Metasyntax, Statement, parse_statements, too_deep
from kbnf_core.syntax.tree import Definition, Document, Leaf, Name, Reference, postorder

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
    return Definition(Name(name, span), pattern(_PATTERNS[name], span), span)


def parse_abnf(source: Source, limits: Limits = DEFAULT_LIMITS, start: str | None = None) -> Parsed:
    """Parse ``source``; rules with mistakes are left out, as in ``parse_kbnf``.

    The start is the given one, in whatever case, else the pragma's, else the first rule.
    """
    statements, comments = split(source.text)
    metasyntax = _Abnf(source, limits, statements)
    read = parse_statements(statements, metasyntax)
    findings = [*read.findings, *_check_signs(source, statements)]
    if not (read.trees or findings):
        findings.append(about.no_rules(source))
    names = _canonical(read.trees)
    definitions = [_renamed(each, names) for each in read.trees]
    definitions += _made_rules(definitions, {*names, *map(str.lower, read.broken)})
    broken = frozenset(names.get(each.lower(), each) for each in read.broken)
    document = Document(source, tuple(definitions), comments, broken)
    wanted = start or read_pragmas(document)[0].start or _first(statements)
    found = tuple(sorted(findings, key=Diagnostic.sort_key))
    return Parsed(document, found, names.get(wanted.lower(), wanted) if wanted else None)


class _Abnf(Metasyntax[Definition]):
    """The rules of a text."""

    def __init__(self, source: Source, limits: Limits, statements: list[Statement]) -> None:
        super().__init__(source, limits)
        self._octets = are_octets(
            word.value for each in statements for word in each.words if word.type == "VALUE"
        )

    def parser(self) -> Lark:
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
    found: dict[str, str] = {}
    for definition in definitions:
        found.setdefault(definition.name.value.lower(), definition.name.value)
    return found


def _renamed(definition: Definition, names: Mapping[str, str]) -> Definition:
    def known(name: Name) -> Name:
        lower = name.value.lower()
        return replace(name, value=names.get(lower) or _CORE_RULES.get(lower, name.value))

    def change(leaf: Leaf) -> Leaf:
        return replace(leaf, name=known(leaf.name)) if isinstance(leaf, Reference) else leaf

    return replace(definition, name=known(definition.name), body=rewrite(definition.body, change))


def _made_rules(definitions: list[Definition], defined: set[str]) -> list[Definition]:
    """Return the core rules, and others, that are used and not ``defined`` (in lower case)."""
    missing: dict[str, Name] = {}
    for definition in definitions:
        for node in postorder(definition.body):
            if isinstance(node, Reference) and node.name.value.lower() not in defined:
                missing.setdefault(node.name.value, node.name)
    made = (_made_rule(name, first.span) for name, first in missing.items())
    return [rule for rule in made if rule is not None]


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
    return next((each.words[0].value for each in statements if each.is_definition), None)
