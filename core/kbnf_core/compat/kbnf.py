"""The module surface of the Rust engine's Python binding, ``kbnf`` 0.3 and later, over this engine.

A program written for that package runs on this engine when this module is installed in its place::

    import sys
    import kbnf_core.compat.kbnf

    sys.modules["kbnf"] = kbnf_core.compat.kbnf

Texts finish as they do there: at the first token end at which the start is complete, in its sound
form, unless ``Config(finish=...)`` or the grammar's pragma says otherwise. Everything that the
binding raises as ``ValueError`` is one here. Methods that write to addresses are there because
programs call them; prefer the arrays of ``kbnf_core.Engine``.

Tests: tests/unit/compat/test_kbnf.py
"""

import ctypes
import enum
from collections.abc import Mapping
from copy import copy
from operator import index
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from kbnf_core.config import CompressionConfig, Config, Defaults, EngineConfig, Finish, RegexConfig
from kbnf_core.engine import AcceptTokenResult
from kbnf_core.engine import Engine as _Engine
from kbnf_core.mask.bits import check_logits
from kbnf_core.vocab.vocabulary import Token
from kbnf_core.vocab.vocabulary import Vocabulary as _Vocabulary

__all__ = [
    "AcceptTokenError",
    "AcceptTokenResult",
    "CompressionConfig",
    "Config",
    "Engine",
    "EngineConfig",
    "Fsa",
    "InternalEngine",
    "MaskLogitsError",
    "RegexConfig",
    "Token",
    "UpdateLogitsError",
    "Vocabulary",
]

L = TypeVar("L")


class Fsa(enum.Enum):
    """How the binding compiles regular expressions; it means nothing here."""

    Dfa = "Dfa"


class AcceptTokenError(enum.Enum):
    """The binding's names for why a token is refused."""

    Finished = "Finished"
    Rejected = "Rejected"
    UnknownTokenID = "UnknownTokenID"


class MaskLogitsError(enum.Enum):
    """The binding's name for logits that are too short."""

    InvalidLogitsLength = "InvalidLogitsLength"


class UpdateLogitsError(enum.Enum):
    """The binding's names for why logits are not updated."""

    Finished = "Finished"
    InvalidLogitsLength = "InvalidLogitsLength"
    Rejected = "Rejected"
    UnknownTokenID = "UnknownTokenID"


class Vocabulary(_Vocabulary):
    """``kbnf.Vocabulary``: it knows no special tokens and no ends."""

    def __init__(
        self,
        id_to_token: Mapping[int, Token | bytes],
        id_to_token_string: Mapping[int, str] | None = None,
    ) -> None:
        super().__init__(id_to_token, id_to_token_string)


class _Base(_Engine):
    """What the binding's two engines share."""

    _defaults = Defaults(finish=Finish.TOKEN)

    def __init__(
        self,
        kbnf_syntax_grammar_str: str,
        vocabulary: _Vocabulary,
        config: Config | None = None,
    ) -> None:
        super().__init__(kbnf_syntax_grammar_str, vocabulary, config)

    def check_if_token_is_allowed(self, token_id: int) -> bool:
        """Return whether the last computation allows a token."""
        return index(token_id) in self.get_allowed_token_ids_from_last_computation()

    def get_number_of_allowed_token_ids(self) -> int:
        """Return how many ids the last computation allows."""
        return len(self.get_allowed_token_ids_from_last_computation())

    def get_number_of_disallowed_token_ids(self) -> int:
        """Return how many ids below the vocabulary's size it does not allow."""
        return len(self.get_disallowed_token_ids_from_last_computation())

    def get_index_of_allowed_token_ids(self) -> bytes:
        """Return a key that is equal for equal sets of allowed ids."""
        return self._allowed.tobytes()

    def write_allowed_token_ids_to_buffer(self, ptr: int, length: int) -> None:
        """Write the allowed ids, ascending, as ``length`` 64-bit integers to an address."""
        _write(ptr, length, self.get_allowed_token_ids_from_last_computation())

    def write_disallowed_token_ids_to_buffer(self, ptr: int, length: int) -> None:
        """Write the other ids likewise."""
        _write(ptr, length, self.get_disallowed_token_ids_from_last_computation())

    def fill_torch_bitmask(self, bitmask_ptr: int) -> None:
        """Write the bits of the last computation, 32 to a word, to an address."""
        ctypes.memmove(bitmask_ptr, self._allowed.ctypes.data, self._allowed.nbytes)

    def shrink_to_fit(self) -> None:
        """Do nothing: caches are bounded here."""


class Engine(_Base):
    """``kbnf.Engine``: logits are NumPy arrays or torch tensors of shape (n,) or (1, n)."""

    def mask_logits(self, logits: L) -> L:
        """See ``kbnf_core.Engine.mask_logits``; another shape is an AssertionError there."""
        _check_shape(logits)
        return super().mask_logits(logits)

    def update_logits(self, token_id: int, logits: L) -> tuple[L, AcceptTokenResult]:
        """See ``kbnf_core.Engine.update_logits``."""
        _check_shape(logits)
        return super().update_logits(token_id, logits)


class InternalEngine(_Base):
    """``kbnf.InternalEngine``: logits are the address of float32 values and their number."""

    def mask_logits(self, logits_ptr: int, length: int) -> None:  # type: ignore[override] # theirs
        """Mask the values at an address in place."""
        _Engine.mask_logits(self, _floats(logits_ptr, length))

    def update_logits(  # type: ignore[override] # theirs
        self, token_id: int, logits_ptr: int, length: int
    ) -> AcceptTokenResult:
        """Accept a token and, unless that finishes, mask the values at an address in place."""
        if not copy(self)._finishes_with(token_id):
            check_logits(self.vocabulary.size, _floats(logits_ptr, length))
        result = self.try_accept_new_token(token_id)
        if result is AcceptTokenResult.Ongoing:
            self.compute_allowed_token_ids()
            self.mask_logits(logits_ptr, length)
        return result

    def _finishes_with(self, token_id: int) -> bool:
        return self.try_accept_new_token(token_id) is AcceptTokenResult.Finished


def _check_shape(logits: Any) -> None:
    shape = tuple(getattr(logits, "shape", (0,)))
    if len(shape) not in (1, 2) or (len(shape) == 2 and shape[0] != 1):
        raise AssertionError(f"only the shapes (n,) and (1, n) are supported, not {shape}")


def _floats(address: int, length: int) -> npt.NDArray[np.float32]:
    values = (ctypes.c_float * length).from_address(address)
    return np.ctypeslib.as_array(values)


def _write(address: int, length: int, ids: list[int]) -> None:
    if length < len(ids):
        raise ValueError(f"a buffer of {length} is too small for {len(ids)} ids")
    values = np.array(ids, np.int64)
    ctypes.memmove(address, values.ctypes.data, values.nbytes)
