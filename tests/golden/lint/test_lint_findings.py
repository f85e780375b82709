"""Grammars and what ``check`` says about them, in place: a file for each code that lints report.

A golden file holds cases, divided by lines of ``====``. A line that starts with ``= `` gives an
option, or the name of the file, whose extension tells the language. Lines of the grammar start
with ``| ``. A line that starts with ``! `` marks places in the line above: ``^`` for the finding,
``-`` for its labels, ``>`` for an empty span; notes, helps and fixes follow. Each file has a case
with its code and one without.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from kbnf_core import Vocabulary, check
from kbnf_core.lint import LintOptions
from kbnf_core.text.diagnostics import CATALOGUE, Diagnostic
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import Source, Span

HERE = Path(__file__).parent
FILES = sorted(file.name for file in HERE.glob("*.txt") if not file.name.startswith("real_files"))
DIVIDER = "====\n"

_SYNTAX = HERE.parent / "syntax"

# E009 is about bytes that are no text, E017 about texts too large to keep here; W40x are what
# conversions lose, but for the two that reading GBNF and bnf_sampler's dialect loses; W421 is what
# cutting into lexemes loses, W424 what another lexing than a check's finds; E80x are about JSON
# Schema, x44x about structural tags, E901 and E902 about two grammars, E503 to
# I506 what engines say that are asked: all have tests beside what
# finds them.
_ELSEWHERE = {"E009", "E017", "I309", "W401", "W403", "W404", "W421", "W424", "E901", "E902"}
_ELSEWHERE |= {"E441", "E442", "E443", "W441", "W442", "W443"}
_ELSEWHERE |= {"E503", "W504", "W505", "I506"}
_ELSEWHERE |= {code for code in CATALOGUE if code[1] == "8"}

_ASCII = Vocabulary(
    {value: bytes((value,)) for value in range(128)},
    special_tokens={"<|end|>": 128},
    eos_token_id=128,
    name="ascii",
)
_PAIRS = Vocabulary({0: b"ab", 1: b"c"}, name="pairs")
_OPTIONS = {
    "vocabulary pairs": LintOptions(vocabulary=_PAIRS),
    "vocabulary ascii": LintOptions(vocabulary=_ASCII),
    "target kbnf-0.2": LintOptions(targets=("kbnf-0.2",)),
    "target kbnf-0.4": LintOptions(targets=("kbnf-0.4",)),
    "target llama.cpp": LintOptions(targets=("llama.cpp",)),
    "target llguidance": LintOptions(targets=("llguidance",)),
    "target xgrammar": LintOptions(targets=("xgrammar",)),
    "cost": LintOptions(reports_cost=True),
    "max-states 20": LintOptions(max_states=20),
    "max-mask-work 1000": LintOptions(vocabulary=_ASCII, max_mask_work=1_000),
    "cost ascii": LintOptions(vocabulary=_ASCII, reports_cost=True),
}


def test_every_code_has_a_fixture() -> None:
    names = [file.stem.split("_")[0] for file in (*HERE.glob("*.txt"), *_SYNTAX.glob("*.txt"))]
    assert {name for name in names if name in CATALOGUE} == set(CATALOGUE) - _ELSEWHERE


@pytest.mark.parametrize("name", FILES)
def test_findings(name: str, golden: Callable[[str, str], None]) -> None:
    golden(name, DIVIDER.join(map(_annotated, _cases(name))))


@pytest.mark.parametrize("name", FILES)
def test_fixture_has_a_case_with_the_code_and_one_without(name: str) -> None:
    code = name[:4]
    with_code = [f"{code} " in case for case in _cases(name)]
    assert {True, False} == set(with_code)


def _cases(name: str) -> list[str]:
    return (HERE / name).read_bytes().decode().split(DIVIDER)


def _annotated(case: str) -> str:
    lines = case.split("\n")
    options = [line[2:] for line in lines if line.startswith("= ")]
    names = [option[5:] for option in options if option.startswith("file ")]
    text = "\n".join(line[2:] for line in lines if line.startswith("| "))
    source = Source(text, names[0] if names else "FILE")
    asked = next((_OPTIONS[each] for each in options if each in _OPTIONS), LintOptions())
    limits = Limits(grammar_states=300) if "grammar_states 300" in options else DEFAULT_LIMITS
    findings = check(source.text, source.path, options=asked, limits=limits)
    out = [f"= {option}" for option in options]
    for number in range(1, source.line_count + 1):
        out.append("| " + source.line(number))
        out.extend(f"! {mark}" for each in findings for mark in _marks(source, each, number))
    return "\n".join([*out, ""])


def _marks(source: Source, finding: Diagnostic, number: int) -> Iterable[str]:
    if source.position(finding.span.start).line == number:
        here = f" ({finding.label})" if finding.label else ""
        yield f"{_carets(source, finding.span, '^')} {finding.code} {finding.message}{here}"
        yield from (f"  note: {text}" for text in finding.notes)
        yield from (f"  help: {text}" for text in finding.helps)
        for fix in finding.fixes:
            edits = ", ".join(f"{tuple(e.span)} {e.replacement!r}" for e in fix.edits)
            yield f"  {'fix' if fix.safe else 'unsafe fix'}: {fix.message}: {edits}"
    for label in finding.labels:
        if source.position(label.span.start).line == number:
            yield f"{_carets(source, label.span, '-')} {finding.code}: {label.message}"


def _carets(source: Source, span: Span, mark: str) -> str:
    start = source.position(span.start)
    width = min(span.end, source.line_start(start.line) + len(source.line(start.line))) - span.start
    return " " * (start.column - 1) + (mark * max(width, 1) if span.end > span.start else ">")
