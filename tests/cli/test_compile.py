"""``kbnf compile``, and artifacts in the place of grammars."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kbnf_testing.artifact_faults import rewrite
from kbnf_testing.command import Kbnf, Write

GOOD = "start ::= '{' #'[a-z]+' '}';"
BAD = "start ::= 'a' undefined;"
TOKENS = json.dumps({0: "{", 1: "}", 2: "a", 3: "ab}", 5: "B"})


@pytest.fixture
def tokens(write: Write) -> Path:
    return write("tokens.json", TOKENS)


def test_mask_of_an_artifact_is_that_of_the_grammar(kbnf: Kbnf, write: Write, tokens: Path) -> None:
    grammar = write("g.kbnf", GOOD)
    assert kbnf("compile", grammar, "--vocab", tokens).status == 0
    options = ("--vocab", tokens, "--text", "{", "--format", "json")
    assert kbnf("mask", "g.kbnfc", *options).out == kbnf("mask", grammar, *options).out


def test_output_goes_where_it_is_told(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("compile", write("g.kbnf", GOOD), "-o", "out.kbnfc")
    assert result.status == 0
    assert "wrote out.kbnfc" in result.stderr
    assert [path.name for path in Path().glob("*.kbnfc")] == ["out.kbnfc"]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_many_grammars_each_with_its_own_error(kbnf: Kbnf, write: Write, jobs: str) -> None:
    for number in range(3):
        write(f"all/good{number}.kbnf", GOOD)
    write("all/bad.kbnf", BAD)
    result = kbnf("compile", "all", "--jobs", jobs)
    assert result.status == 1
    assert "error[E101]" in result.stderr
    assert "compiled 3 of 4 grammars" in result.stderr
    assert len(list(Path("all").glob("*.kbnfc"))) == 3


def test_a_directory_for_several_is_made(kbnf: Kbnf, write: Write) -> None:
    grammars = [write(f"{name}.kbnf", GOOD) for name in "gh"]
    assert kbnf("compile", *grammars, "-o", "new/sub").status == 0
    assert sorted(each.name for each in Path("new/sub").iterdir()) == ["g.kbnfc", "h.kbnfc"]


def test_an_artifact_is_converted_as_its_grammar(kbnf: Kbnf, write: Write) -> None:
    kbnf("compile", write("g.kbnf", GOOD))
    assert kbnf("convert", "g.kbnfc").out == GOOD
    for language in ("gbnf", "lark"):
        expected = kbnf("convert", "g.kbnf", "--to", language, "--lossy").out
        assert kbnf("convert", "g.kbnfc", "--to", language, "--lossy").out == expected
        assert kbnf(f"convert-{language}", "g.kbnfc", "--lossy").out == expected


@pytest.mark.parametrize("command", ["fmt", "convert-bnf", "convert-json-schema"])
def test_an_artifact_is_named_where_it_is_not_taken(kbnf: Kbnf, write: Write, command: str) -> None:
    kbnf("compile", write("g.kbnf", GOOD))
    result = kbnf(command, "g.kbnfc")
    assert (result.status, result.out) == (2, "")
    assert "artifact" in result.stderr
    assert "`kbnf convert g.kbnfc`" in result.stderr


def test_the_text_of_an_artifact_is_checked_without_arrays(kbnf: Kbnf, write: Write) -> None:
    kbnf("compile", write("g.kbnf", GOOD))
    program = (
        "import sys; from kbnf_cli.main import main; "
        "main(['check', '--no-cache', 'g.kbnfc']); print('numpy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("False\n")


def test_a_bad_grammar_leaves_no_file(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("compile", write("g.kbnf", BAD))
    assert (result.status, list(Path().glob("*.kbnfc"))) == (1, [])
    assert "error[E101]" in result.stderr


def test_info_describes(kbnf: Kbnf, write: Write, tokens: Path) -> None:
    kbnf("compile", write("g.kbnf", GOOD), "--vocab", tokens)
    out = kbnf("compile", "--info", "g.kbnfc").out
    assert "grammar:" in out
    assert "vocabulary:" not in out
    assert "limits:" not in out
    kbnf("compile", write("g.bnf", "<start>::=<any!>"), "--vocab", tokens)
    assert "vocabulary:   tokens.json, " in kbnf("compile", "--info", "g.kbnfc").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name a grammar to compile"),
        (("g.kbnf", "--info", "g.kbnfc"), "--info describes an artifact"),
        (("-",), "a grammar from stdin needs -o"),
        (("missing.kbnf",), "missing.kbnf"),
        (("g.kbnf", "-o", "no/such/folder/x.kbnfc"), "no/such/folder"),
        (("--info", "g.kbnf"), "not a usable artifact"),
        (("--info", "none.kbnfc"), "No such file"),
        (("g.kbnf", "h.kbnf", "-o", "g.kbnf"), "several grammars need a directory"),
        (("g.kbnf", "sub/g.kbnf", "-o", "."), "written to the same file"),
        (("g.kbnf", "--jobs", "0"), "--jobs"),
    ],
)
def test_wrong_use(kbnf: Kbnf, write: Write, arguments: tuple[str, ...], message: str) -> None:
    for name in ("g.kbnf", "h.kbnf", "sub/g.kbnf"):
        write(name, GOOD)
    result = kbnf("compile", *arguments)
    assert result.status == 2
    assert message.lower() in result.stderr.lower()
    assert "Traceback" not in result.stderr


def test_a_damaged_artifact_is_one_message(kbnf: Kbnf, write: Write) -> None:
    kbnf("compile", write("g.kbnf", GOOD))
    whole = Path("g.kbnfc").read_bytes()
    Path("g.kbnfc").write_bytes(whole[: len(whole) // 2])
    result = kbnf("mask", "g.kbnfc")
    assert result.status == 2
    assert "g.kbnfc is not a usable artifact" in result.stderr


def test_an_artifact_is_for_any_vocabulary_unless_its_text_stands_for_tokens(
    kbnf: Kbnf, write: Write, tokens: Path
) -> None:
    kbnf("compile", write("g.kbnf", GOOD), "--vocab", tokens)
    assert kbnf("mask", "g.kbnfc").out == kbnf("mask", "g.kbnf").out
    kbnf("compile", write("g.bnf", "<start>::=<any!>"), "--vocab", tokens)
    result = kbnf("mask", "g.kbnfc")
    assert result.status == 2
    assert "compiled for the vocabulary tokens.json, not for bytes" in result.stderr


def test_another_start_needs_another_artifact(kbnf: Kbnf, write: Write) -> None:
    kbnf("compile", write("g.kbnf", GOOD))
    result = kbnf("mask", "g.kbnfc", "--start", "other")
    assert result.status == 2
    assert "compile it again" in result.stderr


def test_an_artifact_of_another_format_is_refused_with_the_command(
    kbnf: Kbnf, write: Write
) -> None:
    kbnf("compile", write("g.kbnf", GOOD))
    rewrite(Path("g.kbnfc"), {}, format=1)
    result = kbnf("mask", "g.kbnfc")
    assert result.status == 2
    assert "compile it again with `kbnf compile g.kbnf -o g.kbnfc`" in result.stderr


def test_a_device_table_is_written_and_described(kbnf: Kbnf, write: Write, tokens: Path) -> None:
    grammar = write("g.kbnf", GOOD)
    result = kbnf("compile", grammar, "--vocab", tokens, "--device-table", "--finish", "token")
    assert result.status == 0
    assert "wrote g.kbnfd" in result.stderr
    lines = dict(
        line.split(":", 1) for line in kbnf("compile", "--info", "g.kbnfd").out.splitlines()
    )
    assert lines["finish"].strip() == "token"
    assert lines["whole"].strip() == "yes"
    assert lines["vocabulary"].strip().startswith("6 ids, ")
    assert int(lines["states"]) >= 3


def test_what_a_file_is_shows_in_it_and_not_in_its_name(
    kbnf: Kbnf, write: Write, tokens: Path
) -> None:
    from kbnf_core import Grammar, load_vocabulary
    from kbnf_core.device import TokenTable

    kbnf("compile", write("g.kbnf", GOOD), "-o", "artifact.kbnfd")
    TokenTable.build(Grammar(GOOD), load_vocabulary(tokens), after="so:").save("table.kbnfc")
    assert "source hash" in kbnf("compile", "--info", "artifact.kbnfd").out
    assert "begins:        after a text of 3 bytes" in kbnf("compile", "--info", "table.kbnfc").out


@pytest.mark.parametrize("others", [0, 1])
def test_a_grammar_that_does_not_close_is_refused_with_the_reason(
    kbnf: Kbnf, write: Write, tokens: Path, others: int
) -> None:
    write("all/nested.kbnf", "start ::= list; list ::= '{' [list] '}';")
    for number in range(others):
        write(f"all/good{number}.kbnf", GOOD)
    result = kbnf("compile", "all", "--vocab", tokens, "--device-table", "--max-states", "30")
    assert result.status == 1
    text = " ".join(result.stderr.split())
    assert (
        "does not close: it has more than 30 states, since `list` (called by `start`) can nest"
        in text
    )
    assert len(list(Path("all").glob("*.kbnfd"))) == others


def test_a_device_table_needs_a_vocabulary(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("compile", write("g.kbnf", GOOD), "--device-table")
    assert result.status == 2
    assert "--vocab" in result.stderr


def test_a_damaged_device_table_is_refused(kbnf: Kbnf, write: Write, tokens: Path) -> None:
    kbnf("compile", write("g.kbnf", GOOD), "--vocab", tokens, "--device-table")
    data = Path("g.kbnfd").read_bytes()
    Path("g.kbnfd").write_bytes(data[:-9])
    result = kbnf("compile", "--info", "g.kbnfd")
    assert result.status == 2
    assert "g.kbnfd" in result.stderr


def test_what_cannot_be_kept_of_a_schema_is_refused_unless_lossy(kbnf: Kbnf, write: Write) -> None:
    schema = write("s.schema.json", '{"items": {"type": "string"}, "uniqueItems": true}')
    refused = kbnf("compile", schema, "-o", "s.kbnfc")
    assert (refused.status, "E801" in refused.stderr) == (1, True)
    assert not Path("s.kbnfc").exists()
    taken = kbnf("compile", schema, "-o", "s.kbnfc", "--lossy")
    assert (taken.status, "W807" in taken.stderr) == (0, True)
