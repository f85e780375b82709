"""What a wheel holds beside the code, and that the command finds it there without a checkout."""

import os
import shutil
import subprocess
import sys
import zipfile
from hashlib import sha256
from importlib import import_module
from pathlib import Path

import pytest

from kbnf_core import __version__

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = shutil.ignore_patterns(
    ".*", "build", "docs", "editors", "tests", "benchmarks", "*.egg-info", "*.so", "*.cpp"
)

pytestmark = pytest.mark.ci


def build(folder: Path, environment: dict[str, str]) -> None:
    """Build a wheel and a source archive from a copy of the checkout into ``folder``."""
    shutil.copytree(ROOT, folder / "copy", ignore=LEFT_OUT)
    program = "import sys, setup; setup.build_{}(sys.argv[1])"
    for what in ("wheel", "sdist"):
        done = subprocess.run(
            [sys.executable, "-c", program.format(what), str(folder)],
            cwd=folder / "copy",
            env={**os.environ, "SOURCE_DATE_EPOCH": "1767225600", **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


PURE = {"KBNF_PURE": "1"}
"""Leaves the compiled modules out, which makes building quick."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a wheel and a source archive."""
    folder = tmp_path_factory.mktemp("wheel")
    build(folder, PURE)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> zipfile.ZipFile:
    """Open the wheel."""
    return zipfile.ZipFile(next(built.glob("*.whl")))


@pytest.mark.slow
def test_the_kernel_is_built_again_to_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "other"):
        build(tmp_path / name, {})
    assert digest(tmp_path / "one") == digest(tmp_path / "other")


def digest(folder: Path) -> str:
    (wheel,) = folder.glob("*.whl")
    return sha256(wheel.read_bytes()).hexdigest()


def test_the_version_is_the_same_everywhere(built: Path) -> None:
    assert next(built.glob("*.tar.gz")).name == f"kbnf_toolkit-{__version__}.tar.gz"
    assert next(built.glob("*.whl")).name.startswith(f"kbnf_toolkit-{__version__}-")
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    changes = text.partition(f"\n## {__version__} (")[2].partition("\n## ")[0].splitlines()
    assert 5 < len(changes) <= 80
    assert [line[4:] for line in changes if line.startswith("### ")] == [
        "Added", "Changed", "Fixed", "Removed"
    ]  # fmt: skip


def test_completions_are_where_shells_look(wheel: zipfile.ZipFile) -> None:
    there = {name.partition(".data/data/share/")[2] for name in wheel.namelist()}
    assert there >= {
        "bash-completion/completions/kbnf",
        "zsh/site-functions/_kbnf",
        "fish/vendor_completions.d/kbnf.fish",
    }


def test_pages_are_where_man_looks(wheel: zipfile.ZipFile) -> None:
    there = {Path(name).name for name in wheel.namelist() if ".data/data/share/man/man" in name}
    assert there == {page.name for page in (ROOT / "man").glob("*.[157]")}


def test_the_types_of_what_is_compiled_are_in_the_package(wheel: zipfile.ZipFile) -> None:
    assert {"kbnf_core/kernel/_engine.pyi", "kbnf_core/kernel/_trees.pyi"} <= {*wheel.namelist()}


def test_grammars_and_pages_are_in_the_package(wheel: zipfile.ZipFile) -> None:
    there = {name for name in wheel.namelist() if name.startswith("kbnf_core/shipped_files/")}
    grammars = {
        f"kbnf_core/shipped_files/grammars/{file.name}"
        for pattern in ("*.kbnf", "*.examples.toml")
        for file in (ROOT / "grammars").glob(pattern)
    }
    pages = {f"kbnf_core/shipped_files/man/{file.name}" for file in (ROOT / "man").glob("*.[157]")}
    assert there == grammars | pages


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["help", "language"], "language of grammars for constrained decoding"),
        (["help", "limits"], "source_bytes"),
        (["mask", "json"], "status      ongoing"),
        (["test", "builtin:csv"], "passed"),
    ],
)
def test_the_command_finds_them(
    wheel: zipfile.ZipFile, tmp_path: Path, arguments: list[str], said: str
) -> None:
    installed = tmp_path / "installed"
    wheel.extractall(installed)
    # The wheel was built without them.
    for name in ("automata._automata", "kernel._engine", "kernel._trees", "lower._lowering"):
        compiled = Path(import_module(f"kbnf_core.{name}").__file__ or "")
        shutil.copy(compiled, installed / "kbnf_core" / name.partition(".")[0])
    done = subprocess.run(
        [sys.executable, "-m", "kbnf_cli", *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, said in done.stdout) == (0, True), done.stderr
    assert str(ROOT) not in done.stdout
