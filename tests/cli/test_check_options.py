"""``kbnf check``: vocabularies, targets, budgets, ignores per file, and watching."""

import subprocess
import sys
import time

import pytest

from kbnf_cli.watching import INTERVAL
from kbnf_testing.command import Kbnf, Write

CONCISE = ("check", "--format", "concise")


def codes(out: str) -> list[str]:
    """Return the codes in the concise form."""
    return [line.split()[1] for line in out.splitlines()]


def test_vocabulary(kbnf: Kbnf, write: Write) -> None:
    vocabulary = write("v.json", '{"0": "a", "1": "b"}')
    result = kbnf(*CONCISE, "--vocab", vocabulary, write("a.kbnf", "start ::= 'ax' | 'b';\n"))
    assert (result.status, codes(result.out)) == (0, ["W603"])
    result = kbnf(*CONCISE, "--vocab", vocabulary, write("a.kbnf", "start ::= 'ax';\n"))
    assert (result.status, codes(result.out)) == (1, ["E601", "W603"])


def test_targets_can_be_combined(kbnf: Kbnf, write: Write) -> None:
    file = write("a.kbnf", "start ::= #e'a' except!('b') 'b';\n")
    targets = ("--target", "kbnf-0.2", "--target", "kbnf-0.4")
    assert codes(kbnf(*CONCISE, *targets, file).out) == ["E502", "E502", "I310"]
    assert kbnf(*CONCISE, "--target", "kbnf-9", file).status == 2


def test_budget(kbnf: Kbnf, write: Write) -> None:
    file = write("a.kbnf", "start ::= 'abcdefghij';\n")
    assert codes(kbnf(*CONCISE, "--max-states", "5", file).out) == ["E703"]
    assert codes(kbnf(*CONCISE, "--max-states", "50", "--cost", file).out) == ["I702"]
    assert codes(kbnf(*CONCISE, "--max-mask-work", "100", file).out) == ["E703"]
    assert codes(kbnf(*CONCISE, "--max-mask-work", "100000", file).out) == []


def test_what_a_json_schema_takes_is_told_too(kbnf: Kbnf, write: Write) -> None:
    schema = '{"type": "object", "properties": {"a": {}}, "additionalProperties": false}'
    file = write("a.schema.json", schema)
    assert codes(kbnf(*CONCISE, file).out) == []
    assert codes(kbnf(*CONCISE, "--max-states", "5", file).out) == ["E703"]
    out = " ".join(kbnf("check", "--cost", file).out.split())
    assert "a.schema.json:1:1" in out
    assert "since `value`, `member` (called by `start`) can nest without end" in out


def test_settings_of_the_new_options(kbnf: Kbnf, write: Write) -> None:
    write("kbnf.toml", 'max-states = 5\nmax-mask-work = 100\ntarget = ["kbnf-0.4"]\n')
    file = write("a.kbnf", "start ::= 'abcdefghij'{2} ';';\n")
    assert codes(kbnf(*CONCISE, file).out) == ["E703", "E703", "E502"]


@pytest.mark.parametrize("pattern", ["a.kbnf", "sub/*.kbnf", "*/a.kbnf"])
def test_ignores_per_file(kbnf: Kbnf, write: Write, pattern: str) -> None:
    write("kbnf.toml", f'[per-file-ignores]\n"{pattern}" = ["W1"]\n')
    write("sub/a.kbnf", "start ::= 'a';\nspare ::= 'b';\n")
    write("other/b.kbnf", "start ::= 'a';\nspare ::= 'b';\n")
    assert kbnf(*CONCISE).out == "other/b.kbnf:2:1: W101 the nonterminal `spare` is never used\n"


@pytest.mark.parametrize("value", ["1", '{"a" = "W1"}', '{"a" = ["X9"]}'])
def test_bad_ignores_per_file(kbnf: Kbnf, write: Write, value: str) -> None:
    write("kbnf.toml", f"per-file-ignores = {value}\n")
    assert kbnf("check", write("a.kbnf", "start ::= 'a';\n")).status == 2


def test_stdin_cannot_be_watched(kbnf: Kbnf) -> None:
    assert kbnf("check", "--watch", "-").status == 2


def test_watch_checks_again_after_a_change(write: Write) -> None:
    file = write("a.kbnf", "start ::= 'a';\n")
    command = [sys.executable, "-m", "kbnf_cli", *CONCISE, "--watch", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            assert process.stderr.readline() == b"no problems in 1 file\n"
            time.sleep(0.1)
            write("a.kbnf", "start ::= 'a';\nspare ::= 'b';\n")
            assert process.stdout.readline().startswith(b"a.kbnf:2:1: W101")
            file.unlink()
            time.sleep(2 * INTERVAL)
            write("a.kbnf", "start ::= 'b' | 'b';\n")
            assert process.stdout.readline().startswith(b"a.kbnf:1:17: W104")
        finally:
            process.terminate()
