r"""Reads ``grammar.json``, which ``tree-sitter generate`` writes, to rules over characters.

*Tokens* are the texts and patterns of the rules, and the arguments of ``token(...)``. A rule that
is only a token has its name. ``extras`` go between tokens (``conversion/scannerless.py``), but not
before ``token.immediate(...)``.

*Lexing.* The lexer of tree-sitter looks for the tokens that are expected at a position, and
everywhere for ``extras`` and the ``word``: a keyword is a whole word. So a word is parted from a
word, but is only refused where it is ``reserved``; where a rule names other reserved words, the
word is another token (``word_CONTEXT``). Precedences and conflicts choose trees, not texts.

*Externals* are scanned by code. A rule that the start leads to and that needs one is refused, or,
where losses are permitted, cannot match. One for which ``rules`` has a rule is that rule.

Tests: tests/unit/languages/tree_sitter
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from kbnf_core.automata import algebra
from kbnf_core.automata.expression import Expression as Texts
from kbnf_core.automata.operations import literals
from kbnf_core.automata.traversal import fold, postorder
from kbnf_core.conversion.foreign import ForeignReader
from kbnf_core.conversion.rewrite import rewrite
from kbnf_core.conversion.scannerless import Scannerless, TokenKind, take
from kbnf_core.ir.analysis import reachable
from kbnf_core.ir.names import FreshNames
from kbnf_core.kbnf import build
from kbnf_core.kbnf.outline import NOTHING, Outline, OutlineUse, Symbol
from kbnf_core.kbnf.parsed import Parsed, Request
from kbnf_core.kbnf.tree import Definition, Expression, Leaf, Name, Reference
from kbnf_core.text.json_text import NoJsonError, escape, parse_json
from kbnf_core.text.source import NOWHERE, Source, Span

_PLAIN = frozenset(("ALIAS", "FIELD", "PREC", "PREC_DYNAMIC", "PREC_LEFT", "PREC_RIGHT"))
"""Forms that say nothing about the texts of their content."""

_ONE = _PLAIN | {"IMMEDIATE_TOKEN", "REPEAT", "REPEAT1", "RESERVED", "TOKEN"}
_MANY = frozenset(("CHOICE", "SEQ"))
_TOKENS = frozenset(("IMMEDIATE_TOKEN", "PATTERN", "STRING", "TOKEN"))

_ESCAPE = re.compile(
    r"\\(?:u\{([0-9A-Fa-f]+)\}|u([0-9A-Fa-f]{4})|([dswDSW])|([/\"'`#%&,:;<=>@_~! -])|(.))",
    re.DOTALL,
)
_CLASSES = {"d": "0-9", "s": r"\t\n\r\x0b\x0c ", "w": "0-9A-Za-z_"}
"""Classes of characters, which are those of ASCII."""


class Node(NamedTuple):
    """A part of a rule and its JSON Pointer."""

    value: Mapping[str, Any]
    pointer: str

    @property
    def kind(self) -> str:
        """Its type; empty where it has none."""
        return self.text("type")

    def text(self, name: str) -> str:
        """Return the text of one of its fields; empty where it has none."""
        return str(self.value.get(name, ""))


def children(node: Node) -> list[Node]:
    """Return the direct parts of a node."""
    if node.kind in _ONE:
        content = node.value.get("content")
        return [Node(content, f"{node.pointer}/content")] if isinstance(content, dict) else []
    members = node.value.get("members") if node.kind in _MANY else None
    if not isinstance(members, list):
        return []
    nodes = (Node(member, f"{node.pointer}/members/{n}") for n, member in enumerate(members))
    return [member for member in nodes if isinstance(member.value, dict)]


def read_tree_sitter(source: Source, request: Request) -> Parsed:
    """Read a grammar; findings are in the result. Raises WorkLimitError."""
    return _TreeSitterReader(source, request).read()


def outline_tree_sitter(source: Source) -> Outline:
    """Return where rules are defined and used; never raises."""
    try:
        rules = _rules(parse_json(source.text))
    except NoJsonError:
        return NOTHING
    source = replace(source, is_json=True)
    spans = {name: source.locate(root.pointer) for name, root in rules.items()}
    return Outline(
        tuple(Symbol(name, span, span) for name, span in spans.items()),
        tuple(
            OutlineUse(node.text("name"), source.locate(f"{node.pointer}/name"))
            for root in rules.values()
            for node in postorder(root, children)
            if node.kind == "SYMBOL"
        ),
    )


def _rules(value: Any) -> dict[str, Node]:
    rules = value.get("rules") if isinstance(value, dict) else None
    if not isinstance(rules, dict):
        return {}
    return {
        name: Node(body, f"/rules/{escape(name)}")
        for name, body in rules.items()
        if isinstance(body, dict)
    }


class _TreeSitterReader(ForeignReader):
    """Reads one grammar."""

    def __init__(self, source: Source, request: Request) -> None:
        super().__init__(source, request)
        self._rules: dict[str, Node] = {}
        self._tokens: dict[str, TokenKind] = {}
        self._rule = ""
        self._word = ""
        self._contexts: dict[str, str] = {}
        """By the name of reserved words: that of the ``word`` without them."""

    def rules(self) -> Scannerless | None:
        try:
            grammar = parse_json(self.source.text)
        except NoJsonError as error:
            self.error("E001", error.reason, error.span)
            return None
        self._rules = _rules(grammar)
        if not isinstance(grammar, dict) or not self._rules:
            message = "a grammar of tree-sitter has `rules`"
            self.error("E001", message, self.source.locate(""))
            return None
        self.names, self.made = set(self._rules), FreshNames(self._rules)
        start = self.start(next(iter(self._rules)))
        extras = _entries(grammar, "extras")
        skipped = {extra.text("name") for extra in extras if extra.kind == "SYMBOL"}
        uses = {name: _symbols(root) for name, root in self._rules.items()}
        needed = reachable([start, *(skipped & uses.keys())], uses)
        self._word = str(grammar.get("word"))
        bodies: list[Definition] = []
        for name in filter(needed.__contains__, self._rules):
            root, self._rule = self._rules[name], name
            span, form = self.source.locate(root.pointer), self._form(root)
            kind = _content(root).kind
            if name in skipped or kind in _TOKENS:
                is_immediate = kind == "IMMEDIATE_TOKEN"
                named = Name(name, span)
                self._tokens[name] = TokenKind(named, form, span, name in skipped, "", is_immediate)
            else:
                bodies.append(build.definition(name, form, span))
        for extra in extras:
            if extra.kind != "SYMBOL":
                self._rule = "extra"
                skipped.add(self._name_token(extra, self._form(extra), is_skipped=True))
        everywhere = {*self._words(grammar), *skipped}
        tokens = [*self._tokens.values()]
        return self.without_lexer(bodies, tokens, start, everywhere).reached()

    def _words(self, grammar: Mapping[str, Any]) -> Iterable[str]:
        """Take its reserved words from the word of each context, and return the names of these."""
        word = self._tokens.get(self._word)
        if word is None:
            return ()
        contexts = {"global": self._word, **self._contexts}
        for context, name in contexts.items():
            self._tokens[name] = replace(word, name=Name(name, word.name.span))
            words = [literals(_reserved(grammar, context))]
            self.losses += take(self._tokens[name], words, self.request.limits, self.budget)
        return contexts.values()

    def _in_context(self, form: Expression, context: str) -> Expression:
        """Return a form whose word is the one without the words that are reserved in a context."""

        def change(leaf: Leaf) -> Expression:
            if not isinstance(leaf, Reference) or leaf.name.value != self._word:
                return leaf
            if context not in self._contexts:
                self._contexts[context] = self.made.fresh(f"{self._word}_{context}")
            return build.call(self._contexts[context], leaf.span)

        return form if context == "global" else rewrite(form, change)

    def _name_token(self, node: Node, form: Expression, *, is_skipped: bool = False) -> str:
        """Add a token under a name of its own, and return that."""
        name = self.made.fresh(self._rule if is_skipped else f"{self._rule}_token")
        span = self.source.locate(node.pointer)
        self._tokens[name] = TokenKind(Name(name, span), form, span, is_skipped, "", not is_skipped)
        return name

    def _form(self, root: Node) -> Expression:
        """Return a rule, or a part of one, as a tree of KBNF."""
        form = fold(root, _syntax, self._combine)
        span = self.source.locate(root.pointer)
        return build.placed(form, span) if form.span == NOWHERE else form

    def _combine(self, node: Node, operands: list[Expression]) -> Expression:
        span = self.source.locate(node.pointer)
        match node.kind:
            case "SYMBOL":
                name = node.text("name")
                if name in self._rules:
                    return build.call(name, span)
                help_ = f"write its texts as a rule `{name}` in `rules`"
                return self.nothing(f"`{name}` is scanned by code", span, help_)
            case "SEQ":
                return build.sequence(*operands, span=span)
            case "CHOICE" if operands:
                return build.alternation(operands, span)
            case "REPEAT" | "REPEAT1" if operands:
                return build.repeated(operands[0], int(node.kind == "REPEAT1"), None, span)
            case "BLANK":
                return build.EMPTY
            case kind if kind in _TOKENS:
                return self._token(node, span)
            case "RESERVED" if operands:
                return self._in_context(operands[0], node.text("context_name"))
            case kind if kind in _PLAIN and operands:
                return operands[0]
            case kind:
                return self.nothing(f"a rule cannot be `{kind}`", span)

    def _token(self, node: Node, span: Span) -> Expression:
        """Return the notation of a token: a text, or a pattern."""
        if node.kind == "STRING":
            return build.text(node.text("value"), span)
        form = self.pattern(fold(node, children, self._texts), span)
        if node.kind == "IMMEDIATE_TOKEN" and _content(self._rules.get(self._rule, node)) != node:
            return build.call(self._name_token(node, form), span)
        return form

    def _texts(self, node: Node, operands: list[Texts]) -> Texts:
        match node.kind:
            case "STRING":
                return self.builder.text(node.text("value"))
            case "PATTERN":
                texts = self.builder.read(_pattern(node))
                problem = "this pattern cannot be read"
            case "SEQ":
                return self.builder.sequence(operands)
            case "CHOICE":
                return self.builder.alternation(operands)
            case "REPEAT" | "REPEAT1" if operands:
                return self.builder.repetition(operands[0], int(node.kind == "REPEAT1"), None)
            case "BLANK":
                return algebra.EMPTY
            case kind:
                texts = operands[0] if operands else None
                problem = f"a token cannot be `{kind}`"
        if texts is None:
            self.refuse(problem, self.source.locate(node.pointer))
        return algebra.NOTHING if texts is None else texts


def _content(node: Node) -> Node:
    """Return a node without the forms around it that say nothing about its texts."""
    while node.kind in _PLAIN and children(node):
        node = children(node)[0]
    return node


def _syntax(node: Node) -> list[Node]:
    """Return the parts of a node that are not inside of a token."""
    return [] if node.kind in _TOKENS else children(node)


def _symbols(root: Node) -> set[str]:
    return {node.text("name") for node in postorder(root, children) if node.kind == "SYMBOL"}


def _entries(grammar: Mapping[str, Any], name: str) -> list[Node]:
    """Return the rules of a list of the grammar."""
    entries = grammar.get(name)
    if not isinstance(entries, list):
        return []
    return [
        Node(entry, f"/{name}/{n}") for n, entry in enumerate(entries) if isinstance(entry, dict)
    ]


def _reserved(grammar: Mapping[str, Any], context: str) -> list[bytes]:
    """Return the words that are not names where these are expected in a context."""
    reserved = grammar.get("reserved")
    words = _entries(reserved, context) if isinstance(reserved, dict) else []
    return [entry.text("value").encode() for entry in words if entry.kind == "STRING"]


def _pattern(node: Node) -> str:
    """Return a regular expression of JavaScript in the dialect of this toolkit."""

    def one(escape: re.Match[str]) -> str:
        digits, letter = escape[1] or escape[2], escape[3]
        if digits:
            return f"\\x{{{digits}}}"
        if letter:
            return f"[{'^' * letter.isupper()}{_CLASSES[letter.lower()]}]"
        return build.escaped(escape[4]) if escape[4] else escape[0]

    flags = "(?i)" if "i" in node.text("flags") else ""
    return flags + _ESCAPE.sub(one, node.text("value"))
