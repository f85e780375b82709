"""The kernel for finite automata in use."""

import os
from importlib import import_module
from typing import cast

from kbnf_core.kernel import CHOICE_VARIABLE
from kbnf_core.kernel.automata import Automata


def _choose() -> Automata:
    # Tried instead of looked for: that takes a third of the time, at every start.
    name = "plain_automata" if os.environ.get(CHOICE_VARIABLE) == "numpy" else "_automata"
    try:
        return cast(Automata, import_module(f"kbnf_core.kernel.{name}"))
    except ImportError:
        return cast(Automata, import_module("kbnf_core.kernel.plain_automata"))


AUTOMATA = _choose()
