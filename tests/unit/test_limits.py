"""Every limit from both sides, and the man page that lists them all."""

import re
from collections.abc import Callable, Iterable
from dataclasses import Field, fields, replace
from pathlib import Path

import pytest

from kbnf_core import Engine, EngineError, Finish, Grammar, GrammarError, Limits, Vocabulary, check
from kbnf_core.languages.json_schema import SchemaLimits
from kbnf_core.mask import completion
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import WorkLimitError

PAGE = Path(__file__).resolve().parents[2] / "man" / "kbnf-limits.7"

NESTED = "('a' | 'b' 'c')"


def listed(section: str) -> dict[str, int | None]:
    """Return the names and defaults that a section of the man page gives."""
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(f"\n.SH {section}\n")
    rows = re.findall(
        r'^\.BR (\w+) " \(([\d,]+|none)\)"$', rest.partition("\n.SH ")[0], re.MULTILINE
    )
    return {
        name: None if default == "none" else int(default.replace(",", "")) for name, default in rows
    }


def defaults(of: Iterable[Field[object]]) -> dict[str, object]:
    return {field.name: field.default for field in of}


def test_the_page_lists_every_limit_with_its_default() -> None:
    assert listed("LIMITS") == defaults(fields(Limits))
    assert listed("LIMITS OF JSON SCHEMA") == defaults(fields(SchemaLimits))


@pytest.mark.parametrize(
    ("limits", "passes", "fails", "code"),
    [
        (Limits(nesting_depth=3), "((('a')))", "(((('a'))))", "E012"),
        (Limits(nesting_depth=3), "#'(((a)))'", "#'((((a))))'", "E201"),
        (Limits(repetition=5), "'a'{5}", "'a'{6}", "E013"),
        (Limits(repetition=5), "#'a{5}'", "#'a{6}'", "E203"),
        (Limits(exception_length=5), "except!('x', 5)", "except!('x', 6)", "E014"),
        (Limits(regex_states=50), "#'a{20}'", "#'a{50}'", "E203"),
        (Limits(grammar_states=50), "except!('x', 40)", "except!('x', 60)", "E203"),
    ],
)
def test_check_reports_what_passes_a_limit(
    limits: Limits, passes: str, fails: str, code: str
) -> None:
    assert codes(passes, limits) == []
    assert codes(fails, limits) == [code]


def codes(body: str, limits: Limits) -> list[str]:
    found = check(f"start ::= {body} ';';", limits=limits, finish=Finish.EOS)
    return [each.code for each in found if each.code[0] == "E"]


def test_a_build_reports_too_many_states() -> None:
    text = "start ::= x '.' x; x ::= 'a' x 'b' | 'c';"
    exact = Grammar(text).tables.state_count
    # Before anything is merged there are some more.
    smallest = first(lambda most: builds(text, Limits(grammar_states=most)), exact)
    assert builds(text, Limits(grammar_states=smallest))
    with pytest.raises(GrammarError, match="E106"):
        _ = Grammar(text, limits=Limits(grammar_states=smallest - 1)).tables


@pytest.mark.parametrize("part", ["a", "start"])
def test_work_is_reported_with_the_guilty_rule(part: str) -> None:
    bodies = {"start": "a '.'", "a": "'x' a | 'y'"}
    bodies[part] += " 'z'" * 400
    text = "".join(f"{name} ::= {body};\n" for name, body in bodies.items())
    smallest = first(lambda work: builds(text, Limits(work=work)), 1)
    assert builds(text, Limits(work=smallest))
    # Reading takes less than building; just below what reading takes `check` tells as well.
    reading = first(lambda work: not codes_at(text, work), 1)
    (found,) = check(text, limits=Limits(work=reading - 1))
    assert found.code == "E107"
    assert "`Limits.work`" in found.helps[0]
    with pytest.raises(GrammarError) as caught:
        _ = Grammar(text, limits=Limits(work=smallest - 1)).tables
    (finding,) = caught.value.diagnostics
    assert finding.code == "E107"
    assert text[finding.span.start : finding.span.end] in bodies


def test_a_rule_that_takes_nearly_all_work_is_the_guilty_one() -> None:
    large = " ".join(["b"] * 500)
    text = f"start ::= small large; small ::= 'a'; large ::= {large}; b ::= 'b' b 'c' | 'd';"
    with pytest.raises(GrammarError) as caught:
        _ = Grammar(text, limits=Limits(work=800)).tables
    (finding,) = caught.value.diagnostics
    assert (finding.code, text[finding.span.start : finding.span.end]) == ("E107", "large")


def test_substrings_of_a_long_text_are_work() -> None:
    text = f"start ::= #substrs'{'abc' * 100}' ';';"
    assert codes_at(text, 16 * 300 + 100) == []
    assert codes_at(text, 16 * 300) == ["E107"]


def codes_at(text: str, work: int) -> list[str]:
    found = check(text, limits=Limits(work=work), finish=Finish.EOS)
    return [each.code for each in found if each.code == "E107"]


def builds(text: str, limits: Limits) -> bool:
    try:
        _ = Grammar(text, limits=limits).tables
    except GrammarError:
        return False
    return True


def first(holds: Callable[[int], bool], low: int) -> int:
    """Return the least number from ``low`` on that holds; all larger ones do."""
    high = low
    while not holds(high):
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def test_a_budget_is_used_up_by_one_step_more() -> None:
    budget = Budget(10, "start")
    budget.spend(10)
    assert budget.left == 0
    with pytest.raises(WorkLimitError, match="more than 10 steps of work in `start`"):
        budget.spend()


def test_forced_tokens_and_bytes_end_at_their_limits() -> None:
    engine = Engine("start ::= 'ab'{600};", Vocabulary({0: b"ab"}))
    assert len(engine.forced_tokens()) == 256
    assert len(engine.forced_tokens(limit=599)) == 599
    assert len(engine.forced_tokens(limit=601)) == 600
    assert len(engine.forced_bytes()) == 1_024
    assert len(engine.forced_bytes(limit=1_199)) == 1_199
    assert len(engine.forced_bytes(limit=1_201)) == 1_200


def test_that_no_tokens_end_a_text_is_known_where_texts_have_no_bound() -> None:
    text = """start ::= "bb" | #"[^a]+" start #token"<s>";"""
    vocabulary = Vocabulary({0: b"\x80", 1: b"c", 2: b"abc"}, special_tokens={"<s>": 3})
    found = Engine(text, vocabulary).shortest_completion()
    assert found == completion.Completion(b"bb", None)


def test_a_completion_of_too_many_bytes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert completion.MAX_LENGTH == 65_536
    short = Engine("start ::= 'a'{99} ';';", Vocabulary.bytes())
    monkeypatch.setattr(completion, "MAX_LENGTH", 100)
    assert short.shortest_completion().data == b"a" * 99 + b";"
    monkeypatch.setattr(completion, "MAX_LENGTH", 99)
    with pytest.raises(EngineError, match="takes 100 bytes"):
        short.shortest_completion()


def test_bytes_that_take_long_to_find_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Engine("start ::= 'a'{99} ';';", Vocabulary.bytes())
    monkeypatch.setattr(completion, "MAX_WORK", 100)
    with pytest.raises(EngineError, match="more than 100 steps"):
        engine.shortest_completion()


def test_caches_that_are_small_change_nothing() -> None:
    text = "start ::= '(' start ')' | 'x';"
    small = replace(Limits(), cached_states=1, cached_steps=1, mask_bytes=1)
    engines = [Engine(Grammar(text, limits=each), Vocabulary.bytes()) for each in (small, Limits())]
    for byte in b"((x))":
        masks = []
        for engine in engines:
            engine.try_accept_new_token(byte)
            engine.compute_allowed_token_ids()
            masks.append(sorted(engine.get_allowed_token_ids_from_last_computation()))
        assert masks[0] == masks[1]


def test_what_waits_for_a_completion_is_counted() -> None:
    engine = Engine("start ::= '(' [start] ')';", Vocabulary.bytes(), finish="eos")
    engine.try_accept_new_bytes(b"(" * 50)
    left = engine._automaton.bytes_left
    with pytest.raises(WorkLimitError):
        left.length(engine._position, Budget(50))
    assert left.length(engine._position, Budget(1_000)) == 50
