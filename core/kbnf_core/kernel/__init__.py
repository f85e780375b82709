"""The recogniser, masks and trees, compiled as two modules of ``*.pxi`` files each.

``_engine``: item sets and the table of states, masks, ends, forced and canonical text, the base of
``Engine``. ``_trees``: derivations of a text, and repairs. It compiles against ``_engine.pxd``, and
is loaded only where one of its names is used. The ``*.pyi`` files have the types.

Importing this package imports nothing. A name of a compiled module is looked up here on first use,
and is a ``MissingEngineError`` if that module was not built or cannot be loaded.

Tests: tests/unit/kernel
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from kbnf_core.text.errors import MissingEngineError

_COMPILED = ("kbnf_core.kernel._engine", "kbnf_core.kernel._trees")


def has_engine() -> bool:
    """Return whether the compiled modules are there, and NumPy, on whose arrays they work."""
    return all(find_spec(name) is not None for name in (*_COMPILED, "numpy"))


if TYPE_CHECKING:
    from kbnf_core.kernel._engine import *  # noqa: F403 - every name of it
    from kbnf_core.kernel._trees import *  # noqa: F403 - every name of it
else:

    def __getattr__(name: str) -> object:
        if not name.startswith("__"):
            try:
                for module_name in _COMPILED:
                    compiled = import_module(module_name)
                    if hasattr(compiled, name):
                        value = globals()[name] = getattr(compiled, name)
                        return value
            except ImportError as error:
                raise MissingEngineError(str(error)) from error
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
