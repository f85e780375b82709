"""Automata as trees of KBNF: a symbol, or right-linear rules.

Tests: tests/unit/conversion
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from kbnf_core.automata import operations
from kbnf_core.automata.codepoints import CodePoints
from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.build import alternation, call, regex, sequence, text, text_or_bytes
from kbnf_core.text.errors import LimitError
from kbnf_core.text.source import NOWHERE, Span


def as_pattern(candidate: str, dfa: Dfa, span: Span = NOWHERE) -> tree.Pattern | None:
    """Return a regular expression with its automaton, if that has the language of ``dfa``."""
    compiled = compile_regex(candidate).dfa
    if compiled is None or not operations.is_equal(compiled, dfa):
        return None
    return replace(regex(candidate, span), dfa=compiled)


def write_dfa(dfa: Dfa, span: Span, most_leaves: int | None = None) -> tree.Expression | None:
    """Return ``dfa`` as one KBNF symbol; None if its words are not UTF-8, or too many.

    ``most_leaves`` are the sets of characters that a pattern may have.
    """
    from kbnf_core.automata.to_regex import MOST_LEAVES, NotTextError, to_regex

    word = only_word(dfa)
    if word is not None:
        return text_or_bytes(word, span)
    try:
        return replace(regex(to_regex(dfa, most_leaves or MOST_LEAVES), span), dfa=dfa)
    except (NotTextError, LimitError):
        return None


def only_text(dfa: Dfa) -> str | None:
    """Return the text of a language of one word, if it is one."""
    try:
        return (only_word(dfa) or b"").decode() or None
    except UnicodeDecodeError:
        return None


def only_word(dfa: Dfa) -> bytes | None:
    """Return the word of a language of one word."""
    word = operations.shortest_word(dfa)
    if word is None or len(word) != dfa.state_count - 1:
        return None
    return word if operations.is_equal(dfa, operations.literal(word)) else None


def single_characters(dfa: Dfa) -> CodePoints | None:
    """Return the characters that the words are; None if there are other words."""
    if sum(dfa.accepting) != 1:
        return None
    end = dfa.accepting.index(True)
    if {*dfa.rows[end]} != {DEAD} or {
        dfa.rows[0][byte_class] for byte_class in dfa.classes[:128]
    } - {
        DEAD,
        end,
    }:
        return None
    from kbnf_core.automata.to_regex import to_characters

    edges, accepting = (characters := to_characters(dfa)).edges, characters.accepting
    if len(edges) != 2 or [*accepting] != [False, True] or edges[1]:
        return None
    return edges[0][0][0] if len(edges[0]) == 1 else None


def write_rules(dfa: Dfa, name: str, span: Span) -> list[tuple[str, tree.Expression]]:
    """Return ``dfa`` as right-linear rules over bytes; the first is called ``name``.

    A state with one edge into it, and one way on or an end, does not get a rule of its own.
    """
    members: dict[int, bytes] = {}
    for byte, symbol in enumerate(dfa.classes):
        members[symbol] = members.get(symbol, b"") + bytes([byte])
    edges = [
        [(members[symbol], target) for symbol, target in enumerate(row) if target != DEAD]
        for row in dfa.rows
    ]
    entered = Counter(target for row in edges for _, target in row)
    ways = [len(row) + is_end for row, is_end in zip(edges, dfa.accepting, strict=True)]

    def branch(label: bytes, target: int) -> tree.Expression:
        labels = [label]
        while entered[target] == ways[target] == 1 and target > 0:
            if not edges[target]:
                return sequence(*_symbols(labels, span), span=span)
            [(label, target)] = edges[target]
            labels.append(label)
        rest = call(f"{name}_{target}" if target else name, span)
        return sequence(*_symbols(labels, span), rest, span=span)

    rules: list[tuple[str, tree.Expression]] = []
    for state, row in enumerate(edges):
        if state == 0 or not entered[state] == ways[state] == 1:
            ends = [text("", span)] if dfa.accepting[state] else []
            body = alternation([*ends, *(branch(*edge) for edge in row)], span)
            rules.append((f"{name}_{state}" if state else name, body))
    return rules


_LINE_LENGTH = 60
"""Bytes of a text in one piece, so that lines stay short."""


def _symbols(labels: list[bytes], span: Span) -> list[tree.Expression]:
    """Return symbols for texts with one of the bytes of each label."""
    symbols: list[tree.Expression] = []
    for is_text, group in groupby(labels, lambda label: len(label) == 1):
        if is_text:
            symbols += _texts(b"".join(group), span)
        else:
            symbols += [_one_byte(label, span) for label in group]
    return symbols


def _texts(data: bytes, span: Span) -> Iterator[tree.Expression]:
    try:
        whole = data.decode()
    except UnicodeDecodeError:
        yield from (
            tree.ByteString(data[i : i + _LINE_LENGTH], span)
            for i in range(0, len(data), _LINE_LENGTH)
        )
    else:
        yield from (
            text(whole[i : i + _LINE_LENGTH], span) for i in range(0, len(whole), _LINE_LENGTH)
        )


def _one_byte(members: bytes, span: Span) -> tree.Expression:
    if members.isascii():
        characters = "".join(f"\\x{byte:02x}" for byte in members)
        return regex(f"[{characters}]", span)
    return alternation([tree.ByteString(bytes([byte]), span) for byte in members], span)
