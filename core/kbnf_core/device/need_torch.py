"""The import of torch, or the error that says how to install it."""

from kbnf_core.text.errors import MissingExtraError

try:
    import torch
except ImportError:
    raise MissingExtraError("a constraint on the device", "torch") from None

__all__ = ["torch"]
