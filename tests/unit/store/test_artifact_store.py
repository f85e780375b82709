"""The store: what is put comes back byte for byte, and damage is a miss."""

import errno
import json
import os
import shutil
import threading
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path

import pytest

from kbnf_core import Grammar, GrammarError, Vocabulary, compile_artifact
from kbnf_core.engine import Engine
from kbnf_core.farm import make
from kbnf_core.store import (
    ArtifactStore,
    Failure,
    StoredFailureError,
    StoreWarning,
    collect,
    count_others,
    damage,
    open_store,
)
from kbnf_core.store.backend import Backend, DirectoryStore, LocalCache, StoreError
from kbnf_core.store.keys import Recipe, recipe_of
from kbnf_core.text.errors import ConfigError
from kbnf_testing.farm import content

TEXT = "start ::= '{' #'[a-z]{1,3}' (',' #'[b-m]{3}'){0,4} '}';"
OTHER = "start ::= '[' #'[a-z]{1,3}' (',' #'[e-n]{3}'){0,4} ']';"
BAD = "start ::= 'a' undefined;"
_TRIPLES = product(b"abcdefghijklmn", repeat=3)
WORDS = Vocabulary(
    dict(enumerate([*(bytes([each]) for each in range(256)), *map(bytes, _TRIPLES)])),
    eos_token_id=3000,
)


def directory(folder: Path) -> Backend:
    return DirectoryStore(folder / "store")


def memory(folder: Path) -> Backend:
    pytest.importorskip("fsspec")
    from kbnf_core.store.fsspec_store import FsspecStore

    return FsspecStore(f"memory://{folder.name}-{id(folder)}")


@pytest.fixture(params=[directory, memory])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Backend:
    made: Backend = request.param(tmp_path)
    return made


def store_of(backend: Backend, cache: Path) -> ArtifactStore:
    return ArtifactStore(backend, LocalCache(cache))


def filled(backend: Backend, cache: Path, *texts: str) -> list[str]:
    store = store_of(backend, cache)
    recipes = [recipe_of(text) for text in texts]
    for recipe in recipes:
        assert make(store, recipe.key(), recipe, WORDS) > 0
    return [recipe.key() for recipe in recipes]


def test_an_artifact_comes_back_byte_for_byte(backend: Backend, tmp_path: Path) -> None:
    whole = tmp_path / "whole.kbnfc"
    [key] = filled(backend, tmp_path / "writer", TEXT)
    compile_artifact(TEXT, None, whole, key=key)
    reader = store_of(backend, tmp_path / "reader")
    path = reader.get(key)
    assert path is not None
    assert path.read_bytes() == whole.read_bytes()
    assert reader.metrics["read"] > 0
    assert reader.get(key) == path
    assert (reader.metrics["hits"], reader.metrics["local"], reader.metrics["misses"]) == (2, 1, 0)


def test_what_is_not_there_is_a_miss(backend: Backend, tmp_path: Path) -> None:
    store = store_of(backend, tmp_path / "cache")
    assert store.get("0" * 32) is None
    assert store.metrics["misses"] == 1
    assert not store.check("0" * 32)


def test_writers_write_the_same_bytes(tmp_path: Path) -> None:
    stores = [DirectoryStore(tmp_path / name) for name in "ab"]
    for number, each in enumerate(stores):
        filled(each, tmp_path / f"cache{number}", TEXT, OTHER)
    assert content(stores[0]) == content(stores[1])


def test_two_writers_at_the_same_time(backend: Backend, tmp_path: Path) -> None:
    threads = [
        threading.Thread(target=filled, args=(backend, tmp_path / f"{each}", TEXT, OTHER))
        for each in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = DirectoryStore(tmp_path / "alone")
    filled(alone, tmp_path / "cache", TEXT, OTHER)
    assert content(backend) == content(alone)


def test_the_first_of_two_writers_wins(backend: Backend) -> None:
    assert backend.put_if_absent("objects/a", b"12")
    assert not backend.put_if_absent("objects/a", b"12")
    assert list(backend.keys("objects/")) == ["objects/a"]
    assert (backend.get("objects/a", 1), backend.get("objects/a", 9)) == (b"1", b"12")
    backend.remove("objects/a")
    backend.remove("objects/a")
    assert backend.get("objects/a", 9) is None
    assert list(backend.keys("")) == []


Change = Callable[[bytes], bytes | None]
CHANGES: dict[str, Change] = {
    "missing": lambda _: None,
    "cut": lambda data: data[: len(data) // 2],
    "empty": lambda _: b"",
    "flipped": lambda data: data[:-5] + bytes([data[-5] ^ 1]) + data[-4:],
    "something else": lambda data: b"x" * len(data),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("folder", ["inputs", "objects"])
def test_damage_is_a_miss_and_a_note_and_mended(folder: str, change: str, tmp_path: Path) -> None:
    backend = DirectoryStore(tmp_path / "store")
    [key] = filled(backend, tmp_path / "writer", TEXT)
    whole = content(backend)
    victim = max((tmp_path / "store" / folder).iterdir())
    changed = CHANGES[change](victim.read_bytes())
    victim.unlink()
    if changed is not None:
        victim.write_bytes(changed)
    reader = store_of(backend, tmp_path / "reader")
    is_absent = (folder, change) == ("inputs", "missing")
    assert len(list(damage(reader))) == (0 if is_absent else 1)
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        assert reader.get(key) is None
    assert [note.category for note in notes] == ([] if is_absent else [StoreWarning])
    assert reader.metrics["damaged"] == (0 if is_absent else 1)
    make(reader, key, recipe_of(TEXT), WORDS)
    assert content(backend) == whole


def test_an_input_that_names_another_artifact_is_no_way_out_of_the_folder(tmp_path: Path) -> None:
    backend = DirectoryStore(tmp_path / "store")
    [key] = filled(backend, tmp_path / "writer", TEXT)
    (tmp_path / "store/inputs" / key).write_text("../../../../etc/passwd0123456789")
    with pytest.warns(StoreWarning, match="inputs/.* is damaged"):
        assert store_of(backend, tmp_path / "reader").get(key) is None


def test_an_artifact_in_the_cache_that_is_damaged_is_read_again(tmp_path: Path) -> None:
    url = tmp_path / "store"
    Grammar.from_store(url, TEXT, WORDS)
    store = open_store(url)
    key = recipe_of(TEXT).key()
    cached = store.get(key)
    assert cached is not None
    cached.write_bytes(cached.read_bytes()[:100])
    with pytest.warns(StoreWarning):
        grammar = Grammar.from_store(url, TEXT, WORDS)
    assert grammar.source.text == TEXT
    cached.write_bytes(b"")
    with pytest.warns(StoreWarning):
        assert Engine(Grammar.from_store(url, TEXT, WORDS), WORDS)


def test_from_store_masks_as_the_grammar_does(tmp_path: Path) -> None:
    url = tmp_path / "store"
    first = Grammar.from_store(url, TEXT, Vocabulary.bytes())
    second = Grammar.from_store(url, TEXT, Vocabulary.bytes())
    for grammar in (first, second, Grammar(TEXT)):
        engine = Engine(grammar, Vocabulary.bytes())
        engine.try_accept_new_bytes(b"{ab")
        engine.compute_allowed_token_ids()
        allowed = engine.get_allowed_token_ids_from_last_computation()
        assert bytes(sorted(allowed)) == b",abcdefghijklmnopqrstuvwxyz}"
    assert open_store(url).metrics["hits"] == 1


@pytest.mark.parametrize(
    ("source", "options"),
    [
        ({"type": "object", "properties": {"a": {"type": "integer"}}}, {"order": "any"}),
        ('root ::= "a" [b-c]+\n', {"language": "GBNF"}),
        ('%import common.INT\nstart: "a" INT\n', {"language": "Lark"}),
    ],
    ids=["schema", "gbnf", "lark"],
)
def test_from_store_takes_any_language(source: object, options: object, tmp_path: Path) -> None:
    assert isinstance(options, dict)
    for _ in range(2):
        grammar = Grammar.from_store(tmp_path / "store", source, WORDS, **options)
        assert Engine(grammar, WORDS)
    assert open_store(tmp_path / "store").metrics["hits"] == 1


def test_a_refusal_is_remembered_until_it_expires(tmp_path: Path) -> None:
    url = tmp_path / "store"
    with pytest.raises(GrammarError, match="undefined"):
        Grammar.from_store(url, BAD, WORDS)
    with pytest.raises(StoredFailureError, match="undefined") as caught:
        Grammar.from_store(url, BAD, WORDS)
    assert caught.value.failure.kind == "refused"
    [file] = (url / "failures").iterdir()
    old = time.time() - 2 * 24 * 3600
    os.utime(file, (old, old))
    with pytest.raises(GrammarError) as caught_anew:
        Grammar.from_store(url, BAD, WORDS)
    assert caught_anew.value.diagnostics
    assert file.stat().st_mtime > old + 3600


def test_a_failure_that_is_damaged_does_not_count(tmp_path: Path) -> None:
    backend = DirectoryStore(tmp_path / "store")
    store = store_of(backend, tmp_path / "cache")
    store.put_failure("0" * 32, Failure("refused", "why"))
    assert store.failure("0" * 32) == Failure("refused", "why")
    (tmp_path / "store/failures" / ("0" * 32)).write_bytes(b"{")
    with pytest.warns(StoreWarning):
        assert store.failure("0" * 32) is None


def test_a_store_out_of_reach_is_a_note_for_a_request(tmp_path: Path) -> None:
    (tmp_path / "store").write_bytes(b"a file")
    with pytest.warns(StoreWarning):
        assert Engine(Grammar.from_store(tmp_path / "store", TEXT, WORDS), WORDS)
    with pytest.raises(StoreError):
        filled(DirectoryStore(tmp_path / "store"), tmp_path / "cache", TEXT)


def test_one_of_many_threads_compiles(tmp_path: Path) -> None:
    url = tmp_path / "store"
    threads = [
        threading.Thread(target=Grammar.from_store, args=(url, TEXT, WORDS)) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store = open_store(url)
    assert store.metrics["hits"] == 5


def test_prefetch_brings_artifacts_near(backend: Backend, tmp_path: Path) -> None:
    keys = filled(backend, tmp_path / "writer", TEXT, OTHER)
    reader = store_of(backend, tmp_path / "reader")
    assert reader.prefetch([*keys, "0" * 32]) == 2
    read = reader.metrics["read"]
    assert reader.get(keys[0]) is not None
    assert reader.metrics["read"] == read


def test_the_cache_keeps_to_its_bound(tmp_path: Path) -> None:
    backend = DirectoryStore(tmp_path / "store")
    texts = [TEXT.replace("3", str(number)) for number in range(3, 9)]
    keys = filled(backend, tmp_path / "writer", *texts)
    probe = store_of(backend, tmp_path / "probe").get(keys[0])
    assert probe is not None
    reader = ArtifactStore(backend, LocalCache(tmp_path / "reader", 3 * probe.stat().st_size))
    for key in keys:
        assert reader.get(key) is not None
    left = list((tmp_path / "reader").glob("*.kbnfc"))
    assert 1 <= len(left) <= 3
    assert keys[-1] in {path.stem for path in left}


def test_gc_removes_what_nothing_refers_to(tmp_path: Path) -> None:
    backend = DirectoryStore(tmp_path / "store")
    first, second = filled(backend, tmp_path / "writer", TEXT, OTHER)
    store = store_of(backend, tmp_path / "cache")
    (tmp_path / "store/objects/.tmp-1").write_bytes(b"half")
    assert collect(store) == 0
    backend.remove(f"inputs/{first}")
    assert collect(store) == 0, "what is young stays"
    old = time.time() - 2 * 24 * 3600
    for path in (tmp_path / "store").rglob("*"):
        os.utime(path, (old, old))
    assert collect(store) == 2
    alone = DirectoryStore(tmp_path / "alone")
    filled(alone, tmp_path / "other", OTHER)
    assert content(backend) == content(alone)
    assert not list((tmp_path / "store").rglob(".tmp-*"))
    assert store_of(backend, tmp_path / "reader").get(second) is not None


def keys_that_differ() -> Iterator[Recipe]:
    yield Recipe("start ::= 'a';")
    yield Recipe("start ::= 'b';")
    yield Recipe("start ::= 'a';", start="start")
    yield Recipe("start ::= 'a';", finish="eos")
    yield Recipe("start ::= 'a';", language="GBNF")
    yield Recipe("start ::= 'a';", lossy=True)
    yield Recipe("start ::= 'a';", options=(("order", "any"),))


def test_a_key_depends_on_everything(tmp_path: Path) -> None:
    keys = [recipe.key() for recipe in keys_that_differ()]
    assert len(set(keys)) == len(keys)
    folder = tmp_path / "lark"
    folder.mkdir()
    (folder / "main.lark").write_text("%import .part.WORD\nstart: WORD\n")
    found = set()
    for part in ("a", "b"):
        (folder / "part.lark").write_text(f'WORD: "{part}"\n')
        found.add(recipe_of(folder / "main.lark").key(""))
    assert len(found) == 2


@pytest.mark.parametrize(
    ("text", "language", "is_used"),
    [
        (TEXT, "KBNF", False),
        ("start ::= #token'<s>' 'a';", "KBNF", False),
        ('{"type": "object"}', "JSON Schema", False),
        ("<start>::='a'", "BNF", False),
        ("<start>::=<any!>", "BNF", True),
        ("<start>::=<except!('a')>", "BNF", True),
        ('root ::= <x> "a"', "GBNF", False),
        ('root ::= !<x> "a"', "GBNF", True),
        ('{"type": "structural_tag", "format": {"type": "any_text"}}', "Structural tag", False),
        (
            '{"type": "structural_tag", "format": {"type": "token", "token": "a"}}',
            "Structural tag",
            True,
        ),
    ],
)
def test_a_key_depends_on_a_vocabulary_where_a_text_stands_for_tokens(
    text: str, language: str, is_used: bool
) -> None:
    recipe = Recipe(text, language)
    assert (recipe.key(WORDS.fingerprint) != recipe.key()) == is_used


def test_from_store_reads_tokens_of_the_vocabulary(tmp_path: Path) -> None:
    text, few = "<start>::=<any!>'!'", Vocabulary({0: b"ab", 1: b"!"})
    for vocabulary, allowed in ((few, [0, 1]), (Vocabulary({0: b"!"}), [0]), (few, [0, 1])):
        grammar = Grammar.from_store(tmp_path / "store", text, vocabulary, language="BNF")
        engine = Engine(grammar, vocabulary)
        engine.compute_allowed_token_ids()
        assert engine.get_allowed_token_ids_from_last_computation() == allowed
    assert open_store(tmp_path / "store").metrics["hits"] == 1


def test_a_schema_has_one_key_and_one_artifact_however_it_is_laid_out(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"a": {"maximum": 1.5, "const": "ä"}}}
    texts = [json.dumps(schema), json.dumps(schema, indent=4, ensure_ascii=False)]
    recipes = [recipe_of(schema), *map(recipe_of, texts)]
    assert len({recipe.key("") for recipe in recipes}) == 1
    contents = []
    for number, recipe in enumerate(recipes):
        compile_artifact(recipe.read_by(Grammar.read, None), None, tmp_path / f"{number}")
        contents.append((tmp_path / f"{number}").read_bytes())
    assert len(set(contents)) == 1


@pytest.mark.parametrize(
    "texts",
    [
        ('{"const": 1}', '{"const": 1.0}'),
        ('{"const": 0}', '{"const": -0}'),
        ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}'),
        ('{"const": 1}', '{"const": 2, "const": 1}'),
        ('{"const": 0.1}', '{"const": 0.1000000000000000000001}'),
        ('{"const": 1e400}', '{"const": 1e401}'),
        ('{"const": 1}', '{"const": 1'),
    ],
)
def test_schemas_that_may_differ_have_keys_that_differ(texts: tuple[str, str]) -> None:
    first, second = (recipe_of(text, language="JSON Schema").key("") for text in texts)
    assert first != second


def test_a_vocabulary_has_the_same_artifacts_by_any_name(tmp_path: Path) -> None:
    tokens = {number: bytes([number]) for number in range(256)}
    for name in ("a", "b"):
        vocabulary = Vocabulary(tokens, eos_token_id=256, name=name)
        store = store_of(DirectoryStore(tmp_path / name), tmp_path / f"cache-{name}")
        store.put_vocabulary(vocabulary)
        make(store, "0" * 32, recipe_of("<start>::=<any!>", language="BNF"), vocabulary)
        again = store.vocabulary(vocabulary.fingerprint)
        assert again.fingerprint == vocabulary.fingerprint
    assert content(DirectoryStore(tmp_path / "a")) == content(DirectoryStore(tmp_path / "b"))


def test_a_copy_of_a_store_is_a_store(tmp_path: Path) -> None:
    [key] = filled(DirectoryStore(tmp_path / "a"), tmp_path / "cache", TEXT)
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    assert store_of(DirectoryStore(tmp_path / "b"), tmp_path / "other").get(key) is not None


@pytest.mark.parametrize("change", ["copied", "digest"])
def test_a_key_that_names_another_artifact_is_a_miss_and_mended(
    backend: Backend, change: str, tmp_path: Path
) -> None:
    first, second = filled(backend, tmp_path / "writer", TEXT, OTHER)
    whole = content(backend)
    other, own = whole[f"inputs/{second}"], whole[f"inputs/{first}"]
    backend.remove(f"inputs/{first}")
    backend.put_if_absent(f"inputs/{first}", other if change == "copied" else other[:34] + own[34:])
    reader = store_of(backend, tmp_path / "reader")
    [error] = damage(reader)
    assert str(error) == f"inputs/{first} names the artifact of another source"
    with pytest.warns(StoreWarning, match="another source; it is compiled again"):
        assert reader.get(first) is None
    make(reader, first, recipe_of(TEXT), WORDS)
    assert content(backend) == whole
    assert list(damage(reader)) == []


def test_an_artifact_of_another_source_in_the_cache_is_read_again(tmp_path: Path) -> None:
    url = tmp_path / "store"
    for text in (TEXT, OTHER):
        Grammar.from_store(url, text, WORDS)
    store = open_store(url)
    paths = [store.get(recipe_of(text).key()) for text in (TEXT, OTHER)]
    assert paths[0] is not None
    assert paths[1] is not None
    shutil.copy(paths[1], paths[0])
    with pytest.warns(StoreWarning, match="compiled for another source"):
        grammar = Grammar.from_store(url, TEXT, WORDS)
    assert grammar.source.text == TEXT


def test_an_entry_of_another_form_is_damaged_and_mended(tmp_path: Path) -> None:
    backend = DirectoryStore(tmp_path / "store")
    [key] = filled(backend, tmp_path / "writer", TEXT)
    entry = tmp_path / "store/inputs" / key
    written = entry.read_bytes()
    for wrong in (written[2:], written[:20], written + b"0" * 80, written[:35] + b"9" * 12, b""):
        entry.write_bytes(wrong)
        with pytest.warns(StoreWarning, match=f"inputs/{key} is (damaged|of another format)"):
            assert store_of(backend, tmp_path / "reader").get(key) is None
        make(store_of(backend, tmp_path / "writer"), key, recipe_of(TEXT), WORDS)
        assert entry.read_bytes() == written


def test_earlier_formats_are_counted_and_removed_and_later_ones_are_kept(
    backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [key] = filled(backend, tmp_path / "writer", TEXT)
    now = content(backend)
    digest, kept = "d" * 32, "e" * 32
    earlier = {f"inputs/{'5' * 32}": f"{digest} 12".encode(), f"inputs/{'4' * 32}": digest.encode()}
    earlier |= {f"objects/{digest}": b"old", f"rows/{digest}": b"row"}
    later = {f"inputs/{'7' * 32}": f"7 {kept} 3".encode(), f"objects/{kept}": b"new"}
    for name, data in (earlier | later).items():
        assert backend.put_if_absent(name, data)
    store = store_of(backend, tmp_path / "cache")
    assert list(store.stored_keys()) == [key]
    assert count_others(store) == 3
    assert list(damage(store, remove=True)) == []
    assert collect(store) == 0, "what is young stays"
    monkeypatch.setattr(backend, "age", lambda _: 2 * 24 * 3600.0)
    assert collect(store) == len(earlier)
    assert content(backend) == now | later
    assert count_others(store) == 1


def unpacked_bytes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which the number of bytes is added that each decompression gave."""
    found: list[int] = []

    class Counting:
        def __init__(self) -> None:
            self._inner = zlib.decompressobj()
            found.append(0)

        def decompress(self, data: bytes, most: int) -> bytes:
            piece = self._inner.decompress(data, most)
            found[-1] += len(piece)
            return piece

        @property
        def eof(self) -> bool:
            return self._inner.eof

    class Module:
        error, decompressobj = zlib.error, Counting

    monkeypatch.setattr("kbnf_core.store.zlib", Module)
    return found


def test_no_more_is_unpacked_than_was_announced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = DirectoryStore(tmp_path / "store")
    [key] = filled(backend, tmp_path / "writer", TEXT)
    reader = store_of(backend, tmp_path / "reader")
    entry = reader.entry(key)
    assert entry is not None
    [path] = (tmp_path / "store/objects").iterdir()
    path.write_bytes(zlib.compress(bytes(2**26)))
    found = unpacked_bytes(monkeypatch)
    with pytest.warns(StoreWarning, match="objects/.* is damaged"):
        assert reader.get(key) is None
    assert found == [entry.size + 1]


def test_what_a_store_says_does_not_reach_a_terminal_as_it_is(tmp_path: Path) -> None:
    failure = Failure("refused", "\x1b[31mpwned\x1b]0;x\x07")
    store_of(DirectoryStore(tmp_path / "store"), tmp_path / "cache").put_failure(
        recipe_of(TEXT).key(), failure
    )
    with pytest.raises(StoredFailureError, match="pwned") as caught:
        Grammar.from_store(tmp_path / "store", TEXT, WORDS)
    assert caught.value.failure == failure
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "text", ['{"kind": "x", "message": "y"}', "[]", " " * 2**21 + "{}", "[" * 2**19]
)
def test_a_failure_of_another_kind_is_damaged(text: str, tmp_path: Path) -> None:
    (tmp_path / "store/failures").mkdir(parents=True)
    (tmp_path / "store/failures" / ("0" * 32)).write_text(text)
    with pytest.warns(StoreWarning, match="is damaged"):
        assert (
            store_of(DirectoryStore(tmp_path / "store"), tmp_path / "c").failure("0" * 32) is None
        )


def test_a_full_disk_is_a_note_for_a_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(LocalCache, "keep", fail)
    with pytest.warns(StoreWarning, match="No space left on device; this grammar is compiled here"):
        assert Grammar.from_store(tmp_path / "store", TEXT, WORDS).source.text == TEXT


def test_an_empty_url_is_no_store() -> None:
    with pytest.raises(ConfigError, match="an empty text"):
        open_store("")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no such device")
def test_a_device_in_the_place_of_a_file_is_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    Grammar.from_store(folder, TEXT, None)
    for path in filter(Path.is_file, [*folder.rglob("*")]):
        path.unlink()
        path.symlink_to("/dev/zero")
        with pytest.raises(StoreError, match=f"{path.name}: it is a device"):
            DirectoryStore(folder).get(str(path.relative_to(folder)), 2**40)
