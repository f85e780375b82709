"""Stores and caches on full and read-only disks, and with writers that are killed.

Disks are small file systems in memory, which only root can mount; what needs none runs everywhere.
"""

import os
import random
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kbnf_core import Engine, Grammar, Vocabulary, load_vocabulary
from kbnf_core.store import StoreWarning, damage, open_store
from kbnf_core.text.errors import ConfigError
from kbnf_core.text.files import VARIABLE
from kbnf_testing import forked, robustness, tokenizer_files

pytestmark = forked.needed

SURFACE = "disks"
VOCABULARY = Vocabulary.bytes()
KBNF = [sys.executable, "-m", "kbnf_cli"]


def schema(number: int) -> dict[str, object]:
    """Return a schema that is like the others, and not the same."""
    keys = {f"k{each}_{number}": {"type": "string", "maxLength": 40 + each} for each in range(6)}
    return {"type": "object", "properties": keys}


def allowed(grammar: Grammar) -> list[int]:
    engine = Engine(grammar, VOCABULARY)
    engine.try_accept_new_bytes(b"{")
    engine.compute_allowed_token_ids()
    return engine.get_allowed_token_ids_from_last_computation()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Return what mounts a small disk with options of ``mount``, again with others."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = False

    def mount(options: str) -> Path:
        nonlocal mounted
        first = "remount," if mounted else ""
        command = ["mount", "-t", "tmpfs", "-o", first + options, "tmpfs", str(folder)]
        try:
            done = subprocess.run(command, capture_output=True, check=False, timeout=30)
        except OSError:
            pytest.skip("there is no `mount`")
        if done.returncode:
            pytest.skip("a file system cannot be mounted here")
        mounted = True
        return folder

    yield mount
    if mounted:
        subprocess.run(["umount", "-l", str(folder)], check=True, timeout=30)


def fill(folder: Path) -> None:
    descriptor = os.open(folder / "filler", os.O_WRONLY | os.O_CREAT)
    try:
        while True:
            os.write(descriptor, bytes(4096))
    except OSError:
        os.close(descriptor)


@pytest.mark.parametrize("size", [8, 52, 68])
def test_a_store_on_a_disk_that_fills_up(
    size: int, disk: Callable[[str], Path], tmp_path: Path
) -> None:
    """Whatever is written last: every request is served, and nothing in the store is torn."""
    store = disk(f"size={size}k") / "store"
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        served = [Grammar.from_store(store, schema(number), VOCABULARY) for number in range(3)]
    assert {each.category for each in found} == {StoreWarning}
    assert "No space left on device; what was compiled stays here" in str(found[0].message)
    for number, grammar in enumerate(served):
        assert allowed(grammar) == allowed(Grammar.from_json_schema(schema(number)))
    assert not list(store.rglob(".tmp-*"))
    opened = open_store(store, tmp_path / "other")
    assert not list(damage(opened))
    disk("size=4m")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in range(3, 6):
            Grammar.from_store(store, schema(number), VOCABULARY)
    assert len(list(opened.known_keys())) >= 3
    assert not list(damage(opened))


@pytest.mark.parametrize("state", ["full", "read-only", "gone", "a file"])
def test_caches_on_a_disk_that_cannot_be_written(
    state: str, disk: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are left out: findings, masks, vocabularies and stores are as without them."""
    place = disk("size=400k")
    if state == "full":
        fill(place)
    elif state == "read-only":
        disk("size=400k,ro")
    else:
        place = tmp_path / "none"
        if state == "a file":
            place.write_text("")
        else:
            place.symlink_to(tmp_path / "nowhere" / "at all")
    monkeypatch.setenv(VARIABLE, str(place / "cache"))
    grammar, words = tmp_path / "g.kbnf", tmp_path / "tokenizer.json"
    grammar.write_text('start ::= "a" b;\n')
    words.write_bytes(tokenizer_files.trained("byte level"))
    os.utime(words, (1, 1))
    monkeypatch.setattr("kbnf_core.vocab.files.SMALLEST_FILE", 1)
    assert load_vocabulary(words).fingerprint == load_vocabulary(words, cached=False).fingerprint
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        served = Grammar.from_store(tmp_path / f"store-{state}", schema(0), VOCABULARY)
    assert allowed(served) == allowed(Grammar.from_json_schema(schema(0)))
    for command, status in (
        (["check", "--format", "concise", str(grammar)], 1),
        (["store", "verify", str(tmp_path / "stored")], 0),
    ):
        (tmp_path / "stored").mkdir(exist_ok=True)
        done = subprocess.run(
            [*KBNF, *command], capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == status, done.stderr
        assert "Traceback" not in done.stderr


def test_a_cache_that_is_asked_for_and_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="file/cache cannot be a cache: Not a directory"):
        open_store(tmp_path / "store", tmp_path / "file" / "cache")


def test_a_temporary_cache_goes_with_its_process(tmp_path: Path) -> None:
    """And not with those that it forks."""
    program = (
        "import os, sys; from kbnf_core import Grammar, Vocabulary\n"
        "from kbnf_core.store import open_store\n"
        "Grammar.from_store('store', {'type': 'integer'}, Vocabulary.bytes())\n"
        "if not os.fork(): sys.exit(0)\n"
        "os.wait(); print(len(os.listdir('temporary')))"
    )
    (tmp_path / "temporary").mkdir()
    environment = {**os.environ, VARIABLE: "", "TMPDIR": str(tmp_path / "temporary")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("1\n", "")
    assert not os.listdir(tmp_path / "temporary")


def test_writers_that_are_killed_leave_nothing_torn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of one store, one local cache and one cache of vocabularies, while files of both go away."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr("kbnf_core.vocab.files.SMALLEST_FILE", 1)
    store, words = tmp_path / "store", tmp_path / "tokenizer.json"
    words.write_bytes(tokenizer_files.trained("byte level"))
    os.utime(words, (1, 1))
    fingerprint = load_vocabulary(words, cached=False).fingerprint
    expected = [allowed(Grammar.from_json_schema(schema(number))) for number in range(4)]
    monkeypatch.setattr("warnings.showwarning", lambda *_: None)

    def work(chosen: random.Random) -> None:
        for number in chosen.sample(range(4), 4):
            found = Grammar.from_store(store, schema(number), VOCABULARY)
            assert allowed(found) == expected[number]
            assert load_vocabulary(words).fingerprint == fingerprint

    def lose(chosen: random.Random) -> None:
        files = [path for path in tmp_path.rglob("*") if path.is_file() and path != words]
        for path in chosen.sample(files, len(files) // 3):
            path.unlink(missing_ok=True)

    ends = set()
    for case in robustness.cases(16):
        chosen = robustness.generator(SURFACE, case)
        begun = [_start(work, chosen) for _ in range(3)]
        if case % 4 == 3:
            lose(chosen)
        ends |= {os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in begun}
    assert ends == {0, -signal.SIGALRM}
    opened = open_store(store, tmp_path / "other")
    assert all(str(error).endswith("is missing") for error in damage(opened, remove=True))
    monkeypatch.setenv(VARIABLE, str(tmp_path / "third"))
    work(random.Random(0))
    assert not list(damage(opened))


def _start(work: Callable[[random.Random], None], chosen: random.Random) -> int:
    """Begin a process that is killed after a while, or may go on to its end."""
    seed, life = chosen.random(), chosen.choice((0.0, 0.02, 0.1, 0.3)) * chosen.random()
    process = os.fork()
    if process:
        return process
    status = 1
    try:
        if life:
            signal.setitimer(signal.ITIMER_REAL, life)
        work(random.Random(seed))
        status = 0
    finally:
        os._exit(status)
