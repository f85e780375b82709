"""``kbnf diff``: what it prints, and what it ends with."""

import json
from pathlib import Path

import jsonschema
import pytest

import kbnf_cli
from kbnf_testing.command import Kbnf, Write

SCHEMA = json.loads(
    (Path(kbnf_cli.__file__).parent / "schemas" / "diff.schema.json").read_text(encoding="utf-8")
)
EOS = "(* kbnf: finish=eos *) "
FEW, MORE = EOS + "start ::= 'yes' | 'no';", EOS + "start ::= 'yes' | 'no' | 'maybe';"
OBJECT = '{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}'
# Both are the same, but nothing shows it: the rule calls itself on both sides.
HARD = (
    EOS + "start ::= 'a' start 'b' | 'c' start 'c' | 'x';",
    EOS + "start ::= 'a' start 'b' | 'aa' start 'bb' | 'c' start 'c' | 'x';",
)


@pytest.fixture(autouse=True)
def _files(write: Write) -> None:
    write("few.kbnf", FEW)
    write("more.kbnf", MORE)
    write("same.gbnf", 'root ::= "no" | "yes"')
    write("object.json", OBJECT)
    write("wider.json", OBJECT.replace('"integer"', '["integer", "null"]'))


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ("few.kbnf same.gbnf", 0),
        ("few.kbnf more.kbnf", 1),
        ("few.kbnf more.kbnf --mode equal", 1),
        ("few.kbnf more.kbnf --mode subset", 0),
        ("more.kbnf few.kbnf --mode subset", 1),
        # `forward`: the new one must write nothing that the old one refuses.
        ("few.kbnf more.kbnf --mode breaking", 1),
        ("more.kbnf few.kbnf --mode breaking", 0),
        ("few.kbnf more.kbnf --breaking forward", 1),
        # `backward`: the new one must take all that the old one took.
        ("few.kbnf more.kbnf --breaking backward", 0),
        ("more.kbnf few.kbnf --breaking backward", 1),
        ("more.kbnf few.kbnf --breaking full", 1),
        ("object.json wider.json --mode subset", 0),
        ("object.json few.kbnf", 1),
        ("few.kbnf missing.kbnf", 2),
        ("few.kbnf more.kbnf --mode subset --breaking full", 2),
        ("few.kbnf", 2),
        ("- -", 2),
    ],
)
def test_status(kbnf: Kbnf, arguments: str, status: int) -> None:
    assert kbnf("diff", *arguments.split()).status == status


def test_text(kbnf: Kbnf) -> None:
    done = kbnf("diff", "few.kbnf", "more.kbnf")
    assert done.stdout.decode().splitlines() == [
        "every text of few.kbnf is one of more.kbnf, which has more",
        "  only in few.kbnf: nothing (proved)",
        "  only in more.kbnf: 'maybe'  (a shortest one, 5 bytes)",
    ]
    done = kbnf("diff", "few.kbnf", "same.gbnf")
    assert done.stdout.decode() == "few.kbnf and same.gbnf have the same texts (proved)\n"


def test_json(kbnf: Kbnf) -> None:
    done = kbnf("diff", "object.json", "wider.json", "--breaking", "full", "--format", "json")
    found = json.loads(done.stdout)
    jsonschema.validate(found, SCHEMA)
    nothing = {"text": None, "hex": None, "shown": None, "searched": None}
    assert found == {
        "schema": "kbnf.diff/1",
        "old": "object.json",
        "new": "wider.json",
        "mode": "breaking",
        "breaking": "full",
        "passed": False,
        "relation": "subset",
        "old_only": {**nothing, "verdict": "none"},
        "new_only": {
            "verdict": "some",
            "text": '{"a":null}',
            "hex": b'{"a":null}'.hex(),
            "shown": "'{\"a\":null}'",
            "searched": None,
        },
        "notes": [],
    }


def test_what_is_not_known_counts_unless_it_is_allowed(
    kbnf: Kbnf, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kbnf_core.diff.comparison.compare.__defaults__", (5_000,))
    one, other = (write(f"{number}.kbnf", text) for number, text in enumerate(HARD))
    assert kbnf("diff", one, other, "--allow-unknown").status == 0
    done = kbnf("diff", one, other, "--format", "json")
    found = json.loads(done.stdout)
    jsonschema.validate(found, SCHEMA)
    assert done.status == 1
    assert found["relation"] == "unknown"
    assert found["old_only"]["searched"] >= 5
    assert b"E902 comparison-undecided" in kbnf("diff", one, other, "--format", "github").stdout
    assert b", unknown for longer texts" in kbnf("diff", one, other).stdout


def test_sarif_and_github_name_the_text_at_the_new_file(kbnf: Kbnf) -> None:
    done = kbnf("diff", "few.kbnf", "more.kbnf", "--format", "sarif")
    (result,) = json.loads(done.stdout)["runs"][0]["results"]
    assert result["ruleId"] == "E901"
    assert "'maybe'" in result["message"]["text"]
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place["uri"] == "more.kbnf"
    done = kbnf("diff", "few.kbnf", "more.kbnf", "--format", "github")
    assert done.stdout.startswith(b"::error file=more.kbnf,")
    done = kbnf("diff", "few.kbnf", "more.kbnf", "--format", "github", "--breaking", "backward")
    assert (done.status, done.stdout) == (0, b"")


def test_sides_have_names_of_their_own(kbnf: Kbnf, write: Write) -> None:
    write("a.kbnf", "start ::= 'a';")
    kbnf("compile", "a.kbnf", "-o", "a.kbnfc")
    out = kbnf("diff", "a.kbnf", "a.kbnfc").stdout.decode()
    assert out == "a.kbnf and a.kbnfc have the same texts (proved)\n"
    out = kbnf("diff", "a.kbnf", "a.kbnf").stdout.decode()
    assert out == "OLD (a.kbnf) and NEW (a.kbnf) have the same texts (proved)\n"


def test_endless_grammars_are_compared_by_prefixes(kbnf: Kbnf, write: Write) -> None:
    write("a.kbnf", "start ::= 'a' start;")
    write("b.kbnf", "start ::= 'a' start | 'b' start;")
    assert kbnf("diff", "a.kbnf", "b.kbnf").stdout.decode().splitlines() == [
        "every viable prefix of a.kbnf is one of b.kbnf, which has more",
        "  only in a.kbnf: nothing (proved)",
        "  only in b.kbnf: 'b'  (a shortest one, 1 byte)",
        "  note: no text of either ever ends, so their viable prefixes are compared",
    ]


def test_stdin(kbnf: Kbnf) -> None:
    assert kbnf("diff", "few.kbnf", "-", stdin=FEW.encode()).status == 0
    assert kbnf("diff", "-", "few.kbnf", stdin=MORE.encode()).status == 1
    named = ("--stdin-filename", "new.json")
    assert kbnf("diff", "object.json", "-", *named, stdin=OBJECT.encode()).status == 0


def test_artifacts(kbnf: Kbnf) -> None:
    assert kbnf("compile", "few.kbnf", "-o", "few.kbnfc").status == 0
    assert kbnf("diff", "few.kbnfc", "same.gbnf").status == 0


def test_configuration_says_how_kbnf_texts_finish(kbnf: Kbnf, write: Write) -> None:
    one = write("one.kbnf", "start ::= #'[a-z]+';")
    other = write("other.kbnf", "start ::= #'[a-z]';")
    assert kbnf("diff", one, other).status == 0
    write("kbnf.toml", 'finish = "eos"\n')
    assert kbnf("diff", one, other).status == 1
    assert kbnf("diff", one, other, "--isolated").status == 0


@pytest.mark.parametrize(
    ("name", "text", "status"),
    [
        ("bad.kbnf", "start ::= ", 1),
        ("bad.kbnf", b"\xff\xfe", 1),
        ("bad.json", "{", 1),
        ("bad.json", '{"type": 5}', 1),
        ("bad.json", "[" * 100_000, 1),
        ("bad.json", '{"not": {}}', 1),
        ("bad.gbnf", "root ::= (", 1),
        ("bad.kbnfc", "nothing", 2),
        ("bad.kbnf", "start ::= start;", 1),
    ],
)
def test_bad_inputs_are_refused(
    kbnf: Kbnf, write: Write, name: str, text: str | bytes, status: int
) -> None:
    file = write(name, text)
    for arguments in (("few.kbnf", file), (file, "few.kbnf")):
        done = kbnf("diff", *arguments)
        assert done.status == status
        assert done.stderr
        assert "internal failure" not in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "start ::= (('a'?){50}){50} 'b';",
        "start ::= 'a'{20000};",
        "start ::= e; e ::= e e e | 'a' e | e 'a' | 'a';",
        "start ::= #'(a|b)*a(a|b){18}';",
        "start ::= x0; "
        + "".join(f"x{i} ::= '(' x{i + 1} x{i + 1} ')'; " for i in range(60))
        + "x60 ::= 'a';",
    ],
)
def test_hostile_grammars_end_in_time(kbnf_process: Kbnf, write: Write, text: str) -> None:
    file = write("hostile.kbnf", EOS + text)
    other = write("other.kbnf", EOS + text.replace("'a'", "('a' | 'aab')", 1))
    done = kbnf_process("diff", file, other)
    assert done.status in (0, 1), done.stderr


def test_hostile_names_are_made_visible(kbnf: Kbnf, write: Write) -> None:
    file = write("a\x1b[31m.kbnf", EOS + r"start ::= '\u{1b}[31m';")
    for format_ in ("text", "json", "github"):
        assert b"\x1b" not in kbnf("diff", "few.kbnf", file, "--format", format_).stdout


def test_classes_of_python_are_compared(kbnf: Kbnf, write: Write) -> None:
    write(
        "versions_of_diff.py",
        "def schema(*kinds):\n"
        "    class Model:\n"
        "        @staticmethod\n"
        "        def model_json_schema():\n"
        "            return {'type': list(kinds)}\n"
        "    return Model\n"
        "Old, New = schema('null'), schema('null', 'boolean')\n",
    )
    result = kbnf("diff", "versions_of_diff:Old", "versions_of_diff:New")
    assert (result.status, "versions_of_diff:New" in result.out) == (1, True)
    subset = ("--mode", "subset")
    assert kbnf("diff", "versions_of_diff:Old", "versions_of_diff:New", *subset).status == 0
    file = write("old.json", '{"type": "null"}')
    assert kbnf("diff", file, "versions_of_diff:Old").status == 0
    missing = kbnf("diff", file, "versions_of_diff:None_")
    assert (missing.status, "cannot import versions_of_diff:None_" in missing.stderr) == (2, True)
