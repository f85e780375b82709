"""The automata kernel in use: the compiled one where it imports, else plain Python.

Tests: tests/unit/automata
"""

from importlib import import_module
from typing import cast

from kbnf_core.automata.kernel import Automata


def _choose() -> Automata:
    # Tried instead of looked for: that takes a third of the time, at every start.
    try:
        return cast(Automata, import_module("kbnf_core.automata._automata"))
    except ImportError:
        return cast(Automata, import_module("kbnf_core.automata.plain_kernel"))


AUTOMATA = _choose()
