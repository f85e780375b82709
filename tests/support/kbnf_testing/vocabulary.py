"""Vocabularies as the tests see them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from kbnf_testing import grammar as g


@dataclass(frozen=True, slots=True)
class Tokens:
    """What each id spells; ``special`` (name to id) and ``eos`` have no bytes to match."""

    ordinary: Mapping[int, bytes]
    special: Mapping[str, int] = field(default_factory=dict)
    eos: frozenset[int] = frozenset()

    def __contains__(self, token_id: int) -> bool:
        return token_id in self.ordinary or token_id in self.eos or self.is_special(token_id)

    def is_special(self, token_id: int) -> bool:
        """Return whether the id belongs to a special token."""
        return token_id in self.special.values()

    def ids(self) -> list[int]:
        """Return all ids, ascending."""
        return sorted({*self.ordinary, *self.special.values(), *self.eos})

    def readings(self, token_id: int) -> Iterator[str]:
        """Yield the words that the token can be read as: by its bytes, and as one symbol."""
        if token_id in self.ordinary:
            yield g.word_of(self.ordinary[token_id])
        yield g.token_symbol(token_id)
