"""Embedded parts of a Lark grammar: tokens, JSON schemas, other grammars.

Tests: tests/unit/languages/lark
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kbnf_core.conversion.rewrite import Placing, at, placed, rename
from kbnf_core.conversion.to_kbnf import Identifiers
from kbnf_core.ir import Repeat, Sequence
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.build import call, text_of
from kbnf_core.kbnf.read import MAX_TOKEN_ID, number
from kbnf_core.languages.json_schema.keywords import REFERENCES, REFUSED_BY_LLGUIDANCE
from kbnf_core.languages.lark.lexer.lookahead import ALL_BYTES
from kbnf_core.languages.lark.reader import tree as lark
from kbnf_core.languages.lark.reader.model import Embedded, Node
from kbnf_core.languages.lark.reader.report import (
    APPROXIMATE,
    INVALID,
    LarkRefusedError,
    Report,
)
from kbnf_core.lower.facts import Firsts, analyse
from kbnf_core.lower.translate import translate
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import Source, Span

if TYPE_CHECKING:
    from kbnf_core.languages.json_schema.document import SchemaDocument

GRAMMARS = frozenset({lark.ForeignKind.JSON, lark.ForeignKind.NESTED, lark.ForeignKind.GRAMMAR})
"""Embedded texts that are grammars of their own."""

_DEFINITIONS = frozenset({"$defs", "definitions"})
_BY_NAME = _DEFINITIONS | {"properties", "patternProperties"}
_SCHEMAS = _BY_NAME | {"anyOf", "oneOf", "allOf", "prefixItems"}
_SCHEMAS |= {"items", "additionalItems", "additionalProperties"}


def unimplemented(document: "SchemaDocument") -> list[str]:
    """Return the refused keywords of a schema and of those that it leads to, sorted.

    LLGuidance looks at definitions where a reference leads to them.
    """
    schema = document.value
    guide = schema.get("x-guidance") if isinstance(schema, dict) else None
    if isinstance(guide, dict) and guide.get("lenient") is True:
        return []
    result: set[str] = set()
    pending = [schema]
    seen: set[int] = set()
    while pending:
        current = pending.pop()
        if not isinstance(current, dict) or id(current) in seen:
            continue
        seen.add(id(current))
        result.update(REFUSED_BY_LLGUIDANCE & current.keys())
        for key, value in current.items():
            if key in REFERENCES:
                target = document.target_in(current, key)
                pending += [] if target is None else [target.value]
            elif key in _SCHEMAS - _DEFINITIONS:
                named = key in _BY_NAME and isinstance(value, dict)
                below = value.values() if named else value
                pending.extend(below if named or isinstance(value, list) else [value])
    return sorted(result)


_TOKEN_SET = re.compile(r"<\[(?P<negated>\^)?(?P<body>[^\]]*)\]>")
_IDS = re.compile(r"(\d+)(?:-(\d+))?")

ReadGrammar = Callable[[str, Placing], tree.Document | None]
"""Reads a nested grammar; None after a report. All spans, reported or returned, are mapped."""


@dataclass(slots=True)
class Embedding:
    """Collects the definitions that embedded parts need.

    ``read`` converts a nested grammar; ``others`` are the grammars of a list, by name. The
    definitions have spans of the file, to which ``where`` maps those of the grammar that embeds;
    ``generated`` has the spans of rules that nobody wrote, ``alternatives`` is as in
    ``tree.Document``. It ``lacks_a_grammar`` where one of the others has errors.
    """

    report: Report
    names: Identifiers
    read: ReadGrammar
    others: dict[str, tree.Document | None]
    where: Placing
    limits: Limits = DEFAULT_LIMITS
    definitions: list[tree.Definition] = field(default_factory=list)
    generated: set[Span] = field(default_factory=set)
    alternatives: dict[Span, tuple[Span, bool]] = field(default_factory=dict)
    lacks_a_grammar: bool = False

    def embed(self, node: lark.Foreign, span: Span) -> Node | None:
        """Return an embedded part; None after a report. Raises LarkRefusedError."""
        match node.kind:
            case lark.ForeignKind.JSON:
                return self._json(node, span)
            case lark.ForeignKind.NESTED:
                document = self.read(node.text, self._within(node, span))
                return None if document is None else self._document(document, "nested", span)
            case lark.ForeignKind.GRAMMAR:
                return self._reference(node, span)
        return self._special(node, span)

    def _special(self, node: lark.Foreign, span: Span) -> Node:
        """``<name>`` or ``<[1-5,7]>``."""
        match = _TOKEN_SET.fullmatch(node.text)
        if match is None:
            leaf: tree.Expression = tree.TokenName(text_of(node.text, span), span)
            return Embedded(leaf, 0, span)
        if match["body"].strip() == "*":
            if match["negated"]:
                raise LarkRefusedError(INVALID, "`<[^*]>` is not a token")
            return Embedded(tree.TokenSet(((0, MAX_TOKEN_ID),), False, span), 0, span)
        ranges = tuple(_ids(range_text.strip()) for range_text in match["body"].split(","))
        return Embedded(tree.TokenSet(ranges, match["negated"] is not None, span), 0, span)

    def _json(self, node: lark.Foreign, span: Span) -> Node:
        """``%json {...}``, with LLGuidance's meaning."""
        from kbnf_core.languages.json_schema import Options, Standard
        from kbnf_core.languages.json_schema.document import SchemaDocument, read_json
        from kbnf_core.languages.json_schema.keywords import ProblemError
        from kbnf_core.languages.json_schema.parse import embed_json_schema

        options = Options(standard=Standard.LLGUIDANCE)
        try:
            schema = read_json(node.text)
            if not isinstance(schema, dict | bool):
                raise LarkRefusedError(INVALID, "a schema is an object, `true` or `false`")
            document = SchemaDocument(schema, options)
            refused = unimplemented(document)
            if refused:
                keys = ", ".join(f'"{key}"' for key in refused)
                raise LarkRefusedError(INVALID, f"Unimplemented keys: [{keys}]")
            prefix = self.names.fresh("json") + "_"
            embedded = embed_json_schema(document, options, prefix)
        except ProblemError as error:
            problem = error.problem
            helps = (problem.help,) if problem.help else ()
            where = problem.pointer or "the schema"
            raise LarkRefusedError(problem.code, f"{where}: {problem.message}", *helps) from None
        for loss in embedded.outcome.losses:
            self.report.loss(APPROXIMATE, f"{loss.pointer}: {loss.message}", span)
        for note in embedded.outcome.notes:
            self.report.note(note.code, f"{note.pointer}: {note.message}", span)
        # The directive alone, because the whole is the place of what calls these rules.
        directive = self.where(Span(span.start, min(span.start + len("%json"), span.end)))
        self.generated.add(directive)
        definitions = tuple(
            placed(definition, at(directive)) for definition in embedded.definitions
        )
        return self._embed(embedded.start, definitions, span)

    def _within(self, node: lark.Foreign, span: Span) -> Placing:
        """Return where the text of ``%lark {...}`` is; in an imported file, all of it at once."""
        if span != node.span:
            return at(span)
        offset = node.span.end - len("}") - len(node.text)
        return lambda span: Span(span.start + offset, span.end + offset)

    def _reference(self, node: lark.Foreign, span: Span) -> Node | None:
        """``@name``, or ``@1`` as LLGuidance once had it: the grammar at that index of the list."""
        if node.text not in self.others:
            there = ", ".join(f"@{name}" for name in self.others)
            helps = (f"there is {there}",) if there else ()
            message = f"there is no grammar `{node.text}` in a list with this one"
            raise LarkRefusedError(INVALID, message, *helps)
        document = self.others[node.text]
        wanted = f"grammar_{node.text}" if node.text.isdigit() else node.text
        if document is None:
            self.lacks_a_grammar = True
            return None
        return self._document(document, wanted, span)

    def _document(self, document: tree.Document, wanted: str, span: Span) -> Node:
        """Rename the rules of another grammar and call its start."""
        names = {
            definition.name.value: self.names.fresh(f"{wanted}_{definition.name.value}")
            for definition in document.definitions
        }
        start = names[document.definitions[0].name.value]
        renamed = tuple(rename(definition, names) for definition in document.definitions)
        self.generated.update(document.generated)
        self.alternatives.update(document.alternatives or {})
        return self._embed(start, renamed, span)

    def _embed(self, start: str, definitions: tuple[tree.Definition, ...], span: Span) -> Node:
        self.definitions.extend(definitions)
        document = tree.Document(Source(""), definitions, ())
        first, nullable = _first(document, start, self.limits)
        node = Embedded(call(start, span), first, span, is_grammar=True)
        return Repeat(node, 0, 1, span) if nullable else Sequence((node,), span)


def _ids(written: str) -> tuple[int, int]:
    """Return the range of ids that is written as ``1-5`` or ``7``."""
    match = _IDS.fullmatch(written)
    low, high = (number(match[1]), number(match[2] or match[1])) if match else (1, 0)
    if low > high:
        raise LarkRefusedError(INVALID, f'invalid token range: "{written}"')
    return low, high


def _first(document: tree.Document, start: str, limits: Limits) -> tuple[int, bool]:
    """Return the bytes that the texts of ``start`` may begin with, and whether one is empty."""
    grammar = translate(document, start, limits).grammar
    if grammar is None:
        return ALL_BYTES, False
    analysis = analyse(grammar)
    bytes_ = Firsts(grammar, analysis).of(start)
    return sum(1 << byte for byte in bytes_), analysis.facts[start].nullable
