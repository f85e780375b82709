"""The binding's ``kbnf.engine``."""

from kbnf_core.compat.kbnf import Engine

__all__ = ["Engine"]
