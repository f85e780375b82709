"""The bytes of one token, as a value."""

from dataclasses import dataclass

from kbnf_core.errors import VocabularyError


@dataclass(frozen=True, slots=True)
class Token:
    """What one token spells; taken wherever the bytes themselves are.

    It exists because programs written for the ``kbnf`` binding wrap their tokens in it.
    """

    value: bytes

    def __post_init__(self) -> None:
        if not isinstance(self.value, bytes):
            kind = type(self.value).__name__
            raise VocabularyError(f"a token is made of bytes, not of {kind}")

    def __bytes__(self) -> bytes:
        return self.value

    def __len__(self) -> int:
        return len(self.value)
