"""Every fix of every finding is applied, over the corpus, the golden files and texts cut from them.

What a fix writes can be read: no error about syntax or a regular expression is in it, and the
finding is gone. A safe fix of a text without errors keeps which texts match.
"""

import random
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from kbnf_core import Grammar, check
from kbnf_core.diff.comparison import Verdict, compare
from kbnf_core.languages import KBNF, language_of
from kbnf_core.text.diagnostics import Diagnostic, Fix, Severity

TESTS = Path(__file__).parents[1]
SMALL = 3_000
MUTANTS = 1_500
WORK = 20_000
"""Steps of a comparison, which then is unknown."""
ODD = (
    *"\"'/i#-(){}*+?|;:!&~%<>$.=,@\\ \n\u201c\u201d",
    *("..", "[a-z]", "::=", 'r"', "\\d", "gr\u00f6\u00dfe", "name:", "/[a-z]+/", '"a"i', "1*"),
    *("except", "//c", "(*", "*)", "''", 'b"x"', '#"[a]"i', '/["]/'),
)
"""Words of other languages, and of half-written ones."""


def _texts() -> Iterator[tuple[str, str | None]]:
    """Yield the small grammars of the tests, each with a file name where it is not KBNF."""
    for file in sorted((TESTS / "corpus").glob("*.toml")):
        for case in tomllib.loads(file.read_text("utf-8")).get("case", []):
            yield case.get("grammar", ""), None
    for file in sorted((TESTS / "golden").glob("[ls]*/[EWI]*.txt")):
        for case in file.read_bytes().decode().split("====\n"):
            lines = case.splitlines(keepends=True)
            named = [line[2:].strip() for line in lines if line.startswith("= ")]
            name = next((each for each in named if language_of(each)), None)
            yield "".join(line[2:] for line in lines if line.startswith("| ")), name
    for file in sorted((TESTS / "data").rglob("*.*")):
        if language_of(file.name) and file.suffix != ".json" and file.stat().st_size < SMALL:
            yield file.read_bytes().decode(errors="replace"), file.name


TEXTS = sorted(set(_texts()), key=repr)


def _mutants(count: int) -> Iterator[tuple[str, str | None]]:
    rng = random.Random(63)
    small = [each for each in TEXTS if 5 < len(each[0]) < 400]
    for _ in range(count):
        text, name = rng.choice(small)
        for _ in range(rng.randint(1, 2)):
            place, end = sorted(rng.choices(range(len(text) + 1), k=2))
            put = rng.choice([rng.choice(ODD), rng.choice(ODD), "", text[end : end + 6]])
            text = text[:place] + put + text[place + (not put) :]
        yield text, name


def _applied(text: str, fix: Fix) -> str:
    for edit in sorted(fix.edits, key=lambda edit: edit.span, reverse=True):
        text = text[: edit.span.start] + edit.replacement + text[edit.span.end :]
    return text


def _fault(
    text: str,
    name: str | None,
    finding: Diagnostic,
    fix: Fix,
    known: set[str],
    codes: tuple[str, ...],
) -> str:
    """Return what is wrong with one fix of one finding; the empty text if nothing is."""
    shift, written = 0, []
    for edit in sorted(fix.edits):
        start = edit.span.start + shift
        written.append(range(start, start + len(edit.replacement)))
        shift += len(edit.replacement) - (edit.span.end - edit.span.start)
    for each in check(_applied(text, fix), name):
        is_syntax = each.code.startswith(codes) and each.span.start < each.span.end
        if is_syntax and each.message not in known and any(each.span.start in w for w in written):
            return f"{each.code} {each.message}"
        if (each.code, each.message, each.span) == (finding.code, finding.message, finding.span):
            return "the finding is still there"
    return ""


def _faults(texts: Iterable[tuple[str, str | None]], *codes: str) -> Iterator[str]:
    """Yield what is wrong with fixes: ``codes`` may not be in what they write."""
    for text, name in texts:
        found = check(text, name)
        known = {each.message for each in found}
        for finding in found:
            for fix in finding.fixes:
                if fault := _fault(text, name, finding, fix, known, codes):
                    yield f"{text!r} ({finding.code}, {fix.message}): {fault}"


def test_what_a_fix_writes_can_be_read() -> None:
    assert list(_faults(TEXTS, "E0", "E2")) == []


@pytest.mark.ci
def test_what_a_fix_writes_in_a_text_with_slips_can_be_read() -> None:
    # A slip inside of a regular expression is reported where it can be read at last.
    assert list(_faults(_mutants(MUTANTS), "E0")) == []


def test_safe_fixes_keep_which_texts_match() -> None:
    compared = 0
    for text, name in TEXTS:
        found = check(text, name)
        if any(each.severity is Severity.ERROR for each in found):
            continue
        for fix in (fix for each in found for fix in each.fixes if fix.safe):
            language = language_of(name) or KBNF
            old, new = (Grammar.read(each, language) for each in (text, _applied(text, fix)))
            difference = compare(old, new, WORK)
            answers = difference.old_only, difference.new_only
            assert not any(each.verdict is Verdict.SOME for each in answers), (text, fix)
            compared += 1
    assert compared > 20
