"""Artifacts: what is written comes back, and what is not sound is refused."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file

from kbnf_core import (
    ArtifactError,
    ConfigError,
    Engine,
    Grammar,
    KbnfError,
    Limits,
    Vocabulary,
    VocabularyError,
    compile_artifact,
    load_artifact,
)
from kbnf_core.artifact import FORMAT
from kbnf_core.artifact.read import describe_artifact
from kbnf_core.artifact.write import _manifest
from kbnf_core.container import read_container, write_container
from kbnf_testing.artifact_faults import GRAMMARS, rewrite
from kbnf_testing.samples import examples

Array = npt.NDArray[Any]

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
    b"<x>",
]
JSON_GRAMMAR = Grammar(JSON)
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


def first_mask(engine: Engine) -> list[int]:
    engine.compute_allowed_token_ids()
    return engine.get_allowed_token_ids_from_last_computation()


def test_masks_from_an_artifact_equal_those_from_text(artifact: Path) -> None:
    loaded = Engine(load_artifact(artifact), VOCABULARY)
    assert masks_along(loaded, TEXT) == masks_along(Engine(JSON, VOCABULARY), TEXT)


def test_an_artifact_serves_any_vocabulary(artifact: Path) -> None:
    grammar = load_artifact(artifact)
    for vocabulary in (VOCABULARY, Vocabulary.bytes()):
        loaded = Engine(grammar, vocabulary)
        assert masks_along(loaded, TEXT) == masks_along(Engine(JSON, vocabulary), TEXT)


@pytest.mark.parametrize("vocabulary", [VOCABULARY, Vocabulary.bytes(), None])
def test_equal_input_gives_equal_bytes_whatever_the_vocabulary(
    artifact: Path, tmp_path: Path, vocabulary: Vocabulary | None
) -> None:
    again = tmp_path / "again.kbnfc"
    compile_artifact(Grammar(JSON), vocabulary, again)
    assert again.read_bytes() == artifact.read_bytes()


ANY_TOKEN = "<start>::=<any!><start>|'.'"
EXCLUDING = 'root ::= "a" !<x> | !<x> "b"'
TAG = {"type": "structural_tag", "format": {"type": "token", "token": "null"}}
OVER_TOKENS: dict[str, Callable[[Vocabulary], Grammar]] = {
    "BNF": lambda vocabulary: Grammar.from_bnf(ANY_TOKEN, vocabulary=vocabulary),
    "GBNF": lambda vocabulary: Grammar.from_gbnf(EXCLUDING, vocabulary=vocabulary),
    "tag": lambda vocabulary: Grammar.from_structural_tag(TAG, vocabulary=vocabulary),
}


@pytest.mark.parametrize("name", OVER_TOKENS)
def test_a_text_of_tokens_is_for_their_vocabulary(name: str, tmp_path: Path) -> None:
    """Also where other tokens end the sequence, or the artifact is compiled once more."""
    grammar = OVER_TOKENS[name](VOCABULARY)
    for path in (tmp_path / "a.kbnfc", tmp_path / "b.kbnfc"):
        compile_artifact(grammar, None, path)
        loaded = load_artifact(path)
        for vocabulary in (VOCABULARY, VOCABULARY.ending_with([3])):
            engines = [Engine(each, vocabulary) for each in (grammar, loaded)]
            assert first_mask(engines[0]) == first_mask(engines[1]) != []
        with pytest.raises(VocabularyError, match="for the vocabulary pieces, not for bytes"):
            Engine(loaded, Vocabulary.bytes())
        grammar = loaded


def test_a_text_without_tokens_is_for_any_vocabulary(tmp_path: Path) -> None:
    path = tmp_path / "a.kbnfc"
    compile_artifact(Grammar.from_bnf("<start>::='a'", vocabulary=VOCABULARY), None, path)
    assert Engine(load_artifact(path), Vocabulary.bytes())


def test_the_manifest_has_the_limits(tmp_path: Path) -> None:
    path, limits = tmp_path / "a.kbnfc", Limits(repetition=77)
    compile_artifact(Grammar("start ::= 'a';", limits=limits), None, path)
    manifest = describe_artifact(path).manifest
    assert Limits(**manifest.limits) == limits  # type: ignore[arg-type]


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
    assert explanation.sites[0].rules[0] == "start"


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


@pytest.mark.parametrize(
    ("other", "source"),
    [
        (FORMAT + 1, "my grammar.kbnf"),
        (FORMAT - 1, "my grammar.kbnf"),
        (3, "my grammar.kbnf (converted)"),
        (FORMAT - 1, "my grammar.kbnf (as KBNF)"),
        (0, "my grammar.kbnf"),
    ],
)
def test_another_format_is_refused_with_the_command_that_helps(
    artifact: Path, other: int, source: str
) -> None:
    rewrite(artifact, {}, format=other, source_path=source)
    age = "newer format" if other > FORMAT else "older format"
    with pytest.raises(ArtifactError, match=age) as caught:
        load_artifact(artifact)
    assert f"`kbnf compile 'my grammar.kbnf' -o {artifact}`" in caught.value.reason


def test_an_older_artifact_over_a_vocabulary_is_compiled_again_with_one(artifact: Path) -> None:
    rewrite(artifact, {}, format=5, vocabulary={"name": "a", "size": 9, "nodes": 9})
    with pytest.raises(ArtifactError, match="kbnf compile GRAMMAR --vocab VOCABULARY -o"):
        load_artifact(artifact)


@pytest.mark.parametrize(
    "fields",
    [
        {"format": "2"},
        {"format": True},
        {"format": 2.0},
        {"start": 3},
        {"start": "\ud800"},
        {"finish": "soon"},
        {"finish": ["eos"]},
        {"nonterminals": [1]},
        {"nonterminals": "json"},
        {"start_is_nullable": 1},
        {"limits": []},
        {"limits": {"work": -1}},
        {"vocabulary": {}},
        {"vocabulary": []},
        {"token_terminals": 7},
        {"token_terminals": [{"name": None, "ranges": [[0, True]], "negated": False}]},
        {"token_terminals": [{"name": None, "ranges": [[0, -1]], "negated": False}]},
        {"token_terminals": [{"name": None, "ranges": [[0]], "negated": False}]},
        {"sections": {}},
        {"sections": []},
        {"sections": {"tables": {"arrays": "source", "digest": ""}}},
        {"source_hash": "0" * 32},
    ],
)
def test_a_damaged_manifest_is_refused(artifact: Path, fields: dict[str, object]) -> None:
    rewrite(artifact, {}, **fields)
    with pytest.raises(ArtifactError):
        load_artifact(artifact)


def test_a_manifest_that_its_digest_is_not_of_is_refused(artifact: Path) -> None:
    whole = artifact.read_bytes()
    artifact.write_bytes(whole.replace(b'\\"start\\"', b'\\"stark\\"'))
    with pytest.raises(ArtifactError, match="manifest is damaged"):
        load_artifact(artifact)


@pytest.mark.parametrize("shape", [[0, 2**61, 2**61], [], [-1], [True], [0, 2**62]])
@pytest.mark.parametrize("name", ["about", "entry", "edge.class", "edge.target", "call.return"])
def test_an_impossible_shape_is_refused(artifact: Path, name: str, shape: list[int]) -> None:
    whole = artifact.read_bytes()
    end = 8 + int.from_bytes(whole[:8], "little")
    header = json.loads(whole[8:end])
    header[name]["shape"] = shape
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    artifact.write_bytes(len(text).to_bytes(8, "little") + text + whole[end:])
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
    with pytest.raises(KbnfError, match="no such file"):
        load_artifact(tmp_path / "none.kbnfc")


INDEX_ARRAYS = ["entry", "edge.class", "edge.target", "call.nonterminal", "call.return"]
LOOPS = GRAMMARS["ambiguous"][0]


def outside(path: Path, name: str, value: int) -> dict[str, Array]:
    """Return an array of an artifact with a number that points outside."""
    changed = np.array(read_container(path)[0][name])
    assert changed.size, f"this grammar has no {name}"
    changed.flat[-1] = value
    return {name: changed}


@pytest.mark.parametrize("name", INDEX_ARRAYS)
@pytest.mark.parametrize("value", [2**31 - 1, -(2**31)])
def test_an_array_that_points_outside_is_refused(artifact: Path, name: str, value: int) -> None:
    rewrite(artifact, outside(artifact, name, value))
    with pytest.raises(ArtifactError, match=name):
        load_artifact(artifact)


def test_a_start_without_edges_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.kbnfc"
    compile_artifact("start ::= 'a';", None, path)
    entry = read_container(path)[0]["entry"]
    rewrite(path, {"entry": 1 - entry})
    with pytest.raises(ArtifactError, match="`entry` begins where nothing is allowed"):
        load_artifact(path)


@pytest.mark.parametrize("name", ["accepting", "call.tail"])
def test_truth_values_other_than_0_and_1_are_refused(artifact: Path, name: str) -> None:
    rewrite(artifact, outside(artifact, name, 3))
    with pytest.raises(ArtifactError, match=name):
        load_artifact(artifact)


def damage(path: Path, array: str) -> None:
    """Flip a bit in the middle of an array."""
    whole = path.read_bytes()
    wanted = np.array(read_container(path)[0][array]).tobytes()
    at = whole.index(wanted) + len(wanted) // 2
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])


def test_damaged_tables_are_refused_at_once(artifact: Path) -> None:
    damage(artifact, "edge.target")
    with pytest.raises(ArtifactError, match="section `tables` is damaged"):
        load_artifact(artifact)


def test_a_damaged_reading_is_refused_when_it_is_asked_for(artifact: Path) -> None:
    damage(artifact, "rule.nodes")
    loaded = load_artifact(artifact)
    assert masks_along(Engine(loaded, VOCABULARY), TEXT) == masks_along(
        Engine(JSON, VOCABULARY), TEXT
    )
    with pytest.raises(ArtifactError, match="section `reading` is damaged"):
        _ = loaded.rules


def test_sections_of_other_versions_are_passed_over(artifact: Path) -> None:
    sections = read_container(artifact)[1]["kbnf"]["sections"]
    more = {**sections, "device": {"arrays": ["transitions"], "digest": "unknown"}}
    rewrite(artifact, {"transitions": np.zeros((3, 4), np.int16)}, sections=more)
    engine = Engine(load_artifact(artifact), VOCABULARY)
    assert masks_along(engine, TEXT) == masks_along(Engine(JSON, VOCABULARY), TEXT)


def test_edges_that_do_not_come_by_class_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.kbnfc"
    compile_artifact("start ::= #'[a-c]' 'x' | 'y';", VOCABULARY, path)
    arrays, _ = read_container(path)
    changed = {name: arrays[name][::-1].copy() for name in ("edge.class", "edge.target")}
    rewrite(path, {**changed, "edge.start": len(arrays["edge.class"]) - arrays["edge.start"][::-1]})
    with pytest.raises(ArtifactError, match="has a list that descends"):
        load_artifact(path)


def test_small_files_are_read_and_large_ones_mapped(artifact: Path) -> None:
    def owner(grammar: Grammar) -> str:
        array = grammar.tables.entry
        while isinstance(array.base, np.ndarray):
            array = array.base
        return type(array.base).__name__

    size = artifact.stat().st_size
    assert owner(load_artifact(artifact)) == "bytes"
    assert owner(load_artifact(artifact, Limits(artifact_read=size))) == "bytes"
    assert owner(load_artifact(artifact, Limits(artifact_read=size - 1))) == "mmap"
    assert owner(load_artifact(artifact, map=True)) == "mmap"
    assert owner(load_artifact(artifact, Limits(artifact_read=0), map=False)) == "bytes"


def test_swapped_arguments_are_named(tmp_path: Path) -> None:
    path, vocabulary = tmp_path / "g.kbnfc", Vocabulary.bytes()
    compile_artifact("start ::= 'a';", vocabulary, path)
    # Types would refuse them, too.
    load: Callable[..., Grammar] = load_artifact
    compile_: Callable[..., object] = compile_artifact
    with pytest.raises(ConfigError, match=r"`limits` must be Limits, not Vocabulary; .*`Engine`"):
        load(path, vocabulary)
    with pytest.raises(ConfigError, match=r"`path` must be .*, not Vocabulary"):
        load(vocabulary, path)
    with pytest.raises(ConfigError, match=r"`vocabulary` must be .*, not PosixPath"):
        compile_("start ::= 'a';", path, vocabulary)
    with pytest.raises(ConfigError, match=r"expected a grammar .* got Vocabulary"):
        compile_(vocabulary, "start ::= 'a';", path)


def test_a_file_that_was_read_may_be_written_over(artifact: Path) -> None:
    engine = Engine(load_artifact(artifact), VOCABULARY)
    os.truncate(artifact, 0)
    assert masks_along(engine, TEXT) == masks_along(Engine(JSON, VOCABULARY), TEXT)


def test_processes_that_hash_otherwise_write_equal_bytes(tmp_path: Path) -> None:
    program = (
        "import sys; from kbnf_core import Vocabulary, compile_artifact;"
        "words = Vocabulary({**{i: bytes([i]) for i in range(256)}, 256: b'ab', 257: b'cc'});"
        f"compile_artifact({JSON!r}, words, sys.argv[1] + '.json');"
        f"compile_artifact({LOOPS!r}, words, sys.argv[1])"
    )
    for seed in ("1", "77"):
        subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / seed)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
        )
    for suffix in ("", ".json"):
        first, second = (tmp_path / f"{seed}{suffix}" for seed in ("1", "77"))
        assert first.read_bytes() == second.read_bytes()


@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
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
        engine = Engine(load_artifact(path), VOCABULARY)
        masks = masks_along(engine, TEXT[:12])
    except ArtifactError:
        return
    assert masks == masks_along(Engine(JSON_GRAMMAR, VOCABULARY), TEXT[:12])


def test_the_manifest_is_documented() -> None:
    import kbnf_core.artifact

    documentation = kbnf_core.artifact.__doc__ or ""
    fields = json.loads(json.dumps(_manifest_fields()))
    assert all(f"``{field}``" in documentation for field in fields)


def _manifest_fields() -> list[str]:
    return list(_manifest(Grammar("start ::= 'a';"), np.zeros(0, np.uint8)))
