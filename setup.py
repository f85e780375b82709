"""Builds the compiled modules; everything else about the package is in pyproject.toml.

It is also the build backend that pyproject.toml names (PEP 517): that of setuptools, which needs
the wheel ``ziglang`` besides where no C++ compiler is found, and compiles with the one that is in
it. Where nothing compiles, because Python's headers are missing for example, the build fails and
names the remedies; ``KBNF_PURE=1`` builds the package without the compiled modules.

``KBNF_KERNEL_CHECKS`` asks for a slower kernel that watches itself, for the robustness tests:
``bounds`` checks every index (Cython's and the C++ library's), ``asan`` is for AddressSanitizer
and UndefinedBehaviorSanitizer, each of whose reports ends the process.
"""

import os
import platform
import re
import shlex
import shutil
import sys
import sysconfig
from glob import glob
from importlib.util import find_spec
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, build_meta, setup
from setuptools.build_meta import *  # noqa: F403 - the other hooks are as they are
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.errors import BaseError, CCompilerError

KERNELS = ("automata._automata", "kernel._engine", "kernel._trees", "lower._lowering")
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
CHECKS = os.environ.get("KBNF_KERNEL_CHECKS", "none")
IS_PURE = os.environ.get("KBNF_PURE", "0") not in ("", "0")
COMPILER_FLAGS = {
    "none": ["-g0"],
    "bounds": ["-O2", "-g1", "-D_GLIBCXX_ASSERTIONS"],
    "asan": ["-O1", "-g1", "-fno-omit-frame-pointer", *SANITIZERS],
}[CHECKS]
LEVELS = {"kernel._engine": "-O3", "kernel._trees": "-O3"}
"""How far to optimise; -O2 does it for what is not here, in less time."""

ZIG = "ziglang>=0.13"
ZIG_PLATFORMS = {
    "Linux": {"x86_64", "aarch64", "armv7l", "ppc64le", "s390x", "riscv64"},
    "Darwin": {"x86_64", "arm64"},
}
"""Where that wheel is to be had; machines by operating system."""


def has_compiler() -> bool:
    """Tell whether the C++ compiler that this Python or the environment names is there."""
    named = os.environ.get("CXX") or sysconfig.get_config_var("CXX") or "c++"
    return shutil.which(shlex.split(named)[0]) is not None


def compiler_wheels() -> list[str]:
    """Return the wheel that has a compiler where there is none, and there is such a wheel."""
    machines = ZIG_PLATFORMS.get(platform.system(), ())
    is_missing = not IS_PURE and not has_compiler()
    return [ZIG] if is_missing and platform.machine() in machines else []


def get_requires_for_build_wheel(settings: dict | None = None) -> list[str]:
    """Return what building a wheel needs."""
    return [*build_meta.get_requires_for_build_wheel(settings), *compiler_wheels()]


def get_requires_for_build_editable(settings: dict | None = None) -> list[str]:
    """Return what building an editable wheel needs."""
    return [*build_meta.get_requires_for_build_editable(settings), *compiler_wheels()]


REMEDY = """\
error: the engine of kbnf could not be compiled (the reason is above).
Most often Python's headers (python3-dev, python3-devel) or a C++ compiler are missing.
KBNF_PURE=1 in the environment of this command installs kbnf without its engine: it reads, checks,
formats and converts grammars, and has no masks.
"""

SHIPPED = Path("kbnf_core", "shipped_files")
"""Where ``kbnf_core/shipped.py`` looks for what lies beside the packages in a checkout."""


class BuildPackages(build_py):
    """Puts the grammars and the pages of the manual into the package, too."""

    def run(self) -> None:
        """Build, and copy them; an editable installation finds them in the checkout."""
        super().run()
        if self.editable_mode:
            return
        for pattern in ("grammars/*.kbnf", "grammars/*.examples.toml", "man/*.[157]"):
            for file in glob(pattern):
                target = Path(self.build_lib, SHIPPED, file)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)


class BuildKernels(build_ext):
    """Compiles what changed since the last build, whichever kind of installation that was for."""

    def finalize_options(self) -> None:
        """Keep what is compiled for an editable installation where an ordinary one has it."""
        super().finalize_options()
        if self.editable_mode and CHECKS == "none":
            folder = f"lib.{self.plat_name}-{sys.implementation.cache_tag}"
            self.build_lib = str(Path("build", folder))

    def run(self) -> None:
        """Compile, with the compiler of the wheel where there is no other; fail with the remedy."""
        if compiler_wheels() and find_spec("ziglang") is not None:
            # Without a name for the processor it compiles for the one at hand.
            command = [sys.executable, "-m", "ziglang", "c++", "-mcpu=baseline"]
            os.environ["CXX"] = shlex.join(command)
            for each in self.extensions:
                # Its C++ library, which it links statically, comes with all that debuggers read.
                each.extra_link_args.append("-s")
        try:
            super().run()
        except (BaseError, CCompilerError) as error:
            raise SystemExit(f"{error}\n\n{REMEDY}") from error


def files_of(source: Path) -> list[str]:
    """Return the files that the translation of a ``.pyx`` reads besides it."""
    included = re.findall(r'^include "(.+)"$', source.read_text(encoding="utf-8"), re.MULTILINE)
    parts = [source.with_name(name) for name in included]
    return [str(each) for each in (*parts, *sorted(source.parent.glob("*.pxd")))]


def kernel(name: str) -> Extension:
    """Return the extension of one file of the kernel."""
    source = f"core/kbnf_core/{name.replace('.', '/')}.pyx"
    return Extension(
        f"kbnf_core.{name}",
        [source],
        include_dirs=[numpy.get_include()],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
        extra_compile_args=[LEVELS.get(name, "-O2"), *COMPILER_FLAGS],
        extra_link_args=SANITIZERS if CHECKS == "asan" else [],
        language="c++",
        depends=["setup.py", *files_of(Path(source))],
    )


def translated(kernels: list[Extension]) -> list[Extension]:
    """Return the kernels with their C++ as source, which Cython writes where it is not there yet.

    Whether to build again, the kernels' own files say: an isolated build has a NumPy of its own,
    always newer than what was built.
    """
    folder = "build" if CHECKS == "none" else f"build/{CHECKS}"
    stale = []
    for each in kernels:
        file = Path(folder, each.sources[0]).with_suffix(".cpp")
        changed = max(Path(name).stat().st_mtime for name in (*each.sources, *each.depends))
        if not file.exists() or file.stat().st_mtime < changed:
            stale.append(kernel(each.name.removeprefix("kbnf_core.")))
        each.sources = [str(file)]
    if stale:
        directives = {"boundscheck": CHECKS == "bounds"}
        cythonize(stale, force=True, build_dir=folder, compiler_directives=directives)
    return kernels


def main() -> None:
    """Run setuptools."""
    kernels = [] if IS_PURE else translated([kernel(name) for name in KERNELS])
    setup(
        ext_modules=kernels,
        cmdclass={"build_ext": BuildKernels, "build_py": BuildPackages},
        data_files=[
            *((f"share/man/man{n}", sorted(glob(f"man/*.{n}"))) for n in (1, 5, 7)),
            # Each where its shell looks, by the name that it looks for.
            ("share/bash-completion/completions", ["completions/kbnf"]),
            ("share/zsh/site-functions", ["completions/_kbnf"]),
            ("share/fish/vendor_completions.d", ["completions/kbnf.fish"]),
        ],
        options={"build_ext": {"parallel": len(kernels) or None}},
    )


if __name__ == "__main__":
    main()
