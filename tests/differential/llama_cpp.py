"""Makes a program of llama.cpp's own parser of GBNF: ``python tests/differential/llama_cpp.py``.

llama.cpp is in the source distribution of llama-cpp-python, of which three files are compiled. It
takes half a minute and a compiler, so nobody needs it: tests that ask llama.cpp are left out
where it is not there. Prints where the program is.
"""

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VERSION = "0.3.36"
_HOME = Path(__file__).resolve().parents[2] / ".peers" / f"llama-cpp-python-{VERSION}"
CHECKER = _HOME / "gbnf-check"
_SOURCES = ("llama-grammar.cpp", "unicode.cpp", "unicode-data.cpp")


def make() -> None:
    """Download, compile, and keep the program only."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        wanted = ["--no-deps", "--no-binary", ":all:", f"llama-cpp-python=={VERSION}"]
        _run([sys.executable, "-m", "pip", "download", "--quiet", *wanted, "-d", folder])
        with tarfile.open(next(here.glob("*.tar.gz"))) as archive:
            archive.extractall(here, filter="data")
        top = next(here.glob("llama_cpp_python-*/vendor/llama.cpp"))
        include = [f"-I{top / part}" for part in ("src", "include", "ggml/include")]
        sources = [str(top / "src" / name) for name in _SOURCES]
        driver = str(Path(__file__).with_name("llama_driver.cpp"))
        _HOME.mkdir(parents=True, exist_ok=True)
        unfinished = _HOME / "gbnf-check.new"
        lean = ["-std=c++17", "-O1", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"]
        _run(["g++", *lean, *include, driver, *sources, "-o", str(unfinished)])
        unfinished.rename(CHECKER)


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=sys.stderr)


if __name__ == "__main__":
    if not CHECKER.exists():
        make()
    sys.stdout.write(f"{CHECKER}\n")
