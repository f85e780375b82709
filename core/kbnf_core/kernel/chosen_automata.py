"""The kernel for finite automata in use."""

from importlib import import_module
from importlib.util import find_spec
from typing import cast

from kbnf_core.kernel import kernel_name
from kbnf_core.kernel.automata import Automata


def _choose() -> Automata:
    built = find_spec("kbnf_core.kernel._automata") is not None
    name = "_automata" if built and kernel_name() == "compiled" else "plain_automata"
    return cast(Automata, import_module(f"kbnf_core.kernel.{name}"))


AUTOMATA = _choose()
