"""The Python binding of the Rust engine ``kbnf``, over kbnf-toolkit's engine."""

from kbnf_core.compat.kbnf import *  # noqa: F403 - the module is these names
from kbnf_core.compat.kbnf import __all__ as __all__
