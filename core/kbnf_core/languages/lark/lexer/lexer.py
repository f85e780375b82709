"""Applies a lexer to rules over lexemes: where each lexeme ends, and what stays undecided.

LLGuidance hides what ended a lexeme with ``stop``. Where every lexeme that may follow begins with
just this text, it is in the text once: the next lexeme is the rest of its words. LLGuidance sees a
beginning in the expression, not in the language, and up to the first repetition only: after
``stop="b"`` it finds that of ``bb*``, and none in ``b+``, ``b{2}`` or an intersection. What it
hides it takes back from its output with the token that contains it, so its masks have no token that
goes on after a stop; the texts are the same, and masks here have such tokens.

Tests: tests/unit/languages/lark
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import NamedTuple

from kbnf_core.automata import operations
from kbnf_core.automata.algebra import Choice, Repeat, Sequence, fold
from kbnf_core.automata.beginnings import beginning, first_bytes, members
from kbnf_core.automata.dfa import DEAD, Dfa, SymbolDfa
from kbnf_core.automata.explore import common_word
from kbnf_core.automata.nfa import from_symbols
from kbnf_core.automata.regex.parse import parse_regex
from kbnf_core.automata.regex.syntax import CharacterSet
from kbnf_core.automata.regex.syntax import Node as Regex
from kbnf_core.ir import postorder
from kbnf_core.languages.lark.lexer.first_follow import Confusable, LexemePositions, analyse
from kbnf_core.languages.lark.lexer.lalr import Expected
from kbnf_core.languages.lark.lexer.lookahead import (
    ANYTHING,
    END,
    NOTHING,
    State,
    both,
    cut,
    others,
    outside,
    refused,
    relaxed,
    touched,
    union,
)
from kbnf_core.languages.lark.lexer.maximal_munch import (
    Class,
    Doubt,
    LexemeSplit,
    LexemeSplitter,
    is_character,
    scanner_of,
)
from kbnf_core.languages.lark.reader.model import (
    Embedded,
    LarkTerminal,
    Lexeme,
    LexicalGrammar,
    Lexing,
    Node,
)
from kbnf_core.languages.lark.reader.report import APPROXIMATE, LEXING, Report
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.source import Span


def behind(dfa: Dfa, text: bytes) -> Dfa:
    """Return the rests of the words that begin with ``text``."""
    if not text or dfa.is_empty:
        return dfa
    state = 0
    for byte in text:
        state = DEAD if state == DEAD else dfa.rows[state][dfa.classes[byte]]
    return from_symbols(SymbolDfa(dfa.rows, [*map(int, dfa.accepting)], [state]), dfa.classes)


def _common(left: bytes, right: bytes) -> bytes:
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False))
    return bytes(byte for byte, _ in pairs)


def unrepeated(opening: str | None) -> int:
    """Return how many bytes at least every word has before a repetition; 0 where unknown."""
    if opening is None:
        return 0
    tree, problems = parse_regex(opening, DEFAULT_LIMITS)
    return 0 if problems else fold(tree, _reach_of).length


class _Reach(NamedTuple):
    """The bytes before a repetition, and whether there is none, so that what follows counts."""

    length: int
    goes_on: bool


def _reach_of(node: Regex, reaches: list[_Reach]) -> _Reach:
    match node:
        case CharacterSet():
            least = next(iter(node.points), None)
            return _Reach(0 if least is None else len(chr(least[0]).encode()), goes_on=True)
        case Repeat(_, 1, 1):
            return reaches[0]
        case Repeat(_, _, high):
            return _Reach(0, goes_on=high == 0)
        case Choice():
            length = min((reach.length for reach in reaches), default=0)
            return _Reach(length, length > 0 and all(reach.goes_on for reach in reaches))
        case Sequence():
            stop = next(
                (n for n, reach in enumerate(reaches, 1) if not reach.goes_on), len(reaches)
            )
            return _Reach(sum(p.length for p in reaches[:stop]), all(p.goes_on for p in reaches))
    return _Reach(0, goes_on=True)


@dataclass(slots=True)
class Lexed:
    """A grammar under a lexer: where its lexemes end, from state to state."""

    grammar: LexicalGrammar
    lexing: Lexing
    report: Report
    cutter: LexemeSplitter
    positions: LexemePositions
    byte_only: bool = False
    expected: Expected | None = None
    _cuts: dict[tuple[int, bool], LexemeSplit] = field(default_factory=dict)
    _after: dict[tuple[int, State], dict[State, Dfa]] = field(default_factory=dict)
    _words: dict[tuple[int, State, frozenset[State]], Dfa] = field(default_factory=dict)
    _masks: dict[int, int] = field(default_factory=dict)
    _doubts: dict[frozenset[str], dict[Span, str]] = field(default_factory=dict)
    """The losses of a pair of terminals, by place."""

    def reported(self, report: Report, byte_only: bool = False) -> "Lexed":
        """Return it with other findings; ``byte_only``: as if it saw one byte ahead."""
        shared = self.grammar, self.lexing, report, self.cutter, self.positions
        return Lexed(*shared, byte_only, self.expected)

    @property
    def start(self) -> State:
        """The state before the text."""
        bare = self.grammar.ignored is not None and not self.grammar.skips_first
        return State(is_start=bare and self.lexing is Lexing.LLGUIDANCE)

    def after(self, node: Lexeme | Embedded, before: State) -> Mapping[State, Dfa | None]:
        """Return the words of ``node`` in a state, by the state that they lead to.

        An embedded part has no words, and leads to one state or to none.
        """
        if isinstance(node, Embedded):
            return self._after_embedded(node, before)
        key = (id(node), before)
        if key not in self._after:
            self._after[key] = self._after_lexeme(node, before)
        return self._after[key]

    def entering(self, site: str | Node, before: State) -> State:
        """Return ``before`` as far as it makes a difference where a rule or node begins."""
        return self._as_seen(before, self.positions.entering, site)

    def leaving(self, site: str | Node, after: State) -> State:
        """Return ``after`` as far as it makes a difference where a rule or node ends."""
        return self._as_seen(after, self.positions.leaving, site)

    def _as_seen(
        self, state: State, by_site: Mapping[str | int, tuple[int, bool]], site: str | Node
    ) -> State:
        if state.rest is ANYTHING:
            return state
        key = site if isinstance(site, str) else id(site)
        leaves, is_end = by_site[key]
        if leaves not in self._masks:
            self._masks[leaves] = self.positions.first_bytes(leaves)
        rest = relaxed(state.rest, self._masks[leaves] | (END if is_end else 0))
        return state if rest == state.rest else state._replace(rest=rest)

    def words(self, node: Lexeme, before: State, afters: frozenset[State]) -> Dfa:
        """Return the words of ``node`` that lead to any of ``afters``; as they are if all do."""
        key = (id(node), before, afters)
        if key not in self._words:
            by_state = self.after(node, before)
            dfa = union([d for state, d in by_state.items() if state in afters and d is not None])
            is_whole = afters >= by_state.keys() and operations.is_equal(dfa, node.terminal.dfa)
            self._words[key] = node.terminal.dfa if is_whole else dfa
        return self._words[key]

    def _after_lexeme(self, node: Lexeme, before: State) -> dict[State, Dfa]:
        number = self.positions.number(node)
        following, bars = self.positions.following[number], self._bars(node, number)
        by_state: dict[State, list[Dfa]] = {}
        for word_class in self._cut(node, number, before.is_start).classes:
            for rest, dfa in cut(word_class.dfa, before.rest):
                left = relaxed(both(rest, word_class.rest), following)
                if left == NOTHING:
                    continue
                for hidden, words in self._hiding(node, number, dfa):
                    state = State(left, is_skipped=bars, hidden=hidden)
                    by_state.setdefault(state, []).append(behind(words, before.hidden))
        whole = {state: union(dfas) for state, dfas in by_state.items()}
        return {state: dfa for state, dfa in whole.items() if not dfa.is_empty}

    def _hiding(self, node: Lexeme, number: int, words: Dfa) -> Iterator[tuple[bytes, Dfa]]:
        """Yield words of a lexeme by the text of its ``stop`` that is matched again after them.

        LLGuidance hides this text where it must be the beginning of whatever lexeme follows.
        """
        stopped = node.terminal.stopped
        if stopped is None:
            yield b"", words
            return
        certain, own = self._forced(number)
        left = words
        for other in members(self.positions.follow[number]):
            leaf = self.positions.leaves[other]
            if isinstance(leaf, Embedded) and any(
                leaf.first >> byte & 1 and not stopped(bytes([byte])).is_empty
                for byte in range(256)
            ):
                self.report.loss(
                    LEXING,
                    f"the end of `{node.terminal.title}` may be matched again by what is embedded"
                    " after it; here it never is",
                    leaf.span,
                )
        for length in range(1, len(own) + 1):
            hidden = own[:length]
            hidden_words = operations.intersect(left, stopped(hidden))
            if hidden_words.is_empty:
                continue
            if not certain.startswith(hidden):
                self.report.loss(
                    LEXING,
                    f"whether the end of `{node.terminal.title}` is matched again depends on what"
                    " else is allowed there; here it never is",
                    _shown(node),
                )
                continue
            yield hidden, hidden_words
            left = operations.difference(left, hidden_words)
        if not left.is_empty:
            yield b"", left

    def _forced(self, number: int) -> tuple[bytes, bytes]:
        """Return what begins every lexeme after those that may be meant here, and after this."""
        terminal = self.positions.leaves[number]
        together = 0
        for other in members(self.positions.may[number]):
            leaf = self.positions.leaves[other]
            if isinstance(leaf, Lexeme) and isinstance(terminal, Lexeme):
                same = leaf.terminal is terminal.terminal
                together |= self.positions.follow[other] if same else 0
        return self._common(together), self._common(self.positions.follow[number])

    def _common(self, leaves: int) -> bytes:
        result: bytes | None = None
        for member in members(leaves):
            leaf = self.positions.leaves[member]
            if isinstance(leaf, Embedded):
                return b""
            begun = beginning(leaf.terminal.dfa)[: unrepeated(leaf.terminal.opening)]
            result = begun if result is None else _common(result, begun)
        return result or b""

    def _after_embedded(self, node: Embedded, before: State) -> dict[State, Dfa | None]:
        if before.hidden or (node.is_grammar and before.is_skipped):
            return {}
        if node.first & touched(before.rest):
            self.report.loss(
                LEXING,
                "this may follow a lexeme that would go on with its first byte",
                node.span,
            )
        return {State(): None}

    def _bars(self, node: Lexeme, number: int) -> bool:
        """Return whether ``node`` is ignored text before a possible embedded grammar."""
        if self.lexing is not Lexing.LLGUIDANCE or node.terminal is not self.grammar.ignored:
            return False
        leaves = (
            self.positions.leaves[member] for member in members(self.positions.follow[number])
        )
        return any(isinstance(leaf, Embedded) and leaf.is_grammar for leaf in leaves)

    def _cut(self, node: Lexeme, number: int, is_start: bool) -> LexemeSplit:
        key = (number, is_start)
        if key not in self._cuts:
            self._cuts[key] = self._cut_now(node, number, is_start)
        return self._cuts[key]

    def _cut_now(self, node: Lexeme, number: int, is_start: bool) -> LexemeSplit:
        if self.lexing is Lexing.SCANNERLESS:
            return LexemeSplit((Class(ANYTHING, node.terminal.dfa),), ())
        ignored, following = self.grammar.ignored, self.positions.following[number]
        must, may = self._rivals(number, is_start)
        certain, possible = self._terminals(must), self._terminals(may)
        if self.lexing is Lexing.LALR:
            certain += ignored.terminals if ignored else ()
            looked_for = (
                [
                    scanner_of(certain),
                    *(scanner_of([*certain, terminal_]) for terminal_ in possible),
                ]
                if self.expected is None
                else self.expected.looked_for(node)
            )
            result = self.cutter.scanned(node.terminal, looked_for, following)
        else:
            if ignored is not None and not is_start:
                # Ignored text can go on after ignored text, wherever a lexeme has come before.
                certain.append(ignored)
            result = self.cutter.cut(node.terminal, certain, possible, following)
        for doubt in result.doubts:
            self._lose(node, doubt)
        self._check_embedded(node, number)
        return self._only_next_byte(node, result) if self.byte_only else result

    def _only_next_byte(self, node: Lexeme, lexeme_split: LexemeSplit) -> LexemeSplit:
        """Return ``lexeme_split`` with what the next byte alone decides."""
        classes = []
        for word_class in lexeme_split.classes:
            near = outside(refused(word_class.rest))
            classes.append(Class(near, word_class.dfa))
            left = both(near, others(word_class.rest))
            if left != NOTHING:
                word, text = (
                    operations.shortest_word(d) or b"" for d in (word_class.dfa, left.dfa)
                )
                self.report.loss(
                    LEXING,
                    f"Lark's longest match of `{node.terminal.title}` needs more than one byte of"
                    f" look-ahead after {_spelt(word)}, and is not kept: here it may end before"
                    f" {_spelt(text)}, too",
                    node.terminal.span,
                )
        return LexemeSplit(tuple(classes), lexeme_split.doubts)

    def conflict(self) -> str | None:
        """Return two lexemes side by side that the lexer does not cut so, in words."""
        for number, leaf in enumerate(self.positions.leaves):
            if not isinstance(leaf, Lexeme):
                continue
            for word_class in self._cut(leaf, number, is_start=False).classes:
                left = others(word_class.rest).dfa
                if not first_bytes(left) & self.positions.following[number]:
                    continue
                for other in members(self.positions.follow[number]):
                    following = self.positions.leaves[other]
                    if isinstance(following, Embedded):
                        continue
                    barred = common_word(left, following.terminal.dfa)
                    if barred is not None:
                        word = operations.shortest_word(word_class.dfa) or b""
                        return (
                            f"{_spelt(barred)} of `{following.terminal.title}` would go on with"
                            f" {_spelt(word)} of `{leaf.terminal.title}`"
                        )
        return None

    def _rivals(self, number: int, is_start: bool) -> tuple[int, int]:
        """Return the leaves near a leaf that are certainly expected with it, and that may be."""
        if self.lexing is Lexing.EARLEY or self.expected is not None:
            return 0, 0
        must, may = self.positions.must[number], self.positions.may[number]
        if is_start:
            must = may = self.positions.first
        near = self.positions.near(number)
        return must & near, may & near

    def _terminals(self, leaves: int) -> list[LarkTerminal]:
        result = (self.positions.leaves[number] for number in members(leaves))
        return [*{leaf.terminal: None for leaf in result if isinstance(leaf, Lexeme)}]

    def _check_embedded(self, node: Lexeme, number: int) -> None:
        """Report embedded parts that start alike: their lexemes are not known here."""
        if self.lexing is not Lexing.LLGUIDANCE:
            return
        for other in members(self.positions.may[number] & self.positions.near(number)):
            leaf = self.positions.leaves[other]
            if isinstance(leaf, Embedded) and leaf.first & first_bytes(node.terminal.dfa):
                self.report.loss(
                    LEXING,
                    f"`{node.terminal.title}` and what is embedded here start alike: which of them"
                    " a text belongs to may be decided too late",
                    leaf.span,
                )

    def _lose(self, node: Lexeme, doubt: Doubt) -> None:
        before = f"before {_spelt(doubt.following)}" if doubt.following else "at the end"
        one, other = node.terminal.title, doubt.companion.title
        self._doubts.setdefault(frozenset((one, other)), {}).setdefault(
            _shown(node),
            f"`{one}` and `{other}` can be confused: in some places {_spelt(doubt.word)} {before}"
            " is not a lexeme of its own; here it always may be",
        )

    def report_doubts(self) -> None:
        """Report a loss for each pair of terminals that can be confused, at the first place."""
        for doubts in self._doubts.values():
            span = min(doubts)
            how_often = f" (so at {len(doubts)} places)" if len(doubts) > 1 else ""
            self.report.loss(LEXING, f"{doubts[span]}{how_often}", span)

    def report_awaited_ends(self) -> None:
        """Report a loss for each lexeme that the model may end where more has to come."""
        reported = set[str]()
        for leaf, follow in zip(self.positions.leaves, self.positions.follow, strict=True):
            if not isinstance(leaf, Lexeme) or not leaf.terminal.awaits_end:
                continue
            rest = (self.positions.leaves[member] for member in members(follow))
            goes_on = any(
                isinstance(end_leaf, Embedded) or end_leaf.terminal is not self.grammar.ignored
                for end_leaf in rest
            )
            if goes_on and leaf.terminal.key not in reported:
                reported.add(leaf.terminal.key)
                self.report.loss(
                    APPROXIMATE,
                    "LLGuidance lets the end of the sequence end this lexeme and goes on with what"
                    " follows; here what follows ends it",
                    _shown(leaf),
                )


def _spelt(data: bytes) -> str:
    """Return a text in quotes; controls, and invalid bytes, by their numbers."""
    shown = (
        f"\\x{ord(char) & 0xFF:02x}" if ord(char) < 0x20 or "\udc80" <= char <= "\udcff" else char
        for char in data.decode("utf-8", "surrogateescape")
    )
    return f"'{''.join(shown)}'"


def _shown(node: Lexeme) -> Span:
    return node.span if node.span.end > node.span.start else node.terminal.span


def _has_characters_only(grammar: LexicalGrammar) -> bool:
    """Return whether each lexeme is one character, as in texts of which no lexer is certain."""
    dfas: dict[Dfa, None] = {}
    for body in grammar.rules.values():
        for node in postorder(body):
            if isinstance(node, Embedded):
                return False
            if isinstance(node, Lexeme) and node.terminal.dfa not in dfas:
                if not is_character(node.terminal.dfa):
                    return False
                dfas[node.terminal.dfa] = None
    return True


def _never(_one: LarkTerminal, _other: LarkTerminal) -> bool:
    return False


def apply_lexer(
    grammar: LexicalGrammar,
    cutter: LexemeSplitter,
    report: Report,
    expected: Expected | None = None,
) -> Lexed:
    """Return ``grammar`` under a lexer.

    ``expected`` is what Lark's LALR parser expects, which decides what its lexer looks for.
    """
    with_others = cutter.lexing is Lexing.LLGUIDANCE or (
        cutter.lexing is Lexing.LALR and expected is None
    )
    confusable: Confusable | None = cutter.confusable if with_others else None
    if cutter.lexing is Lexing.LLGUIDANCE and _has_characters_only(grammar):
        # Whatever is expected with one, none can go on.
        confusable = _never
    positions = analyse(grammar, confusable, cutter.budget)
    return Lexed(grammar, cutter.lexing, report, cutter, positions, expected=expected)
