"""``kbnf convert-gbnf`` and ``kbnf convert-bnf``, and ``kbnf check`` of their files."""

import json

from kbnf_testing.command import Kbnf, Write

LOSSY = 'root ::= "<" !</think>* "\\n"\n'


def test_gbnf_to_kbnf_and_back(kbnf: Kbnf, write: Write) -> None:
    there = kbnf("convert-gbnf", write("a.gbnf", 'root ::= "a" b-c # x\nb-c ::= [0-9]{2,}\n'))
    assert there.status == 0
    assert there.out.endswith("\nstart ::= 'a' b_c; (* x *)\nb_c ::= #'[0-9]'{2,};\n")
    back = kbnf("convert-gbnf", "--to", "gbnf", "-", stdin=there.stdout)
    assert back.out == 'root ::= "a" b-c # x\nb-c ::= [0-9]{2,}\n'


def test_the_extension_decides(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("convert-gbnf", write("a.kbnf", "start ::= 'a';"))
    assert result.out == 'root ::= "a"\n'
    named = kbnf("convert-gbnf", "-", "--stdin-filename", "x.kbnf", stdin=b"start ::= 'a';")
    assert named.out == 'root ::= "a"\n'


def test_a_loss_writes_nothing_unless_allowed(kbnf: Kbnf, write: Write) -> None:
    path = write("a.gbnf", LOSSY)
    refused = kbnf("convert-gbnf", path, "-o", "b.kbnf")
    assert refused.status == 1
    assert "W402" in refused.stderr
    assert not path.with_name("b.kbnf").exists()
    assert kbnf("convert-gbnf", path, "-o", "b.kbnf", "--lossy").status == 0
    assert "#token[0-4294967295]*" in path.with_name("b.kbnf").read_text()


def test_a_vocabulary_makes_tokens_exact(kbnf: Kbnf, write: Write) -> None:
    vocabulary = write("v.json", json.dumps({"7": "</think>", "1": "a"}))
    result = kbnf("convert-gbnf", write("a.gbnf", LOSSY), "--vocab", vocabulary)
    assert result.status == 0
    assert "#token[^7]*" in result.out


def test_json(kbnf: Kbnf, write: Write) -> None:
    path = write("a.kbnf", "start ::= #'[0-9]+';")
    result = kbnf("convert-gbnf", path, "--format", "json")
    assert result.status == 1
    value = json.loads(result.out)
    assert (value["schema"], value["exact"], value["output"]) == ("kbnf.convert/1", False, None)
    (loss,) = value["losses"]
    assert loss["code"] == "W403"
    assert loss["span"]["start"] == {"offset": 0, "line": 1, "column": 1}
    assert loss["example"] == {"text": "00", "hex": "3030", "wrongly": "accepted"}
    allowed = json.loads(kbnf("convert-gbnf", path, "--format", "json", "--lossy").out)
    assert allowed["output"] == "root ::= [0-9]+\n"


def test_directories(kbnf: Kbnf, write: Write) -> None:
    folder = write("in/a.gbnf", 'root ::= "a"\n').parent
    write("in/deep/b.gbnf", 'root ::= "b"\n')
    write("in/bad.gbnf", "root ::= nope\n")
    result = kbnf("convert-gbnf", folder, "-o", "out")
    assert result.status == 1
    assert "E101" in result.stderr
    out = folder.parent / "out"
    assert sorted(path.name for path in out.rglob("*.kbnf")) == ["a.kbnf", "b.kbnf"]
    assert kbnf("convert-gbnf", folder).status == 2


def test_another_start(kbnf: Kbnf, write: Write) -> None:
    path = write("a.gbnf", 'top ::= "a"\n')
    assert kbnf("convert-gbnf", path, "--start", "top").out.endswith("start ::= 'a';\n")
    assert "E102" in kbnf("convert-gbnf", path).stderr


def test_errors_have_places(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("convert-gbnf", write("a.gbnf", 'root ::= "a"\nx ::= "\\d"\n'))
    assert result.status == 1
    assert result.out == ""
    assert "a.gbnf:2:8" in result.stderr


def test_check_reads_gbnf_and_bnf(kbnf: Kbnf, write: Write) -> None:
    gbnf = kbnf("check", write("a.gbnf", "root ::= nope\n"), "--format", "concise")
    assert gbnf.status == 1
    assert "a.gbnf:1:10" in gbnf.out
    assert kbnf("check", write("a.bnf", "<start>::='a'|''")).status == 0


def test_bnf(kbnf: Kbnf, write: Write) -> None:
    exact = kbnf("convert-bnf", write("a.bnf", "<start>::='a'<b c>;<b c>::='\\x41'"))
    assert exact.out == (
        "(* kbnf: finish=token *)\n(* Renamed:\n     b c  b_c\n*)\n\n"
        "start ::= 'a' b_c;\nb_c ::= 'A';\n"
    )
    path = write("b.bnf", "<start>::=<any!>'.'")
    assert kbnf("convert-bnf", path).status == 1
    vocabulary = write("v.json", json.dumps({"0": "x", "1": "yz"}))
    filled = kbnf("convert-bnf", path, "--vocab", vocabulary)
    assert filled.status == 0
    assert "any ::= 'x' | 'yz';" in filled.out
