"""What a wheel holds beside the code, and that the command finds it there without a checkout."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = shutil.ignore_patterns(
    ".*", "build", "tests", "benchmarks", "*.egg-info", "*.so", "*.cpp"
)

pytestmark = pytest.mark.ci


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Build a wheel from a copy of the checkout, without a compiler: that is quick."""
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, folder / "copy", ignore=LEFT_OUT)
    program = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
    environment = {**os.environ, "CC": "false", "CXX": "false"}
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder)],
        cwd=folder / "copy",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return zipfile.ZipFile(next(folder.glob("*.whl")))


def test_pages_are_where_man_looks(wheel: zipfile.ZipFile) -> None:
    there = {Path(name).name for name in wheel.namelist() if ".data/data/share/man/man" in name}
    assert there == {page.name for page in (ROOT / "man").glob("*.[157]")}


def test_grammars_and_pages_are_in_the_package(wheel: zipfile.ZipFile) -> None:
    there = {name for name in wheel.namelist() if name.startswith("kbnf_cli/shipped_files/")}
    grammars = {
        f"kbnf_cli/shipped_files/grammars/{file.name}"
        for pattern in ("*.kbnf", "*.examples.toml")
        for file in (ROOT / "grammars").glob(pattern)
    }
    pages = {f"kbnf_cli/shipped_files/man/{file.name}" for file in (ROOT / "man").glob("*.[157]")}
    assert there == grammars | pages


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["help", "language"], "language of grammars for constrained decoding"),
        (["help", "limits"], "source_bytes"),
        (["mask", "json"], "status      ongoing"),
        (["test", "builtin:iso_date"], "passed"),
    ],
)
def test_the_command_finds_them(
    wheel: zipfile.ZipFile, tmp_path: Path, arguments: list[str], said: str
) -> None:
    installed = tmp_path / "installed"
    wheel.extractall(installed)
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
