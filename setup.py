"""Builds the compiled kernel; everything else about the package is in pyproject.toml.

``KBNF_KERNEL_CHECKS`` asks for a slower kernel that watches itself, for the robustness tests:
``bounds`` checks every index (Cython's and the C++ library's), ``asan`` is for AddressSanitizer.
"""

import gzip
import os
import shutil
import sys
import tarfile
from glob import glob
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

# Files in a wheel have the modes that they get here, which are not to be the builder's choice.
os.umask(0o022)

KERNELS = ("automata._automata", "kernel._compiled", "lower._lowering")
CHECKS = os.environ.get("KBNF_KERNEL_CHECKS", "none")
COMPILER_FLAGS = {
    "none": ["-O3", "-g0"],
    "bounds": ["-O2", "-g1", "-D_GLIBCXX_ASSERTIONS"],
    "asan": ["-O1", "-g1", "-fno-omit-frame-pointer", "-fsanitize=address"],
}[CHECKS]


SHIPPED = Path("kbnf_cli", "shipped_files")
"""Where ``kbnf_cli/inputs.py`` looks for what lies beside the packages in a checkout."""


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


class SourceArchive(sdist):
    """Writes the same bytes of the same files, wherever and whenever it does.

    Wheels are that already, with ``SOURCE_DATE_EPOCH`` for the time.
    """

    def make_archive(self, base_name: str, format: str, **options: str | None) -> str:  # noqa: A002
        """Write one archive; a ``gztar`` has no time but the chosen one, and no owner."""
        chosen = os.environ.get("SOURCE_DATE_EPOCH")
        if format != "gztar" or chosen is None:
            return str(super().make_archive(base_name, format, **options))
        folder, time = Path(str(options["base_dir"])), int(chosen)

        def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
            executable = member.isdir() or member.mode & 0o100
            member.mode = 0o755 if executable else 0o644
            member.mtime, member.uid, member.gid, member.uname, member.gname = time, 0, 0, "", ""
            return member

        name = f"{base_name}.tar.gz"
        with (
            open(name, "wb") as file,
            gzip.GzipFile("", "wb", fileobj=file, mtime=time) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            for member in (folder, *sorted(folder.rglob("*"))):
                archive.add(member, recursive=False, filter=plain)
        return name


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
        depends=["setup.py"],
    )


kernels = cythonize(
    [kernel(name) for name in KERNELS],
    build_dir="build" if CHECKS == "none" else f"build/{CHECKS}",
    compiler_directives={"boundscheck": CHECKS == "bounds"},
)
for extension in kernels:
    # Without a compiler the package still installs: the NumPy kernel takes over.
    extension.optional = CHECKS == "none"

# An isolated build has a NumPy of its own, always newer than the C++, which Cython then writes
# anew: how old that is, the kernels' own files say.
WRITTEN_FROM = [
    "setup.py",
    *glob("core/**/*.px[id]", recursive=True),
    *glob("core/**/*.pyx", recursive=True),
]
CHANGED = max(Path(file).stat().st_mtime for file in WRITTEN_FROM)
for extension in kernels:
    for source in extension.sources:
        os.utime(source, (CHANGED, CHANGED))

setup(
    ext_modules=kernels,
    cmdclass={"build_ext": BuildKernels, "build_py": BuildPackages, "sdist": SourceArchive},
    data_files=[
        *((f"share/man/man{n}", sorted(glob(f"man/*.{n}"))) for n in (1, 5, 7)),
        # Each where its shell looks, by the name that it looks for.
        ("share/bash-completion/completions", ["completions/kbnf"]),
        ("share/zsh/site-functions", ["completions/_kbnf"]),
        ("share/fish/vendor_completions.d", ["completions/kbnf.fish"]),
    ],
    options={"build_ext": {"parallel": len(kernels)}},
)
