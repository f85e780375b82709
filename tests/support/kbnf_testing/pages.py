"""Pages of documentation whose blocks are run, and brought up to date.

``PYTHONPATH=tests/support python -m kbnf_testing.pages docs/PAGE.md...`` writes what their commands
print today into them.

In the order of the page, a block with ``title="FILE"`` writes that file, and one of ``console``
runs the commands after ``$``, all in one empty folder, in an environment with what the page itself
installs. Its ``>>>`` are a doctest of the page.
A line ``<!-- needs: MODULE... -->`` right before a block of ``console`` names what it needs: where
that is not installed, the block is left as it is.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from kbnf_testing import page_environment

ROOT = Path(__file__).resolve().parents[3]
_FENCED = re.compile(
    r'(?:^<!-- needs: ([^\n]*) -->\n)?^```(\w*)(?: title="([^"]+)")?\n(.*?)^```$',
    re.MULTILINE | re.DOTALL,
)
_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: what it needs, its language, the file that it is, its text, its place."""

    needs: str | None
    language: str
    title: str | None
    text: str
    start: int
    end: int


def blocks(page: str) -> Iterator[Block]:
    """Yield the fenced blocks of a page."""
    for found in _FENCED.finditer(page):
        yield Block(found[1], found[2], found[3], found[4], *found.span(4))


def documentation() -> list[Path]:
    """Return the pages of ``docs/``, without those of packages of npm that are installed there."""
    pages = (ROOT / "docs").rglob("*.md")
    return sorted(page for page in pages if "node_modules" not in page.parts)


def recipe(title: str) -> str:
    """Return a grammar of the page of recipes."""
    page = (ROOT / "docs/recipes.md").read_text(encoding="utf-8")
    [found] = [block.text for block in blocks(page) if block.title == title]
    return found


def missing(page: str) -> list[str]:
    """Return the modules that blocks of a page need and that are not installed."""
    named = (name for block in blocks(page) for name in (block.needs or "").split())
    return sorted({name for name in named if find_spec(name) is None})


def rerun(page: str, folder: Path) -> str:
    """Return the page with what its commands print in ``folder``, where its files are written."""
    environment = environment_of(folder, page)
    work = folder / "work"
    work.mkdir()
    out, end = [], 0
    for block in blocks(page):
        out.append(page[end : block.start])
        end = block.end
        _write_file(block, work)
        out.append(_transcript(block, work, environment))
    return "".join([*out, page[end:]])


def write_files(page: str, folder: Path) -> None:
    """Write the files of a page; of those with one name the last stays."""
    for block in blocks(page):
        _write_file(block, folder)


def run(command: str, work: Path, environment: dict[str, str]) -> tuple[int, str]:
    """Return the exit status of a command, and all that it printed."""
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=work,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=_SECONDS,
    )
    lines = (line.rstrip() for line in done.stdout.rstrip().lstrip("\n").splitlines())
    return done.returncode, "".join(f"{line}\n" for line in lines)


def _write_file(block: Block, folder: Path) -> None:
    if block.title is not None:
        file = folder / block.title
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(block.text, encoding="utf-8")


def _transcript(block: Block, work: Path, environment: dict[str, str]) -> str:
    needed = (block.needs or "").split()
    if block.language != "console" or not all(map(find_spec, needed)):
        return block.text
    commands = [line for line in block.text.splitlines() if line.startswith("$ ")]
    return "".join(f"{line}\n{run(line[2:], work, environment)[1]}" for line in commands)


def environment_of(folder: Path, page: str) -> dict[str, str]:
    """Return an environment that has what a page installs; ``kbnf`` prints 80 columns in it."""
    commands = page_environment.make(folder / "venv", page)
    path = f"{commands}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "COLUMNS": "80", "NO_COLOR": "1"}


def main() -> None:
    """Bring the pages up to date."""
    for name in sys.argv[1:]:
        page = Path(name)
        with tempfile.TemporaryDirectory() as folder:
            text = rerun(page.read_text(encoding="utf-8"), Path(folder))
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
