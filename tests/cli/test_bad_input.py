"""Bad input of every kind gets one clear message and the right exit status, no traceback."""

import json
from pathlib import Path

import pytest

from kbnf_testing.command import Kbnf, Write

_GRAMMAR = "start ::= 'a';"
_TAG = {"type": "tag", "begin": "<b>", "end": "</b>"}
_MISTYPED = {"type": "object", "properties": {}, "required": [{}]}
_TOKENS = json.dumps({0: "a", 1: "b"})

FILES: dict[str, str | bytes] = {
    "good.kbnf": _GRAMMAR,
    "empty.kbnf": "",
    "latin1.kbnf": "start ::= 'é';".encode("latin-1"),
    "utf16.kbnf": _GRAMMAR.encode("utf-16"),
    "binary.kbnf": bytes(range(256)) * 4,
    "nul.kbnf": "start ::= \0;",
    "deep.kbnf": f"start ::= {'(' * 5000}'a'{')' * 5000};",
    "no_language.kbnf": "start ::= start 'a';",
    "undefined.kbnf": "start ::= b;",
    "none/readme.txt": "no grammar here",
    "tokens.json": _TOKENS,
    "half.json": r'{"const": "\ud800"}',
    "half_name.json": r'{"properties": {"\udfff": {}}}',
    "half.structural_tag": r'{"format": {"type": "const_string", "value": "\ud800"}}',
    "mistyped.structural_tag": json.dumps(
        {"format": {**_TAG, "content": {"type": "qwen_xml_parameter", "json_schema": _MISTYPED}}}
    ),
    "gguf.bin": b"GGUF\x03\x00\x00\x00\xff",
    "truncated.json": '{"0": "a", ',
    "words.txt": "not a vocabulary\n",
    "kbnf_unknown_key.toml": "selekt = []",
    "kbnf_bad.toml": "= 1",
}

# Arguments, stdin, exit status, and a part of the message.
CASES = [
    # Files
    ("check missing.kbnf", b"", 2, "cannot read missing.kbnf: no such file or directory"),
    ("check none", b"", 0, "warning: none: the directory contains no grammar (*.kbnf, *.gbnf, "),
    ("check good.kbnf/x", b"", 2, "cannot read good.kbnf/x: "),
    ("check empty.kbnf", b"", 1, "E010"),
    ("check latin1.kbnf", b"", 1, "byte 0xe9 at offset 11 is not valid UTF-8"),
    ("check utf16.kbnf", b"", 1, "the file looks like UTF-16"),
    ("check binary.kbnf", b"", 1, "the file looks binary"),
    ("check nul.kbnf", b"", 1, "E001"),
    ("check deep.kbnf", b"", 1, "E012"),
    ("check no_language.kbnf", b"", 1, "E105"),
    ("check -", b"\xff", 1, "E009"),
    ("check - --stdin-filename sub/x.kbnf", b"", 1, "sub/x.kbnf:1:1"),
    ("check good.kbnf -o none/sub/out.txt", b"", 2, "none/sub"),
    ("check good.kbnf -o none", b"", 2, "'none' is a directory"),
    ("mask missing.kbnf", b"", 2, "cannot read missing.kbnf"),
    ("mask none", b"", 2, "cannot read none: is a directory"),
    ("mask latin1.kbnf", b"", 1, "E009"),
    ("mask binary.kbnf", b"", 1, "E009"),
    ("mask undefined.kbnf", b"", 1, "E101"),
    ("mask no_language.kbnf", b"", 1, "E105"),
    ("mask -", b"start ::= ", 1, "error[E0"),
    *(
        (f"{command} {file}", b"", status, message)
        for command in ("sample", "match", "explain", "convert --to gbnf", "test", "compile -o x")
        for file, status, message in (
            ("missing.kbnf", 2, "cannot read missing.kbnf"),
            ("latin1.kbnf", 1, "E009"),
            ("binary.kbnf", 1, "E009"),
            ("undefined.kbnf", 1, "E101"),
            ("no_language.kbnf", 1, "E105"),
            ("deep.kbnf", 1, "E012"),
        )
    ),
    *(
        (f"{command} {file}", b"", 1, f"error[{code}]")
        for command in ("check", "convert", "sample", "diff good.kbnf", "mask", "match", "explain")
        for file, code in (
            ("half.json", "E802"),
            ("half_name.json", "E802"),
            ("half.structural_tag", "E441"),
            ("mistyped.structural_tag", "E802"),
        )
    ),
    ("convert-json-schema half.json", b"", 1, "error[E802]"),
    ("compile --store s . --vocab bytes", b"", 1, "half of a surrogate pair"),
    ("explain good.kbnf x", b"", 2, "the grammar has no rule `x`"),
    ("convert - --from json-schema", b"{", 1, "E8"),
    ("convert - --from regex", b"(", 1, "E201"),
    ("convert - --from regex", b"\xff", 1, "E009"),
    ("convert tokens:json --to x", b"", 2, "'x' is not one of"),
    ("match good.kbnf none", b"", 2, "cannot read none"),
    ("init good.kbnf", b"", 2, "good.kbnf"),
    ("help frobnicate", b"", 2, "there is no topic 'frobnicate'"),
    # Vocabularies
    ("mask good.kbnf --vocab missing.json", b"", 2, "missing.json: "),
    ("mask good.kbnf --vocab gguf.bin", b"", 2, "damaged gguf"),
    ("mask good.kbnf --vocab words.txt", b"", 2, "not a vocabulary"),
    ("mask good.kbnf --vocab truncated.json", b"", 2, "truncated.json: "),
    ("mask good.kbnf --vocab none", b"", 2, "none"),
    ("vocab missing.json", b"", 2, "missing.json: "),
    ("vocab gguf.bin", b"", 2, "damaged gguf"),
    ("vocab good.kbnf", b"", 2, "not a vocabulary"),
    # Prefixes and tokens
    ("mask good.kbnf --tokens 999", b"", 2, "the vocabulary has no token 999"),
    ("mask good.kbnf --vocab tokens.json --tokens 2", b"", 2, "has no token 2"),
    ("mask good.kbnf --tokens 1,x", b"", 2, "'1,x' is not a list of token ids"),
    ("mask good.kbnf --tokens=-1", b"", 2, "a token id is not negative"),
    ("mask good.kbnf --hex 7", b"", 2, "'7' is not an even number of hexadecimal digits"),
    ("mask good.kbnf --hex zz", b"", 2, "'zz' is not an even number of hexadecimal digits"),
    ("mask good.kbnf --text b", b"", 1, "the prefix is rejected"),
    ("mask good.kbnf --tokens 97,97", b"", 1, "token 97 (index 1) comes after the end"),
    ("mask good.kbnf --text a --hex 61", b"", 2, "--text, --tokens and --hex exclude each other"),
    ("mask good.kbnf --why 999", b"", 2, "the vocabulary has no token 999"),
    ("mask good.kbnf --why 1 --format npy", b"", 2, "--why goes with --format table or json"),
    ("mask good.kbnf --eos x", b"", 2, "'x' is not a valid integer"),
    ("mask good.kbnf --eos 99999999999", b"", 2, "99999999999"),
    ("mask good.kbnf --limit -1", b"", 2, "-1 is not in the range"),
    ("mask good.kbnf --start b", b"", 1, "E102"),
    # Options and commands
    ("check --format xml", b"", 2, "'xml' is not one of"),
    ("check --fail-on never", b"", 2, "'never' is not one of"),
    ("check --select X9", b"", 2, "no code or name of a rule matches 'X9'"),
    ("check --select E101,,", b"", 2, "no code or name of a rule matches ''"),
    ("check --finish never", b"", 2, "'never' is not one of"),
    ("check --colour", b"", 2, "no such option"),
    ("check --color sometimes", b"", 2, "'sometimes' is not one of"),
    ("mask", b"", 2, "missing argument"),
    ("mask good.kbnf extra", b"", 2, "unexpected extra argument"),
    ("rule X9", b"", 2, "there is no rule 'X9'"),
    ("frobnicate", b"", 2, "no such command 'frobnicate'"),
    ("--frobnicate", b"", 2, "no such option"),
    # Settings
    ("check good.kbnf --config missing.toml", b"", 2, "cannot read missing.toml"),
    ("check good.kbnf --config kbnf_bad.toml", b"", 2, "kbnf_bad.toml: "),
    ("check good.kbnf --config kbnf_unknown_key.toml", b"", 2, "did you mean `select`?"),
    ("mask good.kbnf --config kbnf_unknown_key.toml", b"", 2, "unknown key `selekt`"),
    ("check good.kbnf --config a.toml --isolated", b"", 2, "exclude each other"),
]


@pytest.fixture(autouse=True)
def _files(write: Write) -> None:
    for name, content in FILES.items():
        write(name, content)


@pytest.mark.parametrize(("arguments", "stdin", "status", "message"), CASES)
def test_bad_input(kbnf: Kbnf, arguments: str, stdin: bytes, status: int, message: str) -> None:
    result = kbnf(*arguments.split(), stdin=stdin)
    said = result.out + result.stderr
    assert result.status == status
    assert message.lower() in said.lower()
    assert "Traceback" not in said
    assert "internal failure" not in said


@pytest.mark.parametrize(("arguments", "stdin", "status", "message"), CASES[::8])
def test_bad_input_in_a_process(
    kbnf_process: Kbnf, arguments: str, stdin: bytes, status: int, message: str
) -> None:
    result = kbnf_process(*arguments.split(), stdin=stdin)
    assert result.status == status
    assert message.lower() in (result.out + result.stderr).lower()
    assert "Traceback" not in result.stderr


def test_argument_that_is_no_utf8(kbnf: Kbnf) -> None:
    result = kbnf("mask", "good.kbnf", "--text", "\udcff", "--format", "json")
    assert (result.status, json.loads(result.out)["error"]["byte_offset"]) == (1, 0)


def test_path_with_a_null_byte(kbnf: Kbnf) -> None:
    assert kbnf("check", "a\0b").status == 2


def test_unreadable_directory(kbnf: Kbnf, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", forbidden)
    result = kbnf("check", "none")
    assert result.status == 2
    assert result.stderr.endswith("none: permission denied\n")
