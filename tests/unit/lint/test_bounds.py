"""What a lint does with a grammar that is too large for it: it stops and says so (I901)."""

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType

import pytest

from kbnf_core import check
from kbnf_core.lint import LintOptions
from kbnf_core.lint.rules import ambiguity as derivations
from kbnf_core.lint.rules import empty_loops, never_entered, never_reached
from kbnf_core.lint.rules import overlaps as common_texts

SUM = "start ::= sum ';'; sum ::= sum '+' sum | 'x';"
ALIKE = "start ::= (#'a.b' | #'a.c' | #'a.d' | #'a.e') ';';"
LOOPS = "start ::= a b c 'x'; a ::= a | 'x'; b ::= b | 'x'; c ::= c | 'x';"
LARGE = "start ::= (#'[a-z]{0,2000}x' | #'[a-z]{0,1999}x') ';';"
LARGE_START = "start ::= #'[a-z]{1,2000}x' | 'y';"


@pytest.mark.parametrize(
    ("module", "bound", "grammar", "code"),
    [
        (derivations, "STEPS", SUM, "I109"),
        (common_texts, "MOST_RESTS", ALIKE, "I108"),
        (empty_loops, "MAX_CYCLES", LOOPS, "W106"),
        (never_entered, "MOST_STATES", "start ::= #'aaa+';", "W304"),
        (never_reached, "MAX_BRANCHES", "start ::= 'ab' | 'b' | 'c';", "W301"),
    ],
)
def test_bound_is_told(
    module: object, bound: str, grammar: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _stopped(grammar) == []
    monkeypatch.setattr(module, bound, 2)
    (message,) = _stopped(grammar)
    assert f"search limit reached for {code}: " in message


@pytest.mark.parametrize(("grammar", "code"), [(LARGE, "W107"), (LARGE_START, "W301")])
def test_parts_that_are_too_large_to_be_compared_are_told(grammar: str, code: str) -> None:
    (message,) = _stopped(grammar)
    assert message == f"search limit reached for {code}: this needs more than 1,000 states"


def _stopped(grammar: str) -> list[str]:
    return [found.message for found in check(grammar) if found.code == "I901"]


def _overlapping(count: int) -> str:
    """Return alternatives with long common texts, most of them too large to be compared."""
    branches = (f"[before{{,{i % 7}}} group] '::' before{{{i // 7}}} last" for i in range(count))
    return (
        '(* kbnf: finish=eos *) before ::= group ":"; last ::= before group | #"[0-9.]+";'
        f'group ::= #"[0-\u202e9A-Fa-f]{{1,4}}"; start ::= {" | ".join(branches)};'
    )


def test_one_bound_at_many_places_is_one_finding() -> None:
    (found,) = (each for each in check(_overlapping(16)) if each.code == "I901")
    assert found.message == "search limit reached for W107: this needs more than 1,000 states"
    assert found.notes == ("the same at 14 more places",)


def test_an_alternative_has_one_finding_however_many_it_overlaps_with() -> None:
    found = [each for each in check(_overlapping(16)) if each.code == "I108"]
    assert len({each.span for each in found}) == len(found) == 15


@pytest.mark.parametrize("work", [0, 10, 100, 1_000, 10_000])
def test_the_work_of_all_lints_has_one_bound(work: int) -> None:
    grammar = _overlapping(8)
    found = check(grammar, options=LintOptions(work=work))
    (stopped,) = (each for each in found if each.code == "I901")
    assert f"the lints take more than {work:,} steps together" in str(stopped)
    assert "I108" in stopped.message
    assert {each.code for each in found} <= {each.code for each in check(grammar)} | {"I901"}


def test_the_time_of_all_lints_has_a_bound() -> None:
    (found,) = check(_overlapping(8), options=LintOptions(seconds=-1.0))
    assert found.message.startswith("search limit reached for E502, I108, ")
    assert found.message.endswith(": the lints take more than -1 seconds together")


def test_work_beyond_the_bound_is_not_done() -> None:
    options = LintOptions(work=20_000)
    few, many = (_calls(partial(check, _overlapping(n), options=options)) for n in (32, 64))
    assert many < 2.2 * few


def _rules(count: int, body: str) -> str:
    return "".join(f"r{i} ::= {body.format(i + 1)};\n" for i in range(count))


SHAPES: dict[str, Callable[[int], str]] = {
    "chain": lambda n: f"start ::= r0;{_rules(n, chr(39) + ' ' + chr(39) + '* r{}')}r{n} ::= 'x';",
    "unused": lambda n: f"start ::= 'x';{_rules(n, 'r{}')}r{n} ::= 'x';",
    "endless": lambda n: f"start ::= 'x' | r0;{_rules(n, 'r{}')}r{n} ::= 'x' r{n};",
    "alternatives": lambda n: (
        f"start ::= {' | '.join(f'{i:x}'.join(chr(39) * 2) for i in range(n))};"
    ),
    "calls": lambda n: (
        f"start ::= {' | '.join(f'r{i}' for i in range(n))};{_rules(n, '#[(] start')}r{n} ::= 'x';"
    ).replace("#[(]", "'('"),
    "empty loops": lambda n: f"start ::= r0 'x';{_rules(n, '(r{}?)*')}r{n} ::= 'x';",
    "silenced": lambda n: "start ::= 'x'\n" + " (* kbnf: ignore[W302] *) ' '*\n" * n + ";",
    "twice": lambda n: f"start ::= {' | '.join(['#[a]'] * n)};".replace("#[a]", "#'[ab]'"),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_work_grows_with_the_grammar_only(shape: str) -> None:
    few, many = (_calls(partial(check, SHAPES[shape](n))) for n in (100, 200))
    assert many < 2.6 * few


def _calls(act: Callable[[], object]) -> int:
    """Count the calls of functions while ``act`` runs: work that is the same every time."""
    act()
    count = 0

    def note(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count
