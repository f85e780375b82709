"""The build: which compiler it asks for, and that it works where the machine has none."""

import os
import platform
import shutil
import subprocess
import sys
import tomllib
import venv
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = shutil.ignore_patterns(
    ".*", "build", "docs", "editors", "tests", "benchmarks", "*.egg-info", "*.so", "*.cpp"
)


@pytest.fixture(scope="module")
def backend() -> ModuleType:
    """Return the build backend that pyproject.toml names."""
    named = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]
    assert named["backend-path"] == ["."]
    spec = spec_from_file_location("backend", ROOT / f"{named['build-backend']}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("machine", "wheels"),
    [(("Linux", "x86_64"), 1), (("Darwin", "arm64"), 1), (("Windows", "AMD64"), 0)],
)
def test_a_compiler_is_asked_for_where_there_is_none(
    backend: ModuleType,
    machine: tuple[str, str],
    wheels: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(platform, "system", lambda: machine[0])
    monkeypatch.setattr(platform, "machine", lambda: machine[1])
    monkeypatch.setattr(backend.build_meta, "get_requires_for_build_wheel", lambda _: ["a"])
    monkeypatch.setattr(backend.build_meta, "get_requires_for_build_editable", lambda _: ["b"])
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    assert backend.get_requires_for_build_wheel() == ["a", *[backend.ZIG] * wheels]
    assert backend.get_requires_for_build_editable() == ["b", *[backend.ZIG] * wheels]
    monkeypatch.setenv("CXX", f"{sys.executable} -some -options")
    assert backend.get_requires_for_build_wheel() == ["a"]
    assert backend.get_requires_for_build_editable() == ["b"]


@pytest.mark.ci
def test_what_cannot_be_compiled_is_not_installed(tmp_path: Path) -> None:
    shutil.copytree(ROOT, tmp_path / "copy", ignore=LEFT_OUT)
    done = subprocess.run(
        [sys.executable, "-c", "import setup; setup.build_wheel('.')"],
        cwd=tmp_path / "copy",
        env={**os.environ, "CC": "false", "CXX": "false"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "python3-dev" in done.stderr
    assert "KBNF_PURE=1" in done.stderr


def run_in(folder: Path, environment: dict[str, str], *arguments: object) -> str:
    """Run a program, which must succeed, and return what it prints."""
    done = subprocess.run(
        list(map(str, arguments)),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with what `python -m build` makes: an archive, and of it a wheel."""
    pytest.importorskip("build", reason="build is not installed")
    folder = tmp_path_factory.mktemp("build")
    shutil.copytree(ROOT, folder / "copy", ignore=LEFT_OUT)
    run_in(
        folder / "copy", dict(os.environ), sys.executable, "-m", "build", "-o", folder, "."
    )  # fmt: skip
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["*.whl", "*.tar.gz"])
def test_it_installs_with_its_engine_where_no_compiler_is_found(
    distributions: Path, pattern: str, tmp_path: Path
) -> None:
    (archive,) = distributions.glob(pattern)
    venv.create(tmp_path / "venv", with_pip=True)
    environment = {**os.environ, "PATH": "/nonexistent"}
    environment.pop("CXX", None)
    python = tmp_path / "venv/bin/python"
    run_in(tmp_path, environment, python, "-m", "pip", "install", "-q", archive)
    shown = run_in(tmp_path, environment, tmp_path / "venv/bin/kbnf", "mask", "json", "--text", "[")
    assert "status      ongoing" in shown


@pytest.mark.slow
def test_wheels_are_built_for_these_systems() -> None:
    pytest.importorskip("cibuildwheel", reason="cibuildwheel is not installed")
    made: list[str] = []
    for system in ("linux", "macos", "windows"):
        asked = ("--platform", system, "--print-build-identifiers", ".")
        made += run_in(
            ROOT, dict(os.environ), sys.executable, "-m", "cibuildwheel", *asked
        ).split()  # fmt: skip
    assert {name.partition("-")[2] for name in made} >= {"macosx_arm64", "win_amd64"}
    assert {name.partition("-")[0] for name in made} == {"cp311", "cp312", "cp313", "cp314"}
    assert not [name for name in made if "musl" in name or name.endswith("win32")]


def test_a_kernel_is_translated_again_only_where_a_file_of_it_changed(
    backend: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("setup.py").touch()
    for name in backend.KERNELS:
        file = Path(f"core/kbnf_core/{name.replace('.', '/')}.pyx")
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f"{file.stem}.pxi")
        part.touch()
        file.write_text(f'include "{part.name}"\n')
    translations: list[str] = []

    def translate(kernels: list[Any], build_dir: str, **_: object) -> None:
        for each in kernels:
            translations.append(each.name.removeprefix("kbnf_core."))
            file = Path(build_dir, each.sources[0]).with_suffix(".cpp")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()

    def kernels() -> list[Any]:
        made: list[Any] = backend.translated([backend.kernel(name) for name in backend.KERNELS])
        return made

    monkeypatch.setattr(backend, "cythonize", translate)
    first = kernels()
    assert translations == list(backend.KERNELS)
    assert all(Path(source).exists() for each in first for source in each.sources)
    # No other file can make the compiler run again: headers of a NumPy that was just unpacked, say.
    assert not any(Path(name).is_absolute() for each in first for name in each.depends)
    kernels()
    assert translations == list(backend.KERNELS)
    os.utime("core/kbnf_core/kernel/_engine.pxi", (2**40, 2**40))
    kernels()
    assert translations == [*backend.KERNELS, "kernel._engine"]
    # What two modules share is declared in a file that both read.
    Path("core/kbnf_core/kernel/_engine.pxd").touch()
    os.utime("core/kbnf_core/kernel/_engine.pxd", (2**41, 2**41))
    kernels()
    assert translations[-2:] == ["kernel._engine", "kernel._trees"]
