r"""From KBNF to GBNF, as llama.cpp reads it.

Definitions are unfolded, rule by rule, to the forms of GBNF. Regular expressions are unfolded as
they are written where they are made of characters only; all else that is regular (``except!``,
``#e``, ``#ex``, ``#substrs``, anchors) has an automaton, which, cut down to texts, is written as an
expression, or as right-linear rules where that would be too long to read. Losses on the way are
reported, with a text that shows it where one can be found.

Then the expressions are rewritten until llama.cpp takes them: nothing repeats a nullable
expression, nothing is left recursive (``expression``), no count is above its limits. It refuses
lower bounds above 2000, ignores upper bounds above 2000, and multiplies nested counts: the product
of a count and the symbols that its operand makes is limited, too. Groups, repetitions that may be
left out and names that are seen for the first time make one each; a use of a rule counts for one,
whatever the rule is.

Last they are printed, in the escapes that all readers agree on. Characters that are not printable
are ``\uHHHH`` or ``\UHHHHHHHH``: xgrammar reads any number of digits after ``\x``. Neighbouring
single characters are one string.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain
from typing import NamedTuple, TypeAlias

from kbnf_core import ir
from kbnf_core.automata import operations
from kbnf_core.automata.algebra import (
    EMPTY,
    NOTHING,
    Choice,
    Repeat,
    Sequence,
    postorder,
    quantifier,
)
from kbnf_core.automata.codepoints import ANY, CodePoints, complement
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.expression import Builder
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.automata.regex.parse import parse_regex
from kbnf_core.automata.regex.syntax import Assertion, CharacterSet
from kbnf_core.automata.to_regex import CharacterDfa, to_characters, to_expression
from kbnf_core.automata.traversal import fold
from kbnf_core.conversion.evidence import example_of_loss, going_on
from kbnf_core.conversion.layout import Style, Written, lay_out
from kbnf_core.conversion.to_kbnf import TABLE_HEAD, distinct, gbnf_names
from kbnf_core.frontend import Language, Reading, nothing_kept, read_grammar
from kbnf_core.ir import Grammar
from kbnf_core.ir.analysis import reachable
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.parsed import Conversion, Loss, Request
from kbnf_core.kbnf.tree import Document
from kbnf_core.languages.gbnf.expression import (
    JOINT,
    GbnfToken,
    Node,
    Nonempty,
    Rules,
    RuleUse,
    alternation,
    characters,
    eliminate_left_recursion,
    end_at_endless,
    generate_nonempty,
    names_alive,
    names_where,
    of_regex,
    prune,
    repeat_nonempty,
    repetition,
    rewrite,
    sequence,
    text,
)
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
        parts = rules.parts(name)
        counts = (each for each in parts if type(each) is Repeat)
        is_counted = any(max(each.low, each.high or 0) > 1 for each in counts)
        # Most rules are within the limits together with all that is in them.
        if is_counted or (3 * len(parts) > LIMIT and _size(parts) > LIMIT):
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
            return repetition(item, node.low, node.high)
        optional = None if node.high is None else node.high - node.low
        tail = repetition(item, 0, None) if optional is None else self._optional(item, optional)
        return sequence([self._exactly(item, node.low), tail])

    def _as_unit(self, item: Node) -> Node:
        """Return ``item``, as a rule of its own unless it counts for one anyhow."""
        if isinstance(item, RuleUse | CharacterSet | GbnfToken):
            return item
        return self._rule(item, "item")

    def _rule(self, body: Node, word: str) -> RuleUse:
        number = 1
        while (name := f"{self._name}{JOINT}{word}{number}") in self._rules:
            number += 1
        self._rules[name] = body
        return RuleUse(name)

    def _exactly(self, item: Node, count: int) -> Node:
        if count <= LIMIT:
            return repetition(item, count, count)
        chunk = self._rule(repetition(item, _CHUNK, _CHUNK), "many")
        chunks = self._exactly(chunk, count // _CHUNK)
        return sequence([chunks, repetition(item, count % _CHUNK, count % _CHUNK)])

    def _optional(self, item: Node, count: int) -> Node:
        """Return up to ``count`` items: as many full chunks as there are, and up to one more."""
        if count <= LIMIT:
            return repetition(item, 0, count)
        chunk = self._rule(repetition(item, 0, _CHUNK), "some")
        rest = count % _CHUNK
        chunks = self._exactly(chunk, count // _CHUNK)
        return sequence([chunks, repetition(item, 0, rest) if rest else EMPTY])


def _size(parts: list[Node]) -> int:
    """Return for how many symbols llama.cpp counts an operand with these parts, or more."""
    names = {part.name for part in parts if isinstance(part, RuleUse)}
    operators = (part for part in parts if not isinstance(part, CharacterSet))
    return max(1, sum(map(_symbols, operators)) + len(names) * (len(parts) > 1))


def _symbols(node: Node) -> int:
    """Return the symbols that a part alone makes, as if each operator were a group."""
    match node:
        case Repeat(_, low, high):
            return 2 if high is None else 1 + high - low
        case Sequence():
            return 1
        case Choice():
            return 1 + (EMPTY in node.branches)
        case _:
            return 0


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
        piece = pending.pop()
        if isinstance(piece, str):
            written.append(piece)
        elif isinstance(piece, RuleUse):
            written.append(names[piece.name])
        elif isinstance(piece, CharacterSet | GbnfToken):
            written.append(_leaf(piece))
        else:
            pending.extend(reversed(_pieces(piece)))
    return "".join(written)


def _pieces(node: Sequence[Node] | Choice[Node] | Repeat[Node]) -> list[str | Node]:
    match node:
        case Repeat():
            operand = _grouped(node.body, (Choice, Sequence, Repeat))
            return [*operand, quantifier(node.low, node.high)]
        case Choice():
            return [piece for item in node.branches for piece in (" | ", item)][1:]
        case _:
            return _sequence(node.parts)


def _sequence(items: tuple[Node, ...]) -> list[str | Node]:
    if not items:
        return ['""']
    pieces: list[str | Node] = []
    run = ""
    for item in (*items, None):
        if type(item) is CharacterSet and (single := _single(item)) is not None:
            run += single
            continue
        if run:
            pieces += [" ", quote(run)]
            run = ""
        if item is not None:
            pieces += [" ", *_grouped(item, (Choice,))]
    return pieces[1:]


def _single(item: CharacterSet) -> str | None:
    """Return the character that a set has, if it is just one."""
    low, high = item.points[0]
    return chr(low) if low == high and len(item.points) == 1 else None


def _grouped(item: Node, looser: tuple[type, ...]) -> list[str | Node]:
    if isinstance(item, Choice) and EMPTY in item.branches:
        item = repetition(alternation(part for part in item.branches if part is not EMPTY), 0, 1)
    return ["(", item, ")"] if isinstance(item, looser) else [item]


def _leaf(node: CharacterSet | GbnfToken) -> str:
    if isinstance(node, GbnfToken):
        return node.written
    single = _single(node)
    return print_set(node.points) if single is None else quote(single)


def quote(value: str) -> str:
    """Return ``value`` as a string of GBNF."""
    return f'"{_NOT_PLAIN.sub(lambda found: _spell(found[0]), value)}"'


@lru_cache(maxsize=1_024)
def print_set(points: CodePoints) -> str:
    """Return one character of a set, as a class: XGrammar does not read ``.``.

    A process keeps those of 1,024 sets. Without, a conversion of a schema makes 7 % more calls.
    """
    if points == ANY:
        return r"[\u0000-\U0010FFFF]"
    rest = complement(points)
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
    """Unfolds the definitions of one document; helper rules go to ``rules``, too.

    ``names`` are those of GBNF for the names of the document. ``losses`` contains what could not be
    kept, by the name of the definition.
    """

    def __init__(self, document: Document, names: Mapping[str, str], limits: Limits) -> None:
        self.rules = Rules()
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
        body = self._unfold(definition.body)
        known = self.rules.get(self._name)
        self.rules[self._name] = body if known is None else alternation([known, body])

    def _unfold(self, root: tree.Expression) -> Node:
        return self._settle(fold(root, tree.children, self._combine))

    def _combine(self, node: tree.Expression, parts: "list[_Value]") -> "_Value":
        match node:
            case tree.Sequence():
                return sequence(self._settle(part) for part in _join_bytes(parts))
            case tree.Alternation():
                return alternation(self._settle(part) for part in parts)
            case tree.Repetition():
                return repetition(self._settle(parts[0]), node.low, node.high)
            case tree.Bracket(kind):
                low, high = _BRACKETS[kind]
                return repetition(self._settle(parts[0]), low, high)
            case _:
                return self._leaf(node)

    def _leaf(self, node: tree.Leaf) -> "_Value":
        match node:
            case tree.Terminal():
                return _Bytes(node.text.value.encode(), node.span)
            case tree.ByteString():
                return _Bytes(node.value, node.span)
            case tree.Reference():
                return RuleUse(self._names[node.name.value])
            case tree.TokenName():
                return self._token_name(node)
            case tree.TokenSet():
                return self._token_set(node)
            case tree.Pattern():
                return self._pattern(node)
            case tree.Exception_():
                return self._automaton(node, "except")

    def _settle(self, value: "_Value") -> Node:
        """Return bytes as the text they are."""
        if not isinstance(value, _Bytes):
            return value
        data, span = value
        if b"\0" in data:
            self._lose("W413", "llama.cpp can never generate U+0000", span)
        try:
            return text(data.decode())
        except UnicodeDecodeError:
            self._lose("W401", f"the bytes {data.hex(' ')} are not UTF-8 text", span)
            return NOTHING

    def _pattern(self, node: tree.Pattern) -> Node:
        found: Node | None = node.parsed
        if found is None and node.kind is tree.PatternKind.REGEX:
            pattern = node.text.value
            found = self._read[pattern] = self._read.get(pattern) or _read(pattern, self._limits)
        return found or self._automaton(node, _WORDS[node.kind])

    def _automaton(self, node: tree.Pattern | tree.Exception_, word: str) -> Node:
        """Return the texts of an automaton; ``word`` describes it, for names of rules."""
        meaning = self._translator.leaf(node)
        if not isinstance(meaning, ir.Regular):
            return NOTHING
        try:
            return self._texts(meaning.dfa, node.span, word)
        except LimitError:
            message = f"this needs more than {MOST_RULES:,} rules; any text is taken instead"
            self._lose("W404", message, node.span)
            return repetition(CharacterSet(ANY), 0, None)

    def _texts(self, dfa: Dfa, span: Span, word: str) -> Node:
        anything = compile_regex("(?s:.)*", self._limits).dfa or operations.empty()
        if not operations.difference(dfa, anything, self._limits).is_empty:
            message = "this also accepts bytes that are not UTF-8, which GBNF cannot"
            self._lose("W401", message, span)
        texts = to_characters(operations.intersect(dfa, anything, self._limits))
        try:
            return to_expression(texts, Builder(), MOST_LEAVES)
        except LimitError:
            return self._right_linear(texts, word)

    def _right_linear(self, texts: CharacterDfa, word: str) -> Node:
        """Add a rule for every state and return a use of the first."""
        if len(texts.edges) > MOST_RULES:
            raise LimitError("rules", MOST_RULES)
        base = self._free_name(word)
        for state, edges in enumerate(texts.edges):
            branches = [
                sequence([characters(points), RuleUse(f"{base}{JOINT}{target}")])
                for points, target in edges
            ]
            end = [EMPTY] if texts.accepting[state] else []
            self.rules[f"{base}{JOINT}{state}"] = alternation([*branches, *end])
        return RuleUse(f"{base}{JOINT}0")

    def _free_name(self, word: str) -> str:
        """Return a name for a part of the rule at hand."""
        number = 1
        while f"{(name := f'{self._name}{JOINT}{word}{number}')}{JOINT}0" in self.rules:
            number += 1
        return name

    def _token_name(self, node: tree.TokenName) -> Node:
        name = node.text.value
        if name.startswith("<") and name.endswith(">") and not set(name[1:-1]) & set("<>[\n"):
            return GbnfToken(name)
        self._lose("W402", f"GBNF names tokens as `<text>`; `{name}` becomes a text", node.span)
        return text(name)

    def _token_set(self, node: tree.TokenSet) -> Node:
        count = sum(high - low + 1 for low, high in node.ranges)
        first = node.ranges[0][0]
        if node.negated:
            if count > 1:
                message = f"GBNF can exclude one token only; here it excludes {first}"
                self._lose("W402", message, node.span)
            return GbnfToken(f"!<[{first}]>")
        if count > MOST_TOKENS:
            message = f"the set has more than {MOST_TOKENS} tokens; only the first are taken"
            self._lose("W402", message, node.span)
        ids = [
            token
            for low, high in node.ranges
            for token in range(low, min(high, low + MOST_TOKENS) + 1)
        ]
        return alternation(GbnfToken(f"<[{token}]>") for token in ids[:MOST_TOKENS])

    def _lose(self, code: str, message: str, span: Span) -> None:
        self.losses.setdefault(self._name, []).append(Loss(code, message, span))


class _Bytes(NamedTuple):
    """Bytes that may be a text only together with their neighbours."""

    data: bytes
    span: Span


_Value: TypeAlias = Node | _Bytes

_BRACKETS: Mapping[tree.BracketKind, tuple[int, int | None]] = {
    tree.BracketKind.GROUP: (1, 1),
    tree.BracketKind.OPTIONAL: (0, 1),
    tree.BracketKind.REPEATED: (0, None),
}


@lru_cache(maxsize=256)
def _read(pattern: str, limits: Limits) -> Node | None:
    """Return the texts of a regular expression as it is written; None for one with assertions.

    A process keeps 256 of them, since a third of the patterns of most schemas are those of rules
    that all share. Without, a conversion of a schema makes 5 % more calls.
    """
    parsed, _ = parse_regex(pattern, limits)
    if any(isinstance(part, Assertion) for part in postorder(parsed)):
        return None
    return of_regex(parsed)


def _join_bytes(parts: list[_Value]) -> list[_Value]:
    """Join neighbouring bytes: together they may be a text where each alone is not."""
    joined: list[_Value] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, _Bytes) and isinstance(last, _Bytes):
            joined[-1] = _Bytes(last.data + part.data, last.span.cover(part.span))
        else:
            joined.append(part)
    return joined


def write_gbnf(reading: Reading, gbnf: Language, limits: Limits = DEFAULT_LIMITS) -> Conversion:
    """Return the GBNF for a reading, whose start becomes ``root``.

    Raises ``GrammarError`` with all findings for a text with errors, and where nothing of it can
    be kept.
    """
    if reading.grammar is None:
        raise GrammarError(reading.diagnostics)
    written = dict.fromkeys(each.name.value for each in reading.written_out.definitions)
    chosen = gbnf_names(written, {reading.start: gbnf.start})
    names = {name: chosen[name] for name in written}
    rules, lost = _rules(reading, names, limits)
    if gbnf.start not in rules:
        raise GrammarError(nothing_kept(reading, lost, gbnf))
    text = _print(reading.written_out, rules, names)
    if lost:
        # The written text is read again, to find a text on which the two grammars differ.
        converted = read_grammar(Source(text), gbnf, Request(limits=limits))
        if converted.grammar is None:
            raise GrammarError(nothing_kept(reading, lost, gbnf))
        example = example_of_loss(reading.grammar, converted.grammar, limits)
        lost = [loss._replace(example=example) for loss in lost]
    losses = (*reading.losses, *lost, *_finish_losses(reading, reading.grammar, limits))
    return Conversion(text, not losses, losses, reading.diagnostics)


def _rules(reading: Reading, names: Mapping[str, str], limits: Limits) -> tuple[Rules, list[Loss]]:
    """Return the rules of the converted grammar, none where nothing is kept, and what they lost."""
    unfolder = Unfolder(reading.written_out, names, limits)
    for definition in reading.written_out.definitions:
        unfolder.add(definition)
    rules, start, lost = unfolder.rules, names[reading.start], list[Loss]()
    if unfolder.losses:
        used = reachable([start], rules.callees())
        of_names = (unfolder.losses.get(name, ()) for name in names.values() if name in used)
        lost = [*chain.from_iterable(of_names)]
    if reading.is_endless and not end_at_endless(rules):
        return Rules(), lost
    find_alive = names_alive if reading.is_endless else partial(names_where, leaf=True)
    prune(rules, [*names.values()], find_alive(rules))
    if start not in rules:
        return Rules(), lost
    before, nonempty = dict(rules), Nonempty(rules)
    if not reading.ends_with_its_text:
        # One byte is always generated, so the empty text is not one of the original's.
        generate_nonempty(rules, start, nonempty)
    repeat_nonempty(rules, nonempty)
    for members in eliminate_left_recursion(rules, nonempty):
        lost.append(_lost_cycle(reading, names, {name.partition(JOINT)[0] for name in members}))
    if rules != before:
        prune(rules, [*names.values()], find_alive(rules))
    keep_limits(rules)
    return rules, lost


def _lost_cycle(reading: Reading, names: Mapping[str, str], members: set[str]) -> Loss:
    """Return the W404 of rules that begin with each other, at the first of them."""
    defined = (each.name for each in reading.document.definitions)
    first = next(name for name in defined if names[name.value] in members)
    others = f"`{first.value}` and {len(members) - 1:,} other rules begin with each other"
    return Loss("W404", f"{others}; any text is taken instead", first.span)


def _finish_losses(reading: Reading, grammar: Grammar, limits: Limits) -> list[Loss]:
    """Return the W403 of a grammar that ends before llama.cpp does."""
    if reading.ends_with_its_text:
        return []
    found = going_on(grammar, limits)
    if not found.may_be:
        return []
    if found.example is None:
        message = (
            "generation ends at the first complete text, and llama.cpp may go on; it could not be "
            "shown that no text goes on to another one"
        )
    else:
        message = "generation ends at the first complete text, and llama.cpp may go on"
    span = reading.name_span(reading.start)
    return [Loss("W403", message, span, found.example)]


def _print(document: Document, rules: Rules, names: Mapping[str, str]) -> str:
    settled = {name: name for name in names.values()}
    printed = distinct(rules, settled, lambda name: name.replace(JOINT, "-"), "-")
    # What nobody wrote has the order of its rules, and no place in a text.
    remarks = document.remarks
    places = (
        {names[name]: place for name, place in _places(document).items()} if remarks is None else {}
    )
    # Rules without texts are left out, and their notes.
    told = (remarks or {}).items()
    in_front = {names[name]: remark for name, remark in told if name in names}
    written: list[Written] = []
    span = NOWHERE
    for name in _in_order(rules, [*names.values()]):
        span, branches = places.get(name, (span, ()))
        found = _written(printed[name], rules[name], printed, span, branches)
        written.append(replace(found, remark=in_front.get(name)))
    # A pragma, or a table of new names, is about the KBNF text only.
    settings = ("kbnf:", TABLE_HEAD)
    comments = [c for c in document.comments if not c.text.strip().startswith(settings)]
    return lay_out(document.source, written, comments, Style(_comment, "", bar_first=False))


def _places(document: Document) -> dict[str, tuple[Span, tuple[Span, ...]]]:
    """Return where each name is defined first, and the branches of all its definitions."""
    found: dict[str, tuple[Span, tuple[Span, ...]]] = {}
    for definition in document.definitions:
        span, branches = found.get(definition.name.value, (definition.span, ()))
        places = (*branches, *(branch.span for branch in definition.branches))
        found[definition.name.value] = (span, places)
    return found


def _in_order(rules: Rules, written: list[str]) -> list[str]:
    """Return the names of all rules, those that were made for another one after it."""
    made: dict[str, list[str]] = {name: [] for name in written}
    for name in rules:
        if name not in made:
            made[name.partition(JOINT)[0]].append(name)
    return [each for name in written if name in rules for each in (name, *made[name])]


def _written(
    name: str, body: Node, names: dict[str, str], span: Span, places: tuple[Span, ...]
) -> Written:
    branches = body.branches if isinstance(body, Choice) and body.branches else (body,)
    if len(branches) != len(places):
        places = (Span(span.end, span.end),) * len(branches)
    return Written(name, tuple(print_gbnf(branch, names) for branch in branches), places, span)


def _comment(text: str) -> str:
    """Return a comment of GBNF, a line for every line."""
    return "\n".join(f"# {line.strip()}".rstrip() for line in text.strip().splitlines()) or "#"
