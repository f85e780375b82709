"""Builds the compiled kernel; everything else about the package is in pyproject.toml.

``KBNF_KERNEL_CHECKS`` asks for a slower kernel that watches itself, for the robustness tests:
``bounds`` checks every index (Cython's and the C++ library's), ``asan`` is for AddressSanitizer.
"""

import os

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

KERNELS = ("automata._automata", "kernel._compiled")
CHECKS = os.environ.get("KBNF_KERNEL_CHECKS", "none")
COMPILER_FLAGS = {
    "none": ["-O3", "-g0"],
    "bounds": ["-O2", "-g1", "-D_GLIBCXX_ASSERTIONS"],
    "asan": ["-O1", "-g1", "-fno-omit-frame-pointer", "-fsanitize=address"],
}[CHECKS]


def kernel(name: str) -> Extension:
    """Return the extension of one file of the kernel."""
    return Extension(
        f"kbnf_core.{name}",
        [f"core/kbnf_core/{name.replace('.', '/')}.pyx"],
        include_dirs=[numpy.get_include()],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
        extra_compile_args=COMPILER_FLAGS,
        extra_link_args=["-fsanitize=address"] if CHECKS == "asan" else [],
        language="c++",
    )


kernels = cythonize(
    [kernel(name) for name in KERNELS],
    build_dir="build" if CHECKS == "none" else f"build/{CHECKS}",
    compiler_directives={"boundscheck": CHECKS == "bounds"},
)
for extension in kernels:
    # Without a compiler the package still installs: the NumPy kernel takes over.
    extension.optional = CHECKS == "none"

setup(ext_modules=kernels, options={"build_ext": {"parallel": len(kernels)}})
