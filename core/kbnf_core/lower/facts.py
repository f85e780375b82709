"""What a part of a grammar can derive, as two flags."""

from typing import NamedTuple


class Facts(NamedTuple):
    """What a node or nonterminal can derive.

    ``nullable``: the empty word; ``filled``: some word that is not empty.
    """

    nullable: bool
    filled: bool

    @property
    def productive(self) -> bool:
        """Whether any word at all is derived."""
        return self.nullable or self.filled


NOTHING = Facts(nullable=False, filled=False)

FACTS = (
    (NOTHING, Facts(nullable=False, filled=True)),
    (Facts(nullable=True, filled=False), Facts(nullable=True, filled=True)),
)
"""All facts there are, by ``nullable`` and ``filled``."""
