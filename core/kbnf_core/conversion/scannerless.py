"""Turns rules over tokens into rules over characters, without a product of rules and lexer states.

Parser generators cut a text into tokens first: the longest match, of equal matches the first
token; some tokens are skipped. What of this can be decided cheaply is kept:

*Keywords.* A token loses the texts that a token before it in the list matches, too: ``identifier``
is not ``while``.

*Skipped tokens.* Every token is followed by any number of them (``gap``). One that the lexer would
continue into whatever token comes next, such as a comment up to the end of its line, has to be
followed by another skipped token, or to end the text.

*Boundaries.* Two tokens touch where the lexer would not read beyond the first. Of each token it is
known with which characters all its texts would be read on, as the text of a longer token: a walk of
its automaton beside that of all tokens. It is *parted* from the tokens that begin with these. A
token is followed by at least one skipped one (``space``) where it is parted from all tokens that
are expected next (FOLLOW, Aho & Ullman 1972). Where only from some, it may touch all of them, and
the texts of this grammar are a superset of those of the lexer; the first such place is returned.

Sets of tokens and of blocks of characters are the bits of numbers. Time is linear in the rules, for
each round of the fixpoints, and quadratic in the distinct sets of first characters of tokens.

Tests: tests/unit/conversion
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import NamedTuple

from kbnf_core.automata import operations
from kbnf_core.automata.codepoints import (
    ANY,
    CodePoints,
    complement,
    intersect,
    partition,
    union,
)
from kbnf_core.automata.dfa import DEAD, Dfa, class_count, first_bytes, join, trimmed
from kbnf_core.automata.explore import common_word, meet
from kbnf_core.automata.expression import print_characters
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.automata.to_regex import CharacterEdges
from kbnf_core.automata.traversal import fold
from kbnf_core.conversion.automata import only_word, write_dfa
from kbnf_core.conversion.rewrite import rebuild
from kbnf_core.ir.analysis import callees_first, fixpoint, reachable
from kbnf_core.ir.names import FreshNames
from kbnf_core.kbnf.build import (
    EMPTY,
    alternation,
    call,
    definition,
    is_empty,
    placed,
    repeated,
    sequence,
)
from kbnf_core.kbnf.parsed import Loss
from kbnf_core.kbnf.printer import print_expression
from kbnf_core.kbnf.tree import (
    Alternation,
    Bracket,
    BracketKind,
    Definition,
    Expression,
    Name,
    Pattern,
    Reference,
    Repetition,
    Terminal,
    children,
    postorder,
    uses_in,
)
from kbnf_core.kbnf.tree import Concatenation as Row
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Span

LEXING = "W452"
_PAIR = 20
"""Steps for the comparison of two tokens, most of which end after a character or two."""
_BITS = 256
"""Tokens in a set that is passed on in one step; this bounds the memory of sets, too."""
LARGEST = 20_000
"""Characters, or sets of them, of a token; one without many keywords is a tree of these."""


@dataclass(slots=True, eq=False)
class TokenKind:
    """A kind of token and its texts; those of one ``mode`` are told apart by the lexer.

    Nothing is skipped before a token that is ``immediate``; one that is ``last`` is skipped only at
    the end of the text.
    """

    name: Name
    body: Expression
    span: Span
    is_skipped: bool = False
    mode: str = ""
    is_immediate: bool = False
    is_last: bool = False

    @property
    def dfa(self) -> Dfa | None:
        """The automaton of the texts of a token that is a text or a pattern of moderate size."""
        match self.body:
            case Terminal(text) if len(text.value) <= LARGEST:
                return operations.literal(text.value.encode())
            case Pattern(dfa=dfa):
                return dfa
            case _:
                return None


@dataclass(slots=True)
class Scannerless:
    """Rules over characters, their start, and what the lexer would not accept.

    ``generated`` are the spans at which there are rules that nobody wrote.
    """

    definitions: list[Definition]
    start: str
    losses: list[Loss] = field(default_factory=list)
    generated: frozenset[Span] = frozenset()

    def reached(self) -> "Scannerless":
        """Return the rules to which the start leads."""
        graph: dict[str, set[str]] = {}
        for rule in self.definitions:
            graph.setdefault(rule.name.value, set()).update(n.value for n in uses_in(rule.body))
        names = reachable([self.start], graph)
        kept = [rule for rule in self.definitions if rule.name.value in names]
        return replace(self, definitions=kept)


def without_lexer(
    rules: Sequence[Definition],
    tokens: Sequence[TokenKind],
    start: str,
    limits: Limits,
    budget: Budget,
    everywhere: Collection[str] | None = None,
) -> Scannerless:
    """Return the rules of a text from those of its tokens.

    ``rules`` refer to tokens by name; the texts and patterns in them are tokens, too, before all
    others. ``tokens`` are in order of priority; of equal names they are alternatives. A lexer that
    looks only for the tokens that are expected at a position, and ``everywhere`` for some by name,
    does not prefer one token to another. Raises WorkLimitError.
    """
    names = FreshNames(rule.name.value for rule in rules)
    for token in tokens:
        names.take(token.name.value)
    tokens = [split_token for token in tokens for split_token in _split(token, names)]
    everything = [*_written_in(rules), *tokens]
    # Before the tokens are looked at one by one, as this is all that counts for many.
    budget.subject = start
    budget.spend(_size(rules, len({token.name.value for token in everything})))
    losses: list[Loss] = []
    if everywhere is None:
        losses = [*_tell_apart(everything, limits, budget)]
    kinds = _Kinds(everything)
    followers = _Followers(rules, kinds, start, budget)
    boundaries = _Boundaries(kinds, everywhere, limits, budget)
    result = _ScannerlessWriter(kinds, followers, boundaries).write(rules, tokens, start, names)
    return replace(result, losses=[*losses, *result.losses])


def _size(rules: Iterable[Definition], kinds: int) -> int:
    """Return the steps in which sets of so many kinds of tokens are passed through all rules."""
    return sum(4 + kinds // _BITS for rule in rules for _ in postorder(rule.body))


def _key(leaf: Expression) -> str:
    """Return the name of a token that is a leaf of a rule: its own, or how KBNF writes it."""
    return leaf.name.value if isinstance(leaf, Reference) else print_expression(leaf)


def _written_in(rules: Iterable[Definition]) -> Iterable[TokenKind]:
    """Return the tokens that are written as texts or patterns in rules, each once."""
    tokens: dict[str, TokenKind] = {}
    for rule in rules:
        for leaf in _leaves(rule.body):
            if not isinstance(leaf, Reference) and not is_empty(leaf):
                tokens.setdefault(
                    _key(leaf), TokenKind(Name(_key(leaf), leaf.span), leaf, leaf.span)
                )
    return tokens.values()


def _leaves(root: Expression) -> Iterator[Expression]:
    return (node for node in postorder(root) if not children(node))


def _split(token: TokenKind, names: FreshNames) -> Iterator[TokenKind]:
    """Yield a skipped token as one for each way in which its texts may go on.

    A line comment and a block comment may be one token, and end otherwise.
    """
    dfa = token.dfa if token.is_skipped and not token.is_last else None
    ways: dict[CodePoints, list[int]] = {}
    bodies: list[Expression] = []
    if dfa is not None:
        texts = _Texts(dfa)
        for state in (state for state, accepts in enumerate(dfa.accepting) if accepts):
            ways.setdefault(texts.ends(state), []).append(state)
        for states in ways.values() if len(ways) > 1 else ():
            ends = [state in states for state in range(dfa.state_count)]
            rows = trimmed(dfa.rows, ends, dfa.classes)[0]
            form = write_dfa(rows, token.span)
            if form is not None:
                bodies.append(form)
    if len(bodies) < 2 or len(bodies) < len(ways):
        yield token
        return
    for number, body in enumerate(bodies):
        name = names.fresh(token.name.value) if number else token.name.value
        yield replace(token, name=Name(name, token.name.span), body=body)


def _tell_apart(tokens: Sequence[TokenKind], limits: Limits, budget: Budget) -> Iterator[Loss]:
    """Take the texts of each token from those after it in the same mode; yield where it cannot."""
    words: dict[str, set[bytes]] = {}
    patterns: dict[str, dict[int, list[Dfa]]] = {}
    for token in tokens:
        dfa = token.dfa
        if dfa is None:
            continue
        budget.subject = token.name.value
        mode = words.setdefault(token.mode, set())
        others = patterns.setdefault(token.mode, {})
        first = _beginning_bytes(dfa)
        # Tokens without a common first byte share no text, and most pairs have none.
        rivals_in_form = {id(rival): rival for byte in first for rival in others.get(byte, ())}
        word = only_word(dfa)
        rivals = mode if word is None else (word,)
        budget.spend(len(rivals) + dfa.state_count + _PAIR * len(rivals_in_form))
        common = {rival for rival in rivals if dfa.accepts(rival)}
        earlier = [operations.literals(common & mode)] if common & mode else []
        earlier += [rival for rival in rivals_in_form.values() if meet(rival, dfa)]
        if word is None:
            for byte in first:
                others.setdefault(byte, []).append(dfa)
        else:
            mode.add(word)
        if earlier:
            yield from take(token, earlier, limits, budget)


def _beginning_bytes(dfa: Dfa) -> list[int]:
    """Return the bytes that the words of an automaton begin with; 256 for the empty word."""
    if dfa.is_empty:
        return []
    row = dfa.rows[0]
    result = [byte for byte, number in enumerate(dfa.classes) if row[number] != DEAD]
    return [*result, 256] if dfa.accepting[0] else result


def take(token: TokenKind, words: Sequence[Dfa], limits: Limits, budget: Budget) -> Iterator[Loss]:
    """Take words from a token; yield a loss where the rest has no pattern of moderate size."""
    dfa = token.dfa
    if dfa is None:
        return
    form: Expression | None = None
    with suppress(LimitError):
        rest = operations.difference(dfa, operations.union(*words, limits=limits), limits, budget)
        form = write_dfa(rest, token.body.span, LARGEST)
    if form is not None:
        token.body = form
        return
    shared = next(filter(None, (common_word(rival, dfa) for rival in words)), b"").decode()
    message = f"`{token.name.value}` keeps texts of other tokens, such as `{shared}`"
    yield Loss(LEXING, message, token.span)


class _Kinds:
    """The tokens by number; a set of them is the bits of a number, and ``end`` is the text's end.

    Tokens of one name are one kind.
    """

    def __init__(self, tokens: Sequence[TokenKind]) -> None:
        self.tokens: dict[str, list[TokenKind]] = {}
        for token in tokens:
            self.tokens.setdefault(token.name.value, []).append(token)
        self.numbers = {name: number for number, name in enumerate(self.tokens)}
        self.names = [*self.tokens]
        self.end = 1 << len(self.names)
        self.skipped = [
            name for name, same in self.tokens.items() if all(token.is_skipped for token in same)
        ]

    def bit(self, leaf: Expression) -> int | None:
        """Return the set of the token that a leaf is; None where it is a rule or empty."""
        number = None if is_empty(leaf) else self.numbers.get(_key(leaf))
        return None if number is None else 1 << number


def _numbers(bits: int) -> Iterator[int]:
    """Yield the numbers in a set."""
    while bits:
        yield _lowest(bits)
        bits &= bits - 1


def _lowest(bits: int) -> int:
    """Return the lowest number in a set."""
    return (bits & -bits).bit_length() - 1


class _Followers:
    """The tokens that are expected next, for each use of a token in a rule (FIRST and FOLLOW)."""

    def __init__(
        self, rules: Sequence[Definition], kinds: _Kinds, start: str, budget: Budget
    ) -> None:
        self._kinds = kinds
        self._bodies: dict[str, list[Expression]] = {}
        for rule in rules:
            self._bodies.setdefault(rule.name.value, []).append(rule.body)
        uses = {
            name: [
                key for body in bodies for key in map(_key, _leaves(body)) if key in self._bodies
            ]
            for name, bodies in self._bodies.items()
        }
        size = _size(rules, len(kinds.names))
        self._beginnings = fixpoint(uses, (False, 0), self._evaluate)
        # Callers first: only rules that call one another take more than one round.
        self._order = callees_first(uses, uses)[::-1]
        self._follow = dict.fromkeys(self._bodies, 0)
        self._follow[start] = kinds.end
        self.next: dict[int, int] = {}
        """By the identity of a leaf that is a token: the set of those that are allowed after it."""
        while self._grow_follow():
            budget.spend(size)

    def _evaluate(self, name: str, beginnings: Mapping[str, tuple[bool, int]]) -> tuple[bool, int]:
        """Return whether a rule may be empty, and the tokens that it may begin with."""

        def one(node: Expression, inner: list[tuple[bool, int]]) -> tuple[bool, int]:
            return self._beginning(node, inner, beginnings)

        result = [fold(body, children, one) for body in self._bodies[name]]
        return any(fact[0] for fact in result), reduce(or_, (fact[1] for fact in result))

    def _beginning(
        self,
        node: Expression,
        inner: list[tuple[bool, int]],
        beginnings: Mapping[str, tuple[bool, int]],
    ) -> tuple[bool, int]:
        match node:
            case Row():
                first = 0
                for nullable, tokens in inner:
                    first |= tokens
                    if not nullable:
                        return False, first
                return True, first
            case Alternation():
                return any(child[0] for child in inner), reduce(or_, (child[1] for child in inner))
            case Repetition(_, low):
                return inner[0][0] or low == 0, inner[0][1]
            case Bracket(kind):
                return inner[0][0] or kind is not BracketKind.GROUP, inner[0][1]
            case _:
                bit = self._kinds.bit(node)
                if bit is not None:
                    return False, bit
                return (True, 0) if is_empty(node) else beginnings.get(_key(node), (False, 0))

    def _grow_follow(self) -> bool:
        before = dict(self._follow)
        for name in self._order:
            for body in self._bodies[name]:
                self._descend(body, self._follow[name])
        return before != self._follow

    def _descend(self, body: Expression, follow: int) -> None:
        """Pass what follows a body on to the uses of tokens and rules in it."""
        beginnings: dict[int, tuple[bool, int]] = {}

        def note(node: Expression, operands: list[tuple[bool, int]]) -> tuple[bool, int]:
            beginnings[id(node)] = self._beginning(node, operands, self._beginnings)
            return beginnings[id(node)]

        fold(body, children, note)
        stack = [(body, follow)]
        while stack:
            node, after = stack.pop()
            match node:
                case Row(items):
                    for item in reversed(items):
                        stack.append((item, after))
                        nullable, first = beginnings[id(item)]
                        after = first | (after if nullable else 0)
                case Repetition(inner, _, high) if high is None or high > 1:
                    stack.append((inner, after | beginnings[id(inner)][1]))
                case Bracket(BracketKind.REPEATED, inner):
                    stack.append((inner, after | beginnings[id(inner)][1]))
                case Alternation() | Bracket() | Repetition():
                    stack.extend((child, after) for child in children(node))
                case _ if self._kinds.bit(node) is not None:
                    self.next[id(node)] = self.next.get(id(node), 0) | after
                case _ if _key(node) in self._follow:
                    self._follow[_key(node)] |= after


class _Beyond(NamedTuple):
    """The automaton of the tokens that the lexer looks for, and its states after one of them."""

    longer: Dfa | None
    states: set[int]


class _Boundaries:
    """Which tokens the lexer always reads on into, after each token."""

    def __init__(
        self, kinds: _Kinds, everywhere: Collection[str] | None, limits: Limits, budget: Budget
    ) -> None:
        count = len(kinds.names)
        self._kinds = kinds
        self._limits = limits
        self._budget = budget
        self._read_on: list[CodePoints] = [ANY] * count
        self._beyond: list[list[_Beyond]] = [[] for _ in range(count)]
        self._starts: list[CodePoints] = [()] * count
        for tokens, rivals in _rivals(kinds, everywhere):
            longer = _Texts(_union(rivals, limits))
            for token in tokens:
                number = kinds.numbers[token.name.value]
                texts = _Texts(token.dfa)
                self._starts[number] = union(self._starts[number], texts.beginnings())
                read_on, states = _walk(texts, longer, budget)
                self._read_on[number] = intersect(self._read_on[number], read_on)
                self._beyond[number].append(_Beyond(longer.dfa, states))
        members = partition([*self._read_on, *self._starts]).members
        bits = [sum(1 << block for block in blocks) for blocks in members]
        self._bits = bits[:count]
        self._starting: dict[int, int] = {}
        for number, first in enumerate(bits[count:]):
            if first:
                self._starting[first] = self._starting.get(first, 0) | 1 << number

    def ends(self, token: int) -> Dfa | None:
        """Return the texts that begin with a character with which the lexer does not read on.

        None where it always reads on, up to the end of the text.
        """
        points = complement(self._read_on[token])
        if not points:
            return None
        return compile_regex(f"{print_characters(points)}(?s:.*)", self._limits).dfa

    def parted(self, token: int) -> int:
        """Return the set of the tokens into which the lexer reads on, whatever their texts."""
        read_on, rest = self._bits[token], ~self._bits[token]
        result = 0
        for first, tokens in self._starting.items():
            if not first & rest:
                result |= tokens
            elif first & read_on:
                result |= sum(
                    1 << other for other in _numbers(tokens) if self._reads_into(token, other)
                )
        return result

    def _reads_into(self, token: int, following: int) -> bool:
        """Return whether the lexer reads on into all texts of a token, if after some characters.

        A comment of C goes on after a backslash and any character, so into a name that begins with
        an escape, although a backslash alone ends no text of a comment.
        """
        return not any(
            _may_follow(beyond, token_following.dfa, self._budget)
            for beyond in self._beyond[token]
            for token_following in self._kinds.tokens[self._kinds.names[following]]
        )


def _rivals(
    kinds: _Kinds, everywhere: Collection[str] | None
) -> Iterator[tuple[list[TokenKind], list[TokenKind]]]:
    """Yield tokens, and those that the lexer looks for beside each of them at its position."""
    tokens = [token for same in kinds.tokens.values() for token in same]
    if everywhere is not None:
        yield tokens, [token for token in tokens if token.name.value in everywhere]
        return
    for mode in dict.fromkeys(token.mode for token in tokens):
        of_mode = [token for token in tokens if token.mode == mode]
        yield of_mode, of_mode


def _union(tokens: Iterable[TokenKind], limits: Limits) -> Dfa | None:
    """Return the automaton of all tokens; None where it is too large."""
    automata = [dfa for dfa in (token.dfa for token in tokens) if dfa is not None]
    try:
        return operations.union(*automata, limits=limits)
    except LimitError:
        return None


def _stepped(one: Dfa, other: Dfa) -> Callable[[int, int], set[tuple[int, int]]]:
    """Return the function from a state of each of two automata to the pairs after one byte."""
    symbols = first_bytes(join([one.classes, other.classes]))
    columns, columns_beside = symbols.translate(one.classes), symbols.translate(other.classes)
    # Rows are spread when they are reached: the automaton of all tokens is large, a walk is short.
    # The last row is that of the dead state.
    rows, beside = one.rows, [*other.rows, [DEAD] * class_count(other.classes)]

    def step(state: int, state_beside: int) -> set[tuple[int, int]]:
        after = map(rows[state].__getitem__, columns)
        return {*zip(after, map(beside[state_beside].__getitem__, columns_beside), strict=True)}

    return step


def _may_follow(beyond: _Beyond, following: Dfa | None, budget: Budget) -> bool:
    """Return whether the lexer reads into no beginning of some text of the token that follows."""
    longer = beyond.longer
    if longer is None or following is None:
        return True
    if following.is_empty:
        return False
    step = _stepped(following, longer)
    pending = [(0, state) for state in beyond.states]
    visited = {*pending}
    for pair in pending:
        budget.spend()
        for after, reached in step(*pair) - visited:
            if after == DEAD or (reached != DEAD and longer.accepting[reached]):
                continue
            if reached == DEAD or following.accepting[after]:
                return True
            visited.add((after, reached))
            pending.append((after, reached))
    return False


class _Texts:
    """The characters of the texts of a token; None for an automaton that is not known."""

    def __init__(self, dfa: Dfa | None) -> None:
        self.dfa = dfa
        self._edges = CharacterEdges(dfa) if dfa is not None and not dfa.is_empty else None
        self._ends: dict[int, CodePoints] = {}

    def beginnings(self) -> CodePoints:
        """Return the characters that texts begin with."""
        if self._edges is None:
            return ANY if self.dfa is None else ()
        return reduce(union, (points for points, _ in self._edges.edges(0)), ())

    def ends(self, state: int) -> CodePoints:
        """Return the characters that lead from a state to the end of a text."""
        if state not in self._ends and self._edges is not None and self.dfa and state != DEAD:
            ends = self.dfa.accepting
            points = (
                points_of_edge
                for points_of_edge, target in self._edges.edges(state)
                if ends[target]
            )
            self._ends[state] = reduce(union, points, ())
        return self._ends.get(state, ())


def _walk(texts: _Texts, others: _Texts, budget: Budget) -> tuple[CodePoints, set[int]]:
    """Return the characters with which all texts of a token make a text of this or another one.

    Then the states of the others' automaton after these texts, unless there are no such characters.
    """
    dfa, longer = texts.dfa, others.dfa
    if dfa is None or longer is None or dfa.is_empty:
        return (), set()
    step = _stepped(dfa, longer)
    read_on, pending = ANY, [(0, DEAD if longer.is_empty else 0)]
    states, ends = {*pending}, set[int]()
    for state, other in pending:
        budget.spend()
        pairs = {pair for pair in step(state, other) - states if pair[0] != DEAD}
        states |= pairs
        pending.extend(pairs)
        if dfa.accepting[state]:
            ends.add(other)
            read_on = intersect(read_on, union(texts.ends(state), others.ends(other)))
            if not read_on:
                break
    return read_on, ends


class _ScannerlessWriter:
    """Puts skipped tokens into the rules."""

    def __init__(self, kinds: _Kinds, followers: _Followers, boundaries: _Boundaries) -> None:
        self._kinds = kinds
        self._followers = followers
        self._boundaries = boundaries
        self._parted = [boundaries.parted(number) for number in range(len(kinds.names))]
        skipped = [kinds.numbers[name] for name in kinds.skipped]
        solid = kinds.end - 1 - sum(1 << number for number in skipped)
        self._last = [token for token in skipped if kinds.tokens[kinds.names[token]][0].is_last]
        skipped = [token for token in skipped if token not in self._last]
        self._unended = [token for token in skipped if self._parted[token] & solid]
        """Skipped tokens that not every token may follow."""
        self._free = [token for token in skipped if not self._parted[token] & solid]
        self._immediate = sum(
            1 << kinds.numbers[name]
            for name, same in kinds.tokens.items()
            if all(token.is_immediate for token in same)
        )
        self._losses: list[Loss] = []

    def write(
        self,
        rules: Sequence[Definition],
        tokens: Sequence[TokenKind],
        start: str,
        names: FreshNames,
    ) -> Scannerless:
        """Return the rules, and those of the tokens."""
        self._gap, self._space, text = (
            names.fresh(name) for name in ("gap", "space", f"{start}_text")
        )
        written = [Definition(token.name, token.body, token.span) for token in tokens]
        if not (self._free or self._unended or self._last):
            return Scannerless([*rules, *written], start)
        written = [*(replace(token, body=self._body(token.body)) for token in rules), *written]
        last = sequence(self._row(self._unended), *self._at_end())
        begin = next(token.name.span for token in written if token.name.value == start)
        head = definition(text, placed(sequence(call(self._gap), call(start), last), begin), begin)
        between = [*self._between()]
        generated = frozenset((begin, between[0].span))
        return Scannerless([head, *written, *between], text, self._losses, generated)

    def _body(self, body: Expression) -> Expression:
        def one(node: Expression, inner: list[Expression]) -> Expression:
            bit = None if inner else self._kinds.bit(node)
            if isinstance(node, Row):
                return sequence(*inner, span=node.span)
            if bit is None:
                return rebuild(node, inner, lambda leaf: leaf)
            number = bit.bit_length() - 1
            rule = self._after(node, number)
            after = EMPTY if rule is None else call(rule, node.span)
            return placed(sequence(self._after_skipped(node, number), after), node.span)

        return fold(body, children, one)

    def _after_skipped(self, leaf: Expression, number: int) -> Expression:
        """Return a use of a token, also after the skipped tokens that its beginning ends."""
        endings = [token for token in self._unended if not self._parted[token] & 1 << number]
        ended: list[int] = []
        ways: list[Expression] = []
        for skipped in endings:
            for form in self._ending(skipped, number, leaf):
                if form is leaf:
                    ended.append(skipped)
                else:
                    ways.append(sequence(self._row([skipped], 1), form))
        return alternation([sequence(self._row(ended), leaf), *ways])

    def _after(self, leaf: Expression, number: int) -> str | None:
        """Return the rule of the text skipped after a use of a token; None for nothing."""
        follow = self._followers.next.get(id(leaf), 0)
        if follow and not follow & ~self._immediate:
            return None
        follow &= ~self._immediate
        parted = follow & self._parted[number]
        if parted and parted == follow:
            return self._space
        if parted and not self._losses:
            first, second = (self._word(token_number) for token_number in (number, _lowest(parted)))
            message = "tokens may touch that the lexer would read as one, such as"
            message += f" `{first}` and `{second}` in `{first}{second}`"
            self._losses.append(Loss(LEXING, message, leaf.span))
        return self._gap

    def _word(self, number: int) -> str:
        """Return a shortest text of a token."""
        dfa = self._kinds.tokens[self._kinds.names[number]][0].dfa
        return ((dfa and operations.shortest_word(dfa)) or b"").decode()

    def _between(self) -> Iterator[Definition]:
        """Yield the rules of skipped tokens: any number, and at least one."""
        ways = [self._any_of(self._free)] if self._free else []
        for number in self._unended:
            after = [
                form
                for skipped in self._free
                for form in self._ending(number, skipped, call(self._kinds.names[skipped]))
            ]
            if after:
                ways.append(sequence(self._row([number], 1), alternation(after)))
        one = alternation(ways) if ways else EMPTY
        first = self._kinds.tokens[self._kinds.skipped[0]][0].name.span
        for name, low in ((self._gap, 0), (self._space, 1)):
            body = repeated(one, low, None) if ways else EMPTY
            yield definition(name, placed(body, first), first)

    def _ending(self, number: int, following: int, use: Expression) -> Iterator[Expression]:
        """Yield the texts of a token that end a skipped one: ``use`` itself where all do."""
        ends = self._boundaries.ends(number)
        for token in self._kinds.tokens[self._kinds.names[following]]:
            texts = token.dfa and ends and operations.intersect(token.dfa, ends)
            form = None if texts is None or texts.is_empty else write_dfa(texts, token.span)
            if form is not None:
                whole = operations.is_equal(texts, token.dfa) if texts and token.dfa else False
                yield use if whole else form

    def _at_end(self) -> Iterator[Expression]:
        """Yield the tokens that are skipped at the end of the text only, at will."""
        if self._last:
            yield repeated(self._any_of(self._last), 0, 1)

    def _row(self, last: Sequence[int], least: int = 0) -> Expression:
        """Return tokens that not every token may follow, the last one of these, or, at will, none.

        Only where one may follow another, as comments that have the end of their line in them, is
        there more than one.
        """
        unended = sum(1 << number for number in self._unended)
        if not last:
            return EMPTY
        if all(self._parted[number] & unended == unended for number in self._unended):
            return repeated(self._any_of(last), least, 1)
        row = sequence(repeated(self._any_of(self._unended), 0, None), self._any_of(last))
        return repeated(row, least, 1)

    def _any_of(self, numbers: Iterable[int]) -> Expression:
        return alternation(call(self._kinds.names[number]) for number in numbers)
