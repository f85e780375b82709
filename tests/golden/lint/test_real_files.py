"""Real grammars beside the checkout: what is found in them is what was found before.

``real_files.txt`` has a line for each file: its name, how often each rule is found, and below it
the first error of each code; so has ``real_files_slow.txt``, for files that take seconds.
``pytest tests/golden/lint --update-golden`` writes them anew; then read the difference.
"""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from kbnf_core import check
from kbnf_core.languages import EXTENSIONS
from kbnf_core.lint import LintOptions
from kbnf_core.text.diagnostics import Diagnostic, Severity, decode
from kbnf_testing.data import DATA

FILES = {
    file.relative_to(DATA).as_posix(): file
    for file in sorted(DATA.rglob("*"))
    if file.suffix in EXTENSIONS
}
SLOW = {
    *("lark/plain/cel.lark", "lark/plain/interegular_python.lark", "lark/plain/python.lark"),
    *("lark/plain/template_lark.lark", "lark/plain/lark.lark", "lark/llguidance/llg_lark.lark"),
    *("lark/plain/hcl2.lark", "lark/plain/smtlib.lark", "lark/plain/syncode_sql.lark"),
    *("lark/plain/optimade_1_2_0.lark", "lark/plain/fmri_physio.lark"),
}

# KBNF's own tests of its parser name their start `S`, and some of them are meant to be refused;
# what other Lark files import has no start (E102).
_MEANT_TO_FAIL = (
    *("kbnf/kbnfsyn_", "gbnf/broken/", "gbnf/dialect/"),
    *("lark/broken/", "lark/llguidance_broken/", "lark/bundles/lib/"),
    *("lark/bundles/pygeofilter/iso8601", "lark/bundles/templates_import/grammars/"),
)


def _starts() -> dict[str, str]:
    """Return the starts of files that the list of all files names; they are Lark's."""
    manifest = (DATA / "MANIFEST.tsv").read_text(encoding="utf-8")
    return dict(re.findall(r"^(\S+\.lark)\t.*\bstart=(\w+)", manifest, re.MULTILINE))


def _summary(names: set[str]) -> str:
    """Return a line for each file with its findings by rule, and the first error of each code."""
    starts = _starts()
    lines = []
    for name in sorted(names & FILES.keys()):
        source, invalid = decode(FILES[name].read_bytes(), FILES[name].as_posix())
        start = starts.get(name)
        # By work alone: a limit of time would count the load of the machine.
        options = LintOptions(seconds=3600)
        found = (
            [invalid] if invalid else check(source.text, source.path, start=start, options=options)
        )
        counts = sorted(Counter(f"{each.code} {each.rule.name}" for each in found).items())
        shown = ", ".join(f"{rule} {count}" for rule, count in counts)
        lines.append(f"{name}: {shown or 'nothing'}\n")
        lines += _first_errors(found)
    return "".join(lines)


def _first_errors(found: list[Diagnostic]) -> list[str]:
    errors: dict[str, Diagnostic] = {}
    for each in found:
        if each.severity is Severity.ERROR:
            errors.setdefault(each.code, each)
    places = [(each.source.position(each.span.start), each) for each in errors.values()]
    return [f"    {at.line}:{at.column} {each.code} {each.message}\n" for at, each in places]


def test_findings_are_those_that_were_looked_at(golden: Callable[[str, str], None]) -> None:
    golden("real_files.txt", _summary(FILES.keys() - SLOW))


@pytest.mark.slow
def test_findings_in_slow_files(golden: Callable[[str, str], None]) -> None:
    golden("real_files_slow.txt", _summary(SLOW))


def test_no_good_file_has_an_error() -> None:
    stored = ("real_files.txt", "real_files_slow.txt")
    listed = "".join((Path(__file__).parent / name).read_text(encoding="utf-8") for name in stored)
    files = [line for line in listed.splitlines() if not line.startswith(" ")]
    good = [line for line in files if not line.startswith(_MEANT_TO_FAIL)]
    assert len(good) > 100
    assert [line for line in good if re.search(r" E\d\d\d ", line)] == []
