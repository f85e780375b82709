"""Formats texts, names and shortest completions for findings."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kbnf_core.frontend import Reading, name_span

if TYPE_CHECKING:
    from kbnf_core.mask.shortest import Completion
    from kbnf_core.vocab.vocabulary import Vocabulary

_MAX_SHOWN = 60
_MOST_TOKENS = 12


def show(word: bytes) -> str:
    """Return a text in quotes, its hidden characters escaped, the middle of a long one left out."""
    text = word.decode("utf-8", "backslashreplace")
    if len(text) > _MAX_SHOWN:
        half = _MAX_SHOWN // 2
        text = f"{text[:half]}...{text[-half:]}"
    return repr(text)


def show_name(reading: Reading, nonterminal: str) -> str:
    """Return the name of a nonterminal, ``this`` where a conversion generated it."""
    place = name_span(reading.document, nonterminal)
    written = reading.document.source.slice(place)
    # A name may be written with marks around it, as in `?sum` or `<sum>`.
    return f"`{nonterminal}`" if nonterminal in written else "this"


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
