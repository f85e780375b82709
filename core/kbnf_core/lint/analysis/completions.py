"""The shortest text of a grammar in words: its bytes, and its tokens."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kbnf_core.lint.analysis.format_text import show

if TYPE_CHECKING:
    from kbnf_core.mask.shortest import Completion
    from kbnf_core.vocab.vocabulary import Vocabulary

_MOST_TOKENS = 12


def describe(completion: "Completion", vocabulary: "Vocabulary") -> Iterator[str]:
    """Yield a note about the fewest bytes and one about the fewest tokens, as far as known."""
    if completion.data is not None:
        bytes_ = f"{len(completion.data):,} byte{'' if len(completion.data) == 1 else 's'}"
        yield f"the shortest text has {bytes_}: {show(completion.data)}"
    if completion.tokens is not None:
        count = len(completion.tokens)
        fewest = "the fewest tokens are" if completion.is_fewest else "a short way in tokens is"
        shown = " ".join(_token(vocabulary, each) for each in completion.tokens[:_MOST_TOKENS])
        more = "" if count <= _MOST_TOKENS else " ..."
        yield f"{fewest} {count:,}: {shown}{more}"


def _token(vocabulary: "Vocabulary", token_id: int) -> str:
    data = vocabulary.token(token_id)
    return f"#{token_id}" if data is None else show(data)
