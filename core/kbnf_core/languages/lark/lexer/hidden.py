"""Texts of ``stop`` that are matched again as the prefix of the next lexeme.

LLGuidance hides what ended a lexeme with ``stop``. Where every lexeme that may follow begins with
just this text, it stands in the text once: the next lexeme is what is left of its words.
"""

from kbnf_core.automata.determinise import from_symbols
from kbnf_core.automata.dfa import DEAD, Dfa, SymbolDfa


def beginning(dfa: Dfa) -> bytes:
    """Return the longest text that every word begins with."""
    found = bytearray()
    state = 0
    seen = {state}
    while not dfa.is_empty and not dfa.accepting[state]:
        row = dfa.rows[state]
        ways = [byte for byte, symbol in enumerate(dfa.classes) if row[symbol] != DEAD]
        if len(ways) != 1:
            break
        found.append(ways[0])
        state = row[dfa.classes[ways[0]]]
        if state in seen:
            break
        seen.add(state)
    return bytes(found)


def behind(dfa: Dfa, text: bytes) -> Dfa:
    """Return what is left of the words that begin with ``text``."""
    if not text or dfa.is_empty:
        return dfa
    state = 0
    for byte in text:
        state = DEAD if state == DEAD else dfa.rows[state][dfa.classes[byte]]
    return from_symbols(SymbolDfa(dfa.rows, [*map(int, dfa.accepting)], [state]), dfa.classes)


def common(left: bytes, right: bytes) -> bytes:
    """Return the longest text that both begin with."""
    length = next(
        (place for place, (a, b) in enumerate(zip(left, right, strict=False)) if a != b),
        min(len(left), len(right)),
    )
    return left[:length]
