"""Real grammars beside the checkout: what is found in them is what was found before.

``real_files.txt`` has a line for each file: its name and how often each code is found.
``pytest tests/golden/lint --update-golden`` writes it anew; then read the difference.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from kbnf_core import check
from kbnf_core.diagnostics import Severity
from kbnf_core.diagnostics.decode import decode

DATA = Path(__file__).resolve().parents[3] / ".." / "shared" / "data"
FILES = sorted(
    file
    for folder in ("kbnf", "gbnf")
    for file in (DATA / folder).rglob("*")
    if file.suffix in {".kbnf", ".gbnf"}
)

# KBNF's own tests of its parser name their start `S`, and some of them are meant to be refused.
_MEANT_TO_FAIL = ("kbnf/kbnfsyn_", "gbnf/broken/", "gbnf/dialect/")

pytestmark = pytest.mark.skipif(not FILES, reason="the shared data is not beside the checkout")


def _name(file: Path) -> str:
    return file.relative_to(DATA).as_posix()


def _codes(file: Path) -> list[str]:
    source, invalid = decode(file.read_bytes(), file.as_posix())
    found = [invalid] if invalid else check(source.text, file.as_posix())
    return [finding.code for finding in found]


def test_findings_are_those_that_were_looked_at(golden: Callable[[str, str], None]) -> None:
    lines = []
    for file in FILES:
        counts = sorted(Counter(_codes(file)).items())
        shown = ", ".join(f"{code} {count}" for code, count in counts)
        lines.append(f"{_name(file)}: {shown or 'nothing'}\n")
    golden("real_files.txt", "".join(lines))


def test_no_good_file_has_an_error() -> None:
    listed = (Path(__file__).parent / "real_files.txt").read_text(encoding="utf-8").splitlines()
    good = [line for line in listed if not line.startswith(_MEANT_TO_FAIL)]
    assert len(good) > 40
    errors = [line for line in good if f" {Severity.ERROR.name[0]}" in line]
    assert errors == []
