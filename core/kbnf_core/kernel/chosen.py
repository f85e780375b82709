"""The kernel in use."""

from importlib import import_module
from typing import cast

from kbnf_core.kernel import kernel_name
from kbnf_core.kernel.interface import Kernel

_MODULES = {"compiled": "_compiled", "numpy": "numpy_kernel"}

KERNEL = cast(Kernel, import_module(f"kbnf_core.kernel.{_MODULES[kernel_name()]}"))
