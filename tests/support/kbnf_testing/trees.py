"""Trees of drafts, with a boundary, padding and ends, against one token played after the other.

``PYTHONPATH=tests/support python -m kbnf_testing.trees --trees 1000000 [--counted]``. What is
played is an engine without a boundary, which is begun where a search in the bytes so far finds the
text; of what counts (``--counted``) it is one that has a state for every count.
"""

import argparse
import copy
import sys
from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from kbnf_core import Engine, Grammar, Vocabulary, fill_tree_bitmasks
from kbnf_core.text.errors import EngineError, RejectedError
from kbnf_testing import subject
from kbnf_testing.agreement import FINISHES, random_sample
from kbnf_testing.counts import counted_pair, counting_vocabulary, object_vocabulary
from kbnf_testing.generate import EOS, Features, random_tokens

Tree = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]

SPARE_WORDS = 1
"""Words of a row beyond the vocabulary's: heads of models are padded."""


class Play:
    """One text, token by token: free until ``after`` has come, and then an engine's."""

    def __init__(self, engine: Engine, after: str | int | None) -> None:
        self._engine = engine
        self._after = after
        self._waits = after is not None
        self._seen = b""

    def followed_by(self, token_id: int) -> "Play | None":
        """Return the play one token later, None where it cannot come."""
        later = copy.copy(self)
        later._engine = copy.copy(self._engine)
        if not self._waits:
            try:
                later._engine.try_accept_new_token(token_id)
            except EngineError:
                return None
            return later
        vocabulary = self._engine.vocabulary
        if token_id not in vocabulary:
            return None
        is_end, data = token_id in vocabulary.eos_token_ids, vocabulary.decode((token_id,))
        if isinstance(self._after, int):
            later._waits = token_id != self._after
            return None if is_end and later._waits else later
        assert self._after is not None
        if is_end and self._after.encode() not in data:
            return None
        later._seen += data
        _, found, rest = later._seen.partition(self._after.encode())
        if found:
            later._waits = False
            with suppress(RejectedError):
                later._engine.try_accept_new_bytes(rest)
        return later

    def row(self, words: int) -> npt.NDArray[np.int32]:
        """Return the allowed tokens here, as bits."""
        row = np.zeros(words, np.int32)
        if self._waits:
            vocabulary = self._engine.vocabulary
            for token_id in range(vocabulary.size):
                if self.followed_by(token_id) is not None:
                    row.view(np.uint32)[token_id // 32] |= np.uint32(1 << token_id % 32)
        else:
            self._engine.fill_bitmask(row)
        return row


def played(play: Play, tree: Tree, words: int) -> npt.NDArray[np.int32]:
    """Return the rows of a tree, each token of each path played by itself."""
    rows = np.zeros((len(tree[0]), words), np.int32)
    reached: list[Play | None] = []
    for node, (parent, token_id) in enumerate(zip(*map(np.ndarray.tolist, tree), strict=True)):
        above = play if parent < 0 else reached[parent]
        here = None
        if token_id >= 0 and above is not None:
            here = play if parent < 0 else above.followed_by(token_id)
        reached.append(here)
        if here is not None:
            rows[node] = here.row(words)
    return rows


class Case:
    """A random grammar and vocabulary, and the boundary before the grammar.

    ``plain`` is the same grammar, for the play; ``alphabet``: what a text before it is made of.
    """

    def __init__(
        self,
        random: Random,
        grammar: Grammar,
        plain: Grammar,
        vocabulary: Vocabulary,
        alphabet: str,
        ends: tuple[int, ...],
    ) -> None:
        self._random = random
        self.ids = [each for each in range(vocabulary.size) if each in vocabulary]
        self.after = self._draw_after(alphabet, vocabulary)
        stops = random.choice((None, None, ends[0], ends))
        finish = random.choice(FINISHES)
        settings: dict[str, Any] = {"finish": finish, "stop_token_ids": stops}
        self.engine = Engine(grammar, vocabulary, after=self.after, **settings)
        self._play = Play(Engine(plain, vocabulary, **settings), self.after)
        self._words = (self.engine.vocabulary.size + 31) // 32 + SPARE_WORDS

    @classmethod
    def drawn(cls, random: Random) -> "Case":
        """Return a case of any grammar."""
        sample = random_sample(random, Features())
        grammar = Grammar(sample.text)
        vocabulary = subject.vocabulary_of(random_tokens(random, sample.alphabet))
        return cls(random, grammar, grammar, vocabulary, sample.alphabet, EOS)

    @classmethod
    def counted(cls, random: Random) -> "Case":
        """Return a case of a grammar that counts, far from its bounds at times."""
        counting, plain = counted_pair(random, random.choice((4, 8, 40)))
        kind = object_vocabulary if counting.language.is_json else counting_vocabulary
        vocabulary = kind(random, random.choice((2, 5, 9)))
        ends = (vocabulary.size - 1, vocabulary.size - 2)
        return cls(random, counting, plain, vocabulary, "abc", ends)

    def _draw_after(self, alphabet: str, vocabulary: Vocabulary) -> str | int | None:
        random = self._random
        kind = random.randrange(4)
        if kind == 0:
            return None
        if kind == 1:
            return random.choice(self.ids)
        if kind == 2 and vocabulary.special_ids:
            names = [vocabulary.token_string(each) for each in vocabulary.special_ids]
            return random.choice([each for each in names if each] or [None])
        return "".join(random.choice(alphabet) for _ in range(random.randint(1, 3)))

    def trees(self, count: int) -> Iterator[Tree]:
        """Yield trees, between which the engine and the play go on, or back."""
        for _ in range(count):
            yield self._tree()
            if self._random.random() < 0.6:
                self._move()

    def _move(self) -> None:
        ids = self.engine_ids()
        token_id = self._random.choice(ids or self.ids)
        after = self._play.followed_by(token_id)
        taken = self.engine.accept_tokens([token_id])
        assert taken == (after is not None)
        self._play = after or self._play

    def engine_ids(self) -> list[int]:
        """Return the tokens that can come here."""
        self.engine.compute_allowed_token_ids()
        return self.engine.get_allowed_token_ids_from_last_computation()

    def _tree(self) -> Tree:
        random = self._random
        nodes = random.randint(1, 12)
        allowed = self.engine_ids()
        parents, tokens = [-1], [random.choice(self.ids)]
        for node in range(1, nodes):
            parents.append(
                -1 if random.random() < 0.05 else random.randrange(max(0, node - 4), node)
            )
            near = allowed if allowed and random.random() < 0.4 else [*self.ids, 40, 200]
            tokens.append(-1 if random.random() < 0.1 else random.choice(near))
        return np.array(parents), np.array(tokens)

    def compare(self, tree: Tree, row: int = 1) -> None:
        """Demand the rows of the tree that is played, and all else as it was."""
        out = np.full((len(tree[0]) + row + 1, self._words), 7, np.int32)
        before = self.engine.accepted, self.engine.get_allowed_token_ids_from_last_computation()
        self.engine.fill_tree_bitmasks(out, row, *tree)
        assert (out[row:-1] == played(self._play, tree, self._words)).all()
        assert (out[:row] == 7).all()
        assert (out[-1] == 7).all()
        after = self.engine.accepted, self.engine.get_allowed_token_ids_from_last_computation()
        assert after == before

    def compare_batch(self, trees: list[Tree]) -> None:
        """Demand of a batch what the trees give one by one; trees are padded to one height."""
        height = max(len(parents) for parents, _ in trees)
        parents = np.full((len(trees), height), -1, np.int64)
        tokens = parents.copy()
        for place, tree in enumerate(trees):
            parents[place, : len(tree[0])], tokens[place, : len(tree[0])] = tree
        out = np.full((height * len(trees), self._words), 7, np.int32)
        fill_tree_bitmasks([self.engine] * len(trees), out, parents, tokens)
        for place, tree in enumerate(trees):
            own = out[place * height :][:height]
            assert (own[: len(tree[0])] == played(self._play, tree, self._words)).all()
            assert (own[len(tree[0]) :] == 0).all()


def main() -> None:
    """Compare as many trees as are asked for."""
    parser = argparse.ArgumentParser(description="Compare trees of drafts with plays.")
    parser.add_argument("--trees", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--counted", action="store_true")
    asked = parser.parse_args()
    draw = Case.counted if asked.counted else Case.drawn
    compared = cases = 0
    while compared < asked.trees:
        case = draw(Random(f"{asked.seed} {cases}"))
        for tree in case.trees(100):
            case.compare(tree)
            compared += 1
        cases += 1
        if cases % 1000 == 0:
            sys.stderr.write(f"{compared} trees of {cases} grammars\n")
    sys.stdout.write(f"{compared} trees of {cases} grammars, no difference\n")


if __name__ == "__main__":
    main()
