"""Both kernels; what needs the compiled one is skipped where it was not built."""

from importlib import import_module
from importlib.util import find_spec
from typing import cast

import pytest

from kbnf_core.kernel import kernel_name, numpy_kernel
from kbnf_core.kernel.interface import Kernel

NUMPY = cast(Kernel, numpy_kernel)


@pytest.fixture
def compiled() -> Kernel:
    """Return the compiled kernel."""
    if find_spec("kbnf_core.kernel._compiled") is None:
        pytest.skip("the compiled kernel was not built")
    if kernel_name() == "numpy":
        pytest.skip("what the compiled kernel works on is its own")
    return cast(Kernel, import_module("kbnf_core.kernel._compiled"))


@pytest.fixture(params=["compiled", "numpy"])
def kernel(request: pytest.FixtureRequest) -> Kernel:
    """Return one kernel after the other."""
    if request.param == "numpy":
        return NUMPY
    return cast(Kernel, request.getfixturevalue("compiled"))
