"""The cache on disk: found again, never wrong, never in the way, never too large."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kbnf_core import container
from kbnf_core.container import read_container
from kbnf_core.text.errors import VocabularyError
from kbnf_core.text.files import VARIABLE, cache_folder, make_room
from kbnf_core.vocab import files
from kbnf_core.vocab.load import load_vocabulary
from kbnf_core.vocab.trie import PackedTokens
from kbnf_core.vocab.vocabulary import Vocabulary

LARGE = {str(number): f"token {number}" for number in range(5_000)}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the entries, in a cache of the test's own."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache" / "vocabularies"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "vocabulary.json", LARGE)


def write(path: Path, document: object, age: float = 60) -> Path:
    """Write a file that has not changed for ``age`` seconds."""
    path.write_text(json.dumps(document))
    then = time.time() - age
    os.utime(path, (then, then))
    return path


def entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


def is_from_cache(vocabulary: Vocabulary) -> bool:
    return type(vocabulary._tokens) is PackedTokens


def test_the_second_load_comes_from_the_cache(folder: Path, file: Path) -> None:
    first = load_vocabulary(file)
    assert not is_from_cache(first)
    assert len(entries(folder)) == 1
    second = load_vocabulary(file)
    assert is_from_cache(second)
    assert second.fingerprint == first.fingerprint
    assert second.tokens == first.tokens
    assert second.name == "vocabulary.json"


def test_it_can_be_left_alone(folder: Path, file: Path) -> None:
    load_vocabulary(file, cached=False)
    assert entries(folder) == []
    load_vocabulary(file)
    assert not is_from_cache(load_vocabulary(file, cached=False))


def test_it_can_be_turned_off(folder: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load_vocabulary(file)
    monkeypatch.setenv(VARIABLE, "")
    assert not is_from_cache(load_vocabulary(file))
    assert cache_folder("vocabularies") is None


def test_the_usual_folder_is_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE)
    folder = cache_folder("vocabularies")
    assert folder is not None
    assert folder.parts[-2:] == ("kbnf", "vocabularies")


def test_small_files_are_not_worth_it(folder: Path, tmp_path: Path) -> None:
    load_vocabulary(write(tmp_path / "small.json", {"0": "a"}))
    assert entries(folder) == []


def test_a_file_that_was_just_written_may_still_change(folder: Path, tmp_path: Path) -> None:
    load_vocabulary(write(tmp_path / "new.json", LARGE, age=0))
    assert entries(folder) == []


def test_a_changed_file_is_read_again(folder: Path, file: Path) -> None:
    load_vocabulary(file)
    write(file, LARGE | {"0": "other 0"}, age=30)
    changed = load_vocabulary(file)
    assert changed.token(0) == b"other 0"
    assert load_vocabulary(file).token(0) == b"other 0"
    assert len(entries(folder)) == 2


def test_stop_ids_are_part_of_the_identity(folder: Path, file: Path) -> None:
    assert load_vocabulary(file).eos_token_ids == frozenset()
    assert load_vocabulary(file, eos=[7, 3]).eos_token_ids == {3, 7}
    again = load_vocabulary(file, eos={3, 7})
    assert is_from_cache(again)
    assert again.eos_token_ids == {3, 7}
    assert again.token(3) is None
    assert again.token_string(3) == "token 3"
    with pytest.raises(VocabularyError, match="token id -1 is outside"):
        load_vocabulary(file, eos=[-1])


def test_files_beside_it_are_part_of_the_identity(folder: Path, tmp_path: Path) -> None:
    vocabulary = {f"token{number}": number for number in range(5_000)}
    file = write(
        tmp_path / "tokenizer.json",
        {"model": {"type": "BPE", "vocab": vocabulary, "merges": []}},
    )
    assert load_vocabulary(file).eos_token_ids == frozenset()
    write(tmp_path / "generation_config.json", {"eos_token_id": 5})
    assert load_vocabulary(file).eos_token_ids == {5}
    assert is_from_cache(load_vocabulary(tmp_path))


def test_another_version_reads_again(
    folder: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_vocabulary(file)
    monkeypatch.setattr(files, "FORMAT", files.FORMAT + 1)
    assert not is_from_cache(load_vocabulary(file))


def test_an_entry_says_its_format(folder: Path, file: Path) -> None:
    load_vocabulary(file)
    (entry,) = entries(folder)
    assert read_container(entry)[1]["format"] == files.FORMAT


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "cut in the header": lambda data: data[:100],
    "cut in the arrays": lambda data: data[:-1000],
    "one bit in the header": lambda data: data[:20] + bytes([data[20] ^ 1]) + data[21:],
    "one bit in the arrays": lambda data: data[:-5000] + bytes([data[-5000] ^ 4]) + data[-4999:],
    "a page of zeros": lambda data: data[:8192] + bytes(4096) + data[12288:],
    "prose": lambda _: b"Once upon a time" * 100,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_entry_is_replaced(
    folder: Path, file: Path, damage: Callable[[bytes], bytes]
) -> None:
    first = load_vocabulary(file)
    (entry,) = entries(folder)
    whole = entry.read_bytes()
    entry.write_bytes(damage(whole))
    again = load_vocabulary(file)
    assert not is_from_cache(again)
    assert again.tokens == first.tokens
    assert entry.read_bytes() == whole
    assert is_from_cache(load_vocabulary(file))


def test_an_entry_of_something_else_is_replaced(folder: Path, file: Path, tmp_path: Path) -> None:
    load_vocabulary(write(tmp_path / "other.json", LARGE | {"0": "other"}))
    (other,) = entries(folder)
    load_vocabulary(file)
    (mine,) = (path for path in entries(folder) if path != other)
    mine.write_bytes(other.read_bytes())
    assert load_vocabulary(file).token(0) == b"token 0"
    container.write_container(mine, {}, {})
    assert load_vocabulary(file).token(0) == b"token 0"
    assert is_from_cache(load_vocabulary(file))


def test_a_folder_that_cannot_be_written_to_is_no_error(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "occupied").write_text("a file where the folder should be")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "occupied"))
    assert load_vocabulary(file).token(0) == b"token 0"


def test_an_entry_where_a_folder_lies_is_no_error(folder: Path, file: Path) -> None:
    load_vocabulary(file)
    (entry,) = entries(folder)
    entry.unlink()
    entry.mkdir()
    assert load_vocabulary(file).token(0) == b"token 0"
    assert entries(folder) == [entry]


def test_what_was_used_longest_ago_makes_room(tmp_path: Path) -> None:
    for age in range(4):
        path = tmp_path / f"{age}{files.SUFFIX}"
        path.write_bytes(bytes(100))
        os.utime(path, (1_000 - age, 1_000 - age))
    make_room(tmp_path, files.SUFFIX, 250)
    assert [path.stem for path in entries(tmp_path)] == ["0", "1"]


def test_using_an_entry_keeps_it(folder: Path, file: Path) -> None:
    load_vocabulary(file)
    (entry,) = entries(folder)
    os.utime(entry, (1_000, 1_000))
    load_vocabulary(file)
    assert entry.stat().st_mtime > time.time() - 60


def test_what_was_abandoned_half_written_goes(tmp_path: Path) -> None:
    for name, age in (("old.tmp", 4_000), ("new.tmp", 10), ("unknown", 4_000)):
        write(tmp_path / name, {}, age)
    make_room(tmp_path, files.SUFFIX, 1_000)
    assert [path.name for path in entries(tmp_path)] == ["new.tmp", "unknown"]


def test_processes_may_start_at_once(folder: Path, file: Path, tmp_path: Path) -> None:
    program = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from kbnf_core import load_vocabulary\n"
        "import kbnf_core.container, kbnf_core.vocab.load, kbnf_core.vocab.stored\n"
        "print('ready', flush=True)\n"
        "while not Path(sys.argv[2]).exists(): time.sleep(0.001)\n"
        "for _ in range(10):\n"
        "    vocabulary = load_vocabulary(sys.argv[1])\n"
        "    print(vocabulary.fingerprint, vocabulary.trie.node_count, vocabulary.token(4999))\n"
    )
    command = [sys.executable, "-c", program, str(file), str(tmp_path / "go")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    for process in running:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    (tmp_path / "go").touch()
    results = {process.communicate(timeout=60)[0] for process in running}
    assert [process.returncode for process in running] == [0] * 4
    expected = load_vocabulary(file, cached=False)
    line = f"{expected.fingerprint} {expected.trie.node_count} {expected.token(4999)!r}\n"
    assert results == {line * 10}
    assert len(entries(folder)) == 1
