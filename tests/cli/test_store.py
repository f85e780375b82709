"""``kbnf compile --store`` and ``kbnf store``."""

import json
import os
import re
import signal
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from kbnf_core import Grammar, Vocabulary
from kbnf_core.store import open_store
from kbnf_core.store.backend import DirectoryStore
from kbnf_core.store.keys import recipe_of
from kbnf_testing.alive import descendants, is_alive
from kbnf_testing.command import Kbnf, Write
from kbnf_testing.farm import content, wait_for

GOOD = "start ::= '{' #'[a-z]+' '}';"
BAD = "start ::= 'a' undefined;"
SCHEMA = json.dumps({"type": "object", "properties": {"a": {"type": "integer"}}})
TOKENS = json.dumps({0: "{", 1: "}", 2: "a", 3: "ab}", 5: "B"})


@pytest.fixture
def sources(write: Write) -> Path:
    write("all/a.kbnf", GOOD)
    write("all/b.gbnf", 'root ::= "a" [b-c]+\n')
    write("all/c.json", SCHEMA)
    write("all/d.jsonl", f'{{"const": 1}}\n\n{SCHEMA}\n')
    write("tokens.json", TOKENS)
    return Path("all")


def test_everything_is_compiled_once_and_texts_of_tokens_for_each_vocabulary(
    kbnf: Kbnf, write: Write, sources: Path
) -> None:
    write("all/e.bnf", "<start>::=<any!>")
    options = ("--store", "store", "--vocab", "bytes", "--vocab", "tokens.json", "-j", "2")
    result = kbnf("compile", *options, sources, "--report", "report.jsonl")
    assert result.status == 0
    lines = [json.loads(line) for line in Path("report.jsonl").read_text().splitlines()]
    once = ("all/a.kbnf", "all/b.gbnf", "all/c.json", "all/d.jsonl:1", "all/d.jsonl:3")
    assert sorted((line["name"], line["vocabulary"] or "") for line in lines) == [
        *((name, "") for name in once),
        *(("all/e.bnf", vocabulary) for vocabulary in ("bytes", "tokens.json")),
    ]
    assert {line["status"] for line in lines} <= {"made", "known"}
    made = [line for line in lines if line["status"] == "made"]
    assert all(line["size"] > 0 and line["seconds"] > 0 for line in made)
    assert re.search(r"made; a grammar \d+\.\d ms .* KiB .*, all .* s and .* MiB\n", result.stderr)
    # The same schema in two files has one artifact.
    assert len({line["key"] for line in lines}) == 6
    before = content(DirectoryStore("store"))
    again = kbnf("compile", *options, sources)
    assert (again.status, again.stderr) == (0, "7 known\n")
    assert content(DirectoryStore("store")) == before


def test_what_was_filled_is_found_by_requests(
    kbnf: Kbnf, write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KBNF_CACHE_DIR", str(tmp_path / "cache"))
    write("a.json", json.dumps(json.loads(SCHEMA), indent=2))
    assert kbnf("compile", "--store", "store", "--vocab", "bytes", "a.json", "-j1").status == 0
    store, vocabulary = open_store("store"), Vocabulary.bytes()
    assert store.prefetch([recipe_of(json.loads(SCHEMA)).key()]) == 1
    Grammar.from_store("store", json.loads(SCHEMA), vocabulary)
    assert (store.metrics["hits"], store.metrics["misses"]) == (2, 0)


def test_a_source_that_cannot_be_used_does_not_hold_up_others(
    kbnf: Kbnf, write: Write, sources: Path
) -> None:
    write("all/bad.kbnf", BAD)
    write("all/bad.lark", "%import .nowhere.X\nstart: X\n")
    result = kbnf("compile", "--store", "store", sources, "-j", "1", "--report", "r.jsonl")
    assert result.status == 1
    assert "error[E101]" in result.stderr
    assert "1 refused, 1 sources unreadable" in result.stderr
    lines = [json.loads(line) for line in Path("r.jsonl").read_text().splitlines()]
    assert sorted(line["name"] for line in lines if line["status"] == "refused") == [
        "all/bad.kbnf",
        "all/bad.lark",
    ]
    again = kbnf("compile", "--store", "store", sources, "-j", "1")
    assert again.status == 1
    assert "error[E101]" in again.stderr
    for each in (result, again):
        assert " --> all/bad.kbnf:1:" in each.stderr
        assert "<text>" not in each.stderr
    assert "refused: error[E101]" in kbnf("store", "ls", "store").out


def test_a_line_that_is_no_json_is_said_to_be_none(kbnf: Kbnf, write: Write) -> None:
    write("a.jsonl", '{"const": 1}\nnonsense\n{"const": \n')
    result = kbnf("compile", "--store", "store", "a.jsonl", "-j", "1")
    assert result.status == 1
    assert "a.jsonl:2: error" in result.stderr
    assert "a.jsonl:3: error" in result.stderr
    assert result.stderr.count("JSON") >= 2
    assert "::=" not in result.stderr


def test_what_is_lost_is_refused_unless_lossy(kbnf: Kbnf, write: Write) -> None:
    path = write("s.json", json.dumps({"type": "array", "uniqueItems": True}))
    fill = ("compile", "--store", "store", path, "-j", "1")
    assert kbnf(*fill).status == 1
    assert kbnf(*fill, "--lossy", "--work", "1").status == 1
    assert kbnf(*fill, "--lossy").status == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--vocab", "bytes", "--vocab", "tokens.json", "a.kbnf"), "several vocabularies"),
        (("--executor", "processes", "a.kbnf"), "--executor goes with --store"),
        (("--store", "s", "-o", "x", "a.kbnf"), "--output, --device-table and --from do not go"),
        (("--store", "s", "--executor", "elsewhere", "a.kbnf"), "--executor is processes"),
        (("--store", "s", "missing.kbnf"), "missing.kbnf"),
        (("--store", "file", "--vocab", "bytes", "a.kbnf"), "file"),
        (("--store", "nowhere://user:secret@x/y", "--vocab", "bytes", "a.kbnf"), "nowhere"),
    ],
)
def test_wrong_use_of_compile(
    kbnf: Kbnf, write: Write, arguments: tuple[str, ...], message: str
) -> None:
    write("a.kbnf", GOOD)
    write("file", "no folder")
    write("tokens.json", TOKENS)
    result = kbnf("compile", *arguments)
    assert result.status == 2
    assert message in result.stderr
    assert "secret" not in result.stderr
    assert "Traceback" not in result.stderr
    assert not list(Path().glob("**/.tmp-*"))


def test_store_lists_counts_and_describes(kbnf: Kbnf, sources: Path) -> None:
    kbnf("compile", "--store", "store", "--vocab", "bytes", sources / "a.kbnf", "-j", "1")
    key, kind, digest = kbnf("store", "ls", "store").out.split()
    assert (len(key), kind, len(digest)) == (32, "artifact:", 32)
    assert "inputs:                   1" in kbnf("store", "info", "store").out
    assert "source hash:" in kbnf("store", "info", "store", key).out
    assert kbnf("store", "info", "store", "0" * 32).status == 1
    assert kbnf("store", "info", "store", "../x").status == 2
    assert kbnf("store", "ls", "store", key).status == 2
    assert kbnf("store", "ls", "nowhere").status == 2


def test_earlier_formats_are_a_line(kbnf: Kbnf, sources: Path, write: Write) -> None:
    kbnf("compile", "--store", "store", sources / "a.kbnf", "-j", "1")
    write(f"store/inputs/{'0' * 32}", f"{'1' * 32} 17")
    line = "1 entries of another format; `gc` removes those of earlier ones\n"
    assert [kbnf("store", each, "store").stderr for each in ("ls", "info")] == [line, line]
    assert len(kbnf("store", "ls", "store").out.splitlines()) == 1
    assert kbnf("store", "verify", "store").stderr == "1 artifacts, 0 damaged\n"
    assert kbnf("store", "gc", "store", "--age", "0").stderr == "removed 1\n"
    assert kbnf("store", "ls", "store").stderr == ""


def test_verify_finds_damage_and_compile_mends_it(kbnf: Kbnf, sources: Path) -> None:
    fill = ("compile", "--store", "store", "--vocab", "bytes", sources, "-j", "1")
    kbnf(*fill)
    whole = content(DirectoryStore("store"))
    assert kbnf("store", "verify", "store").status == 0
    victim = max(Path("store/objects").iterdir())
    victim.write_bytes(victim.read_bytes()[:-3])
    found = kbnf("store", "verify", "store")
    assert found.status == 1
    assert f"objects/{victim.name} is damaged" in found.stderr
    assert kbnf("store", "verify", "store", "--remove").status == 1
    assert kbnf("store", "verify", "store").status == 0
    assert kbnf("store", "gc", "store").status == 0
    kbnf(*fill)
    assert content(DirectoryStore("store")) == whole


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "flipped": lambda data: data[:9] + bytes([data[9] ^ 1]) + data[10:],
    "cut": lambda data: data[:-3],
    "larger": lambda data: zlib.compress(bytes(2**25)),  # noqa: ARG005 - of one form
}


@pytest.mark.parametrize("change", DAMAGES)
def test_compile_replaces_what_is_damaged(kbnf: Kbnf, sources: Path, change: str) -> None:
    fill = ("compile", "--store", "store", "--vocab", "bytes", sources, "-j", "1")
    kbnf(*fill)
    whole = content(DirectoryStore("store"))
    victim = max(Path("store/objects").iterdir())
    victim.write_bytes(DAMAGES[change](victim.read_bytes()))
    again = kbnf(*fill, "--report", "report.jsonl")
    assert again.status == 0
    assert "1 replaced" in again.stderr
    lines = [json.loads(line) for line in Path("report.jsonl").read_text().splitlines()]
    assert [line["status"] for line in lines].count("replaced") == 1
    assert content(DirectoryStore("store")) == whole


def test_verify_finds_a_key_that_names_another_artifact(kbnf: Kbnf, sources: Path) -> None:
    kbnf("compile", "--store", "store", "--vocab", "bytes", sources, "-j", "1")
    first, second, *_ = sorted(Path("store/inputs").iterdir())
    first.write_bytes(second.read_bytes())
    found = kbnf("store", "verify", "store")
    assert found.status == 1
    assert f"inputs/{first.name} names the artifact of another source" in found.stderr


def test_what_a_store_holds_is_shown_without_control_characters(kbnf: Kbnf, write: Write) -> None:
    source = write("a\x1b[31m.kbnf", GOOD)
    assert kbnf("compile", "--vocab", "bytes", source, "-o", "a.kbnfc").status == 0
    key = "a" * 32
    write(f"store/failures/{key}", '{"kind": "refused", "message": "\\u001b[31mx\\u0007"}')
    write("store/failures/\x1b[31m", '{"kind": "refused", "message": "x"}')
    shown = [
        kbnf("store", "ls", "store"),
        kbnf("store", "info", "store", key),
        kbnf("compile", "--info", "a.kbnfc"),
    ]
    for each in shown:
        assert each.status == 0
        assert "[31m" in each.out
        assert "\x1b" not in each.out
        assert "\x07" not in each.out
    assert shown[0].out == f"{key} refused: \u241b[31mx\u2407\n"


def test_an_empty_text_is_no_store(kbnf: Kbnf, write: Write) -> None:
    write("a.kbnf", GOOD)
    for command in (("store", "ls", ""), ("compile", "--store", "", "a.kbnf")):
        result = kbnf(*command)
        assert (result.status, result.out) == (2, "")
        assert "an empty text" in result.stderr


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="POSIX")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_disk_that_takes_no_more_is_a_message_in_every_run(write: Write, jobs: int) -> None:
    """Workers are ended while calls are handed to them; that must not end this process, too."""
    import resource

    for number in range(6):
        properties = {f"k{number}": {"enum": [f"{number}{each}" for each in range(400)]}}
        write(f"all/{number}.json", json.dumps({"type": "object", "properties": properties}))
    command = [sys.executable, "-m", "kbnf_cli", "compile", "--store", "store", f"-j{jobs}", "all"]
    for _ in range(3):
        run = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000)),
        )
        assert run.returncode == 2
        assert run.stderr.lower().endswith("file too large\n")
        assert run.stderr.startswith("error: ")
        assert run.stderr.count("\n") == 1


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_workers_end_with_a_parent_that_is_killed(kbnf: Kbnf, write: Write) -> None:
    for number in range(400):
        properties = {f"k{number}": {"type": "string", "maxLength": 50}, "b": {"type": "number"}}
        write(f"all/{number}.json", json.dumps({"type": "object", "properties": properties}))
    command = [sys.executable, "-m", "kbnf_cli", "compile", "--store", "store", "--vocab", "bytes"]
    process = subprocess.Popen(
        [*command, "-j", "2", "all"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        inputs = Path("store/inputs")
        assert wait_for(lambda: inputs.is_dir() and len(list(inputs.iterdir())) > 3, 60)
        workers = descendants(process.pid)
        assert workers
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert wait_for(lambda: not any(map(is_alive, workers)), 5)
    done = len(list(inputs.iterdir()))
    assert done < 400, "it was done before it was killed"
    assert kbnf("store", "verify", "store").status == 0


def test_help_of_an_action_has_its_options(kbnf: Kbnf) -> None:
    found = {
        action: kbnf("store", action, "--help").out for action in ("ls", "info", "verify", "gc")
    }
    assert [action for action, text in found.items() if "--remove" in text] == ["verify"]
    assert [action for action, text in found.items() if "--age" in text] == ["gc"]
    assert "Usage: kbnf store info [OPTIONS] URL [KEY]..." in found["info"]
    assert "{ls|info|verify|gc}" in kbnf("store", "--help").out
    assert "--age goes with `gc`" in kbnf("store", "ls", "x", "--age", "1").stderr
