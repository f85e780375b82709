"""``--vocab NAME``: models in Hugging Face's local cache, and what misspelt names resemble."""

import json
import os
import socket
from pathlib import Path

import pytest

from kbnf_core.vocab.files import cached_models, cached_vocabulary, hub_folder
from kbnf_testing.command import Kbnf, Write

VARIABLES = ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME")
OLD, NEW = "0" * 40, "a" * 40


@pytest.fixture(autouse=True)
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a cache of the test's own; no connection is made."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))

    def refuse(*_: object) -> None:
        raise AssertionError("a connection was made")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    return tmp_path / "hf" / "hub"


def add(hub: Path, name: str, commit: str, token: str, file: str = "tokenizer.json") -> Path:
    folder = hub / f"models--{name.replace('/', '--')}" / "snapshots" / commit
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / file
    path.write_text(json.dumps({"0": token}), encoding="utf-8")
    return path


def name_of_token(kbnf: Kbnf, vocab: str) -> str:
    result = kbnf("vocab", vocab)
    assert result.status == 0, result.stderr
    return result.out.partition("longest")[2].partition('"')[2].partition('"')[0]


def test_a_model_by_name(kbnf: Kbnf, hub: Path, write: Write) -> None:
    add(hub, "gpt2", OLD, "aa")
    add(hub, "owner/model-7b.v1", OLD, "bb")
    assert name_of_token(kbnf, "gpt2") == "aa"
    assert name_of_token(kbnf, "owner/model-7b.v1") == "bb"
    file = write("a.kbnf", "start ::= 'aa';")
    assert kbnf("mask", file, "--vocab", "gpt2", "--format", "ids").out.split() == ["0"]
    assert cached_models() == ["gpt2", "owner/model-7b.v1"]


def test_an_existing_path_wins(kbnf: Kbnf, hub: Path, write: Write) -> None:
    add(hub, "gpt2", OLD, "aa")
    write("gpt2", '{"0": "file"}')
    assert name_of_token(kbnf, "gpt2") == "file"


def test_the_branch_wins_and_else_the_latest(kbnf: Kbnf, hub: Path) -> None:
    add(hub, "gpt2", OLD, "old")
    new = add(hub, "gpt2", NEW, "new")
    os.utime(new.parent, (1, 1))
    assert name_of_token(kbnf, "gpt2") == "old"
    refs = hub / "models--gpt2" / "refs"
    refs.mkdir()
    (refs / "main").write_text(NEW)
    assert name_of_token(kbnf, "gpt2") == "new"
    (refs / "main").write_text("../../elsewhere")
    assert name_of_token(kbnf, "gpt2") == "old"
    new.unlink()
    (refs / "main").write_text(NEW)
    assert name_of_token(kbnf, "gpt2") == "old"


def test_configured_names(kbnf: Kbnf, hub: Path, write: Write) -> None:
    add(hub, "gpt2", OLD, "aa")
    write("sub/kbnf.toml", 'vocab = "gpt2"')
    file = write("sub/a.kbnf", "start ::= 'aa';")
    assert kbnf("mask", file, "--format", "ids").out.split() == ["0"]


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("gpt-2", "openai-community/gpt2"),
        ("gpt2", "openai-community/gpt2"),
        ("openai/gpt2", "openai-community/gpt2"),
        ("tokenzer.json", "tokenizer.json"),
        ("sub/tokeniser.json", "sub/tokenizer.json"),
        ("byte", "bytes"),
    ],
)
def test_suggestions(kbnf: Kbnf, hub: Path, write: Write, asked: str, meant: str) -> None:
    add(hub, "openai-community/gpt2", OLD, "aa")
    write("tokenizer.json", "{}")
    write("sub/tokenizer.json", "{}")
    result = kbnf("mask", write("a.kbnf", "start ::= 'a';"), "--vocab", asked)
    assert result.status == 2
    assert result.stderr.startswith(f"error: cannot read {asked}: no such file, nor a model of ")
    assert result.stderr.endswith(f"; did you mean `{meant}`?\n")


def test_nothing_like_it(kbnf: Kbnf) -> None:
    result = kbnf("vocab", "mistralai/Mistral-7B-v0.1")
    assert result.status == 2
    assert result.stderr.endswith("hf/hub; nothing is downloaded\n")


@pytest.mark.parametrize("name", ["..", "../gpt2", "a/b/c", "/gpt2", "a/..", "", "models--gpt2/.."])
def test_names_lead_nowhere_else(hub: Path, name: str) -> None:
    add(hub, "gpt2", OLD, "aa")
    assert cached_vocabulary(name) is None


def test_models_without_a_tokenizer_are_none(hub: Path) -> None:
    add(hub, "weights", OLD, "aa", file="config.json")
    (hub / "models--empty").mkdir()
    assert cached_models() == []


def test_where_the_cache_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert hub_folder() == tmp_path / ".cache" / "huggingface" / "hub"
    for name, folder in (
        ("XDG_CACHE_HOME", "x/huggingface/hub"),
        ("HF_HOME", "x/hub"),
        ("HUGGINGFACE_HUB_CACHE", "x"),
        ("HF_HUB_CACHE", "x"),
    ):
        monkeypatch.setenv(name, "x")
        assert hub_folder() == Path(folder)
        monkeypatch.setenv(name, "elsewhere")
