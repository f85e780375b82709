"""Assembles the automata of all nonterminals into one set of tables."""

from collections.abc import Callable, Mapping

import numpy as np

from kbnf_core.automata.alphabet import join, separate
from kbnf_core.automata.errors import LimitError
from kbnf_core.budget import Budget
from kbnf_core.ir import NEVER, Grammar, Literal, Regular, Token, TokenTerminal
from kbnf_core.limits import Limits
from kbnf_core.lower.analyse import Analysis
from kbnf_core.lower.compact import Piece
from kbnf_core.lower.inline import Inlined
from kbnf_core.lower.nfa import Alphabet, NfaBuilder, Place, TooManyStatesError, edge_columns
from kbnf_core.lower.tables import Ids, Tables

Finish = Callable[[NfaBuilder, str], Piece]
"""Makes the automaton of a nonterminal, without free edges."""


def number_symbols(grammar: Grammar, analysis: Analysis, inlined: Inlined) -> Alphabet:
    """Return the symbols of everything that the start reaches; ``NEVER`` is the last of them."""
    columns: dict[bytes, None] = {}
    written: set[int] = set()
    terminals: dict[TokenTerminal, int] = {}
    for name in grammar.rules:
        if name not in analysis.reachable:
            continue
        for node in analysis.nodes[name]:
            match node:
                case Regular(dfa):
                    columns[dfa.classes] = None
                case Literal(data):
                    written.update(data)
                case Token(terminal):
                    terminals.setdefault(terminal, len(terminals))
    names = [n for n in grammar.rules if n in analysis.reachable and n not in inlined.names]
    if terminals.pop(NEVER, None) is not None:
        terminals = {terminal: i for i, terminal in enumerate((*terminals, NEVER))}
    joined = join([separate(written), *columns])
    return Alphabet(joined, {name: i for i, name in enumerate(names)}, terminals)


def build_pieces(
    grammar: Grammar,
    analysis: Analysis,
    inlined: Inlined,
    finish: Finish,
    limits: Limits,
    budget: Budget,
) -> tuple[Alphabet, dict[str, Piece]]:
    """Return the automata of the nonterminals that are called, the start first.

    Raises TooManyStatesError when all together pass ``limits.grammar_states``, WorkLimitError
    where ``budget`` is used up.
    """
    alphabet = number_symbols(grammar, analysis, inlined)
    names = list(alphabet.nonterminals)
    builder = NfaBuilder(
        grammar.rules, analysis, alphabet, inlined.names, limits.grammar_states, budget
    )
    for name in inlined.copied:
        builder.fragments[name] = _finished(name, builder, finish).fragment
    pieces: dict[str, Piece] = {}
    queue = [grammar.start]
    queued = {grammar.start}
    total = 0
    for name in queue:
        body = grammar.rules[name]
        if isinstance(body, Regular):
            piece = _piece_of_dfa(body, alphabet)
        else:
            piece = _finished(name, builder, finish)
        pieces[name] = piece
        total += piece.state_count
        if total > limits.grammar_states:
            raise TooManyStatesError(name)
        called = set(piece.symbol[piece.symbol >= alphabet.class_count].tolist())
        numbers = (symbol - alphabet.class_count for symbol in sorted(called))
        fresh = [names[i] for i in numbers if i < len(names) and names[i] not in queued]
        queue.extend(fresh)
        queued.update(fresh)
    return alphabet, pieces


def _finished(name: str, builder: NfaBuilder, finish: Finish) -> Piece:
    try:
        return finish(builder, name)
    except LimitError:
        raise TooManyStatesError(name) from None


def _piece_of_dfa(body: Regular, alphabet: Alphabet) -> Piece:
    places: list[tuple[Place, ...]] = [((body.span, 0),)] * body.dfa.state_count
    source, symbol, target = edge_columns(body.dfa, alphabet)
    return Piece(source, symbol, target, np.array(body.dfa.accepting, np.bool_), places)


def assemble(
    grammar: Grammar, analysis: Analysis, alphabet: Alphabet, pieces: Mapping[str, Piece]
) -> Tables:
    """Return the tables of ``pieces``, numbered one after the other.

    What waits for ``NEVER`` was kept for its sake when the pieces were trimmed; its edges, which
    nothing takes, are left out.
    """
    counts = [piece.state_count for piece in pieces.values()]
    entry = np.cumsum([0, *counts], dtype=np.int32)
    source = _concatenate([p.source + e for p, e in zip(pieces.values(), entry, strict=False)])
    target = _concatenate([p.target + e for p, e in zip(pieces.values(), entry, strict=False)])
    symbol = _concatenate([piece.symbol for piece in pieces.values()])
    accepting = np.concatenate([piece.accepting for piece in pieces.values()])
    count = len(accepting)
    first_token = alphabet.class_count + len(alphabet.nonterminals)
    terminals = tuple(terminal for terminal in alphabet.terminals if terminal != NEVER)
    taken = symbol < first_token + len(terminals)
    source, symbol, target = source[taken], symbol[taken], target[taken]
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
        classes=np.frombuffer(alphabet.columns, np.uint8),
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
        token_terminals=terminals,
    )


def _concatenate(parts: list[Ids]) -> Ids:
    return np.concatenate(parts).astype(np.int32, copy=False)


def _starts(sources: Ids, count: int) -> Ids:
    """Return where each state's edges begin, given the sorted sources of all edges."""
    return np.searchsorted(sources, np.arange(count + 1)).astype(np.int32)
