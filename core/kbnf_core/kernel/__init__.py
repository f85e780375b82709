"""The hot loops, compiled where a compiler was at hand, else in NumPy with identical results.

Recognition and masks: ``_compiled.pyx`` and ``numpy_kernel.py`` (``interface.Kernel``), and
``chosen.KERNEL`` is the one in use. Finite automata: ``_automata.pyx`` and ``plain_kernel.py``
(``kernel.Automata``), and ``chosen_kernel.AUTOMATA``. Lowering: ``_lowering.pyx``, and in Python
the functions that ``lower.chosen_kernel`` marks ``compiled``. Importing this package itself
imports nothing.
"""

import os
from importlib.util import find_spec

CHOICE_VARIABLE = "KBNF_KERNEL"
"""Set to ``numpy``, this environment variable leaves the compiled kernel unused."""


def kernel_name() -> str:
    """Return ``compiled`` or ``numpy``: which kernel this process uses."""
    wanted = os.environ.get(CHOICE_VARIABLE)
    built = find_spec("kbnf_core.kernel._compiled") is not None
    return "compiled" if built and wanted != "numpy" else "numpy"
