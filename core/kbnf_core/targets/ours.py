"""Texts of a grammar of this library, asked as engines are."""

import copy
from collections.abc import Iterable, Iterator
from functools import cached_property
from random import Random

from kbnf_core.engine import Engine
from kbnf_core.grammar import Grammar
from kbnf_core.text.errors import EngineError, KbnfError, RejectedError
from kbnf_core.vocab.vocabulary import Vocabulary


class Texts:
    """The texts of a grammar, wherever generation would end."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar

    @cached_property
    def start(self) -> Engine:
        """An engine at the beginning of a text, not to be moved."""
        return Engine(self.grammar, Vocabulary.bytes(), finish="eos")

    def read(self, data: bytes) -> int | None:
        """Return None for a text of the grammar, else how many of its bytes one begins with."""
        engine = copy.copy(self.start)
        try:
            engine.try_accept_new_bytes(data)
        except RejectedError as error:
            return error.byte_offset
        except EngineError:
            return self._taken(data)
        return None if engine.is_finished() or engine.can_finish() else len(data)

    def _taken(self, data: bytes) -> int:
        """Return how many bytes it takes to the end of a text that others follow."""
        engine = copy.copy(self.start)
        for count in range(len(data)):
            try:
                engine.try_accept_new_bytes(data[count : count + 1])
            except EngineError:
                return count
        return len(data)

    def shortest(self, count: int) -> list[str]:
        """Return the shortest texts, at most ``count``."""
        try:
            found = self.start.shortest_texts(count).texts
        except KbnfError:
            return []
        return [each.decode("utf-8", "replace") for each in found]

    def drawn(self, lengths: Iterable[int], random: Random) -> Iterator[str]:
        """Yield texts at random, of about these lengths."""
        for length in lengths:
            try:
                vocabulary = self.start.vocabulary
                sample = self.start.sample(random, length)
            except KbnfError:
                return
            if sample.is_complete:
                ends = vocabulary.eos_token_ids
                data = b"".join(
                    vocabulary.token(each) or b"" for each in sample.tokens if each not in ends
                )
                yield data.decode("utf-8", "replace")

    def has(self, text: str) -> bool:
        """Return whether a text is one of the grammar."""
        return self.read(text.encode("utf-8", "surrogatepass")) is None
