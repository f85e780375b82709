"""The step function: every command, without a terminal."""

from pathlib import Path
from typing import Protocol

import pytest

from kbnf_cli.console import Console
from kbnf_cli.inputs import Inputs
from kbnf_cli.play import session as state
from kbnf_cli.play.commands import spoken_command, step
from kbnf_cli.play.session import Files, LineVerdict, Mode, Reply, Session
from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.text.diagnostics.segments import Role, cells, plain
from kbnf_testing.play import GRAMMAR


class World(Protocol):
    """The part of the world in memory that these tests touch."""

    files: dict[Path, str]
    columns: int
    rows: int


def run(session: Session, world: World, *lines: str) -> Reply:
    """Carry out lines, of which all but the last have to go well."""
    reply = Reply(session)
    for line in lines:
        assert reply.verdict is LineVerdict.FINE, reply.message
        reply = step(reply.session, line, world)  # type: ignore[arg-type]
    return reply


def accepted(reply: Reply) -> tuple[int | bytes, ...]:
    return reply.session.engine.accepted


@pytest.mark.parametrize(
    ("lines", "steps"),
    [
        (["say\\x20"], (2,)),
        (["say", "\\x20"], (0, 1)),
        (["#2", "#4", "llo"], (2, 4, 5)),
        (["#13"], None),
        (["#2", "he"], (2, 4)),
        (["#2", "#13"], (2, 13)),
        (["#2", "\\#1"], (2, 10)),
        (["#2", "\\:x"], (2, 11)),
        (["#2", "h\\xc3", "\\xa9"], (2, 8, 9)),
        (["#2", "<|x|>"], (2, 98)),
        (["#2", "#3", "#99"], (2, 3, 99)),
        (["#2", "", "hello"], (2, 3)),
        (["#2", "hello, h\\u00e9"], (2, 3, 6, 8, 9)),
        (["say", " "], (0, 1)),
        (["say hello"], (2, 3)),
        (["#2 #4,#5"], (2, 4, 5)),
        ([":bytes say "], (b"s", b"a", b"y", b" ")),
        ([":text say "], (2,)),
        ([":bytes say h"], (b"s", b"a", b"y", b" ", b"h")),
        ([":text say hello, h\\u00e9"], (2, 3, 6, 8, 9)),
        ([":bytes", "say"], (b"s", b"a", b"y")),
        ([":text", "say hello"], (2, 3)),
        ([":text", ":token", "say"], (0,)),
        ([":token say\\x20"], (2,)),
    ],
)
def test_lines_are_tokens(
    session: Session, world: World, lines: list[str], steps: tuple[int | bytes, ...] | None
) -> None:
    reply = run(session, world, *lines)
    if steps is None:
        assert reply.verdict is LineVerdict.REFUSED
    else:
        assert (reply.verdict, accepted(reply)) == (LineVerdict.FINE, steps)


@pytest.mark.parametrize(
    ("line", "verdict", "message"),
    [
        ("zzz", LineVerdict.REFUSED, "is not a token"),
        ("#77", LineVerdict.REFUSED, "no token 77"),
        ("hello", LineVerdict.REFUSED, "rejected: byte 0"),
        ("say ?", LineVerdict.REFUSED, "is not a token"),
        ("say unused", LineVerdict.REFUSED, "step 2 of 2, nothing was taken"),
        (" ", LineVerdict.REFUSED, "rejected: byte 0"),
        ("#2 #77", LineVerdict.REFUSED, "no token 77"),
        ("exit", LineVerdict.REFUSED, "(the command is `:quit`)"),
        ("quit", LineVerdict.REFUSED, "(the command is `:quit`)"),
        ("help", LineVerdict.REFUSED, "(the command is `:help`)"),
        ("?", LineVerdict.REFUSED, "(the command is `:help`)"),
        ("\\x4", LineVerdict.MISUSED, "\\x"),
        ("\\", LineVerdict.MISUSED, "\\"),
        ("\\ud800", LineVerdict.MISUSED, "not a character"),
        (":bytes sap", LineVerdict.REFUSED, "step 3 of 3, nothing was taken"),
        (":text zzz", LineVerdict.MISUSED, "no tokens"),
        (":text \\xff", LineVerdict.MISUSED, "takes text"),
        (":", LineVerdict.MISUSED, "no command"),
        (":alowed", LineVerdict.MISUSED, "did you mean `:allowed`"),
        (":allowed x", LineVerdict.MISUSED, "slashes"),
        (":allowed /(/", LineVerdict.MISUSED, "regular expression"),
        (":why", LineVerdict.MISUSED, "a token is needed"),
        (":why #77", LineVerdict.REFUSED, "no token 77"),
        (":undo", LineVerdict.MISUSED, "nothing to undo"),
        (":redo", LineVerdict.MISUSED, "nothing to redo"),
        (":goto there", LineVerdict.MISUSED, "no mark there"),
        (":goto 1", LineVerdict.MISUSED, "from 0 to 0"),
        (":mark 1", LineVerdict.MISUSED, "not a number"),
        (":sample 0", LineVerdict.MISUSED, "from 1"),
        (":sample -1", LineVerdict.MISUSED, "from 1"),
        (":load", LineVerdict.MISUSED, "name of a file"),
        (":load none.kbnf", LineVerdict.MISUSED, "cannot read none.kbnf"),
        (":load none.txt", LineVerdict.MISUSED, "cannot read none.txt"),
        (":vocab none", LineVerdict.MISUSED, "cannot read none"),
        (":save", LineVerdict.MISUSED, "name of a file"),
        (":assert maybe x", LineVerdict.MISUSED, ":assert allowed"),
        (":assert allowed hello", LineVerdict.REFUSED, "assertion failed"),
        (":assert rejected say", LineVerdict.REFUSED, "assertion failed"),
        (":s maybe", LineVerdict.MISUSED, "`on` or `off`"),
        (":n nothing", LineVerdict.MISUSED, "E102: the start nonterminal `nothing` is not defined"),
        (":tree wrd", LineVerdict.MISUSED, "the grammar has no rule `wrd`; did you mean `word`?"),
        (":finish-mode now", LineVerdict.MISUSED, "one of eager, token, eos"),
        (":finish now", LineVerdict.MISUSED, "`:finish` takes no argument"),
    ],
)
def test_what_fails_says_why_and_changes_nothing(
    session: Session, world: World, line: str, verdict: LineVerdict, message: str
) -> None:
    reply = run(session, world, line)
    assert reply.verdict is verdict
    assert message in reply.message
    assert reply.session is session


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (["#2"], 'text      "say " (1 token)\nstatus    ongoing\nallowed   7 of 16 tokens\n'),
        (["#2", "#3"], "status    can finish\n"),
        (
            ["#2", "#3", "#99"],
            'text      "say hello" end of sequence  (3 tokens)\n'
            "status    finished by end of sequence\n",
        ),
        (["say hello"], '2 tokens (longest match): 2 "say " 3 "hello"\n'),
        (["#2", ":possible h"], 'allowed   4 of 7 allowed tokens begin with "h"\n'),
        (["#2", ":possible <"], "1 of 7 allowed tokens begin"),
        (["#2", ":possible  "], "0 of 7 allowed tokens begin"),
        (["#2", ":possible on"], "allowed: on"),
        (["#2", "h\\xc3"], 'text      "say h\\xc3" (2 tokens)'),
        (["#2", ":allowed"], '       4  "he"\n      13  "he"\n'),
        (["#2", ":allowed /^h/"], "allowed   4 of 7 allowed tokens match"),
        (["#2", ":allowed /x/"], "<|x|> (special)"),
        (["#2", r":allowed /\xc3$/"], "allowed   1 of 7 allowed tokens match"),
        (["#2", ":allowed /^.{4,}$/"], "allowed   2 of 7 allowed tokens match"),
        ([":tree"], 'tree      1 node, what is certain so far\nstart 0-... ""\n'),
        (["#2", "#3", ":tree"], 'tree      2 nodes\nstart 0-9\n  word 4-9 "hello"\n'),
        (["#2", "#4", ":tree"], 'what is certain so far\nstart 0-...\n  word 4-... "he"\n'),
        (["#2", "#3", ":tree word"], 'tree      1 node\nword 4-9 "hello"\n'),
        ([":finish-mode"], "finish    eos"),
        (["#2", "#3", ":finish-mode token"], "2 steps made again\n"),
        (["#2", "#3", ":finish-mode token"], "status    finished after 9 bytes"),
        (["#2", "#3", ":finish-mode token", ":finish-mode eos"], "status    can finish\n"),
        (["#2", ":why hello"], 'token 3 "hello" is allowed'),
        (["#2", ":why hex"], '"hex" is not allowed: byte 2'),
        (["#2", ":why hex"], 'in        start > word\n            g.kbnf:3:11 "hello"'),
        (["#2", ":why #12"], 'refused   "u" (0x75)'),
        (["#2", ":stack"], 'start ::= "say " •word { ", " word } ["!"];\n'),
        (["#2", ":stack"], '├─ word ::= •"hello" | "hé"'),
        (["#2", "#3", "#99", ":forced"], "none is forced"),
        ([":forced"], 'bytes     "say "\ntokens    none is forced'),
        (
            [":finish"],
            'bytes     6 bytes  "say #1"\ntokens    2 tokens\n          2 "say " 10 "#1"',
        ),
        (["#2", "#3", ":finish"], "can end here"),
        ([":sample 2"], "say "),
        (["#2", "#4", ":undo"], 'text      "say " (1 token)'),
        (["#2", "#4", ":undo 2", ":redo 2"], 'text      "say he" (2 tokens)'),
        (["#2", ":mark a", "#4", ":goto a"], 'text      "say " (1 token)'),
        (["#2", "#4", ":goto 0", ":goto 2"], 'text      "say he" (2 tokens)'),
        (["#2", ":reset"], 'text      "" (0 tokens)'),
        (["#2", ":grammar"], ">   3  word"),
        ([":vocab"], "tokens    16, special 1\nstop ids  99"),
        (["#2", ":reload"], "1 step made again\n"),
        ([":assert allowed say", "#2", ":assert rejected say"], "say is rejected, as it should be"),
        ([":s on", "#2"], "start ::= "),
        ([":i on", "#2"], "input     73 61 79 20\n"),
        ([":b off", "#2", "#3"], 'text      "say hello" (2 tokens)'),
        ([":n word", "#4"], 'text      "he" (1 token)'),
        ([":n"], "start     start"),
        ([":help"], ":why TOKEN"),
        (["#2", ":show"], 'text      "say "'),
    ],
)
def test_what_is_shown(session: Session, world: World, lines: list[str], shown: str) -> None:
    reply = run(session, world, *lines)
    assert reply.verdict is LineVerdict.FINE, reply.message
    assert shown in plain(reply.shown)


def test_possible_tokens_can_be_left_out(session: Session, world: World) -> None:
    assert "allowed" not in plain(run(session, world, ":p off", "#2").shown)


def test_special_tokens_are_visible_in_samples(session: Session, world: World) -> None:
    assert '"say " <|x|> (special)' in plain(run(session, world, ":sample 20").shown)


@pytest.mark.parametrize(
    ("finish", "shown"),
    [
        ("eager", 'finished after 2 bytes, by "b": finish=eager ends it as soon as'),
        ("token", 'finished after 2 bytes, by "b": finish=token ends it as soon as'),
    ],
)
def test_a_finished_text_says_which_byte_ended_it(finish: str, shown: str) -> None:
    grammar = Grammar('start ::= #"ab+";', finish=finish)
    session = Session(Files(Path("g.kbnf"), "bytes"), Engine(grammar, Vocabulary.bytes()))
    world = state.World(Console(), Inputs())
    after = step(session, "ab", world)
    assert shown in plain(after.shown)
    refused = step(after.session, "b", world)
    assert f"the text is over: it {shown}" in refused.message
    refused = step(session, ":text abb", world)
    assert f"the text is over after 2 of 3 steps: it {shown}" in refused.message


def test_what_may_come_is_listed_once() -> None:
    grammar = Grammar('(* kbnf: finish=eos *) start ::= #"[a-z]+";')
    session = Session(Files(Path("g.kbnf"), "bytes"), Engine(grammar, Vocabulary.bytes()))
    world = state.World(Console(), Inputs())
    first = step(session, "a", world)
    second = step(first.session, "b", world)
    third = step(second.session, "c", world)
    assert '97 "a"' in plain(first.shown)
    assert "allowed   27 of 257 tokens, as before\n" in plain(second.shown)
    assert "allowed   27 of 257 tokens, as before\n" in plain(third.shown)
    assert '97 "a"' in plain(step(third.session, ":more", world).shown)
    assert '97 "a"' in plain(step(third.session, ":show", world).shown)


def test_each_part_has_its_role(session: Session, world: World) -> None:
    roles = {each.text: each.role for each in run(session, world, "#2").shown}
    assert roles['"say " (1 token)\n'] is Role.ACCEPTED
    assert roles["ongoing\n"] is Role.STATE
    roles = {each.text: each.role for each in run(session, world, "#2", ":why #12").shown}
    assert roles['"u" (0x75)\n'] is Role.REFUSED
    assert roles["start > word\n"] is Role.RULE
    roles = {each.text: each.role for each in run(session, world, ":forced").shown}
    assert roles['"say "\n'] is Role.FORCED


@pytest.mark.parametrize(
    ("grammar", "line", "command"),
    [
        ('start ::= "a";', "exit", ":quit"),
        ('start ::= "a";', " ?", ":help"),
        ('start ::= "exit";', "exit", None),
        ('start ::= "e" #"[a-z]+";', "exit", None),
        ('start ::= "a";', "x", None),
    ],
)
def test_words_are_commands_where_they_cannot_be_text(
    grammar: str, line: str, command: str | None
) -> None:
    engine = Engine(Grammar(grammar, finish="eos"), Vocabulary.bytes())
    assert spoken_command(Session(Files(Path("g.kbnf"), "bytes"), engine), line) == command


def test_lists_are_paged(session: Session, world: World) -> None:
    world.rows = 3
    reply = run(session, world, "#2", ":allowed /./")
    assert "... 4 more lines: `:more`" in plain(reply.shown)
    reply = run(reply.session, world, ":more")
    assert "... 1 more line: `:more`" in plain(reply.shown)
    assert plain(run(reply.session, world, ":more").shown).count("\n") == 1
    assert "there is no more" in plain(run(reply.session, world, ":more", ":more").shown)


@pytest.mark.parametrize("columns", [20, 40, 80])
def test_no_line_is_wider_than_the_terminal(session: Session, world: World, columns: int) -> None:
    world.columns = columns
    lines = ["#2", ":s on", "#3", "#6", ":stack", ":finish", ":grammar", ":help", ":why zzzz"]
    for count in range(1, len(lines) + 1):
        reply = run(session, world, *lines[:count])
        rows = plain(each for each in reply.shown if each.role is not Role.NOTE)
        assert max(map(cells, rows.splitlines()), default=0) <= columns


def test_quitting_is_told(session: Session, world: World) -> None:
    assert run(session, world, ":quit").verdict is LineVerdict.LEAVE


def test_modes_are_kept_in_the_session(session: Session, world: World) -> None:
    assert run(session, world, ":text").session.settings.mode is Mode.TEXT


def test_a_step_forgets_what_was_undone_and_marked_behind_it(
    session: Session, world: World
) -> None:
    reply = run(session, world, "#2", "#3", ":mark late", ":undo", "#4")
    assert reply.session.undone == ()
    assert reply.session.marks == {}


def test_reload_makes_the_steps_as_far_as_they_go(session: Session, world: World) -> None:
    reply = run(session, world, "#2", "#3", "#6")
    world.files[Path("g.kbnf")] = GRAMMAR.replace('"hello"', '"help"')
    reply = run(reply.session, world, ":reload")
    assert reply.verdict is LineVerdict.REFUSED
    assert accepted(reply) == (2,)
    assert reply.session.undone == (3, 6)
    shown = plain(reply.shown)
    assert "1 step made again\n" in shown
    assert "step 2 cannot be made again: token 3" in reply.message
    world.files[Path("g.kbnf")] = GRAMMAR
    assert accepted(run(reply.session, world, ":reload", ":redo 2")) == (2, 3, 6)


def test_a_deleted_grammar_leaves_the_session(session: Session, world: World) -> None:
    reply = run(session, world, "#2")
    del world.files[Path("g.kbnf")]
    after = run(reply.session, world, ":reload")
    assert (after.verdict, after.session) == (LineVerdict.MISUSED, reply.session)
    assert accepted(run(after.session, world, "hello")) == (2, 3)


def test_a_broken_grammar_leaves_the_session(session: Session, world: World) -> None:
    world.files[Path("g.kbnf")] = "start ::= "
    reply = run(session, world, ":reload")
    assert reply.session is session
    assert "error[" in plain(reply.shown)


def test_what_was_typed_is_saved_and_does_the_same(session: Session, world: World) -> None:
    lines = ("#2", ":assert rejected say", "hello", ":undo", ":text hello", ":mark a")
    reply = run(session, world, *lines, ":save script")
    assert "6 lines in script" in plain(reply.shown)
    assert world.files[Path("script")].splitlines() == [*lines]
    again = run(session, world, *world.files[Path("script")].splitlines())
    assert (accepted(again), again.session.marks) == (accepted(reply), {"a": 2})
    assert again.session.typed == reply.session.typed == lines


@pytest.mark.parametrize(
    ("lines", "added"),
    [
        ([":assert allowed say"], 'after = ""\nallowed = ["say"]'),
        (["#2", ":assert rejected say"], 'after = "say "\nrejected = ["say"]'),
        (["#2", ":assert allowed h\\xc3"], 'after = "say "\nallowed = [8]'),
        (["#2", ":assert allowed <|x|>"], 'after = "say "\nallowed = [98]'),
    ],
)
def test_an_assertion_is_an_example(
    session: Session, world: World, lines: list[str], added: str
) -> None:
    run(session, world, *lines)
    assert world.files[Path("g.examples.toml")] == f"[[next]]\n{added}\n"
    first = world.files[Path("g.examples.toml")]
    run(session, world, *lines, lines[-1])
    assert world.files[Path("g.examples.toml")] == first


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (["#2", ":assert allowed hel"], "no example, since it is not a token"),
        (["#2", "<|x|>", ":assert allowed !"], "no example, since it comes after a special token"),
    ],
)
def test_what_can_be_no_example_is_told(
    session: Session, world: World, lines: list[str], shown: str
) -> None:
    reply = run(session, world, *lines)
    assert (reply.verdict, shown in plain(reply.shown)) == (LineVerdict.FINE, True)
    assert Path("g.examples.toml") not in world.files


def test_a_file_that_is_no_grammar_is_text(session: Session, world: World) -> None:
    world.files[Path("text.txt")] = "say hello, hello"
    reply = run(session, world, ":load text.txt")
    assert b"".join(each for each in accepted(reply) if isinstance(each, bytes)) == (
        b"say hello, hello"
    )
