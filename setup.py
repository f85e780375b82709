"""Builds the compiled kernel; everything else about the package is in pyproject.toml."""

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

kernel = Extension(
    "kbnf_core.kernel._compiled",
    ["core/kbnf_core/kernel/_compiled.pyx"],
    include_dirs=[numpy.get_include()],
    define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
    extra_compile_args=["-O3"],
    language="c++",
)
extensions = cythonize([kernel], build_dir="build")
for extension in extensions:
    # Without a compiler the package still installs: the NumPy kernel takes over.
    extension.optional = True

setup(ext_modules=extensions)
