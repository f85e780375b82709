"""The cache of ``kbnf check``: the same findings, never stale, never in the way."""

import json
import os
from pathlib import Path

import pytest

from kbnf_cli import results
from kbnf_cli.check import ENOUGH_FOR_JOBS
from kbnf_core import check as core_check
from kbnf_core.lint import check as lint_check
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.files import VARIABLE
from kbnf_testing.command import Kbnf, Write

BAD = "start ::= itme 'a' | 'a'; unused ::= 'b';\n"
DATA = Path(__file__).parents[1] / "data"
GRAMMARS = (DATA / "lark/broken", DATA / "lark/llguidance_broken", DATA / "lark/bundles")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the entries, of the test's own."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache" / "checks"


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return what texts were really checked, as the test goes on."""
    texts: list[str] = []

    def check(text: str, *arguments: object, **options: object) -> list[Diagnostic]:
        texts.append(text)
        return core_check(text, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(lint_check, "check", check)
    return texts


def entries(cache: Path) -> list[Path]:
    return sorted(cache.iterdir()) if cache.exists() else []


def test_findings_come_back_identical(kbnf: Kbnf, checked: list[str]) -> None:
    asked = ("check", "--isolated", "-j", "1", "--format")
    fresh = kbnf(*asked, "text", "--no-cache", *GRAMMARS)
    assert fresh.out.count("\n\n") > 20
    assert kbnf(*asked, "text", *GRAMMARS) == fresh
    count = len(checked)
    assert kbnf(*asked, "text", *GRAMMARS) == fresh
    recalled = [kbnf(*asked, each, *GRAMMARS) for each in ("json", "sarif")]
    assert len(checked) == count
    assert recalled == [kbnf(*asked, each, "--no-cache", *GRAMMARS) for each in ("json", "sarif")]


def test_pointers_come_back_identical(kbnf: Kbnf, write: Write, checked: list[str]) -> None:
    file = write("a.json", '{"properties": {"a": {"type": "object"}}}')
    fresh = kbnf("check", "--format", "json", file)
    count = len(checked)
    assert '"pointer"' in fresh.out
    assert kbnf("check", "--format", "json", file) == fresh
    assert len(checked) == count


def test_fixes_come_back_identical(kbnf: Kbnf, write: Write, checked: list[str]) -> None:
    file = write("a.kbnf", "(* kbnf: finish=eos *) start ::= 'a' | 'a' | #'\\\\d';\n")
    shown = kbnf("check", "--diff", "--unsafe-fixes", file)
    count = len(checked)
    assert shown.out
    assert kbnf("check", "--diff", "--unsafe-fixes", file) == shown
    assert kbnf("check", "--fix", "--unsafe-fixes", file).status == 0
    assert len(checked) == count


def test_selection_is_not_part_of_what_is_kept(
    kbnf: Kbnf, write: Write, checked: list[str]
) -> None:
    file = write("a.kbnf", BAD)
    assert kbnf("check", "--select", "E101", file).status == 1
    shown = kbnf("check", "--select", "W101", "--format", "concise", file)
    assert "W101" in shown.out
    assert kbnf("check", "--ignore", "E", file).status == 0
    assert len(checked) == 1


@pytest.mark.parametrize(
    "options",
    [
        ("--start", "unused"),
        ("--finish", "eos"),
        ("--vocab", "bytes"),
        ("--vocab", "bytes", "--eos", "7"),
        ("--target", "llama.cpp"),
        ("--cost",),
        ("--max-states", "1"),
        ("--max-mask-work", "1"),
        ("-v",),
    ],
)
def test_settings_that_decide_are(
    kbnf: Kbnf, write: Write, checked: list[str], options: tuple[str, ...]
) -> None:
    file = write("a.kbnf", BAD)
    kbnf("check", file)
    kbnf("check", *options, file)
    assert len(checked) == 2


def test_the_configuration_is_too(kbnf: Kbnf, write: Write, checked: list[str]) -> None:
    file = write("a.kbnf", "start ::= 'a'; other ::= 'b';\n")
    for number, config in enumerate(("", 'start = "other"', 'finish = "eos"'), 1):
        write("kbnf.toml", config)
        kbnf("check", file)
        assert len(checked) == number


def test_a_changed_text_or_name_is_checked(kbnf: Kbnf, write: Write, checked: list[str]) -> None:
    kbnf("check", write("a.kbnf", BAD))
    assert "b.kbnf:1:11" in kbnf("check", "--format", "concise", write("b.kbnf", BAD)).out
    kbnf("check", write("a.kbnf", BAD + "\n"))
    assert len(checked) == 3


def test_a_changed_import_is_checked_again(kbnf: Kbnf, write: Write, checked: list[str]) -> None:
    write("other.lark", 'WORD: "a"\n')
    file = write("a.lark", "start: WORD\n%import .other.WORD\n")
    assert kbnf("check", file).status == 0
    assert kbnf("check", file).status == 0
    assert len(checked) == 1
    write("other.lark", "WORD: wrong\n")
    assert kbnf("check", file).status == 1
    Path("other.lark").unlink()
    assert kbnf("check", file).status == 1
    assert kbnf("check", file).status == 1
    assert len(checked) == 3
    write("other.lark", 'WORD: "a"\n')
    assert kbnf("check", file).status == 0


def test_a_damaged_entry_is_a_miss(
    kbnf: Kbnf, write: Write, checked: list[str], cache: Path
) -> None:
    file = write("a.kbnf", BAD)
    fresh = kbnf("check", file)
    (entry,) = entries(cache)
    whole = entry.read_bytes()
    moved = whole[:32] + whole[32:].replace(b"itme", b"emit")
    for count, data in enumerate((b"", whole[:-1], whole[:40], moved, b"\xff" * 200), 2):
        entry.write_bytes(data)
        assert kbnf("check", file) == fresh
        assert len(checked) == count
    assert entry.read_bytes() == whole


def test_an_entry_under_another_name_is_a_miss(
    kbnf: Kbnf, write: Write, checked: list[str], cache: Path
) -> None:
    kbnf("check", write("a.kbnf", BAD))
    (first,) = entries(cache)
    good = write("b.kbnf", "start ::= 'a';\n")
    assert kbnf("check", good).status == 0
    second = next(each for each in entries(cache) if each != first)
    second.write_bytes(first.read_bytes())
    assert kbnf("check", good).status == 0
    assert len(checked) == 3


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")
def test_entries_of_others_are_misses(
    kbnf: Kbnf,
    write: Write,
    checked: list[str],
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = write("a.kbnf", BAD)
    kbnf("check", file)
    (entry,) = entries(cache)
    assert entry.stat().st_mode & 0o077 == 0
    assert cache.stat().st_mode & 0o077 == 0
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    kbnf("check", file)
    assert len(checked) == 2
    monkeypatch.undo()


def test_a_link_in_the_place_of_an_entry_is_not_followed(
    kbnf: Kbnf, write: Write, cache: Path
) -> None:
    file = write("a.kbnf", BAD)
    fresh = kbnf("check", file)
    (entry,) = entries(cache)
    target = write("target", entry.read_bytes())
    entry.unlink()
    entry.symlink_to(target.resolve())
    assert kbnf("check", file) == fresh
    assert not entry.is_symlink()
    assert target.read_bytes() == entry.read_bytes()


def test_no_cache_and_another_folder(
    kbnf: Kbnf, write: Write, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write("a.kbnf", BAD)
    kbnf("check", "--no-cache", file)
    assert not cache.exists()
    kbnf("check", "--cache-dir", "mine", file)
    assert len(entries(Path("mine/checks"))) == 1
    monkeypatch.setenv(VARIABLE, "")
    assert kbnf("check", file).status == 1
    assert not cache.exists()


def test_a_folder_that_cannot_be_is_no_error(kbnf: Kbnf, write: Write) -> None:
    fresh = kbnf("check", "--no-cache", write("a.kbnf", BAD))
    write("taken/checks", "a file")
    assert kbnf("check", "--cache-dir", "taken", "a.kbnf") == fresh


def test_old_entries_make_room(
    kbnf: Kbnf, write: Write, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kbnf("check", write("a.kbnf", BAD))
    (old,) = entries(cache)
    os.utime(old, (1, 1))
    monkeypatch.setattr(results, "LARGEST_TOTAL", old.stat().st_size + 10)
    kbnf("check", write("b.kbnf", BAD))
    (left,) = entries(cache)
    assert left != old


def test_large_entries_are_not_kept(
    kbnf: Kbnf, write: Write, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "LARGEST_ENTRY", 100)
    kbnf("check", write("a.kbnf", BAD))
    assert entries(cache) == []


def test_another_program_finds_for_itself(
    kbnf: Kbnf, write: Write, checked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write("a.kbnf", BAD)
    kbnf("check", file)
    monkeypatch.setattr(results, "__version__", "0.0.0")
    kbnf("check", file)
    assert len(checked) == 2


def test_a_checkout_that_changed_is_another_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "changing"
    package.mkdir()
    module = package / "__init__.py"
    module.write_text("A = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(results, "_OWN", ("changing",))
    first = results.open_results(tmp_path)
    assert results.open_results(tmp_path) == first
    os.utime(module, (1, 1))
    assert results.open_results(tmp_path) != first


def test_json_schemas(kbnf: Kbnf, write: Write, cache: Path) -> None:
    file = write("a.json", json.dumps({"type": "array", "uniqueItems": True}))
    fresh = kbnf("check", file)
    assert len(entries(cache)) == 1
    assert kbnf("check", file) == fresh


def test_several_processes(kbnf: Kbnf, write: Write, cache: Path, checked: list[str]) -> None:
    for number in range(ENOUGH_FOR_JOBS):
        write(f"many/{number:02}.kbnf", f"start ::= '{number}' missing;\n")
    first = kbnf("check", "-j", "2", "many")
    assert first.status == 1
    assert len(entries(cache)) == ENOUGH_FOR_JOBS
    assert kbnf("check", "-j", "2", "many") == first
    write("many/07.kbnf", "start ::= 'a';\n")
    third = kbnf("check", "-j", "2", "many")
    assert third.out == kbnf("check", "-j", "1", "--no-cache", "many").out
    assert checked[0] == "start ::= 'a';\n"
    assert len(checked) == 1 + ENOUGH_FOR_JOBS
