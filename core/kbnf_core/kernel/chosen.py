"""The kernel in use: the compiled one where it imports, else the one in NumPy."""

from importlib import import_module
from typing import TYPE_CHECKING, cast

from kbnf_core.kernel import kernel_name
from kbnf_core.kernel.interface import Kernel

__all__ = ["KERNEL", "EngineCore"]

_MODULES = {"compiled": "_compiled", "numpy": "numpy_kernel"}
_MODULE = import_module(f"kbnf_core.kernel.{_MODULES[kernel_name()]}")

KERNEL = cast(Kernel, _MODULE)

if TYPE_CHECKING:
    from kbnf_core.kernel.engine_core import EngineCore
else:
    EngineCore = _MODULE.EngineCore
