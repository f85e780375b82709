"""The protocol of servers, played against this engine, XGrammar and LLGuidance alike.

Random drafts with illegal tails, ends, double ends, ways back over the end, rows after the end:
what is counted and what is allowed is compared with the definition, and peers beside it.
"""

import re
from random import Random
from typing import Any, Protocol

import numpy as np
import pytest
import regex

from kbnf_core import Engine, Grammar, Vocabulary, allocate_bitmask, fill_bitmasks

llguidance = pytest.importorskip("llguidance", reason="llguidance is not installed (extra `peers`)")
llguidance_numpy = pytest.importorskip("llguidance.numpy")
xgrammar = pytest.importorskip("xgrammar", reason="xgrammar is not installed (extra `peers`)")

WORDS = [b"a", b"b", b"ab", b"aab", b"c", b"cb", b"ba", b",", b"a,", b",b"]
EOS = len(WORDS)
SIZE = EOS + 1
WIDTH = 70
VOCABULARY = Vocabulary(dict(enumerate(WORDS)), eos_token_id=EOS)
GRAMMARS = {
    "words": ('start ::= w ("," w)*; w ::= "a"+ "b"? | "c" "b";',
              'root ::= w ("," w)*\nw ::= "a"+ "b"? | "cb"',
              'start: w ("," w)*\nw: "a"+ "b"? | "cb"'),
    "balanced": ('start ::= "a" start "b" | "c";', 'root ::= "a" root "b" | "c"',
                 'start: "a" start "b" | "c"'),
    "finite": ('start ::= "ab" | "aabc" | "ba,b";', 'root ::= "ab" | "aabc" | "ba,b"',
               'start: "ab" | "aabc" | "ba,b"'),
}  # fmt: skip


class Matcher(Protocol):
    """What a server asks of a grammar."""

    def accept(self, ids: list[int]) -> int:
        """Append tokens; return how many fit."""

    def validate(self, ids: list[int]) -> int:
        """Return how many would fit."""

    def rollback(self, count: int) -> None:
        """Undo tokens."""

    def row(self) -> list[int]:
        """Return the ids allowed."""


def ids_in(row: Any) -> list[int]:
    bits = np.unpackbits(np.ascontiguousarray(row).view(np.uint8), bitorder="little")
    ids: list[int] = np.flatnonzero(bits).tolist()
    return [each for each in ids if each < SIZE]


class Ours:
    """The engine of this library."""

    def __init__(self, name: str) -> None:
        self.engine = Engine(Grammar(GRAMMARS[name][0]), VOCABULARY, finish="eos")

    def accept(self, ids: list[int]) -> int:
        """Append tokens; return how many fit."""
        return self.engine.accept_tokens(ids)

    def validate(self, ids: list[int]) -> int:
        """Return how many would fit."""
        return self.engine.validate_tokens(ids)

    def rollback(self, count: int) -> None:
        """Undo tokens."""
        self.engine.rollback(count)

    def row(self) -> list[int]:
        """Return the ids allowed."""
        out = allocate_bitmask(3, WIDTH)
        fill_bitmasks([None, self.engine], out, rows=[0, 2])
        assert (out[:2] == -1).all()
        return ids_in(out[2])


class XGrammar:
    """XGrammar's matcher, which accepts one token at a time."""

    def __init__(self, name: str) -> None:
        info = xgrammar.TokenizerInfo([*WORDS, b"</s>"], vocab_size=WIDTH, stop_token_ids=[EOS])
        compiled = xgrammar.GrammarCompiler(info).compile_grammar(GRAMMARS[name][1])
        self._matcher = xgrammar.GrammarMatcher(compiled)

    def accept(self, ids: list[int]) -> int:
        """Append tokens; return how many fit."""
        for count, token_id in enumerate(ids):
            if self._matcher.is_terminated() or not self._matcher.accept_token(token_id):
                return count
        return len(ids)

    def validate(self, ids: list[int]) -> int:
        """Return how many would fit."""
        count = self.accept(ids)
        self.rollback(count)
        return count

    def rollback(self, count: int) -> None:
        """Undo tokens."""
        if count:
            self._matcher.rollback(count)

    def row(self) -> list[int]:
        """Return the ids allowed."""
        if self._matcher.is_terminated():
            return [EOS]
        out = xgrammar.allocate_token_bitmask(1, WIDTH)
        self._matcher.fill_next_token_bitmask(out)
        return ids_in(out.numpy())


class _Tokens:
    """The tokenizer that LLGuidance wants."""

    eos_token_id = EOS
    bos_token_id = None
    tokens = (*WORDS, b"\xff</s>")
    special_token_ids = (EOS,)

    def __call__(self, text: bytes | str) -> list[int]:
        data = text.encode() if isinstance(text, str) else text
        return [WORDS.index(bytes([each])) for each in data]


class LLGuidance:
    """LLGuidance's matcher."""

    def __init__(self, name: str) -> None:
        wrapped = llguidance.TokenizerWrapper(_Tokens())
        tokenizer = llguidance.LLTokenizer(wrapped)
        self._size = tokenizer.vocab_size
        grammar = llguidance.LLMatcher.grammar_from_lark(GRAMMARS[name][2])
        self._matcher = llguidance.LLMatcher(tokenizer, grammar)

    def accept(self, ids: list[int]) -> int:
        """Append tokens; return how many fit."""
        count = self.validate(ids)
        if count:
            assert self._matcher.consume_tokens(ids[:count])
        return count

    def validate(self, ids: list[int]) -> int:
        """Return how many would fit."""
        count = 0 if self._matcher.is_stopped() else self._matcher.validate_tokens(ids)
        # It counts tokens after the end as if there were none.
        return min(count, ids.index(EOS) + 1) if EOS in ids[:count] else count

    def rollback(self, count: int) -> None:
        """Undo tokens."""
        assert self._matcher.rollback(count)

    def row(self) -> list[int]:
        """Return the ids allowed."""
        if self._matcher.is_stopped():
            return [EOS]
        out = llguidance_numpy.allocate_token_bitmask(1, self._size)
        llguidance_numpy.fill_next_token_bitmask(self._matcher, out)
        return ids_in(out)


def viable(name: str, text: str) -> tuple[bool, bool]:
    """Return whether a text of a grammar begins so, and whether it is one, by its definition."""
    if name == "finite":
        whole = {"ab", "aabc", "ba,b"}
        return any(each.startswith(text) for each in whole), text in whole
    if name == "balanced":
        shape = re.fullmatch("(a*)(cb*)?", text)
        if shape is None:
            return False, False
        depth, closed = len(shape[1]), len(shape[2] or "c") - 1
        return closed <= depth, shape[2] is not None and closed == depth
    pattern = "(a+b?|cb)(,(a+b?|cb))*"
    return (
        regex.fullmatch(pattern, text, partial=True) is not None,
        re.fullmatch(pattern, text) is not None,
    )


def row_by_definition(name: str, ids: list[int]) -> list[int]:
    if EOS in ids:
        return [EOS]
    text = b"".join(WORDS[each] for each in ids).decode()
    good = [i for i, word in enumerate(WORDS) if viable(name, text + word.decode())[0]]
    return good + [EOS] * viable(name, text)[1]


def fitting(name: str, taken: list[int], draft: list[int]) -> int:
    """Return how many tokens of a draft can come, by definition."""
    for count, token_id in enumerate(draft):
        here = [*taken, *draft[:count]]
        if EOS in here or token_id not in row_by_definition(name, here):
            return count
    return len(draft)


@pytest.mark.parametrize("peer", [XGrammar, LLGuidance])
@pytest.mark.parametrize("name", GRAMMARS)
def test_rows_and_counts_are_those_of_the_definition(
    name: str, peer: type[XGrammar] | type[LLGuidance]
) -> None:
    for seed in range(12):
        random = Random(seed)
        ours: Matcher = Ours(name)
        theirs: Matcher = peer(name)
        taken: list[int] = []
        for _ in range(25):
            row = ours.row()
            assert row == row_by_definition(name, taken)
            # Peers leave out a token here and there, but allow none that cannot come.
            assert set(theirs.row()) <= set(row)
            draft = [random.choice(row)] if random.random() < 0.8 else []
            draft += [random.randrange(SIZE) for _ in range(random.randrange(4))]
            draft += [EOS] * random.randrange(3)
            count = fitting(name, taken, draft)
            assert ours.validate(draft) == ours.accept(draft) == count
            known = theirs.accept(draft)
            assert known <= count
            # Where a peer does not go on, both stay there.
            ours.rollback(count - known)
            taken += draft[:known]
            back = random.randrange(len(taken) + 1) if random.random() < 0.4 else 0
            ours.rollback(back)
            theirs.rollback(back)
            taken = taken[: len(taken) - back]
