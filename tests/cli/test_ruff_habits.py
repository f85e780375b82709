"""The table of docs/check.md: what it says of ``kbnf``, and of ruff where that is installed."""

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kbnf_testing.command import Kbnf, Write

PAGE = Path(__file__).resolve().parents[2] / "docs" / "check.md"
ROW = re.compile(r"\| `(ruff [^`]*)` \| `(kbnf [^`]*)` \| (\d) \| (?:`([^`]*)`)? ?\|")
ROWS = [
    match.groups() for match in map(ROW.fullmatch, PAGE.read_text("utf-8").splitlines()) if match
]
LINES = sum(line.startswith("| `") for line in PAGE.read_text("utf-8").splitlines())

FILES = {
    "kbnf": ("start::=missing;\n", "start ::= 'a' | 'a';\n", 'start ::= "a";\n'),
    "py": ("print( missing)\n", "import os\n", "A = 1\n"),
}


@pytest.fixture
def tree(write: Write) -> Callable[[str], None]:
    def make(extension: str) -> None:
        for name, text in zip(("a", "b", "sub/c"), FILES[extension], strict=True):
            write(f"{name}.{extension}", text)
        write(f"node_modules/d.{extension}", FILES[extension][2])
        write("other.toml", "")
        Path("empty").mkdir()

    return make


def test_every_line_is_run() -> None:
    assert len(ROWS) == LINES > 30


@pytest.mark.parametrize(("_ruff", "command", "status", "shown"), ROWS)
def test_kbnf_does(
    kbnf: Kbnf,
    tree: Callable[[str], None],
    _ruff: str,
    command: str,
    status: str,
    shown: str | None,
) -> None:
    tree("kbnf")
    result = kbnf(*shlex.split(command)[1:])
    assert result.status == int(status), result.stderr
    assert (shown or "") in result.out + result.stderr


RUFF = shutil.which("ruff", path=Path(sys.executable).parent) or shutil.which("ruff")


@pytest.mark.skipif(RUFF is None, reason="ruff is not installed (extra `dev`)")
@pytest.mark.parametrize(("command", "_kbnf", "status", "_shown"), ROWS)
def test_so_does_ruff(
    tree: Callable[[str], None], command: str, _kbnf: str, status: str, _shown: str | None
) -> None:
    tree("py")
    assert RUFF is not None
    done = subprocess.run([RUFF, *shlex.split(command)[1:]], capture_output=True, check=False)
    assert done.returncode == int(status), done.stderr.decode()
