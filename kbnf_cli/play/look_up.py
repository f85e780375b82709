"""From what is typed to a token of the vocabulary, or to bytes."""

import re
from typing import TYPE_CHECKING

from kbnf_cli.escaped import escaped
from kbnf_cli.play.session import misused, refused
from kbnf_cli.play.typed import TypingError, read_typed

if TYPE_CHECKING:
    from kbnf_core import Vocabulary
    from kbnf_core.recordings import What

_ID = re.compile(r"#([0-9]{1,9})")


def typed_bytes(text: str) -> bytes:
    """Return the bytes that were typed; raise PlayFailure for a wrong escape."""
    try:
        return read_typed(text)
    except TypingError as error:
        raise misused(str(error)) from None


def find_what(vocabulary: "Vocabulary", text: str) -> "What":
    """Return the token that was typed, or the bytes where they are no token.

    That is ``#ID``, the name of a special token, or the text of a token. Raises PlayFailure for an
    id that the vocabulary does not have, and for nothing.
    """
    if not text:
        raise misused("a token is needed: its text, or # and its id")
    match = _ID.fullmatch(text)
    if match is not None:
        return _known(vocabulary, int(match[1]))
    data = typed_bytes(text)
    found = vocabulary.token_id(data)
    if found is None:
        found = vocabulary.special_id(text)
    return data if found is None else found


def find_token(vocabulary: "Vocabulary", text: str) -> int:
    """Return the token that was typed; raise PlayFailure where there is none."""
    what = find_what(vocabulary, text)
    if isinstance(what, int):
        return what
    raise refused(
        f"{escaped(what)} is no token of the vocabulary "
        "(`:tok` takes text through the tokenizer, `:text` byte by byte)"
    )


def _known(vocabulary: "Vocabulary", token_id: int) -> int:
    if token_id not in vocabulary:
        raise refused(f"the vocabulary has no token {token_id}")
    return token_id
