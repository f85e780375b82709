"""The recogniser and the masks, compiled: ``_compiled.pyx`` and the ``*.pxi`` that it includes.

Importing this package imports nothing. A name of the compiled module is looked up here on first
use, and is a ``MissingEngineError`` where that module was not built or cannot be loaded. What each
part does is reported where it is written; ``_compiled.pyi`` has the types.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from kbnf_core.text.errors import MissingEngineError

_COMPILED = "kbnf_core.kernel._compiled"


def has_engine() -> bool:
    """Return whether the compiled module is there, and NumPy, on whose arrays it works."""
    return find_spec(_COMPILED) is not None and find_spec("numpy") is not None


if TYPE_CHECKING:
    from kbnf_core.kernel._compiled import *  # noqa: F403 - every name of it
else:

    def __getattr__(name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            compiled = import_module(_COMPILED)
        except ImportError as error:
            raise MissingEngineError(str(error)) from error
        value = globals()[name] = getattr(compiled, name)
        return value
