"""From KBNF to LLGuidance's Lark.

Greedy lexing is kept from going wrong by writing lexemes of one byte or one character: lexemes
of equal length that are alive together end together, so the lexer never has to choose. Regular
parts become right-linear rules over single characters; a literal becomes its characters.
"""

from kbnf_core.automata import operations
from kbnf_core.automata.characters import NotTextError, to_characters
from kbnf_core.automata.codepoints import CodePoints
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.expression import print_characters
from kbnf_core.automata.regex import compile_regex
from kbnf_core.config import Finish
from kbnf_core.convert.conversion import Conversion, Example, Loss
from kbnf_core.convert.difference import MOST_STATES
from kbnf_core.convert.prefix_free import is_prefix_free, shortest_longer
from kbnf_core.convert.verify import ConversionError
from kbnf_core.errors import GrammarError
from kbnf_core.frontend import Reading, name_span, read_grammar
from kbnf_core.ir import (
    Call,
    Choice,
    Literal,
    Node,
    Regular,
    Repeat,
    Sequence,
    Token,
    TokenTerminal,
    children,
    postorder,
)
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.lower.build import build_tables
from kbnf_core.recognise.states import StateTable
from kbnf_core.source import Source, Span
from kbnf_core.syntax.lark_dialect_parse import parse_lark

LOST_BYTES = "W401"
LOST_FINISH = "W403"
_TEXTS = compile_regex("(?s:.)*").dfa or operations.empty()
EMPTY = '""'
"""An expression of the empty text."""


def to_lark(
    source: str,
    *,
    path: str | None = None,
    start: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Conversion:
    """Return LLGuidance's Lark for a KBNF text.

    ``path`` names the text in messages; ``start`` wins over its pragma and becomes ``start``.
    Raises ``GrammarError`` with all findings for a text with errors.
    """
    reading = read_grammar(Source(source, path), start, limits=limits)
    if reading.grammar is None:
        raise GrammarError(reading.diagnostics)
    writer = _Writer(reading)
    text = writer.write()
    wrong = parse_lark(Source(text), limits).diagnostics
    if wrong:
        raise ConversionError(f"the converted grammar is wrong: {wrong[0].message}")
    losses = (*writer.losses, *_finish(reading))
    return Conversion(text, not losses, losses, reading.diagnostics)


def _finish(reading: Reading) -> list[Loss]:
    if reading.finish is Finish.EOS or reading.grammar is None:
        return []
    states = StateTable(build_tables(reading.grammar))
    if is_prefix_free(states.tables):
        return []
    longer = shortest_longer(states, MOST_STATES)
    return [
        Loss(
            LOST_FINISH,
            "generation ends at the first complete text, and LLGuidance may go on",
            name_span(reading.document, reading.start),
            None if longer is None else Example(longer, kept_out=False),
        )
    ]


class _Writer:
    """Writes rules; the start comes first."""

    def __init__(self, reading: Reading) -> None:
        assert reading.grammar is not None  # noqa: S101 - the caller has looked
        self.losses: list[Loss] = []
        self._rules = reading.grammar.rules
        self._start = reading.grammar.start
        self._names: dict[str, str] = {self._start: "start"}
        self._used = {"start"}
        for name in self._rules:
            self._names.setdefault(name, self._fresh(name))
        self._lines: list[str] = []
        self._regulars: dict[int, str] = {}
        self._keep: list[Dfa] = []

    def write(self) -> str:
        """Return the whole grammar."""
        order = [self._start, *(name for name in self._rules if name != self._start)]
        for name in order:
            written = self._expression(self._rules[name])
            self._lines.append(f"{self._names[name]}: {written}")
        return "".join(f"{line}\n" for line in self._lines)

    def _fresh(self, name: str) -> str:
        """Return a name of a rule: small letters, not beginning with a digit or two underscores."""
        base = name.lower().lstrip("_") or "rule"
        if not base[0].isalpha():
            base = f"r_{base}"
        chosen, number = base, 2
        while chosen in self._used:
            chosen, number = f"{base}_{number}", number + 1
        self._used.add(chosen)
        return chosen

    def _expression(self, root: Node) -> str:
        values: list[str] = []
        for node in postorder(root):
            first = len(values) - len(children(node))
            values[first:] = [self._one(node, values[first:])]
        return values.pop()

    def _one(self, node: Node, parts: list[str]) -> str:
        match node:
            case Literal(data, span):
                return self._literal(data, span)
            case Regular(dfa, span):
                return self._regular(dfa, span)
            case Token(terminal, span):
                return self._token(terminal, span)
            case Call(name):
                return self._names[name]
            case Sequence():
                return f"({' '.join(parts)})" if parts else EMPTY
            case Choice():
                return f"({' | '.join(parts)})" if parts else self._nothing()
            case Repeat(_, low, high):
                return _repeated(parts[0], low, high)

    def _literal(self, data: bytes, span: Span) -> str:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            self._lose(span)
            return self._nothing()
        return f"({' '.join(map(_character, text))})" if text else EMPTY

    def _regular(self, dfa: Dfa, span: Span) -> str:
        if dfa.is_empty:
            return self._nothing()
        if id(dfa) not in self._regulars:
            self._keep.append(dfa)
            self._regulars[id(dfa)] = self._states(dfa, span)
        return self._regulars[id(dfa)]

    def _states(self, dfa: Dfa, span: Span) -> str:
        """Write an automaton as right-linear rules over characters; return the first."""
        try:
            characters = to_characters(dfa)
        except NotTextError:
            self._lose(span)
            characters = to_characters(operations.intersect(dfa, _TEXTS))
        if not characters.edges:
            return self._nothing()
        names = [self._fresh("chars") for _ in characters.edges]
        for name, edges, accepting in zip(
            names, characters.edges, characters.accepting, strict=True
        ):
            branches = [EMPTY] if accepting else []
            for points, target in edges:
                step = f"/{_class(points)}/"
                last = characters.accepting[target] and not characters.edges[target]
                branches.append(step if last else f"{step} {names[target]}")
            self._lines.append(f"{name}: {' | '.join(branches) or self._nothing()}")
        return names[0]

    def _token(self, terminal: TokenTerminal, span: Span) -> str:
        if terminal.name is not None:
            if terminal.name.startswith("<") and terminal.name.endswith(">"):
                return terminal.name
            self.losses.append(
                Loss("W402", f"LLGuidance names tokens as `<...>`: {terminal.name!r}", span)
            )
            return self._nothing()
        ids = ",".join(str(a) if a == b else f"{a}-{b}" for a, b in terminal.ranges)
        return f"<[{'^' if terminal.negated else ''}{ids}]>"

    def _nothing(self) -> str:
        """Return a rule that matches nothing."""
        if "nothing" not in self._used:
            self._used.add("nothing")
            self._lines.append('nothing: "x" nothing')
        return "nothing"

    def _lose(self, span: Span) -> None:
        self.losses.append(
            Loss(LOST_BYTES, "LLGuidance's rules match texts; these bytes are no UTF-8", span)
        )


def _repeated(body: str, low: int, high: int | None) -> str:
    if high == 0:
        return EMPTY
    bounds = {(0, 1): "?", (0, None): "*", (1, None): "+"}
    operator = bounds.get((low, high)) or f"{{{low},{'' if high is None else high}}}"
    return f"({body}){operator}"


def _character(char: str) -> str:
    point = ord(char)
    return f"/{_class(((point, point),))}/"


def _class(points: CodePoints) -> str:
    """Return a set of characters as a regular expression; a slash would end it."""
    return print_characters(points).replace("\\/", "/").replace("/", "\\/")
