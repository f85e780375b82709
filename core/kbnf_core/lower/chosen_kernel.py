"""The passes of lowering over the nodes of rules and over columns of edges: ``_lowering.pyx``.

Reading and checking a grammar need no compiled module: the few functions that they call are written
in Python as well, and marked ``compiled``. Tables are made where an engine is only; what makes them
is in ``lowering`` alone, with its types in ``_lowering.pyi``.

Tests: tests/unit/kernel/test_lowering.py, tests/property
"""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from kbnf_core.text.errors import MissingEngineError

__all__ = ["PLAIN", "compiled", "lowering"]

P = ParamSpec("P")
R = TypeVar("R")


class _Missing:
    """Stands for the compiled module where it was not built."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise MissingEngineError(self._reason)


if TYPE_CHECKING:
    import kbnf_core.lower._lowering as lowering
else:
    try:
        lowering = import_module("kbnf_core.lower._lowering")
    except ImportError as error:
        lowering = _Missing(str(error))

PLAIN: dict[str, Callable[..., object]] = {}
"""The functions in Python, by name, whichever are in use."""


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Return the compiled form of a function where it was built, else the function."""
    PLAIN[function.__name__] = function
    return cast(Callable[P, R], vars(lowering).get(function.__name__, function))
