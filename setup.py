"""Builds the compiled kernel; everything else about the package is in pyproject.toml."""

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

KERNELS = ("_automata", "_compiled")


def kernel(name: str) -> Extension:
    """Return the extension of one file of the kernel."""
    return Extension(
        f"kbnf_core.kernel.{name}",
        [f"core/kbnf_core/kernel/{name}.pyx"],
        include_dirs=[numpy.get_include()],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
        extra_compile_args=["-O3", "-g0"],
        language="c++",
    )


kernels = cythonize([kernel(name) for name in KERNELS], build_dir="build")
for extension in kernels:
    # Without a compiler the package still installs: the NumPy kernel takes over.
    extension.optional = True

setup(ext_modules=kernels, options={"build_ext": {"parallel": len(kernels)}})
