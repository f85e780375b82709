"""What came before: a prefix as bytes or as tokens, and feeding it to an engine."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kbnf_core.errors import FinishedError, RejectedError, UnknownTokenError

if TYPE_CHECKING:
    from kbnf_core import Engine, Explanation, Vocabulary


@dataclass(frozen=True, slots=True)
class Prefix:
    """Bytes, or the ids of tokens where ``tokens`` is not empty."""

    data: bytes = b""
    tokens: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a prefix cannot be.

    ``token_index`` is the place of the guilty token in the prefix, None for bytes;
    ``byte_offset`` how many bytes of the whole prefix were right, and ``accepted`` these bytes.
    ``explanation`` is None where the grammar was finished already.
    """

    message: str
    token_index: int | None
    byte_offset: int
    accepted: bytes
    explanation: "Explanation | None"


def feed(engine: "Engine", prefix: Prefix) -> Rejection | None:
    """Feed the prefix; return what stood in the way, None if nothing did.

    Bytes are fed as one token would be. Raises ``UnknownTokenError`` for an id that the
    vocabulary does not have, before anything is fed.
    """
    for token_id in prefix.tokens:
        if token_id not in engine.vocabulary:
            raise UnknownTokenError(token_id)
    if prefix.tokens:
        return _feed_tokens(engine, prefix.tokens)
    return _feed_bytes(engine, prefix.data) if prefix.data else None


def spell(vocabulary: "Vocabulary", tokens: tuple[int, ...]) -> bytes:
    """Return the bytes of some tokens; special tokens have none."""
    return b"".join(vocabulary.token(token_id) or b"" for token_id in tokens)


def _feed_bytes(engine: "Engine", data: bytes) -> Rejection | None:
    try:
        engine.try_accept_new_bytes(data)
    except RejectedError as error:
        offset = error.byte_offset
        why = engine.why(data)
        message = f"the prefix is rejected: {why.reason}"
        return Rejection(message, None, offset, data[:offset], why)
    return None


def _feed_tokens(engine: "Engine", tokens: tuple[int, ...]) -> Rejection | None:
    vocabulary = engine.vocabulary
    for index, token_id in enumerate(tokens):
        before = spell(vocabulary, tokens[:index])
        try:
            engine.try_accept_new_token(token_id)
        except FinishedError:
            message = f"token {token_id} (index {index}) comes after the end of the text"
            return Rejection(message, index, len(before), before, None)
        except RejectedError as error:
            good = before + (vocabulary.token(token_id) or b"")[: error.byte_offset]
            why = engine.why(token_id)
            message = f"token {token_id} (index {index}) is rejected: {why.reason}"
            return Rejection(message, index, len(good), good, why)
    return None
