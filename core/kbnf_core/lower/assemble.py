"""Put the automata of all nonterminals into one set of tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kbnf_core.automata.classes import join_classes, rows_over
from kbnf_core.automata.errors import LimitError
from kbnf_core.ir import Grammar, Literal, Regular, Token, TokenTerminal, postorder
from kbnf_core.limits import Limits
from kbnf_core.lower.analyse import Analysis
from kbnf_core.lower.compact import Automaton
from kbnf_core.lower.nfa import Alphabet, Nfa, NfaBuilder, Place, TooManyStatesError
from kbnf_core.tables import Ids, Tables

Finish = Callable[[Nfa], Automaton]


@dataclass(frozen=True, eq=False)
class Piece:
    """One nonterminal's automaton as columns: edges (source, symbol, target), acceptance."""

    source: Ids
    symbol: Ids
    target: Ids
    accepting: npt.NDArray[np.bool_]
    places: Sequence[tuple[Place, ...]]

    @property
    def state_count(self) -> int:
        """Number of states."""
        return len(self.accepting)


def number_symbols(grammar: Grammar, analysis: Analysis, inlined: frozenset[str]) -> Alphabet:
    """Return the symbols of everything that the start reaches."""
    columns: dict[int, npt.NDArray[np.uint8]] = {}
    literal = np.zeros(256, np.uint8)
    terminals: dict[TokenTerminal, int] = {}
    for name in grammar.rules:
        if name not in analysis.reachable:
            continue
        for node in postorder(grammar.rules[name]):
            match node:
                case Regular(dfa):
                    columns[id(dfa)] = dfa.classes
                case Literal(data):
                    literal[list(data)] = 1
                case Token(terminal):
                    terminals.setdefault(terminal, len(terminals))
    single = np.where(literal == 1, np.cumsum(literal), 0).astype(np.uint8)
    names = [n for n in grammar.rules if n in analysis.reachable and n not in inlined]
    classes = join_classes([single, *columns.values()])
    return Alphabet(classes, {name: i for i, name in enumerate(names)}, terminals)


def build_pieces(
    grammar: Grammar,
    analysis: Analysis,
    inlined: frozenset[str],
    finish: Finish,
    limits: Limits,
) -> tuple[Alphabet, dict[str, Piece]]:
    """Return the automata of the nonterminals that are called, the start first.

    ``finish`` turns an automaton with epsilons into one without. Raises TooManyStatesError when
    all together pass ``limits.grammar_states``.
    """
    alphabet = number_symbols(grammar, analysis, inlined)
    names = list(alphabet.nonterminals)
    builder = NfaBuilder(grammar.rules, analysis, alphabet, inlined, limits.grammar_states)
    pieces: dict[str, Piece] = {}
    queue = [grammar.start]
    queued = {grammar.start}
    total = 0
    for name in queue:
        body = grammar.rules[name]
        if isinstance(body, Regular):
            piece = _piece_of_dfa(body, alphabet)
        else:
            piece = _piece_of_automaton(_finished(name, builder.build(name), finish))
        pieces[name] = piece
        total += piece.state_count
        if total > limits.grammar_states:
            raise TooManyStatesError(name)
        called = np.unique(piece.symbol) - alphabet.class_count
        fresh = [names[i] for i in called if 0 <= i < len(names) and names[i] not in queued]
        queue.extend(fresh)
        queued.update(fresh)
    return alphabet, pieces


def _finished(name: str, nfa: Nfa, finish: Finish) -> Automaton:
    try:
        return finish(nfa)
    except LimitError:
        raise TooManyStatesError(name) from None


def _piece_of_dfa(body: Regular, alphabet: Alphabet) -> Piece:
    rows = rows_over(body.dfa, alphabet.classes)
    source, symbol = np.nonzero(rows >= 0)
    target = rows[source, symbol]
    places: list[tuple[Place, ...]] = [((body.span, 0),)] * body.dfa.state_count
    columns = (source.astype(np.int32), symbol.astype(np.int32), target.astype(np.int32))
    return Piece(*columns, body.dfa.accepting, places)


def _piece_of_automaton(automaton: Automaton) -> Piece:
    triples = [
        (state, symbol, target)
        for state, row in enumerate(automaton.edges)
        for symbol in sorted(row)
        for target in row[symbol]
    ]
    columns = np.array(triples, np.int32).reshape(-1, 3)
    accepting = np.array(automaton.accepting, np.bool_)
    return Piece(columns[:, 0], columns[:, 1], columns[:, 2], accepting, automaton.places)


def assemble(
    grammar: Grammar, analysis: Analysis, alphabet: Alphabet, pieces: Mapping[str, Piece]
) -> Tables:
    """Return the tables of ``pieces``, numbered one after the other."""
    counts = [piece.state_count for piece in pieces.values()]
    entry = np.cumsum([0, *counts], dtype=np.int32)
    source = _concatenate([p.source + e for p, e in zip(pieces.values(), entry, strict=False)])
    target = _concatenate([p.target + e for p, e in zip(pieces.values(), entry, strict=False)])
    symbol = _concatenate([piece.symbol for piece in pieces.values()])
    accepting = np.concatenate([piece.accepting for piece in pieces.values()])
    count = len(accepting)
    first_token = alphabet.class_count + len(alphabet.nonterminals)
    is_byte = symbol < alphabet.class_count
    is_token = symbol >= first_token
    is_call = ~is_byte & ~is_token
    numbers = np.zeros(len(alphabet.nonterminals), np.int32)
    for number, name in enumerate(pieces):
        numbers[alphabet.nonterminals[name]] = number
    leaving = np.bincount(source, minlength=count)
    call_return = target[is_call]
    return Tables(
        names=tuple(pieces),
        start=0,
        start_is_nullable=analysis.facts[grammar.start].nullable,
        classes=alphabet.classes,
        entry=entry[:-1],
        accepting=accepting,
        edge_start=_starts(source[is_byte], count),
        edge_class=symbol[is_byte],
        edge_target=target[is_byte],
        call_start=_starts(source[is_call], count),
        call_nonterminal=numbers[symbol[is_call] - alphabet.class_count],
        call_return=call_return,
        call_tail=accepting[call_return] & (leaving[call_return] == 0),
        token_start=_starts(source[is_token], count),
        token_terminal=symbol[is_token] - first_token,
        token_target=target[is_token],
        token_terminals=tuple(alphabet.terminals),
    )


def _concatenate(parts: list[Ids]) -> Ids:
    return np.concatenate(parts).astype(np.int32, copy=False)


def _starts(sources: Ids, count: int) -> Ids:
    """Return where each state's edges begin, given the sorted sources of all edges."""
    return np.searchsorted(sources, np.arange(count + 1)).astype(np.int32)
