"""Engines in processes with limits: whatever one does, the next question is answered."""

import sys
from collections.abc import Iterator

import pytest

from kbnf_core.targets import ENGINE_NAMES, SERVICE_NAMES, process
from kbnf_core.targets.engines import ENGINES, Adapter, TargetEngine
from kbnf_core.targets.exam import Exam, Fault, examine
from kbnf_core.targets.process import (
    Asked,
    EngineAnswer,
    EngineFailedError,
    How,
    NotInstalledError,
    version_of,
)
from kbnf_testing import fake_engine


@pytest.fixture
def asked() -> Iterator[Asked]:
    engine = Asked("llguidance", seconds=0.4, adapter=fake_engine.load)
    yield engine
    engine.close()


def test_a_schema_that_is_taken(asked: Asked) -> None:
    assert asked.compile("{}").how is How.TAKES
    assert asked.reads("[1]") is None
    assert asked.reads("[") == 0
    assert asked.accepts("[1]")
    assert not asked.accepts("[")


def test_an_engine_that_is_killed_is_an_answer_and_is_replaced(asked: Asked) -> None:
    answer = asked.compile('{"title": "kill"}')
    assert answer.how is How.CRASHES
    assert answer.words == "it ended its process with SIGKILL: these were its last words"
    assert asked.compile("{}").how is How.TAKES


def test_an_engine_that_sleeps_is_an_answer_and_is_replaced(asked: Asked) -> None:
    assert asked.compile('{"title": "sleep"}') == EngineAnswer(How.HANGS, "no answer within 0.4 s")
    assert asked.compile("{}").how is How.TAKES


def test_a_part_that_sleeps_ends_sooner_than_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LEAST_SECONDS", 0.2)
    asked = Asked("llguidance", seconds=60, adapter=fake_engine.load)
    try:
        whole = asked.compile("{}")
        with asked.parts_of(whole):
            answer = asked.compile('{"title": "sleep"}')
        assert answer.how is How.HANGS
        assert float(answer.words.split()[-2]) < 10
        with asked.parts_of(EngineAnswer(How.HANGS)):
            assert asked.compile("{}").how is How.TAKES
    finally:
        asked.close()


def test_texts_are_asked_about_again_in_a_new_process(asked: Asked) -> None:
    asked.compile("{}")
    asked.close()
    assert asked.reads("[1]") is None


def test_what_breaks_while_it_reads(asked: Asked) -> None:
    asked.compile('{"title": "broken"}')
    with pytest.raises(EngineFailedError, match="something is wrong inside"):
        asked.reads("1")
    assert not asked.accepts("1")
    asked.compile('{"title": "kill"}')
    with pytest.raises(EngineFailedError, match="nothing is compiled"):
        asked.reads("1")


@pytest.mark.parametrize(
    ("word", "said"),
    [("kill", "it crashes: it ended its process"), ("sleep", "it hangs: no answer")],
)
def test_crashes_and_hangs_are_findings(asked: Asked, word: str, said: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": word}}}
    result = examine(Exam(schema), asked)
    assert result.verdict == "refuses"
    [finding] = result.findings
    assert (finding.fault, finding.pointer) == (Fault.REFUSES, "/properties/a/pattern")
    assert finding.words.startswith(said)


def test_a_part_that_is_late_is_not_refused_for_that(asked: Asked) -> None:
    patterns = {"a": {"type": "string", "pattern": "(?=x)"}, "b": {"pattern": "sleep"}}
    result = examine(Exam({"type": "object", "properties": patterns}), asked)
    assert [each.pointer for each in result.findings] == ["/properties/a/pattern"]


def test_the_memory_of_an_engine_is_bounded() -> None:
    pytest.importorskip("llguidance")
    if not sys.platform.startswith("linux"):
        pytest.skip("the size of a process is read from /proc")
    asked = Asked("llguidance", memory=1 << 20)
    try:
        items = {f"name{number}": {"enum": ["x" * 200, number]} for number in range(20_000)}
        answer = asked.compile(str({"properties": items}).replace("'", '"'))
        assert answer.how is not How.TAKES
    finally:
        asked.close()


def test_an_engine_that_cannot_be_loaded_is_an_error() -> None:
    asked = Asked("llguidance", adapter=fake_engine.load_none)
    with pytest.raises(NotInstalledError, match=r"llguidance cannot be loaded: no such engine"):
        asked.compile("{}")
    asked = Asked("llguidance", adapter=fake_engine.killed_while_loading)
    with pytest.raises(NotInstalledError, match=r"with SIGKILL: out of memory"):
        asked.compile("{}")


def _no_adapter() -> Adapter:
    raise AssertionError("nothing is loaded here")


def test_an_engine_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = TargetEngine("none", (("no_such_module", "none"),), "none", "", None, _no_adapter)
    monkeypatch.setattr(process, "ENGINES", {"none": engine})
    with pytest.raises(NotInstalledError, match=r"pip install '\.\[none\]'"):
        version_of("none")


def test_names_of_options_are_those_of_the_engines() -> None:
    from kbnf_core.languages.json_schema import Service

    assert tuple(ENGINES) == ENGINE_NAMES
    assert tuple(service.value for service in Service) == SERVICE_NAMES
