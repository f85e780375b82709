"""I109: texts with two derivations.

The search is bounded, and bottom-up: the texts of a node are composed of those of its children, so
that a text composed in two ways at one node has two derivations, whatever is around it. Only few
texts are kept at each node: the shortest, of alternatives a few of each; a rule that others or
itself call keeps room for those that recursion brings. Bytes that no terminal tells apart are
spelled by one of them. Findings are certain; their absence proves nothing.

Tests: tests/unit/lint/test_bounds.py, tests/golden/lint
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice, zip_longest
from typing import NamedTuple

from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.operations import short_words
from kbnf_core.automata.traversal import fold
from kbnf_core.frontend import Reading
from kbnf_core.ir import (
    Call,
    Choice,
    GrammarRules,
    Literal,
    Node,
    Regular,
    Repeat,
    Sequence,
    calls,
    children,
)
from kbnf_core.lint.subject import Needs, Subject, show, show_name, spelling_bytes
from kbnf_core.lower.regular import NotRegularError
from kbnf_core.text.diagnostics import Diagnostic, Rule
from kbnf_core.text.diagnostics.segments import in_quotes

Derivation = tuple[str, ...]
"""The parts of a text: a rule with its text in brackets, or a text."""

Texts = dict[bytes, Derivation]
"""Texts, the shortest first, and how each is derived."""

WORDS = 16
"""Texts kept at each node."""

LEAF_WORDS = 4
"""Texts taken of a regular expression."""

ROOM = 2 * WORDS
"""Texts kept while the parts of a sequence are joined."""

LENGTH = 48
"""Bytes of a text."""

STEPS = 250_000
"""Combinations that are looked at in one grammar; most need some dozens for each of their parts."""

_TURNS = 3
_NOTHING = ("''",)


class Ambiguity(NamedTuple):
    """A text and two derivations of it that differ at ``node``, in the rule ``nonterminal``."""

    nonterminal: str
    node: Node
    text: bytes
    first: Derivation
    second: Derivation


class AmbiguitySearch:
    """The search in one grammar; ``ambiguities`` contains at most one for each nonterminal.

    A step is a combination that is looked at; ``left`` is how many more there may be. ``origins``
    are the author's names of rules that are copies: where copies differ, no derivation does.
    """

    def __init__(
        self,
        grammar: GrammarRules,
        reachable: Iterable[str],
        steps: int,
        origins: Mapping[str, str],
    ) -> None:
        self._rules = {name: body for name, body in grammar.rules.items() if name in reachable}
        self._spelling = _TerminalWords(self._rules.values())
        self._texts: dict[str, Texts] = {name: {} for name in self._rules}
        self.left = steps
        self._origins = origins
        self.ambiguities: dict[str, Ambiguity] = {}

    def run(self) -> None:
        """Derive texts until none is new, or the steps are used up."""
        callers = defaultdict(set)
        for name, body in self._rules.items():
            for call in calls(body):
                callers[call.nonterminal].add(name)
        # Callees tend to be below their callers, and what they derive is needed first.
        queue = deque(reversed(self._rules))
        waiting = set(queue)
        while queue:
            if self.left <= 0:
                return
            name = queue.popleft()
            waiting.discard(name)
            if self._extend(name):
                again = sorted(callers[name] - waiting)
                queue.extend(again)
                waiting.update(again)

    def _extend(self, name: str) -> bool:
        """Add to the texts of a nonterminal; return whether there are new ones."""
        texts = self._texts[name]
        fresh = {
            text: _named(self._origins.get(name, name), text, how)
            for text, how in self._derive(name).items()
            if text not in texts
        }
        # Half of the room: the first texts are those without recursion.
        texts.update(islice(fresh.items(), (WORDS - len(texts) + 1) // 2))
        return bool(fresh) and len(texts) < WORDS

    def _derive(self, name: str) -> Texts:
        return fold(
            self._rules[name],
            children,
            lambda node, inner: self._collect(name, node, self._combine(node, inner)),
        )

    def _collect(
        self, name: str, node: Node, candidates: Iterable[tuple[bytes, Derivation]]
    ) -> Texts:
        """Keep the shortest texts; note the first that comes in two ways."""
        result: Texts = {}
        before = self.left
        for text, how in candidates:
            if self.left <= 0:
                break
            self.left -= 1
            first = result.setdefault(text, how)
            if first is not how and first != how:
                self.ambiguities.setdefault(name, Ambiguity(name, node, text, first, how))
        if before - self.left < 2:
            return result
        kept = result.items() if isinstance(node, Choice) else _shortest(result.items())
        return dict(islice(kept, WORDS))

    def _combine(self, node: Node, children: list[Texts]) -> Iterable[tuple[bytes, Derivation]]:
        match node:
            case Literal(data):
                return [(data, (in_quotes(data),))]
            case Regular(dfa):
                return [(word, (in_quotes(word),)) for word in self._spelling.words(dfa)]
            case Call(name):
                return self._texts[name].items()
            case Choice():
                return _in_turn(children)
            case Sequence():
                return _joined(children)
            case Repeat(_, low, high):
                return _repeated(children[0], low, high)
            case _:
                return ()


class _TerminalWords:
    """Short words of the terminals of one grammar."""

    def __init__(self, bodies: Iterable[Node]) -> None:
        self._bytes = spelling_bytes(bodies)
        self._words: dict[int, list[bytes]] = {}

    def words(self, dfa: Dfa) -> list[bytes]:
        """Return a few short words, different in length where there are such."""
        if id(dfa) not in self._words:
            symbols = [(byte, dfa.classes[byte]) for byte in self._bytes]
            words = (w for w in short_words(dfa, symbols, 64) if len(w) <= LENGTH)
            self._words[id(dfa)] = list(islice(_first_by_length(words), LEAF_WORDS))
        return self._words[id(dfa)]


def _first_by_length(words: Iterable[bytes]) -> Iterator[bytes]:
    counts: defaultdict[int, int] = defaultdict(int)
    for word in words:
        counts[len(word)] += 1
        if counts[len(word)] <= 2:
            yield word


def _in_turn(branches: list[Texts]) -> Iterator[tuple[bytes, Derivation]]:
    """Yield a text of each part, the shortest first, then a second one of each, and so on."""
    for items in zip_longest(*(branch.items() for branch in branches)):
        yield from _shortest(filter(None, items))


def _joined(factors: list[Texts]) -> list[tuple[bytes, Derivation]]:
    """Return texts made of one of each part, cut to the shortest after each.

    Texts are about in the order of their lengths. So the ``n``-th is joined with the first
    ``ROOM / n`` texts that may follow: as many texts are shorter than what it makes with others.
    """
    sequences: list[tuple[bytes, Derivation]] = [(b"", ())]
    for item in factors:
        longer = [
            (text + more, how + then)
            for rank, (text, how) in enumerate(sequences[:ROOM], 1)
            for more, then in islice(item.items(), ROOM // rank)
            if len(text) + len(more) <= LENGTH
        ]
        sequences = _shortest(longer)
    return sequences


def _repeated(body: Texts, low: int, high: int | None) -> Iterator[tuple[bytes, Derivation]]:
    most = low + _TURNS if high is None else min(high, low + _TURNS)
    filled = {text: how for text, how in body.items() if text}
    items: list[tuple[bytes, Derivation]] = [(b"", ())]
    for count in range(most + 1):
        if count >= low:
            yield from ((text, how or _NOTHING) for text, how in items)
        if not items or count * len(items) > LENGTH * WORDS:
            return
        turn = body if count < low else filled
        items = _joined([dict(items), turn])[:WORDS] if items else []


def _shortest(items: Iterable[tuple[bytes, Derivation]]) -> list[tuple[bytes, Derivation]]:
    """Return texts in the order of their lengths."""
    return [item for _, item in sorted([(len(item[0]), item) for item in items])]


def _named(name: str, text: bytes, how: Derivation) -> Derivation:
    """Return a part as derivations show it: what differs within it was found where it was made."""
    return (f"{name}[{in_quotes(text)}]",) if name else how


RULES = (Rule("I109", "ambiguous", "A text has two derivations."),)
NEEDS = Needs.GRAMMAR

_MAX_SHOWN = 160


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding for each rule in which a bounded search finds one text derived twice.

    Of alternatives that are regular nothing is reported: I108 compares those without a bound.
    """
    reading = subject.reading
    steps = min(STEPS, subject.budget.left)
    search = AmbiguitySearch(
        subject.grammar, subject.analysis.reachable, steps, reading.document.origins
    )
    search.run()
    for ambiguity in search.ambiguities.values():
        if not _is_overlap(subject, ambiguity):
            yield _finding(reading, ambiguity)
    subject.budget.spend(steps - search.left)
    if search.left <= 0:
        subject.stop("I109", f"the search took {steps:,} steps", reading.start_span)


def _is_overlap(subject: Subject, ambiguity: Ambiguity) -> bool:
    if not isinstance(ambiguity.node, Choice):
        return False
    try:
        subject.regulars.of(ambiguity.node)
    except NotRegularError:
        return False
    return True


def _finding(reading: Reading, ambiguity: Ambiguity) -> Diagnostic:
    first, second = differing(ambiguity.first, ambiguity.second)
    return reading.finding(
        "I109",
        f"{show_name(reading, ambiguity.nonterminal)} derives {show(ambiguity.text)} in two ways",
        ambiguity.node.span,
        notes=(f"either {_cut(first)}", f"or {_cut(second)}"),
    )


_LEAST_CUT = 2
"""Parts at an end that two derivations have in common and that are left out: one explains more."""


def differing(first: Derivation, second: Derivation) -> tuple[Derivation, Derivation]:
    """Return two derivations of a text without the parts that both begin or end with.

    Empty texts, as of symbols that may be left out, go where the rest still differs.
    """
    least = min(len(first), len(second))
    start = next((at for at in range(least) if first[at] != second[at]), least)
    start = start if start >= _LEAST_CUT else 0
    end = next((at for at in range(least - start) if first[-1 - at] != second[-1 - at]), 0)
    end = end if end >= _LEAST_CUT else 0
    before, after = ("…",) if start else (), ("…",) if end else ()
    one, other = ((*before, *steps[start : len(steps) - end], *after) for steps in (first, second))
    filled_one, filled_other = (
        tuple(step for step in steps if step not in _NOTHING) for steps in (one, other)
    )
    is_clear = filled_one and filled_other and filled_one != filled_other
    return (filled_one, filled_other) if is_clear else (one, other)


def _cut(derivation: Derivation) -> str:
    text = " ".join(derivation)
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."
