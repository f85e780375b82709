"""Automata over symbols whose symbols are spelt in bytes."""

import pytest

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import DEAD, Dfa, SymbolDfa
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.automata.spell import letters_of, spell
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError


def automaton(regex: str) -> Dfa:
    compiled = compile_regex(regex)
    assert compiled.dfa is not None
    return compiled.dfa


# 0* (1 2)*, and a state that nothing leaves.
TWO = SymbolDfa([[0, 1, DEAD], [DEAD, DEAD, 2], [DEAD, 1, DEAD]], [1, 0, 1], [0])


def test_each_symbol_is_any_word_of_its_language() -> None:
    languages = [automaton("a[bc]|é"), automaton("ad|[x-z]{2}e"), automaton("[bc]|aef")]
    found = spell(TWO, letters_of(languages), 100, Budget(10**6))
    plain = automaton("(?:a[bc]|é)*(?:(?:ad|[x-z]{2}e)(?:[bc]|aef))*")
    assert operations.is_equal(found, plain)
    assert found.state_count == plain.state_count


def test_any_byte_is_a_symbol() -> None:
    byte = Dfa(bytes(256), [[1], [DEAD]], [False, True])
    found = spell(SymbolDfa([[1], [DEAD]], [0, 1], [0]), letters_of([byte]), 10, Budget(10**6))
    assert [found.accepts(word) for word in (b"", b"\xff", b"ab")] == [False, True, False]


def test_states_and_work_are_bounded() -> None:
    languages = [automaton("aaaa"), automaton("b"), automaton("c")]
    assert spell(TWO, letters_of(languages), 6, Budget(10**6)).state_count == 6
    with pytest.raises(LimitError):
        spell(TWO, letters_of(languages), 5, Budget(10**6))
    meter = Budget(10**6)
    spell(TWO, letters_of(languages), 6, meter)
    assert meter.spent > 0
