"""``kbnf play`` without a terminal: scripts, ``-c``, plays, exit statuses."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from kbnf_testing.command import Kbnf, Write

GRAMMAR = '(* kbnf: finish=token *)\nstart ::= "a" ("b" | "c") "d";\n'


@pytest.fixture
def grammar(write: Write) -> Path:
    return write("g.kbnf", GRAMMAR)


def test_a_script_is_carried_out_line_by_line(kbnf: Kbnf, grammar: Path) -> None:
    result = kbnf("play", grammar, stdin=b"a\n:forced\n\nb\n:finish\nd\n")
    assert (result.status, result.stderr) == (0, "")
    assert result.out == (
        "> a\n"
        'text      "a" (1 token)\n'
        "status    ongoing\n"
        "allowed   2 of 257 tokens\n"
        '      98  "b"\n'
        '      99  "c"\n'
        "> :forced\n"
        "bytes     none is forced\n"
        "tokens    none is forced\n"
        "> \n"
        "> b\n"
        'text      "ab" (2 tokens)\n'
        "status    ongoing\n"
        "allowed   1 of 257 tokens\n"
        '     100  "d"\n'
        "> :finish\n"
        'bytes     1 byte  "d"\n'
        "tokens    1 token\n"
        '          100 "d"\n'
        "> d\n"
        'text      "abd" (3 tokens)\n'
        'status    finished after 3 bytes, by "d": finish=token ends it as soon as it is complete\n'
    )


def test_the_same_script_prints_the_same(kbnf: Kbnf, grammar: Path) -> None:
    script = b"a\n:allowed\n:why x\n:stack\n:sample 5\n:grammar\n:help\n"
    assert kbnf("play", grammar, stdin=script) == kbnf("play", grammar, stdin=script)


@pytest.mark.parametrize(
    ("script", "status", "message"),
    [
        ("a\nx\nb\n", 1, "error: line 2: rejected: byte 0 ('x', 0x78) is not expected here"),
        ("a\nbx\n", 1, "error: line 2: rejected (step 2 of 2, nothing was taken)"),
        ("a\nb \n", 1, "error: line 2: rejected (step 2 of 2, nothing was taken)"),
        ("a\nquit\n", 1, "(the command is `:quit`)"),
        ("\n\n#999\n", 1, "error: line 3: the vocabulary has no token 999"),
        ("a\n:assert rejected b\n", 1, "error: line 2: assertion failed: b is allowed"),
        ("a\nb\nd\nd\n", 1, "error: line 4: the text is over"),
        (":nonsense\n", 2, "error: line 1: there is no command"),
        (":load nowhere.kbnf\n", 2, "error: line 1: cannot read nowhere.kbnf"),
        (":undo\n", 2, "error: line 1: there is nothing to undo"),
        ("a\n:quit\nx\n", 0, ""),
        ("", 0, ""),
        ("\n\r\n", 0, ""),
        ("   \n", 1, "error: line 1: rejected"),
        ("a", 0, ""),
    ],
)
def test_a_script_stops_at_the_first_failure(
    kbnf: Kbnf, grammar: Path, script: str, status: int, message: str
) -> None:
    result = kbnf("play", grammar, stdin=script.encode())
    assert result.status == status
    assert message in result.stderr
    assert bool(result.stderr) == bool(message)


def test_bytes_that_are_no_text_are_typed_as_they_are(kbnf_process: Kbnf, write: Write) -> None:
    grammar = write("b.kbnf", 'start ::= #b"\\xff" "a";')
    result = kbnf_process("play", grammar, stdin=b"\xff\na\n")
    assert (result.status, result.stderr) == (0, "")


def test_commands_can_be_given(kbnf: Kbnf, grammar: Path) -> None:
    result = kbnf("play", grammar, "-c", "a", "-c", ":why x", stdin=b"unread\n")
    assert result.status == 0
    assert 'token 120 "x" is not allowed: byte 0' in result.out
    assert f"{grammar}:2:16 " in result.out


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        (["-s", "true"], '•"b"'),
        (["--stacks-display", "true"], '•"b"'),
        (["-i", "true"], "input     61\n"),
        (["-b", "false"], 'text      "a"'),
        (["--finish", "eos"], "status    ongoing"),
    ],
)
def test_switches_are_options(kbnf: Kbnf, grammar: Path, options: list[str], shown: str) -> None:
    assert shown in kbnf("play", grammar, *options, "-c", "a").out


def test_possible_tokens_can_be_left_out(kbnf: Kbnf, grammar: Path) -> None:
    assert "allowed" not in kbnf("play", grammar, "-p", "false", "-c", "a").out


def test_the_start_can_be_chosen(kbnf: Kbnf, write: Write) -> None:
    grammar = write("two.kbnf", 'start ::= other "x"; other ::= "y";')
    assert "finished" in kbnf("play", grammar, "--start", "other", "-c", "y").out
    for former in ("-n", "--start-nonterminal"):
        result = kbnf("play", grammar, former, "other", "-c", "y")
        assert "finished" in result.out
        assert f"`{former}` of `kbnf play` is called `--start` now" in result.stderr


@pytest.mark.parametrize("cache", ["true", "false"])
def test_the_time_of_each_step_is_shown(kbnf: Kbnf, grammar: Path, cache: str) -> None:
    out = kbnf("play", grammar, "-p", "false", "-b", cache, "-c", "a", "-c", ":time").out
    shown = out[out.index("mask ") :].splitlines()
    assert re.fullmatch(r"mask +[0-9.,]+ us on average, [0-9.,]+ at most", shown[0])
    assert re.fullmatch(r"accept +[0-9.,]+ us on average, [0-9.,]+ at most", shown[1])
    assert re.fullmatch(r' +[0-9.,]+ +[0-9.,]+  "a"', shown[3])


def test_there_is_no_time_before_a_step(kbnf: Kbnf, grammar: Path) -> None:
    assert "no step to measure" in kbnf("play", grammar, "-c", ":time").stderr


def test_what_was_typed_is_saved_as_a_script(kbnf: Kbnf, grammar: Path, write: Write) -> None:
    Path("plays").mkdir()
    script = b"a\n:undo\n:bytes\nab\n:why x\n:save plays/one\nd\n:save plays/two\n"
    done = kbnf("play", grammar, stdin=script)
    assert (done.status, done.stderr) == (0, "")
    assert "5 lines in plays/one: `kbnf play GRAMMAR < plays/one` runs them\n" in done.out
    assert Path("plays/one").read_text() == "a\n:undo\n:bytes\nab\n:why x\n"
    again = kbnf("play", grammar, stdin=Path("plays/two").read_bytes())
    assert again.status == 0
    kept = [line for line in done.out.splitlines() if "plays/" not in line]
    assert again.out.splitlines() == kept
    write("g.kbnf", GRAMMAR.replace('"b"', '"e"'))
    again = kbnf("play", grammar, stdin=Path("plays/two").read_bytes())
    assert again.status == 1
    assert "line 4: rejected" in again.stderr


def test_bytes_that_are_no_text_are_saved_as_escapes(kbnf_process: Kbnf, write: Write) -> None:
    grammar = write("b.kbnf", 'start ::= #b"\\xff" "a";')
    assert kbnf_process("play", grammar, stdin=b"\xff\na\n:save s\n").status == 0
    assert Path("s").read_text() == "\\xff\na\n"
    assert kbnf_process("play", grammar, stdin=Path("s").read_bytes()).status == 0


def test_assertions_are_examples_of_the_grammar(kbnf: Kbnf, grammar: Path, write: Write) -> None:
    write("g.examples.toml", "accept = ['abd']\n")
    script = b":assert rejected x\na\n:assert allowed b\n:assert rejected a\n"
    for _ in range(2):
        result = kbnf("play", grammar, stdin=script)
        assert (result.status, result.stderr) == (0, "")
    assert "x is rejected, as it should be; g.examples.toml has it as an example\n" in result.out
    assert Path("g.examples.toml").read_text() == (
        "accept = ['abd']\n"
        '\n[[next]]\nafter = ""\nrejected = ["x"]\n'
        '\n[[next]]\nafter = "a"\nallowed = ["b"]\n'
        '\n[[next]]\nafter = "a"\nrejected = ["a"]\n'
    )
    assert kbnf("test", grammar).out == "g.kbnf: 4 passed\n"
    write("g.kbnf", GRAMMAR.replace('"b"', '"e"'))
    assert kbnf("test", grammar).status == 1


def test_an_assertion_that_can_be_no_example_is_checked(kbnf: Kbnf, grammar: Path) -> None:
    result = kbnf("play", grammar, "-c", ":assert allowed abd")
    assert (result.status, "; no example, since it is not a token" in result.out) == (0, True)
    assert kbnf("play", "json", "-c", ":assert rejected x").status == 0
    result = kbnf("play", grammar, "-c", "a", "-c", ":assert rejected b")
    assert result.status == 1
    assert not list(Path().glob("*.toml"))


def test_a_file_that_cannot_have_the_example_is_left(
    kbnf: Kbnf, grammar: Path, write: Write
) -> None:
    for text in (b"next = [{ allowed = ['b'] }]", b"accept = [", b"# \xff"):
        write("g.examples.toml", text)
        result = kbnf("play", grammar, "-c", ":assert allowed a")
        assert (result.status, "g.examples.toml" in result.stderr) == (2, True)
        assert Path("g.examples.toml").read_bytes() == text


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ([], 2, "a GRAMMAR is needed"),
        (["nowhere.kbnf"], 2, "cannot read nowhere.kbnf"),
        (["g.kbnf", "--vocab", "nowhere"], 2, "cannot read nowhere"),
        (["g.kbnf", "--start", "nothing"], 1, "E102"),
    ],
)
def test_what_cannot_be_opened_is_told(
    kbnf: Kbnf, grammar: Path, arguments: list[str], status: int, message: str
) -> None:
    result = kbnf("play", *arguments)
    assert result.status == status
    assert message in result.stderr


def test_an_artifact_is_played(kbnf: Kbnf, grammar: Path) -> None:
    assert kbnf("compile", grammar, "-o", "g.kbnfc").status == 0
    result = kbnf("play", "g.kbnfc", "-c", "a", "-c", ":stack", "-c", ":reload", "-c", ":why x")
    assert (result.status, result.stderr) == (0, "")
    assert "1 step made again" in result.out


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.gbnf", 'root ::= "a" [b-c]*\n'),
        ("g.bnf", "<start>::='a'<rest>|'a' <rest>::='b'|'c'<rest>"),
        ("g.lark", 'start: "a" /[b-c]+/\n'),
    ],
)
def test_other_languages_are_converted_on_the_fly(
    kbnf: Kbnf, write: Write, name: str, text: str
) -> None:
    grammar = write(name, text)
    result = kbnf("play", grammar, "-c", "a", "-c", ":finish", "-c", ":stack", "-c", ":reload")
    assert (result.status, result.stderr) == (0, "")
    assert 'text      "a" (1 token)' in result.out


def test_what_converting_loses_is_told(kbnf: Kbnf, write: Write) -> None:
    grammar = write("few.lark", 'start: t "a"\nt[max_tokens=2]: /x*/\n')
    result = kbnf("play", grammar, "-c", "x", "-c", f":load {grammar}")
    assert result.status == 0
    assert "warning[W422]" in result.stderr
    assert "lost in converting: `max_tokens`" in result.out


def test_the_console_is_not_loaded_for_a_script(kbnf: Kbnf, grammar: Path) -> None:
    program = (
        "import sys; from kbnf_cli.main import main; "
        f"main(['play', {str(grammar)!r}, '-c', 'a']); print('prompt_toolkit' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("False\n")


def test_any_token_is_one_of_the_vocabulary(kbnf: Kbnf, write: Write) -> None:
    grammar = write("a.bnf", "<start>::=<any!>'b'\n")
    assert kbnf("play", grammar, stdin=b"a\nb\n").status == 0
    result = kbnf("play", grammar, stdin=b"a\na\n")
    assert result.status == 1
    assert "rejected" in result.stderr


def test_the_status_is_the_position(kbnf: Kbnf, grammar: Path) -> None:
    status, show = (kbnf("play", grammar, "-c", each).out for each in (":status", ":show"))
    assert status == show.replace(":show", ":status")


def test_a_way_to_take_lines_says_how_to_leave_it(kbnf: Kbnf, grammar: Path) -> None:
    assert "`:token`" in kbnf("play", grammar, "-c", ":bytes").out


_TOOLS = '[{"name": "f", "input_schema": {"type": "object", "properties": {}}}]'


def test_options_of_languages_decide_what_is_allowed(
    kbnf: Kbnf, write: Write, grammar: Path
) -> None:
    tools, schema = write("tools.json", _TOOLS), write("a.schema.json", '{"type": "array"}')
    calls = ("play", tools, "--tool-calls", "qwen_3", "--tool-choice", "required")
    call = "-c", ":text <tool_call>"
    assert kbnf(*calls, *call, "-c", ":reload").status == 0
    assert kbnf("play", tools, *call).status == 1
    # As with --start, another file is read by its own settings.
    assert kbnf(*calls, "-c", f":load {grammar}", "-c", "a").status == 0
    assert kbnf("play", schema, "--whitespace", "compact", "-c", ":text [ ").status == 1


@pytest.mark.parametrize("option", [("--tool-calls", "qwen_3"), ("--whitespace", "compact")])
def test_options_of_another_language_are_refused(
    kbnf: Kbnf, grammar: Path, option: tuple[str, str]
) -> None:
    result = kbnf("play", grammar, *option, "-c", "a")
    assert result.status == 2
    assert f"error: {option[0]} is for " in result.stderr
