"""The hot loops of lowering: compiled where a compiler was at hand, else as they are written here.

Unlike those of ``automata`` these have no second module: each function of ``_lowering.pyx`` is
for one of the same name in Python, which is its specification and is marked ``compiled``.
"""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")


def _find() -> ModuleType | None:
    try:
        return import_module("kbnf_core.lower._lowering")
    except ImportError:
        return None


LOWERING = _find()

PLAIN: dict[str, Callable[..., object]] = {}
"""The functions in Python, by name, whichever are in use."""


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Return the compiled form of a function where it was built, else the function."""
    PLAIN[function.__name__] = function
    return cast(Callable[P, R], getattr(LOWERING, function.__name__, function))
