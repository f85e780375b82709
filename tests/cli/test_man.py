"""The man pages: current, free of warnings, and right in what they show."""

import re
import shutil
import subprocess
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from kbnf_cli.config import KEYS
from kbnf_cli.options import TOPICS
from kbnf_core import __version__
from kbnf_core.kbnf.read import parse_kbnf
from kbnf_core.text.source import Source

FOLDER = Path(__file__).resolve().parents[2] / "man"
PAGES = sorted(FOLDER.glob("*.[157]"))
REGENERATE = "run: .venv/bin/python man/generate.py"


def generator() -> ModuleType:
    spec = spec_from_file_location("generate_man_pages", FOLDER / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_are_current() -> None:
    made = generator().pages()
    by_hand = {"kbnf.5", "kbnf-limits.7"}
    names = {path.name for path in PAGES} - by_hand
    written = {name: (FOLDER / name).read_text(encoding="utf-8") for name in names}
    assert written == made, REGENERATE


def test_headings_name_the_version() -> None:
    heads = [path.read_text(encoding="utf-8").partition("\n")[0] for path in PAGES]
    assert [head for head in heads if f'"kbnf\\-toolkit {__version__}"' not in head] == []


def test_every_part_belongs_to_a_page() -> None:
    parts = {path.stem for path in (FOLDER / "parts").glob("*.roff")}
    assert parts <= {path.stem for path in PAGES}, REGENERATE


def checkers() -> list[list[str]]:
    """Return the commands on this machine that read a page and complain."""
    known = [["groff", "-man", "-ww", "-z", "-Tutf8"], ["mandoc", "-Tlint", "-Wwarning"]]
    return [command for command in known if shutil.which(command[0])]


@pytest.mark.skipif(not checkers(), reason="needs groff (package groff-base) or mandoc")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_render_without_warnings(page: Path) -> None:
    for command in checkers():
        done = subprocess.run(
            [*command, page], capture_output=True, text=True, check=False, timeout=60
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def examples_in(page: Path) -> list[str]:
    """Return the examples of a page, as a reader sees them."""
    blocks = re.findall(r"^\.EX\n(.*?)^\.EE$", page.read_text(encoding="utf-8"), re.M | re.S)
    signs = {"\\e": "\\", "\\-": "-", "\\(aq": "'"}
    return [re.sub(r"\\(?:e|-|\(aq)", lambda sign: signs[sign[0]], block) for block in blocks]


def test_examples_of_the_language_are_legal() -> None:
    examples = examples_in(FOLDER / "kbnf.5")
    assert len(examples) >= 2
    for example in examples:
        assert parse_kbnf(Source(example)).diagnostics == ()


def test_every_key_of_the_configuration_is_described() -> None:
    text = (FOLDER / "kbnf-check.1").read_text(encoding="utf-8").replace("\\-", "-")
    _, _, rest = text.partition(".SH CONFIGURATION")
    described = set(re.findall(r"[a-z][a-z-]+", rest.partition(".SH ACCEPTING")[0]))
    for topic in TOPICS:
        page = (FOLDER / f"kbnf-{topic}.7").read_text(encoding="utf-8").replace("\\-", "-")
        described |= set(re.findall(r"(?<=--)[a-z-]+", page))
    assert set(KEYS) <= described
