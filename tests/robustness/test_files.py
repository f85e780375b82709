"""Odd files, links, pipes, closed streams and signals, met by the command from outside.

Pipes and devices are made in the test's own folder only.
"""

import json
import os
import re
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kbnf_cli.config import ON_REQUEST, settings_source
from kbnf_cli.main import main
from kbnf_core import Engine, Grammar, Limits, Vocabulary, check
from kbnf_core.container import read_container
from kbnf_core.convert import from_lark
from kbnf_core.text.errors import SourceError
from kbnf_core.text.files import ANYWHERE, BELOW, read_file, write_file
from kbnf_core.vocab.read import load_encoder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes, links and signals of POSIX")

GOOD = 'start ::= "a";\n'
BAD = "start ::= b;\n"
UGLY = 'start::="a"   ;'
KBNF = [sys.executable, "-m", "kbnf_cli"]
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
NULL = (1, 3)
"""Major and minor number of the device that takes everything, on Linux."""
ZERO = (1, 5)

needs_root = pytest.mark.skipif(
    not (IS_ROOT and sys.platform == "linux"), reason="makes device nodes, or changes owners"
)

COMMANDS = {
    "check -o": ("check", "bad.kbnf", "-o", "out"),
    "write-baseline": ("check", "bad.kbnf", "--write-baseline", "out"),
    "compile": ("compile", "good.kbnf", "-o", "out"),
    "convert-gbnf": ("convert-gbnf", "good.kbnf", "--lossy", "-o", "out"),
    "convert-bnf": ("convert-bnf", "g.bnf", "--lossy", "-o", "out"),
    "convert-json-schema": ("convert-json-schema", "s.json", "--lossy", "-o", "out"),
    "convert-lark": ("convert-lark", "good.kbnf", "--lossy", "-o", "out"),
    "diagram": ("diagram", "good.kbnf", "--format", "svg", "-o", "out"),
    "play": ("play", "good.kbnf", "-c", "a", "-c", ":save out"),
}
"""Every way to name a file that is written."""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONWARNINGS", "default::FutureWarning")
    Path("good.kbnf").write_text(GOOD)
    Path("bad.kbnf").write_text(BAD)
    Path("g.bnf").write_text('<start> ::= "a"\n')
    Path("s.json").write_text('{"const": 1}')


def kbnf(
    *arguments: object, before: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command; ``before`` is called in its process first."""
    return subprocess.run(
        [*KBNF, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        preexec_fn=before,
        stdin=None if before else subprocess.DEVNULL,
    )


def names() -> set[str]:
    return {path.name for path in Path().iterdir()}


def make_device(name: str, numbers: tuple[int, int]) -> None:
    """Make a node in the test's own folder, or skip the test where nodes cannot be used."""
    try:
        os.mknod(name, stat.S_IFCHR | 0o666, os.makedev(*numbers))
        os.close(os.open(name, os.O_RDWR))
    except OSError:
        pytest.skip("device nodes cannot be made, or opened, in this folder")


def test_files_are_read_up_to_a_bound() -> None:
    assert read_file("good.kbnf", len(GOOD)) == GOOD.encode()
    with pytest.raises(SourceError, match="it has more than 14 bytes"):
        read_file("good.kbnf", len(GOOD) - 1)


# Writing


@needs_root
def test_output_into_a_device_leaves_the_device() -> None:
    make_device("out", NULL)
    before = names()
    for name in ("check -o", "compile", "diagram"):
        done = kbnf(*COMMANDS[name])
        assert done.returncode in (0, 1), done.stderr
        assert stat.S_ISCHR(Path("out").stat().st_mode), name
    assert names() == before


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_output_into_a_pipe_reaches_its_reader(command: tuple[str, ...]) -> None:
    os.mkfifo("out")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(Path("out").read_bytes()))
    reader.start()
    done = kbnf(*command)
    reader.join(timeout=30)
    assert done.returncode in (0, 1), done.stderr
    assert read[0]
    assert stat.S_ISFIFO(Path("out").stat().st_mode)


def test_output_through_links_keeps_them() -> None:
    Path("real").write_text("old")
    Path("link").symlink_to("real")
    Path("out").symlink_to("link")
    assert kbnf(*COMMANDS["check -o"]).returncode == 1
    assert Path("out").is_symlink()
    assert Path("link").is_symlink()
    assert "E101" in Path("real").read_text()


def test_output_through_a_link_to_nothing_makes_the_file() -> None:
    Path("out").symlink_to("new")
    assert kbnf(*COMMANDS["compile"]).returncode == 0
    assert Path("out").is_symlink()
    assert Path("new").stat().st_size > 0


def test_output_into_an_open_descriptor_is_appended() -> None:
    with open("log", "w") as log:
        log.write("before\n")
        log.flush()
        subprocess.run(
            [*KBNF, "check", "-q", "bad.kbnf", "--format", "concise", "-o", "/dev/stdout"],
            stdout=log,
            check=False,
            timeout=60,
        )
        log.write("after\n")
    assert Path("log").read_text().splitlines()[::2] == ["before", "after"]


def test_layout_keeps_hard_links_and_mode() -> None:
    Path("ugly.kbnf").write_text(UGLY)
    Path("ugly.kbnf").chmod(0o640)
    os.link("ugly.kbnf", "other")
    assert kbnf("fmt", "ugly.kbnf").returncode == 0
    assert Path("other").read_text() == GOOD
    assert stat.S_IMODE(Path("ugly.kbnf").stat().st_mode) == 0o640


def test_a_shorter_text_written_in_place_leaves_no_rest() -> None:
    Path("one").write_text("long" * 100)
    os.link("one", "two")
    write_file("one", [b"sh", b"ort"])
    assert Path("two").read_text() == "short"


@needs_root
def test_layout_keeps_the_owner() -> None:
    Path("ugly.kbnf").write_text(UGLY)
    os.chown("ugly.kbnf", 1000, 1001)
    assert kbnf("fmt", "ugly.kbnf").returncode == 0
    assert Path("ugly.kbnf").read_text() == GOOD
    status = Path("ugly.kbnf").stat()
    assert (status.st_uid, status.st_gid) == (1000, 1001)


def test_an_owner_that_cannot_be_given_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("file").write_text("old")
    inode = Path("file").stat().st_ino

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("kbnf_core.text.files._keep", refuse)
    write_file("file", [b"new"])
    assert (Path("file").read_text(), Path("file").stat().st_ino) == ("new", inode)
    assert not [name for name in names() if name.endswith(".tmp")]


@pytest.mark.parametrize("command", [("fmt",), ("check", "-q", "--fix")])
def test_read_only_files_are_refused_and_the_others_written(command: tuple[str, ...]) -> None:
    Path("d").mkdir()
    text = "start ::= 'a'"
    for name in ("d/a.kbnf", "d/b.kbnf"):
        Path(name).write_text(text)
    Path("d/a.kbnf").chmod(0o444)
    done = kbnf(*command, "d")
    assert done.returncode == 2
    assert "error: cannot use d/a.kbnf: the file is read-only" in done.stderr
    assert Path("d/a.kbnf").read_text() == text
    assert Path("d/b.kbnf").read_text().strip() == f"{text};"


def test_no_temporary_name_in_a_message() -> None:
    done = kbnf("check", "bad.kbnf", "-o", "missing/out.txt")
    assert done.returncode == 2
    assert done.stderr == "error: cannot use missing/out.txt: no such file or directory\n"


def test_a_temporary_file_that_was_foreseen_is_not_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("victim").write_text("safe")
    monkeypatch.setattr("secrets.token_hex", lambda _: "known")
    Path(".kbnf-known.tmp").symlink_to("victim")
    with pytest.raises(FileExistsError, match="'new'"):
        write_file("new", [b"text"])
    assert Path("victim").read_text() == "safe"


def test_names_as_long_as_the_system_permits() -> None:
    name = "n" * 250 + ".kbnf"
    write_file(name, [b"text"])
    assert Path(name).read_text() == "text"


def test_an_interrupt_while_writing_leaves_the_old_file(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("file").write_text("old")
    before = names()

    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_file("file", [b"new"])
    assert (Path("file").read_text(), names()) == ("old", before)


@pytest.mark.parametrize(
    ("command", "file"),
    [
        (("fmt", "ugly.kbnf"), "ugly.kbnf"),
        (("compile", "good.kbnf", "-o", "out.kbnfc"), "out.kbnfc"),
    ],
)
def test_a_killed_process_loses_nothing(command: tuple[str, ...], file: str) -> None:
    """Killed at its last step before the rename: the old file is whole, and the rest no grammar."""
    Path("ugly.kbnf").write_text(UGLY)
    Path("out.kbnfc").write_text("old")
    before = Path(file).read_bytes()
    program = (
        "import os, signal, sys; from kbnf_cli.main import main;"
        "os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL); main(sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *command], check=False, timeout=60, capture_output=True
    )
    assert done.returncode == -signal.SIGKILL
    assert Path(file).read_bytes() == before
    left = {name for name in names() if name.endswith(".tmp")}
    assert len(left) == 1
    assert not any(name in kbnf("check", "-v", ".").stderr for name in left)


@pytest.mark.parametrize("name", ["check -o", "compile"])
def test_a_full_disk_leaves_the_old_file(name: str) -> None:
    """Played by a limit on the size of files, which fails as late as a full disk does."""
    import resource

    Path("out").write_text("old")
    before = names()
    done = kbnf(*COMMANDS[name], before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (16, 16)))
    assert (done.returncode, done.stderr) == (2, "error: cannot use out: file too large\n")
    assert (Path("out").read_text(), names()) == ("old", before)


# Reading


def test_what_cannot_be_read_hides_nothing_else() -> None:
    Path("d").mkdir()
    Path("d/bad.kbnf").write_text(BAD)
    Path("d/ugly.kbnf").write_text(UGLY)
    Path("d/dangling.kbnf").symlink_to("nowhere.kbnf")
    os.mkfifo("d/pipe.kbnf")
    checked = kbnf("check", "d", "--format", "concise")
    assert checked.returncode == 2
    assert checked.stdout.startswith("d/bad.kbnf:1:11: E101")
    assert "error: cannot read d/dangling.kbnf: no such file or directory\n" in checked.stderr
    assert "skipped d/pipe.kbnf: not a regular file\n" in checked.stderr
    laid = kbnf("fmt", "--check", "d")
    assert laid.returncode == 2
    assert "would be reformatted: d/ugly.kbnf" in laid.stderr
    compiled = kbnf("compile", "d", "-j", "1")
    assert compiled.returncode == 2
    assert Path("d/ugly.kbnfc").exists()
    converted = kbnf("convert-gbnf", "d", "--lossy", "-o", "converted")
    assert converted.returncode == 2
    assert Path("converted/ugly.gbnf").exists()
    Path("d/ugly.examples.toml").write_text("accept = ['a']")
    tested = kbnf("test", "d")
    assert tested.returncode == 2
    assert "d/ugly.kbnf: 1 passed" in tested.stdout


def test_a_directory_that_cannot_be_listed_hides_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Simulated, since root may list everything."""
    from kbnf_cli.files import FileChoice, find_grammars

    Path("d/closed").mkdir(parents=True)
    Path("d/open").mkdir()
    Path("d/open/a.kbnf").write_text(GOOD)
    iterdir = Path.iterdir

    def listed(path: Path) -> object:
        if path.name == "closed":
            raise PermissionError(13, "Permission denied", str(path))
        return iterdir(path)

    monkeypatch.setattr(Path, "iterdir", listed)
    found = find_grammars([Path("d")], lambda _: None, FileChoice((".kbnf",)))
    assert [path.as_posix() for path in found] == ["d/closed", "d/open/a.kbnf"]


@pytest.mark.parametrize(
    "command",
    [
        ("check", "pipe"),
        ("fmt", "pipe"),
        ("check", "good.kbnf", "--baseline", "pipe"),
        ("check", "good.kbnf", "--config", "pipe"),
        ("mask", "good.kbnf", "--vocab", "pipe"),
        ("play", "good.kbnf", "-c", ":load pipe"),
        ("compile", "--info", "pipe.kbnfc"),
        ("mask", "pipe.kbnfc"),
    ],
    ids=" ".join,
)
def test_a_pipe_that_is_named_is_refused(command: tuple[str, ...]) -> None:
    name = next(word for part in command for word in part.split() if word.startswith("pipe"))
    os.mkfifo(name)
    done = kbnf(*command)
    assert done.returncode == 2
    line = "line 1: " if command[0] == "play" else ""
    assert done.stderr == f"error: {line}cannot read {name}: it is a pipe\n"


def test_a_container_is_a_regular_file() -> None:
    os.mkfifo("pipe")
    Path("link").symlink_to("pipe")
    Path("folder").mkdir()
    Path("null").symlink_to(os.devnull)
    for name, reason in (
        ("pipe", "it is a pipe"),
        ("link", "it is a pipe"),
        ("folder", "is a directory"),
        ("null", "it is a device"),
    ):
        for most in (0, 1_000):
            with pytest.raises(SourceError, match=reason):
                read_container(name, most)


@pytest.mark.skipif(not Path("/dev/ptmx").exists(), reason="a device that waits for a terminal")
@pytest.mark.parametrize(
    ("command", "status", "expected"),
    [
        (("check", "device"), 2, "error: cannot read device: it is a device\n"),
        (("check", "/dev/ptmx"), 2, "error: cannot read /dev/ptmx: it is a device\n"),
        (("mask", "good.kbnf"), 2, "/device: it is a device\n"),
        (("check", "--allow-outside", "--isolated", "schema.json"), 1, "E805"),
        (("check", "--isolated", "beside.json"), 1, "E805"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_device_is_not_even_opened(command: tuple[str, ...], status: int, expected: str) -> None:
    Path("device").symlink_to("/dev/ptmx")
    Path("kbnf.toml").write_text("vocab = 'device'\n" if command[0] == "mask" else "")
    Path("schema.json").write_text('{"$ref": "/dev/ptmx"}')
    up = "../" * len(Path.cwd().parts)
    Path("schema.json").write_text(json.dumps({"$ref": f"{up}dev/ptmx"}))
    Path("beside.json").write_text(json.dumps({"$ref": "device"}))
    done = kbnf(*command)
    assert done.returncode == status
    assert expected in done.stdout + done.stderr


def test_completion_reads_no_pipe() -> None:
    os.mkfifo("pipe")
    done = subprocess.run(
        KBNF,
        env={
            **os.environ,
            "_KBNF_COMPLETE": "bash_complete",
            "COMP_WORDS": "kbnf explain pipe ",
            "COMP_CWORD": "3",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0
    assert not done.stdout.strip()


@pytest.mark.parametrize("command", ["check", "explain", "convert", "diagram"])
def test_commands_read_nothing_outside_of_the_folder_unless_told_to(command: str) -> None:
    Path("in").mkdir()
    Path("out.json").write_text('{"const": 1}')
    Path("out.lark").write_text('A: "a"\n')
    Path("in/a.json").write_text('{"$ref": "../out.json"}')
    Path("in/a.lark").write_text("%import ..out.A\nstart: A")
    more = ("--to", "kbnf") if command == "convert" else ()
    for name in ("in/a.json", "in/a.lark"):
        assert kbnf(command, name, *more).returncode == 1
        assert kbnf(command, name, *more, "--allow-outside").returncode == 0


def test_an_encoder_reads_no_pipe() -> None:
    os.mkfifo("pipe")
    with pytest.raises(SourceError, match="it is a pipe"):
        load_encoder(Path("pipe"), Vocabulary.bytes())


def test_a_pipe_of_the_shell_is_read() -> None:
    script = (
        'exec 3< <(cat bad.kbnf); "$@" check -q /dev/fd/3; cat bad.kbnf | "$@" check -q /dev/stdin'
    )
    done = subprocess.run(
        ["bash", "-c", script, "bash", *KBNF],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout.count("error[E101]") == 2, done.stderr


def test_an_import_that_is_a_pipe_is_a_finding() -> None:
    os.mkfifo("ff.lark")
    Path("a.lark").write_text("%import .ff.A\nstart: A\n")
    done = kbnf("check", "a.lark")
    assert done.returncode == 1
    assert "cannot read `ff.lark`" in done.stdout


@needs_root
@pytest.mark.parametrize(
    "command",
    [("check", "-q", "zero"), ("mask", "zero"), ("check", "good.kbnf", "--baseline", "zero")],
)
def test_a_file_without_end(command: tuple[str, ...]) -> None:
    make_device("zero", ZERO)
    done = kbnf(*command)
    assert done.returncode == 2
    assert done.stderr == "error: cannot read zero: it is a device\n"


def test_a_stream_without_end() -> None:
    with open("/dev/zero", "rb") as zero:
        done = subprocess.run(
            [*KBNF, "check", "-q", "/dev/stdin"],
            stdin=zero,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert "error[E017]" in done.stdout


def test_the_limit_of_a_text_from_both_sides() -> None:
    text = GOOD.strip()
    assert check(text, limits=Limits(source_bytes=len(text))) == []
    found = check(text, limits=Limits(source_bytes=len(text) - 1))
    assert [each.code for each in found] == ["E017"]


@pytest.mark.parametrize("name", ["kbnf.toml", "pyproject.toml"])
@pytest.mark.parametrize("kind", ["folder", "pipe", "loop"])
def test_configuration_that_is_no_file(name: str, kind: str) -> None:
    if kind == "folder":
        Path(name).mkdir()
    elif kind == "pipe":
        os.mkfifo(name)
    else:
        Path(name).symlink_to(name)
    with pytest.raises(SourceError) as caught:
        settings_source(None, False)(Path("good.kbnf"))
    assert caught.value.path == str(Path(name).absolute())


def test_patterns_of_ignores_are_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("kbnf.toml").write_text(
        "[per-file-ignores]\n"
        + "".join(f'"x{number}*.kbnf" = ["E101"]\n' for number in range(500))
        + '"sub/*.kbnf" = ["W1"]\n"b.kbnf" = ["I"]\n'
    )
    compiled: list[str] = []
    original = re.compile

    def counted(pattern: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(pattern)
        return original(pattern, flags)

    monkeypatch.setattr(re, "compile", counted)
    source = settings_source(None, False)
    ignored = {
        name: source(Path(name)).selection_for(Path(name)).ignore
        for name in ("x7y.kbnf", "sub/c.kbnf", "sub/x7.kbnf", "b.kbnf", "c.kbnf")
    }
    assert {name: set(codes) - {*ON_REQUEST} for name, codes in ignored.items()} == {
        "x7y.kbnf": {"E101"},
        "sub/c.kbnf": {"W1"},
        "sub/x7.kbnf": {"E101", "W1"},
        "b.kbnf": {"I"},
        "c.kbnf": set(),
    }
    assert sum("kbnf" in pattern for pattern in compiled) == 2


# Imports


def test_imports_leave_the_folder_where_that_is_permitted() -> None:
    Path("d").mkdir()
    Path("up.lark").write_text('A: "a"\n')
    text = "%import ..up.A\nstart: A\n"
    Path("d/a.lark").write_text(text)
    assert "error[E422]" in kbnf("check", "d/a.lark").stdout
    assert kbnf("check", "--allow-outside", "d/a.lark").returncode == 0
    assert next(each.code for each in check(text, "d/a.lark")) == "E422"
    assert check(text, "d/a.lark", imports=ANYWHERE) == []


@pytest.mark.parametrize(
    ("path", "grammar", "inside"),
    [
        ("a.lark", None, True),
        ("d/a.lark", "g.lark", True),
        ("../a.lark", "g.lark", False),
        ("/a.lark", "g.lark", False),
        ("d/a.lark", "d/g.lark", True),
        ("d/../a.lark", "d/g.lark", False),
        ("dd/a.lark", "d/g.lark", False),
        ("../a.lark", "../g.lark", True),
        ("../../a.lark", "../g.lark", False),
        ("/d/a.lark", "/d/g.lark", True),
        ("/e/a.lark", "/d/g.lark", False),
        ("/a.lark", "/g.lark", True),
    ],
)
def test_which_places_are_below_a_grammar(path: str, grammar: str | None, inside: bool) -> None:
    assert BELOW.permit(path, grammar) is inside
    assert ANYWHERE.permit(path, grammar)


# Streams and terminals


@pytest.mark.parametrize("arguments", [("check", "bad.kbnf"), ("rule",), ("--version",)])
def test_closed_stdout(arguments: tuple[str, ...]) -> None:
    done = kbnf(*arguments, before=lambda: os.close(1))
    assert done.returncode == 2
    assert "error: standard input or output is closed\n" in done.stderr
    assert "Exception" not in done.stderr


def test_closed_stdin_matters_only_to_who_reads_it() -> None:
    needing = kbnf("check", "-", before=lambda: os.close(0))
    assert (needing.returncode, needing.stderr) == (2, "error: cannot read stdin: it is closed\n")
    assert kbnf("check", "good.kbnf", before=lambda: os.close(0)).returncode == 0


def test_closed_stderr_changes_no_status() -> None:
    assert kbnf("check", "bad.kbnf", before=lambda: os.close(2)).returncode == 1


@pytest.mark.parametrize("format_", ["text", "concise", "json", "sarif", "github", "junit"])
def test_no_escape_of_a_file_name_reaches_the_terminal(
    format_: str, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "\x1b[31m\x9b.kbnf"
    Path(name).write_text(BAD)
    assert main(["check", name, "-v", "--format", format_]) == 1
    written = "".join(capsys.readouterr())
    assert "kbnf" in written
    assert not {"\x1b", "\x9b"} & {*written}


@pytest.mark.parametrize(
    "command",
    [("fmt",), ("fmt", "--diff"), ("compile",), ("convert-gbnf", "--lossy"), ("test",)],
    ids=" ".join,
)
def test_no_escape_of_a_file_name_in_notes(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    name = "\x1b[31m.kbnf"
    Path(name).write_text(UGLY)
    Path("\x1b[31m.examples.toml").write_text("accept = ['a']")
    assert main([*command, name]) in (0, 1)
    assert "\x1b" not in "".join(capsys.readouterr())


def test_no_warning_of_pythons_leaves() -> None:
    parts = ("[+--]", "[[a]", "[c||d]", "[e&&f]", "[g~~h]", "[a--z]")
    Path("a.lark").write_text("start: " + " ".join(f"/{part}/" for part in parts) + "\n")
    done = kbnf("check", "a.lark")
    assert done.returncode == 1
    assert done.stdout.startswith("error[E423]: Python does not accept this")
    assert "Warning" not in done.stderr


@pytest.mark.parametrize(
    ("regex", "members"),
    [("[+--]", "+,-"), ("[[a]", "[a"), ("[c||d]", "c|d"), ("[e&&f]", "e&f"), ("[g~~h]", "g~h")],
)
def test_classes_that_python_warns_of_keep_their_meaning(regex: str, members: str) -> None:
    grammar = Grammar(from_lark(f"start: /{regex}/\n").text)
    engine = Engine(grammar, Vocabulary.bytes())
    engine.compute_allowed_token_ids()
    assert set(map(chr, engine.get_allowed_token_ids_from_last_computation())) == set(members)


# Interrupts


def test_an_interrupt_while_modules_are_imported() -> None:
    Path("click.py").write_text("import time\nprint('importing', flush=True)\ntime.sleep(60)\n")
    process = _start("check", "good.kbnf", PYTHONPATH=str(Path().absolute()))
    assert process.stdout is not None
    assert process.stdout.readline() == "importing\n"
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert (process.returncode, stderr) == (130, "error: interrupted\n")


def test_an_interrupt_after_the_work_is_done() -> None:
    process = _start("compile", "good.kbnf", "-o", "out.kbnfc")
    assert process.stderr is not None
    assert process.stderr.readline().startswith("wrote out.kbnfc")
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=30)
    assert process.returncode in (0, 130)
    assert rest.strip() in ("", "error: interrupted")


def test_an_interrupt_while_processes_work() -> None:
    Path("d").mkdir()
    for number in range(40):
        Path(f"d/{number}.kbnf").write_text(GOOD * (1 + number % 2))
    Path("d/00.kbnf").symlink_to(Path("good.kbnf").absolute())
    process = _start("check", "d", "-j", "2", "-v", start_new_session=True)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("checked ")
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode in (1, 130), stderr
    assert "Traceback" not in stderr


def _start(
    *arguments: str, start_new_session: bool = False, **environment: str
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*KBNF, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
        start_new_session=start_new_session,
    )


def test_a_process_is_over_soon_after_an_interrupt() -> None:
    process = _start("check", "--watch", "good.kbnf")
    assert process.stderr is not None
    while "watching" not in process.stderr.readline():
        time.sleep(0)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
