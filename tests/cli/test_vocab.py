"""``kbnf vocab``."""

import json

from kbnf_testing.command import Kbnf, Write

TOKENS = json.dumps({0: "a", 1: "a", 2: [0, 255], 5: ""})


def test_built_in(kbnf: Kbnf) -> None:
    out = kbnf("vocab", "bytes").out
    assert "ordinary       256 tokens\n" in out
    assert "stop ids       1: 256\n" in out
    assert kbnf("vocab").out == out


def test_text(kbnf: Kbnf, write: Write) -> None:
    rows = dict(
        line.split("  ", 1) for line in kbnf("vocab", write("v.json", TOKENS)).out.splitlines()
    )
    found = {key: value.strip() for key, value in rows.items()}
    assert found["duplicates"] == '1: "a" (0, 1)'
    assert found["gaps"] == "1: 3-4"
    assert found["empty"] == "1: 5"
    assert found["longest"] == '2 bytes: 2 "\\x00\\xff"'
    assert found["missing bytes"].startswith("253: 0x01, 0x02, ")


def test_json(kbnf: Kbnf, write: Write) -> None:
    value = json.loads(kbnf("vocab", write("v.json", TOKENS), "--format", "json").out)
    assert value["schema"] == "kbnf.vocab/1"
    assert value["duplicates"] == [[0, 1]]
    assert value["gaps"] == [[3, 5]]
    assert value["longest"] == {"length": 2, "ids": [2]}
    assert value["single_bytes"] == 1
    assert value["round_trip"] == {"same": 3, "other": 1}


def test_eos(kbnf: Kbnf, write: Write) -> None:
    file = write("v.json", TOKENS)
    result = kbnf("vocab", file, "--eos", "9", "--eos", "7", "--format", "json")
    assert json.loads(result.out)["stop_ids"] == [7, 9]
