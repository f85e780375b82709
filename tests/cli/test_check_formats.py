"""``kbnf check --format sarif``, ``github`` and ``junit``; baselines."""

import json
from pathlib import Path
from xml.etree import ElementTree

from jsonschema import Draft4Validator

from kbnf_testing.command import Kbnf, Write

BAD = "start ::= itme;\nspare ::= 'b' | 'c' | 'b';\n"
HOSTILE = (
    "start ::= 'a' 'a';\n(* \x1b \u202e *) b ::= '\x07 ::error::%0A' | (  'x'\n | 'y\n'\n ) zz;\n"
)

SCHEMA = json.loads(
    (Path(__file__).parents[1] / "support" / "schemas" / "sarif-schema-2.1.0.json").read_text(
        encoding="utf-8"
    )
)


def test_sarif_is_valid(kbnf: Kbnf, write: Write) -> None:
    write("a b.kbnf", BAD)
    write("c.kbnf", HOSTILE)
    write("d.kbnf", b"\xff")
    log = json.loads(kbnf("check", "--format", "sarif").out)
    Draft4Validator(SCHEMA).validate(log)
    (run,) = log["runs"]
    codes = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(codes[each["ruleIndex"]] == each["ruleId"] for each in run["results"])
    assert {"E101", "W104", "E009"} <= set(codes)


def test_sarif_has_relative_paths_places_and_fixes(kbnf: Kbnf, write: Write) -> None:
    file = write("a b.kbnf", BAD).absolute()
    log = json.loads(kbnf("check", "--format", "sarif", "--select", "W104", file).out)
    (result,) = log["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "a%20b.kbnf", "uriBaseId": "SRCROOT"}
    region = place["region"]
    assert (region["startLine"], region["startColumn"], region["endColumn"]) == (2, 23, 26)
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["replacements"][0]["insertedContent"] == {"text": ""}


def test_sarif_fingerprints_do_not_depend_on_lines_above(kbnf: Kbnf, write: Write) -> None:
    def fingerprints(text: str) -> list[str]:
        write("a.kbnf", text)
        log = json.loads(kbnf("check", "--format", "sarif").out)
        return [each["partialFingerprints"]["kbnfLine/v1"] for each in log["runs"][0]["results"]]

    before = fingerprints(BAD)
    assert len(set(before)) == len(before) == 3
    assert fingerprints("(* new *)\n\n" + BAD) == before


def test_github(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("check", "--format", "github", write("a,b.kbnf", BAD))
    lines = result.out.splitlines()
    assert lines[0].startswith(
        "::error file=a%2Cb.kbnf,line=1,endLine=1,col=11,endColumn=14,title=E101 undefined"
    )
    assert [line.split(" ")[0] for line in lines] == ["::error", "::warning", "::warning"]
    assert result.status == 1


def test_github_says_what_it_drops(kbnf: Kbnf, write: Write) -> None:
    text = "start ::= 'a';\n" + "".join(f"spare{i} ::= 'b';\n" for i in range(12))
    out = kbnf("check", "--format", "github", write("a.kbnf", text)).out
    assert out.splitlines()[-1] == "::notice title=kbnf::2 more findings are in the log only"


def test_github_commands_cannot_be_smuggled_in(kbnf: Kbnf, write: Write) -> None:
    out = kbnf("check", "--format", "github", write("a.kbnf", "start ::= 'a'\n::error::x;\n")).out
    assert not any(line.startswith("::error::") for line in out.splitlines())


def test_junit(kbnf: Kbnf, write: Write) -> None:
    write("a.kbnf", BAD)
    write("b.kbnf", "start ::= 'a';")
    write("c.kbnf", HOSTILE)
    root = ElementTree.fromstring(kbnf("check", "--format", "junit").stdout)  # noqa: S314
    names = [suite.get("name") for suite in root]
    assert names == ["a.kbnf", "c.kbnf", "clean"]
    assert root[0].get("failures") == str(len(root[0])) == "3"
    cases = list(root.iter("testcase"))
    assert root.get("tests") == str(len(cases))
    assert root.get("failures") == str(len([each for each in cases if len(each)]))


def test_baseline_silences_what_was_there(kbnf: Kbnf, write: Write) -> None:
    file = write("a.kbnf", BAD)
    assert kbnf("check", "--write-baseline", "known.json", file).status == 0
    known = ("check", "--baseline", "known.json", "--fail-on", "info", "--format", "concise", file)
    assert (kbnf(*known).status, kbnf(*known).out) == (0, "")
    write("a.kbnf", "(* moved *)\n" + BAD + "more ::= 'x';\n")
    result = kbnf(*known)
    assert result.status == 1
    assert result.out == "a.kbnf:4:1: W101 the nonterminal `more` is never used\n"


def test_a_file_that_is_no_baseline(kbnf: Kbnf, write: Write) -> None:
    file = write("a.kbnf", BAD)
    for text in ("{}", "nonsense", '{"schema": "kbnf.baseline/1", "findings": [1]}'):
        assert kbnf("check", "--baseline", write("known.json", text), file).status == 2
    assert kbnf("check", "--baseline", "none.json", file).status == 2
