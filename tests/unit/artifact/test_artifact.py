"""Artifacts: what is written comes back, and what is not sound is refused."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file

from kbnf_core import (
    ArtifactError,
    Config,
    Engine,
    Grammar,
    KbnfError,
    Vocabulary,
    VocabularyError,
    compile_artifact,
    load_artifact,
)
from kbnf_core.artifact import FORMAT
from kbnf_core.artifact.read import describe_artifact
from kbnf_core.container import read_container, write_container

JSON = (Path(__file__).resolve().parents[3] / "grammars" / "json.kbnf").read_text(encoding="utf-8")
TEXT = b'{"a": [1, -2.5e3, "x\\u00e9\xc3\xa9", {}], "b": {"c": null, "d": [[], true]}}'
PIECES = [bytes([i]) for i in range(256)] + [
    b'{"',
    b'": ',
    b'", "',
    b"]}",
    b"null",
    b"},",
    b"[[",
    b"12",
]
VOCABULARY = Vocabulary(dict(enumerate(PIECES)), eos_token_id=len(PIECES), name="pieces")


@pytest.fixture
def artifact(tmp_path: Path) -> Path:
    path = tmp_path / "json.kbnfc"
    compile_artifact(JSON, VOCABULARY, path)
    return path


def masks_along(engine: Engine, text: bytes) -> list[list[int]]:
    found = []
    for offset in range(len(text)):
        engine.compute_allowed_token_ids()
        found.append(engine.get_allowed_token_ids_from_last_computation())
        engine.try_accept_new_bytes(text[offset : offset + 1])
    return found


def test_masks_from_an_artifact_equal_those_from_text(artifact: Path) -> None:
    loaded = Engine(load_artifact(artifact), VOCABULARY)
    assert masks_along(loaded, TEXT) == masks_along(Engine(JSON, VOCABULARY), TEXT)


def test_an_artifact_begins_without_walks(artifact: Path) -> None:
    engine = Engine(load_artifact(artifact), VOCABULARY)
    masks_along(engine, TEXT)
    assert engine._course.masks.walk_count == 0


def test_an_artifact_without_vocabulary_serves_any(tmp_path: Path) -> None:
    path = tmp_path / "json.kbnfc"
    compile_artifact(JSON, None, path)
    for vocabulary in (VOCABULARY, Vocabulary.bytes()):
        loaded = Engine(load_artifact(path), vocabulary)
        assert masks_along(loaded, TEXT) == masks_along(Engine(JSON, vocabulary), TEXT)


def test_equal_input_gives_equal_bytes(artifact: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.kbnfc"
    compile_artifact(Grammar(JSON), VOCABULARY, again)
    assert again.read_bytes() == artifact.read_bytes()


def test_another_library_reads_it(artifact: Path) -> None:
    arrays = load_file(artifact)
    assert arrays["source"].tobytes().decode() == JSON
    assert set(arrays) == set(read_container(artifact)[0])


def test_settings_and_source_come_back(tmp_path: Path) -> None:
    path = tmp_path / "a.kbnfc"
    grammar = Grammar("root ::= 'a' root | 'b';", start="root", finish="token", path="a.kbnf")
    compile_artifact(grammar, None, path)
    loaded = load_artifact(path)
    assert (loaded.start, loaded.finish, loaded.source.path) == ("root", grammar.finish, "a.kbnf")
    assert loaded.source.text == grammar.source.text


def test_reasons_work_on_an_artifact(artifact: Path) -> None:
    engine = Engine(load_artifact(artifact), VOCABULARY)
    engine.try_accept_new_bytes(b'{"a"')
    explanation = engine.why(b"}")
    assert not explanation.allowed
    assert explanation.places[0].rules[0] == "start"


def test_an_engine_writes_back_what_it_learnt(artifact: Path, tmp_path: Path) -> None:
    engine = Engine(Grammar(JSON), VOCABULARY)
    expected = masks_along(engine, TEXT)
    path = tmp_path / "learnt.kbnfc"
    engine.save_artifact(path)
    assert describe_artifact(path).counts["states"] > describe_artifact(artifact).counts["states"]
    loaded = Engine(load_artifact(path), VOCABULARY)
    known = len(loaded._course.masks.states)
    assert masks_along(loaded, TEXT) == expected
    assert len(loaded._course.masks.states) == known


def test_another_vocabulary_is_refused(artifact: Path) -> None:
    with pytest.raises(VocabularyError, match="compiled for the vocabulary pieces, not for bytes"):
        Engine(load_artifact(artifact), Vocabulary.bytes())


def test_tables_begun_anew_go_on_without_the_artifact(artifact: Path) -> None:
    loaded = Engine(load_artifact(artifact), VOCABULARY)
    plain = Engine(JSON, VOCABULARY)
    expected = masks_along(plain, TEXT)
    loaded._renew()
    assert masks_along(loaded, TEXT) == expected


def test_token_terminals_come_back(tmp_path: Path) -> None:
    text = """start ::= #token"<|x|>" #token[1-2,0] #token[^0] 'A';"""
    vocabulary = Vocabulary({0: b"A", 1: b"B", 2: b"C"}, special_tokens={"<|x|>": 7})
    path = tmp_path / "a.kbnfc"
    compile_artifact(text, vocabulary, path)
    for engine in (Engine(text, vocabulary), Engine(load_artifact(path), vocabulary)):
        for token_id, allowed in ((7, [7]), (2, [0, 1, 2]), (1, [1, 2, 7])):
            engine.compute_allowed_token_ids()
            assert engine.get_allowed_token_ids_from_last_computation() == allowed
            engine.try_accept_new_token(token_id)


def rewrite(path: Path, **changes: object) -> None:
    """Replace arrays (by name, ``__`` for ``.``) or, under ``manifest``, fields of the manifest."""
    arrays, metadata = read_container(path)
    manifest = {**metadata["kbnf"], **changes.pop("manifest", {})}  # type: ignore[dict-item] # a dict
    named = {name.replace("__", "."): value for name, value in changes.items()}
    kept = {name: np.array(array) for name, array in arrays.items()}
    write_container(path, {**kept, **named}, {"kbnf": manifest})  # type: ignore[dict-item] # arrays


@pytest.mark.parametrize("other", [FORMAT + 1, 0])
def test_another_format_is_refused(artifact: Path, other: int) -> None:
    rewrite(artifact, manifest={"format": other})
    with pytest.raises(ArtifactError, match="newer format" if other > FORMAT else "older format"):
        load_artifact(artifact)


@pytest.mark.parametrize(
    "fields",
    [
        {"format": "1"},
        {"start": 3},
        {"finish": "soon"},
        {"nonterminals": [1]},
        {"vocabulary": {}},
        {"token_terminals": 7},
    ],
)
def test_a_damaged_manifest_is_refused(artifact: Path, fields: dict[str, object]) -> None:
    rewrite(artifact, manifest=fields)
    with pytest.raises(ArtifactError):
        load_artifact(artifact)


def test_other_containers_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    write_container(path, {"weights": np.zeros(3, np.float32)}, {})
    with pytest.raises(ArtifactError, match="another kind of file"):
        load_artifact(path)


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 100, 5_000])
def test_a_truncated_file_is_refused(artifact: Path, length: int) -> None:
    artifact.write_bytes(artifact.read_bytes()[:length])
    with pytest.raises(ArtifactError):
        load_artifact(artifact)


def test_a_missing_file_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(KbnfError, match="No such file"):
        load_artifact(tmp_path / "none.kbnfc")


INDEX_ARRAYS = [
    *("entry", "edge.class", "edge.target", "call.nonterminal", "call.return", "items", "origins"),
    *("pairs", "exits", "next", "nodes", "walks", "walk_exits", "viable", "completions"),
]


@pytest.mark.parametrize("name", INDEX_ARRAYS)
@pytest.mark.parametrize("value", [2**31 - 1, -(2**31)])
def test_an_array_that_points_outside_is_refused(artifact: Path, name: str, value: int) -> None:
    arrays, _ = read_container(artifact)
    changed = np.array(arrays[name])
    if not changed.size:
        pytest.skip(f"this grammar has no {name}")
    changed.flat[-1] = value
    rewrite(artifact, **{name.replace(".", "__"): changed})
    with pytest.raises(ArtifactError, match=name):
        load_artifact(artifact)


def test_a_vocabulary_described_falsely_is_refused(artifact: Path) -> None:
    _, metadata = read_container(artifact)
    mark = {**metadata["kbnf"]["vocabulary"], "nodes": 10**9}
    rewrite(artifact, manifest={"vocabulary": mark})
    with pytest.raises(ArtifactError, match="truthfully"):
        Engine(load_artifact(artifact), VOCABULARY)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_file_never_does_harm(artifact: Path, data: st.DataObject) -> None:
    whole = artifact.read_bytes()
    damaged = bytearray(whole)
    header = int.from_bytes(whole[:8], "little") + 8
    for _ in range(data.draw(st.integers(1, 4))):
        # The header and the arrays that are short deserve as many attempts as the long ones.
        end = data.draw(st.sampled_from([header, header + 4_000, len(whole)]))
        damaged[data.draw(st.integers(0, end - 1))] = data.draw(st.integers(0, 255))
    path = artifact.with_suffix(".damaged")
    path.write_bytes(damaged)
    try:
        engine = Engine(load_artifact(path), VOCABULARY, Config(finish="token"))
        masks_along(engine, TEXT[:12])
    except KbnfError:
        pass


def test_the_manifest_is_documented() -> None:
    import kbnf_core.artifact

    documentation = kbnf_core.artifact.__doc__ or ""
    fields = json.loads(json.dumps(_manifest_fields()))
    assert all(f"``{field}``" in documentation for field in fields)


def _manifest_fields() -> list[str]:
    from kbnf_core.artifact.write import manifest

    grammar = Grammar("start ::= 'a';")
    return list(manifest(grammar, None, grammar.finish))
