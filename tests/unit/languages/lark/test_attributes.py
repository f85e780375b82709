"""Attributes of rules in LLGuidance's grammars: captures, temperatures, and tokens to the most."""

from pathlib import Path

import pytest

from kbnf_core import Engine, Grammar, Vocabulary, compile_artifact, load_artifact
from kbnf_core.convert import convert
from kbnf_core.text.errors import ConfigError, GrammarError

HEAD = "%llguidance {}\n"


def engine(text: str) -> Engine:
    return Engine(Grammar.read(HEAD + text, "lark", lossy=True), Vocabulary.bytes())


def takes(text: str, data: bytes) -> bool:
    return engine(text).grammar.status(data) == "fits"


def test_captures_have_names() -> None:
    found = engine('start: m "1" n\nm[capture="c"]: /[a-z]{2}/\nn[capture="c"]: "z" | m\n')
    found.try_accept_new_bytes(b"aa1bc")
    assert found.captures("c") == [b"aa", b"bc", b"bc"]
    assert found.captures("m") == [b"aa", b"bc"]
    with pytest.raises(ConfigError):
        found.captures("d")


def test_temperatures_are_for_the_caller() -> None:
    found = engine('start: m "1" n\nm[temperature=0.5]: /[a-z]{2}/\nn[temperature=0.9]: "z"\n')
    seen = []
    for byte in b"aa1":
        seen.append(found.temperature)
        found.try_accept_new_bytes(bytes((byte,)))
    assert [*seen, found.temperature] == [0.5, 0.5, None, 0.9]
    assert engine('start: "a"\n').temperature is None


@pytest.mark.parametrize("attribute", ['temperature="hot"', "temperature", 'max_tokens="a"'])
def test_a_number_is_needed(attribute: str) -> None:
    with pytest.raises(GrammarError, match="needs a number"):
        engine(f"start: m\nm[{attribute}]: /[a-z]/\n")


def test_conversions_lose_both() -> None:
    text = HEAD + 'start: m n\nm[temperature=0.5]: /[a-z]{2}/\nn[capture="c"]: "z"\n'
    assert [each.code for each in convert(text, "lark").losses] == ["W422", "W422"]
    assert Grammar.read(text, "lark").losses == ()


@pytest.mark.parametrize("data", [b"x", b"ax", b"abcdefx"])
def test_what_is_cut_off_may_end_anywhere(data: bytes) -> None:
    assert takes('start: m "x"\nm[max_tokens=3]: /[a-z]*/\n', data)


def test_what_is_cut_off_has_begun() -> None:
    text = 'start: m "1"\nm[max_tokens=3, suffix="!"]: /[a-z]+/\n'
    assert [takes(text, each) for each in (b"1", b"a1", b"ab!1")] == [False, True, True]


def test_any_token() -> None:
    found = engine('start: <[*]> "x"\n')
    found.compute_allowed_token_ids()
    assert len(found.get_allowed_token_ids_from_last_computation()) == 257


def test_names_of_languages() -> None:
    assert Grammar.read("a*", "regex").status(b"aa") == "fits"
    with pytest.raises(ConfigError, match="no language 'larc'"):
        Grammar.read("start: A", "larc")


def test_artifacts_keep_them(tmp_path: Path) -> None:
    text = HEAD + 'start: m n\nm[temperature=0.5]: /[a-z]{2}/\nn[capture="c"]: "z"\n'
    compile_artifact(Grammar.read(text, "lark"), None, tmp_path / "a.kbnfc")
    found = Engine(load_artifact(tmp_path / "a.kbnfc"), Vocabulary.bytes())
    assert found.temperature == 0.5
    found.try_accept_new_bytes(b"aaz")
    assert found.captures("c") == [b"z"]
