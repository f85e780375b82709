"""The automata kernel in use: the compiled one where it imports, else plain Python."""

import os
from importlib import import_module
from typing import cast

from kbnf_core.automata.kernel import Automata
from kbnf_core.kernel import CHOICE_VARIABLE


def _choose() -> Automata:
    # Tried instead of looked for: that takes a third of the time, at every start.
    name = "plain_kernel" if os.environ.get(CHOICE_VARIABLE) == "numpy" else "_automata"
    try:
        return cast(Automata, import_module(f"kbnf_core.automata.{name}"))
    except ImportError:
        return cast(Automata, import_module("kbnf_core.automata.plain_kernel"))


AUTOMATA = _choose()
