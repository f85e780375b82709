"""What an artifact has of its text, so that nobody need read it again."""

import random
from pathlib import Path

import numpy as np
import pytest

import kbnf_core.grammar
from kbnf_core import (
    ArtifactError,
    Engine,
    Grammar,
    Vocabulary,
    compile_artifact,
    load_artifact,
)
from kbnf_core.artifact.reading import pack_reading
from kbnf_core.container import read_container
from kbnf_core.languages import LANGUAGES, named
from kbnf_testing.artifact_faults import rewrite

PIECES = [bytes([i]) for i in range(256)] + [b'{"', b'": ', b'", "', b"null", b"ab", b"abc"]
VOCABULARY = Vocabulary(dict(enumerate(PIECES)), eos_token_id=len(PIECES))

TEXTS = {
    "KBNF": """start ::= item {"," item};
        item ::= #'[a-z]+' | "(" start ")" | except!("x", 3) "x";""",
    "GBNF": 'root ::= "a" root | [b-d]{2,40} .',
    "Lark": 'start: (WORD | "x")+\nWORD: /[a-z]+/\n%ignore " "',
    "BNF": "<start>::=<word>\n<word>::=<any!>|<except!('a')><word>|'é'",
    "ABNF": 'start = 1*(%x61-7A / "," start)',
    "ANTLR": "grammar T; start : (WORD | ',' start)+ EOF; WORD : [a-z]+;",
    "EBNF": "start ::= ( [a-z]+ | ',' start )+",
    "Tree sitter": (
        '{"name": "t", "rules": {"start": {"type": "REPEAT1", "content": {"type": "SYMBOL",'
        ' "name": "word"}}, "word": {"type": "PATTERN", "value": "[a-z]+"}}}'
    ),
    "regex": "(ab|c{2,5})+",
}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^[a-z]+$"}}}


def read(name: str) -> Grammar:
    language = named(name)
    assert language is not None
    return Grammar.read(TEXTS[name], language, lossy=True, vocabulary=VOCABULARY, path="a text")


def stored(grammar: Grammar, folder: Path) -> Grammar:
    compile_artifact(grammar, VOCABULARY, folder / "a.kbnfc")
    return load_artifact(folder / "a.kbnfc")


def same_masks(one: Grammar, other: Grammar, texts: int = 8) -> None:
    """Compare the masks along random texts."""
    rng = random.Random(7)
    for _ in range(texts):
        engines = Engine(one, VOCABULARY, ahead=False), Engine(other, VOCABULARY, ahead=False)
        for _ in range(30):
            for engine in engines:
                engine.compute_allowed_token_ids()
            ids, others = (e.get_allowed_token_ids_from_last_computation() for e in engines)
            assert ids == others
            if not ids or engines[0].is_finished():
                break
            token = rng.choice(ids)
            for engine in engines:
                engine.try_accept_new_token(token)


def test_the_languages_with_rules_are_all_here() -> None:
    without = {"JSON Schema", "Tool list", "Response template", "Structural tag", "choice"}
    assert {each.name for each in LANGUAGES} - without == TEXTS.keys()


@pytest.mark.parametrize("name", TEXTS)
def test_what_commands_ask_is_there_without_reading_the_text(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grammar = read(name)
    twin = stored(grammar, tmp_path)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the text was read")

    monkeypatch.setattr(kbnf_core.grammar, "read_grammar", refuse)
    assert twin.source.text == grammar.source.text
    assert (twin.language, twin.start, twin.finish) == (
        grammar.language,
        grammar.start,
        grammar.finish,
    )
    assert twin.to_kbnf() == grammar.to_kbnf()
    assert [str(each) for each in twin.losses] == [str(each) for each in grammar.losses]
    assert [str(each) for each in twin.diagnostics] == [str(each) for each in grammar.diagnostics]
    assert (twin.is_endless, dict(twin.names)) == (False, dict(grammar.names))
    engine, other = Engine(grammar, VOCABULARY), Engine(twin, VOCABULARY)
    assert str(other.why(b"!!")) == str(engine.why(b"!!"))
    text = engine.shortest_completion().data or b""
    assert list(twin.parse(text).events()) == list(grammar.parse(text).events())
    assert str(other.sample(random.Random(1))) == str(engine.sample(random.Random(1)))
    same_masks(grammar, twin, 2)


WITHOUT_RULES = {
    "schema": lambda: Grammar.from_json_schema(SCHEMA),
    "tools": lambda: Grammar.from_tools([{"name": "f", "parameters": SCHEMA}]),
    "tag": lambda: Grammar.from_structural_tag(
        {"type": "structural_tag", "format": {"type": "json_schema", "json_schema": SCHEMA}}
    ),
    "choice": lambda: Grammar.from_choice(["one", "two"]),
}


@pytest.mark.parametrize("name", WITHOUT_RULES)
def test_what_is_asked_of_a_text_without_rules_is_there_too(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grammar = WITHOUT_RULES[name]()
    twin = stored(grammar, tmp_path)
    (tmp_path / "again").mkdir()
    again = stored(twin, tmp_path / "again")

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the text was read")

    data = Engine(grammar, VOCABULARY).shortest_completion().data or b""
    sample = Engine(grammar, VOCABULARY).sample(random.Random(1))
    value = None if name == "choice" else grammar.read_value(data)
    monkeypatch.setattr(kbnf_core.grammar, "read_grammar", refuse)
    monkeypatch.setattr(kbnf_core.kbnf.read, "parse_kbnf", refuse)
    for loaded in (twin, again):
        assert loaded.to_kbnf() == grammar.to_kbnf()
        assert loaded.parse(data).data == data
        assert name == "choice" or loaded.read_value(data) == value
        engine = Engine(loaded, VOCABULARY)
        assert not engine.why(b"!!").allowed
        assert str(engine.sample(random.Random(1))) == str(sample)
        same_masks(grammar, loaded, 1)


@pytest.mark.parametrize("name", TEXTS)
def test_rules_come_back_the_same(name: str, tmp_path: Path) -> None:
    grammar = read(name)
    before = pack_reading(grammar, grammar.source)
    after = pack_reading(stored(grammar, tmp_path), grammar.source)
    assert before.keys() == after.keys()
    for each, array in before.items():
        np.testing.assert_array_equal(array, after[each], each)


def test_a_schema_has_its_losses(tmp_path: Path) -> None:
    grammar = Grammar.from_json_schema(
        {"type": "array", "uniqueItems": True, "items": SCHEMA}, lossy=True
    )
    twin = stored(grammar, tmp_path)
    assert [each.message for each in twin.losses] == [each.message for each in grammar.losses]
    assert "reading" not in twin.__dict__
    same_masks(grammar, twin, 2)


@pytest.mark.parametrize("about", [b"", b"[]", b"{}", b'{"losses": 3}', b'{"rules": {"a": 99}}'])
def test_a_forged_text_is_one_error(about: bytes, tmp_path: Path) -> None:
    grammar = stored(read("KBNF"), tmp_path)
    rewrite(tmp_path / "a.kbnfc", {"about": np.frombuffer(about or b"x", np.uint8)})
    grammar = load_artifact(tmp_path / "a.kbnfc")
    with pytest.raises(ArtifactError, match="what it says of its text is damaged"):
        _ = grammar.losses, grammar.rules


@pytest.mark.parametrize("column", range(5))
@pytest.mark.parametrize("value", [-2, 10**6])
def test_a_forged_node_is_refused_or_harmless(column: int, value: int, tmp_path: Path) -> None:
    stored(read("KBNF"), tmp_path)
    nodes = read_container(tmp_path / "a.kbnfc")[0]["rule.nodes"].copy()
    for row in range(len(nodes)):
        forged = nodes.copy()
        forged[row, column] = value
        rewrite(tmp_path / "a.kbnfc", {"rule.nodes": forged})
        try:
            load_artifact(tmp_path / "a.kbnfc").rules  # noqa: B018 - made when asked for
        except ArtifactError:
            continue


def test_an_alternative_without_words_is_kept(tmp_path: Path) -> None:
    grammar = Grammar.from_bnf('<start>::=<x>|"b"<y>\n<x>::="a"\n<y>::="d"|""')
    compile_artifact(grammar, None, tmp_path / "a.kbnfc")
    loaded = load_artifact(tmp_path / "a.kbnfc")
    assert loaded.rules.rules.keys() == grammar.rules.rules.keys()
    engine = Engine(loaded, Vocabulary.bytes())
    engine.try_accept_new_bytes(b"bd")
    assert engine.is_finished()
    assert loaded.source.text == grammar.source.text
