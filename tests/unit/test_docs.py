"""Every block of Python in ``docs/`` prints what it says."""

import doctest
import re
from pathlib import Path

import pytest

from kbnf_testing import hosts

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = sorted(DOCS.rglob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_blocks_print_what_they_say(page: Path) -> None:
    needed = re.match("<!-- needs: (.*)", page.read_text(encoding="utf-8"))
    for name in needed[1].split() if needed else ():
        pytest.importorskip(name, reason=f"{name} is not installed (extra `transformers`)")
    with hosts.forgotten():
        failed, _ = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert not failed
