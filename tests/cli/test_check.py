"""``kbnf check``."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import kbnf_core.text.diagnostics
from kbnf_testing.command import Kbnf, Write

GOOD = "start ::= 'a';\n"
BAD = "start ::= itme;\n"
WARNED = "start ::= 'a';\nunused ::= 'b';\n"

_FOLDER = Path(kbnf_core.text.diagnostics.__file__).parent
_SCHEMA = json.loads((_FOLDER / "check.schema.json").read_text(encoding="utf-8"))


GRAMMARS = Path(__file__).resolve().parents[2] / "grammars"


def test_clean_file(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("check", write("a.kbnf", GOOD))
    assert (result.status, result.out) == (0, "")
    assert result.stderr == "no problems in 1 file\n"


def test_findings_in_long_form(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("check", write("a.kbnf", BAD))
    assert result.status == 1
    assert result.out.startswith("error[E101]: ")
    assert "\n --> a.kbnf:1:11\n" in result.out
    assert result.stderr == "1 error in 1 file\n"


def test_concise(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("check", "--format", "concise", write("a.kbnf", BAD + "b ::= 'a' 'b'"))
    lines = result.out.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["a.kbnf:1:11:", "E101"],
        ["a.kbnf:2:1:", "W101"],
        ["a.kbnf:2:14:", "W001"],
    ]


def test_json_has_the_published_shape(kbnf: Kbnf, write: Write) -> None:
    write("b.kbnf", BAD)
    write("a.kbnf", WARNED)
    write("c.kbnf", b"\xff")
    result = kbnf("check", "--format", "json")
    value = json.loads(result.out)
    Draft202012Validator(_SCHEMA).validate(value)
    assert [each["path"] for each in value["diagnostics"]] == ["a.kbnf", "b.kbnf", "c.kbnf"]
    assert value["summary"] == {"files": 3, "errors": 2, "warnings": 1, "infos": 0}
    assert (result.status, result.stderr) == (1, "")


def test_json_is_the_same_every_time(kbnf_process: Kbnf, write: Write) -> None:
    for name in "abc":
        write(f"{name}.kbnf", WARNED + BAD)
    assert len({kbnf_process("check", "--format", "json").stdout for _ in range(2)}) == 1


def test_default_is_the_current_directory(kbnf: Kbnf, write: Write) -> None:
    write("deep/er/a.kbnf", BAD)
    write("deep/er/a.txt", "not a grammar")
    result = kbnf("check", "--format", "concise")
    assert result.out.startswith("deep/er/a.kbnf:1:11: E101")


def test_stdin(kbnf: Kbnf) -> None:
    result = kbnf("check", "-", "--format", "concise", stdin=BAD.encode())
    assert result.out.startswith("<stdin>:1:11: E101")


def test_stdin_filename(kbnf: Kbnf, write: Write) -> None:
    write("sub/kbnf.toml", 'ignore = ["E101"]')
    arguments = ("check", "-", "--stdin-filename", "sub/x.kbnf", "--format", "concise")
    assert kbnf(*arguments, stdin=BAD.encode()).status == 0
    assert kbnf(*arguments, "--isolated", stdin=BAD.encode()).out.startswith("sub/x.kbnf:1:11:")


@pytest.mark.parametrize(
    ("options", "status", "codes"),
    [
        ((), 1, ["E101", "W101"]),
        (("--select", "W"), 0, ["W101"]),
        (("--select", "W", "--fail-on", "warning"), 1, ["W101"]),
        (("--ignore", "E,W"), 0, []),
        (("--ignore", "e1"), 0, ["W101"]),
        (("--ignore", "ALL", "--extend-select", "W101"), 0, ["W101"]),
        (("--select", "unused-nonterminal"), 0, ["W101"]),
        (("--fail-on", "info", "--ignore", "E"), 1, ["W101"]),
    ],
)
def test_selection(
    kbnf: Kbnf, write: Write, options: tuple[str, ...], status: int, codes: list[str]
) -> None:
    result = kbnf("check", *options, "--format", "concise", write("a.kbnf", BAD + "b ::= 'b';"))
    assert [line.split()[1] for line in result.out.splitlines()] == codes
    assert result.status == status


def test_start(kbnf: Kbnf, write: Write) -> None:
    file = write("a.kbnf", "root ::= 'a';")
    assert "E102" in kbnf("check", file).out
    assert kbnf("check", "--start", "root", file).status == 0


def test_a_rule_with_an_error_may_be_the_start(kbnf: Kbnf, write: Write) -> None:
    write("a.kbnf", 'root = (name - keyword)+;\nname = #"[a-z]+";\nkeyword = "if";\n')
    found = kbnf("check", "a.kbnf", "--format", "concise")
    assert "E001" in found.out
    assert "E102" not in found.out
    # Where the broken rule is used by another one, the start is to be named.
    write("b.kbnf", "root = name;\nname = (a - b);\n")
    assert "E102" in kbnf("check", "b.kbnf", "--format", "concise").out


def test_finish(kbnf: Kbnf, write: Write) -> None:
    file = write("a.kbnf", "start ::= 'a' | 'ab';")
    assert "W301" in kbnf("check", file).out
    assert kbnf("check", "--finish", "eos", file).out == ""


def test_pragma_silences(kbnf: Kbnf, write: Write) -> None:
    file = write("a.kbnf", "start ::= 'a';\nb ::= 'b'; (* kbnf: ignore[W101] *)\n")
    assert kbnf("check", file).out == ""


def test_output_file(kbnf: Kbnf, write: Write, tmp_path: Path) -> None:
    result = kbnf("check", "--color", "always", "-o", "out.txt", write("a.kbnf", BAD))
    assert (result.status, result.out) == (1, "")
    written = (tmp_path / "out.txt").read_text(encoding="utf-8")
    assert written.startswith("error[E101]: ")
    assert "\x1b" not in written
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.kbnf", "out.txt"]


def test_failed_output_leaves_nothing_behind(kbnf: Kbnf, write: Write, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    result = kbnf("check", "-o", "out/missing/x.txt", write("a.kbnf", BAD))
    assert result.status == 2
    assert list((tmp_path / "out").iterdir()) == []


def test_quiet_keeps_findings(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("-q", "check", write("a.kbnf", BAD))
    assert "E101" in result.out
    assert result.stderr == ""


def test_verbose_names_the_files(kbnf: Kbnf, write: Write) -> None:
    assert "checking a.kbnf\n" in kbnf("check", "-v", write("a.kbnf", GOOD)).stderr


def test_mixed_files_in_order_of_path(kbnf: Kbnf, write: Write) -> None:
    write("z/a.kbnf", BAD)
    write("a.kbnf", BAD)
    write("z.kbnf", BAD)
    out = kbnf("check", "--format", "concise", "z", "a.kbnf", "z.kbnf", "z").out
    assert [line.split(":")[0] for line in out.splitlines()] == ["a.kbnf", "z.kbnf", "z/a.kbnf"]


def test_many_files_are_checked_alike_by_one_process_and_by_several(
    kbnf: Kbnf, write: Write
) -> None:
    for number in range(40):
        write(f"all/g{number:02}.kbnf", "start ::= 'a' | 'a';" if number % 7 else "start ::= x;")
    one, two = (kbnf("check", "all", "--jobs", jobs) for jobs in ("1", "2"))
    assert (one.status, one.out, one.stderr) == (two.status, two.out, two.stderr)
    assert one.status == 1
    assert one.out.count("error[E101]") == 6


def test_where_the_search_for_cut_texts_ended_is_said_with_v_only(kbnf: Kbnf, write: Write) -> None:
    # One character does not tell how its texts go on, and its places have no end.
    grammar = write("a.kbnf", (GRAMMARS / "reasoned_answer.kbnf").read_bytes())
    assert "I901" not in kbnf("check", grammar).out
    assert "I901" in kbnf("check", "-v", grammar).out
