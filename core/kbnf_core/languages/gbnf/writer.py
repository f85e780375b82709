r"""From KBNF to GBNF, as llama.cpp reads it.

Definitions are unfolded, one by one, to rules of the IR over the forms of GBNF: texts, sets of
characters, tokens. Where an alternation has thousands of texts they stay alternatives. Regular
expressions are unfolded as they are written where they are made of characters only; all else that
is regular (``except!``, ``#e``, ``#ex``, ``#substrs``, anchors) has an automaton, which, cut down
to texts, is written as an expression, or as right-linear rules where that would be too long to
read. Losses on the way are reported, with a text that shows them where one can be found.

Then the rules are rewritten until llama.cpp takes them: nothing repeats a nullable expression,
nothing is left recursive (``expression``), no rule that contains itself begins in two ways
(``factoring``), no count is above its limits. It refuses lower bounds
above 2000, ignores upper bounds above 2000, and multiplies nested counts: the product of a count
and the symbols that its operand makes is limited, too. Groups, repetitions that may be left out and
names that are seen for the first time make one each; a use of a rule counts for one, whatever the
rule is.

Last they are printed, in the escapes that all readers agree on. Characters that are not printable
are ``\uHHHH`` or ``\UHHHHHHHH``: xgrammar reads any number of digits after ``\x``. Neighbouring
single characters are one string. Comments and the order of rules are those of the author's tree.

Tests: tests/unit/languages/gbnf/test_to_gbnf.py, tests/property/test_convert_gbnf.py.
"""

import re
from collections.abc import Collection, Mapping
from collections.abc import Sequence as Several
from dataclasses import replace
from functools import lru_cache
from itertools import chain, count, islice

from kbnf_core import ir
from kbnf_core.automata import algebra, operations
from kbnf_core.automata.algebra import quantifier
from kbnf_core.automata.codepoints import ANY, CodePoints, complement
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.expression import Builder
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.automata.regex.parse import parse_regex
from kbnf_core.automata.regex.syntax import Assertion, CharacterSet
from kbnf_core.automata.regex.syntax import Node as Regex
from kbnf_core.automata.to_regex import CharacterDfa, to_characters, to_expression
from kbnf_core.automata.traversal import fold
from kbnf_core.conversion.automata import single_characters
from kbnf_core.conversion.evidence import example_of_loss, going_on
from kbnf_core.conversion.to_kbnf import TABLE_HEAD, distinct, gbnf_names
from kbnf_core.frontend import Language, Reading, nothing_kept, read_grammar
from kbnf_core.ir import (
    Call,
    Choice,
    GrammarRules,
    Literal,
    Node,
    Regular,
    Repeat,
    Sequence,
    Token,
    postorder,
)
from kbnf_core.ir.analysis import reachable
from kbnf_core.ir.build import (
    EMPTY,
    alternation,
    any_of,
    call,
    moved,
    optional,
    repeated,
    sequence,
    text,
)
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.parsed import Conversion, Loss, Request
from kbnf_core.kbnf.tree import Document
from kbnf_core.languages.gbnf.expression import (
    JOINT,
    NOTHING,
    Nonempty,
    Rules,
    callees_of,
    eliminate_left_recursion,
    generate_nonempty,
    one_of,
    reduced,
    repeat_nonempty,
    rewrite,
)
from kbnf_core.languages.gbnf.factoring import factor
from kbnf_core.languages.gbnf.layout import Written, lay_out
from kbnf_core.lower.endless import endless_grammar, infinite_texts
from kbnf_core.lower.facts import analyse
from kbnf_core.lower.translate import Translator
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import GrammarError, LimitError
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import NOWHERE, Source, Span

LIMIT = 1999
"""Older versions of llama.cpp refuse 2000, too."""

_CHUNK = 1000


def keep_limits(rules: Rules) -> None:
    """Split, in place, the repetitions that are too large; operands become rules of their own."""
    for name, body in [*rules.items()]:
        nodes = [*postorder(body)]
        counts = (node for node in nodes if isinstance(node, Repeat))
        is_counted = any(max(node.low, node.high or 0) > 1 for node in counts)
        # Most rules are within the limits together with all that is in them.
        if is_counted or (3 * len(nodes) > LIMIT and _size(nodes) > LIMIT):
            rules[name] = rewrite(body, _Splitter(rules, name).split)


class _Splitter:
    """Splits the repetitions of one rule; the rules that this takes are named after it."""

    def __init__(self, rules: Rules, name: str) -> None:
        self._rules = rules
        self._name = name

    def split(self, node: Node) -> Node:
        """Return ``node`` within the limits; its parts are within them already."""
        if not isinstance(node, Repeat):
            return node
        most = node.low if node.high is None else node.high
        if most <= LIMIT and _size([*postorder(node.body)]) * max(most, 1) <= LIMIT:
            return node
        item = self._as_unit(node.body)
        if most <= LIMIT:
            return repeated(item, node.low, node.high)
        optional = None if node.high is None else node.high - node.low
        tail = repeated(item, 0, None) if optional is None else self._optional(item, optional)
        return sequence(self._exactly(item, node.low), tail)

    def _as_unit(self, item: Node) -> Node:
        """Return ``item``, as a rule of its own unless it counts for one anyhow."""
        is_unit = isinstance(item, Call | Regular | Token) or _is_character(item)
        return item if is_unit else self._rule(item, "item")

    def _rule(self, body: Node, word: str) -> Node:
        name = numbered(self._rules, f"{self._name}{JOINT}{word}")
        self._rules[name] = body
        return call(name)

    def _exactly(self, item: Node, count: int) -> Node:
        if count <= LIMIT:
            return repeated(item, count, count)
        chunk = self._rule(repeated(item, _CHUNK, _CHUNK), "many")
        chunks = self._exactly(chunk, count // _CHUNK)
        return sequence(chunks, repeated(item, count % _CHUNK, count % _CHUNK))

    def _optional(self, item: Node, count: int) -> Node:
        """Return up to ``count`` items: as many full chunks as there are, and up to one more."""
        if count <= LIMIT:
            return repeated(item, 0, count)
        chunk = self._rule(repeated(item, 0, _CHUNK), "some")
        chunks = self._exactly(chunk, count // _CHUNK)
        return sequence(chunks, repeated(item, 0, count % _CHUNK))


def _size(nodes: Several[Node]) -> int:
    """Return for how many symbols llama.cpp counts an operand with these parts, or more."""
    names = {node.nonterminal for node in nodes if isinstance(node, Call)}
    return max(1, sum(map(_symbols, nodes)) + len(names) * (len(nodes) > 1))


def _symbols(node: Node) -> int:
    """Return the symbols that a part alone makes, as if each operator were a group."""
    match node:
        case Repeat(_, low, high):
            return 2 if high is None else 1 + high - low
        case Sequence():
            return 1
        case Choice():
            return 1 + any(map(_is_empty, node.branches))
        case _:
            return 0


def _is_empty(node: Node) -> bool:
    """Return whether a part is the empty text."""
    return node is EMPTY or (isinstance(node, Literal) and not node.data)


def _is_character(node: Node) -> bool:
    """Return whether a part is a text of one character."""
    return isinstance(node, Literal) and len(node.data.decode()) == 1


_NOT_PLAIN = re.compile(r"""[^ -~]|["\\]""")
"""A character that may need an escape in a string."""

_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\", '"': '\\"'}
_NUMBERED_IN_CLASS = frozenset("-^")
"""What a class has no escape for that all readers know."""


def print_gbnf(root: Node, names: Mapping[str, str]) -> str:
    """Return the text of ``root``; ``names`` says how rules are called."""
    written: list[str] = []
    pending: list[str | Node] = [root]
    while pending:
        item = pending.pop()
        match item:
            case str():
                written.append(item)
            case Literal(data):
                written.append(quote(data.decode()))
            case Regular(dfa):
                written.append(print_set(dfa))
            case Token(terminal):
                written.append(_token(terminal))
            case Call(name):
                written.append(names[name])
            case _:
                pending.extend(reversed(_symbols_of(item)))
    return "".join(written)


def _symbols_of(node: Sequence[Node] | Choice[Node] | Repeat[Node]) -> Several[str | Node]:
    match node:
        case Repeat(body, low, high):
            is_text = isinstance(body, Literal) and not _is_character(body)
            operand = ("(", body, ")") if is_text else _grouped(body, (Choice, Sequence, Repeat))
            return (*operand, quantifier(low, high))
        case Choice():
            return [symbol for item in node.branches for symbol in (" | ", item)][1:]
        case Sequence(()):
            return ('""',)
        case _:
            return [
                symbol for item in node.operands for symbol in (" ", *_grouped(item, (Choice,)))
            ][1:]


def _grouped(item: Node, looser: tuple[type, ...]) -> Several[str | Node]:
    if isinstance(item, Choice) and any(map(_is_empty, item.branches)):
        item = optional(alternation(branch for branch in item.branches if not _is_empty(branch)))
    return ("(", item, ")") if isinstance(item, looser) else (item,)


def _token(terminal: ir.TokenTerminal) -> str:
    if terminal.name is not None:
        return terminal.name
    return f"{'!' if terminal.negated else ''}<[{terminal.ranges[0][0]}]>"


def quote(value: str) -> str:
    """Return ``value`` as a string of GBNF."""
    return f'"{_NOT_PLAIN.sub(lambda match: _spell(match[0]), value)}"'


@lru_cache(maxsize=1_024)
def print_set(dfa: Dfa) -> str:
    """Return one character of a set, as a class: XGrammar does not read ``.``.

    A process keeps those of 1,024 sets. Without, a conversion of a schema makes 7 % more calls.
    """
    points = single_characters(dfa)
    if points is None:
        raise AssertionError("a leaf must be a set of characters")
    if points == ANY:
        return r"[\u0000-\U0010FFFF]"
    rest = complement(points)
    # A set that goes up to the last character was nearly always written as a negated one.
    if points[-1][1] == ANY[-1][1] and len(rest) <= len(points):
        return f"[^{_ranges(rest)}]"
    return f"[{_ranges(points)}]"


def _ranges(points: CodePoints) -> str:
    return "".join(_range(low, high) for low, high in points)


def _range(low: int, high: int) -> str:
    first, last = _member(low), _member(high)
    if low == high:
        return first
    return first + last if high == low + 1 else f"{first}-{last}"


def _member(point: int) -> str:
    char = chr(point)
    if char in "[]":
        return "\\" + char
    if char == '"':
        return char
    return _number(point) if char in _NUMBERED_IN_CLASS else _spell(char)


def _spell(char: str) -> str:
    if char in _NAMED:
        return _NAMED[char]
    return char if char.isprintable() else _number(ord(char))


def _number(point: int) -> str:
    return f"\\u{point:04X}" if point <= 0xFFFF else f"\\U{point:08X}"


MOST_LEAVES = 24
"""Sets of characters in an expression for an automaton; a longer one becomes rules."""

MOST_RULES = 5_000
"""Right-linear rules for one part."""

MOST_TOKENS = 64
"""Ids of a set of tokens that are written as alternatives."""


_WORDS = {
    tree.PatternKind.REGEX: "pattern",
    tree.PatternKind.EARLY: "earliest",
    tree.PatternKind.COMPLEMENT: "without",
    tree.PatternKind.SUBSTRINGS: "part",
}


class Unfolder:
    """Unfolds the definitions of one document to rules of the IR; helper rules go there, too.

    ``names`` are those of GBNF for the names of the document. ``losses`` contains what could not be
    kept, by the name of the definition.
    """

    def __init__(self, document: Document, names: Mapping[str, str], limits: Limits) -> None:
        self.rules: Rules = {}
        self._names = names
        self.losses: dict[str, list[Loss]] = {}
        self._translator = Translator(document, limits, Budget(limits.work))
        self._limits = limits
        self._name = ""
        # One value for each pattern, so that equal alternatives are one.
        self._read: dict[str, Node | None] = {}

    def add(self, definition: tree.Definition) -> None:
        """Unfold ``definition``; several of one name are alternatives."""
        self._name = self._names[definition.name.value]
        body = self._settled(fold(definition.body, tree.children, self._combine))
        self.rules[self._name] = any_of([self.rules.get(self._name), body]) or NOTHING

    def _combine(self, node: tree.Expression, nodes: list[Node]) -> Node:
        match node:
            case tree.Concatenation():
                return sequence(*map(self._settled, _join_bytes(nodes)))
            case tree.Alternation():
                return any_of(map(self._settled, nodes)) or NOTHING
            case tree.Repetition():
                return repeated(self._settled(nodes[0]), node.low, node.high)
            case tree.Bracket(kind):
                return repeated(self._settled(nodes[0]), *_BRACKETS[kind])
            case tree.Reference():
                return call(self._names[node.name.value])
            case tree.TokenName() | tree.TokenSet():
                return self._token(node)
            case tree.Pattern():
                return self._pattern(node) or self._automaton(node, _WORDS[node.kind])
            case tree.Exception_():
                return self._automaton(node, "except")
            case _:
                data = node.text.value.encode() if isinstance(node, tree.Terminal) else node.value
                return ir.Literal(data, node.span)

    def _settled(self, node: Node) -> Node:
        """Return bytes as the text they are."""
        if not isinstance(node, Literal):
            return node
        if b"\0" in node.data and node.span is not NOWHERE:
            self._lose("W413", "llama.cpp can never generate U+0000", node.span)
        try:
            return text(node.data.decode())
        except UnicodeDecodeError:
            self._lose("W401", f"the bytes {node.data.hex(' ')} are not UTF-8 text", node.span)
            return NOTHING

    def _pattern(self, node: tree.Pattern) -> Node | None:
        """Return a regular expression as it is written; None for other patterns."""
        if node.parsed is not None:
            return _of_regex(node.parsed)
        if node.kind is not tree.PatternKind.REGEX:
            return None
        pattern = node.text.value
        if pattern not in self._read:
            self._read[pattern] = _read(pattern, self._limits)
        return self._read[pattern]

    def _automaton(self, node: tree.Pattern | tree.Exception_, word: str) -> Node:
        """Return the texts of an automaton; ``word`` describes it, for names of rules."""
        meaning = self._translator.leaf(node)
        if not isinstance(meaning, Regular):
            return NOTHING
        try:
            return self._texts(meaning.dfa, node.span, word)
        except LimitError:
            message = f"this needs more than {MOST_RULES:,} rules; any text is taken instead"
            self._lose("W404", message, node.span)
            return repeated(one_of(ANY), 0, None)

    def _texts(self, dfa: Dfa, span: Span, word: str) -> Node:
        anything = compile_regex("(?s:.)*", self._limits).dfa or operations.empty()
        if not operations.difference(dfa, anything, self._limits).is_empty:
            message = "this also accepts bytes that are not UTF-8, which GBNF cannot"
            self._lose("W401", message, span)
        texts = to_characters(operations.intersect(dfa, anything, self._limits))
        try:
            return _of_regex(to_expression(texts, Builder(), MOST_LEAVES))
        except LimitError:
            return self._right_linear(texts, word)

    def _right_linear(self, texts: CharacterDfa, word: str) -> Node:
        """Add a rule for every state and return a use of the first."""
        if len(texts.edges) > MOST_RULES:
            raise LimitError("rules", MOST_RULES)
        base = numbered(self.rules, f"{self._name}{JOINT}{word}", f"{JOINT}0")
        for state, edges in enumerate(texts.edges):
            branches = [
                sequence(one_of(points), call(f"{base}{JOINT}{target}")) for points, target in edges
            ]
            end = [EMPTY] if texts.accepting[state] else []
            self.rules[f"{base}{JOINT}{state}"] = any_of([*branches, *end]) or NOTHING
        return call(f"{base}{JOINT}0")

    def _token(self, node: tree.TokenName | tree.TokenSet) -> Node:
        """Return a token as GBNF has it, or some of a set."""
        meaning = self._translator.leaf(node)
        if isinstance(node, tree.TokenName):
            name = node.text.value
            if name.startswith("<") and name.endswith(">") and not set(name[1:-1]) & set("<>[\n"):
                return meaning
            message = f"GBNF names tokens as `<text>`; `{name}` becomes a text"
            self._lose("W402", message, node.span)
            return text(name)
        count = sum(high - low + 1 for low, high in node.ranges)
        if node.negated:
            first = node.ranges[0][0]
            if count > 1:
                message = f"GBNF can exclude one token only; here it excludes {first}"
                self._lose("W402", message, node.span)
            return _one_token(first, negated=True)
        if count > MOST_TOKENS:
            message = f"the set has more than {MOST_TOKENS} tokens; only the first are taken"
            self._lose("W402", message, node.span)
        ids = chain.from_iterable(range(low, high + 1) for low, high in node.ranges)
        return alternation(map(_one_token, islice(ids, MOST_TOKENS)))

    def _lose(self, code: str, message: str, span: Span) -> None:
        self.losses.setdefault(self._name, []).append(Loss(code, message, span))


def _one_token(number: int, *, negated: bool = False) -> Node:
    return Token(ir.TokenTerminal(None, ((number, number),), negated), NOWHERE)


def numbered(taken: Collection[str], wanted: str, ending: str = "") -> str:
    """Return ``wanted`` with the first number from 1 that leads, with ``ending``, to a new name."""
    return next(n for i in count(1) if (n := f"{wanted}{i}") + ending not in taken)


@lru_cache(maxsize=256)
def _read(pattern: str, limits: Limits) -> Node | None:
    """Return the texts of a regular expression as it is written; None for one with assertions.

    A process keeps 256 of them, since a third of the patterns of most schemas are those of rules
    that all share. Without, a conversion of a schema makes 5 % more calls.
    """
    parsed, _ = parse_regex(pattern, limits)
    if any(isinstance(node, Assertion) for node in algebra.postorder(parsed)):
        return None
    return _of_regex(parsed)


def _of_regex(root: Regex) -> Node:
    """Return a regular expression without assertions in the IR."""

    def one(node: Regex, nodes: list[Node]) -> Node:
        match node:
            case algebra.Sequence():
                return sequence(*nodes)
            case algebra.Choice():
                return any_of(nodes) or NOTHING
            case algebra.Repeat(_, low, high):
                return repeated(nodes[0], low, high)
            case CharacterSet(points):
                return one_of(points)
            case _:
                return EMPTY

    return algebra.fold(root, one)


def _join_bytes(nodes: list[Node]) -> list[Node]:
    """Join neighbouring bytes: together they may be a text where each alone is not."""
    joined: list[Node] = []
    for node in nodes:
        last = joined[-1] if joined else None
        if isinstance(node, Literal) and isinstance(last, Literal):
            joined[-1] = Literal(last.data + node.data, last.span.cover(node.span))
        else:
            joined.append(node)
    return joined


_BRACKETS: Mapping[tree.BracketKind, tuple[int, int | None]] = {
    tree.BracketKind.GROUP: (1, 1),
    tree.BracketKind.OPTIONAL: (0, 1),
    tree.BracketKind.REPEATED: (0, None),
}


def write_gbnf(reading: Reading, gbnf: Language, limits: Limits = DEFAULT_LIMITS) -> Conversion:
    """Return the GBNF for a reading, whose start becomes ``root``.

    Raises ``GrammarError`` with all findings for a text with errors, and where nothing of it can
    be kept.
    """
    if reading.grammar is None:
        raise GrammarError(reading.diagnostics)
    document = reading.without_families()
    written = dict.fromkeys(definition.name.value for definition in document.definitions)
    chosen = gbnf_names(written, {reading.start: gbnf.start})
    names = {name: chosen[name] for name in written}
    rules, lost = _rules(reading, document, names, limits)
    if gbnf.start not in rules:
        raise GrammarError(nothing_kept(reading, lost, gbnf))
    text = _print(document, rules, names)
    if lost:
        # The written text is read again, to find a text on which the two grammars differ.
        converted = read_grammar(Source(text), gbnf, Request(limits=limits))
        if converted.grammar is None:
            raise GrammarError(nothing_kept(reading, lost, gbnf))
        example = example_of_loss(reading.grammar, converted.grammar, limits)
        lost = [loss._replace(example=example) for loss in lost]
    losses = (*reading.losses, *lost, *_finish_losses(reading, reading.grammar, limits))
    return Conversion(text, not losses, losses, reading.diagnostics)


def _rules(
    reading: Reading, document: Document, names: Mapping[str, str], limits: Limits
) -> tuple[Rules, list[Loss]]:
    """Return the rules of the converted grammar, none where nothing is kept, and what they lost."""
    unfolder = Unfolder(document, names, limits)
    for definition in document.definitions:
        unfolder.add(definition)
    rules, start, lost = unfolder.rules, names[reading.start], list[Loss]()
    if unfolder.losses:
        used = reachable([start], callees_of(rules))
        of_names = (unfolder.losses.get(name, ()) for name in names.values() if name in used)
        lost = [*chain.from_iterable(of_names)]
    if reading.is_endless:
        rules = _infinite(rules, start, limits)
    rules = reduced(rules, names.values(), endless=reading.is_endless)
    if start not in rules:
        return {}, lost
    before, nonempty = dict(rules), Nonempty(rules)
    if not reading.ends_with_its_text:
        # One byte is always generated, so the empty text is not one of the original's.
        generate_nonempty(rules, start, nonempty)
    repeat_nonempty(rules, nonempty)
    for members in eliminate_left_recursion(rules, nonempty):
        lost.append(_lost_cycle(document, names, {name.partition(JOINT)[0] for name in members}))
    factor(rules, start, nonempty.nullable)
    # After rewriting there are rules that nothing calls any more.
    if rules != before:
        rules = reduced(rules, names.values(), endless=reading.is_endless)
    keep_limits(rules)
    return rules, lost


def _infinite(rules: Rules, start: str, limits: Limits) -> Rules:
    """Return rules of the infinite texts, none where there are none."""
    grammar, budget = GrammarRules(start, rules), Budget(limits.work)
    begun = endless_grammar(grammar, analyse(grammar, budget), budget)
    whole = begun and infinite_texts(begun)
    if whole is None:
        return {}
    names = {name: name.replace("#", JOINT) for name in whole.rules}
    names |= {name: f"{start}{made}" for name, made in names.items() if made.startswith(JOINT)}
    return {names[name]: moved(body, names) for name, body in whole.rules.items()}


def _lost_cycle(document: Document, names: Mapping[str, str], members: set[str]) -> Loss:
    """Return the W404 of rules that begin with each other, at the first of them."""
    defined = (definition.name for definition in document.definitions)
    first = next(name for name in defined if names[name.value] in members)
    others = f"`{first.value}` and {len(members) - 1:,} other rules begin with each other"
    return Loss("W404", f"{others}; any text is taken instead", first.span)


def _finish_losses(reading: Reading, grammar: GrammarRules, limits: Limits) -> list[Loss]:
    """Return the W403 of a grammar that ends before llama.cpp does."""
    if reading.ends_with_its_text:
        return []
    continuation = going_on(grammar, limits)
    if not continuation.may_be:
        return []
    if continuation.example is None:
        message = (
            "generation ends at the first complete text, and llama.cpp may go on; it could not be "
            "shown that no text goes on to another one"
        )
    else:
        message = "generation ends at the first complete text, and llama.cpp may go on"
    span = reading.name_span(reading.start)
    return [Loss("W403", message, span, continuation.example)]


def _print(document: Document, rules: Rules, names: Mapping[str, str]) -> str:
    settled = {name: name for name in names.values()}
    printed = distinct(rules, settled, lambda name: name.replace(JOINT, "-"), "-")
    # What nobody wrote has the order of its rules, and no place in a text.
    remarks = document.remarks
    spans = (
        {names[name]: spans_of for name, spans_of in _spans(document).items()}
        if remarks is None
        else {}
    )
    # Rules without texts are left out, and their notes.
    remarked = (remarks or {}).items()
    in_front = {names[name]: remark for name, remark in remarked if name in names}
    written: list[Written] = []
    span = NOWHERE
    for name in _in_order(rules, [*names.values()]):
        span, branches = spans.get(name, (span, ()))
        definition = _written(printed[name], rules[name], printed, span, branches)
        written.append(replace(definition, remark=in_front.get(name)))
    # A pragma, or a table of new names, is about the KBNF text only.
    settings = ("kbnf:", TABLE_HEAD)
    comments = [c for c in document.comments if not c.text.strip().startswith(settings)]
    return lay_out(document.source, written, comments)


def _spans(document: Document) -> dict[str, tuple[Span, tuple[Span, ...]]]:
    """Return where each name is defined first, and the branches of all its definitions."""
    spans: dict[str, tuple[Span, tuple[Span, ...]]] = {}
    for definition in document.definitions:
        span, branches = spans.get(definition.name.value, (definition.span, ()))
        branch_spans = (*branches, *(branch.span for branch in definition.branches))
        spans[definition.name.value] = (span, branch_spans)
    return spans


def _in_order(rules: Rules, written: list[str]) -> list[str]:
    """Return the names of all rules, those that were made for another one after it."""
    made: dict[str, list[str]] = {name: [] for name in written}
    for name in rules:
        if name not in made:
            made[name.partition(JOINT)[0]].append(name)
    return [rule for name in written for rule in (name, *made[name]) if rule in rules]


def _written(
    name: str, body: Node, names: dict[str, str], span: Span, spans: tuple[Span, ...]
) -> Written:
    branches = body.branches if isinstance(body, Choice) and body.branches else (body,)
    if len(branches) != len(spans):
        spans = (Span(span.end, span.end),) * len(branches)
    return Written(name, tuple(print_gbnf(branch, names) for branch in branches), spans, span)
