"""What only POSIX has is asked for where it is there: all else runs without, as on Windows.

A process in which those modules and names are missing imports everything, and reads, checks,
converts, compiles and masks. What systems do differently with the names that they share, only
they can show.
"""

import subprocess
import sys
from pathlib import Path

MODULES = ("fcntl", "grp", "pty", "pwd", "readline", "resource", "termios", "tty")
OF_OS = (
    *("chown", "fchmod", "fchown", "fork", "getegid", "geteuid", "getgid", "getuid", "killpg"),
    *("lchown", "mkfifo", "mknod", "sched_getaffinity", "set_blocking", "setsid", "waitid"),
    *("O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_SYNC"),
)
OF_SIGNAL = ("SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGUSR1", "alarm", "setitimer")
PROGRAM = f"""
import os, pkgutil, signal, sys
from importlib import import_module

for name in {MODULES}:
    sys.modules[name] = None
for module, names in ((os, {OF_OS}), (signal, {OF_SIGNAL})):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)

import kbnf_cli, kbnf_core
from kbnf_core.text.errors import MissingExtraError

count = 0
for package in (kbnf_core, kbnf_cli):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if found.name.endswith("__main__"):
            continue
        try:
            count += import_module(found.name) is not None
        except MissingExtraError as error:
            # Adapters to programs that are not installed.
            print(error)
print(count, "modules")

from kbnf_cli.main import main

for arguments in sys.stdin.read().splitlines():
    print("ended", main(arguments.split()), arguments, flush=True)
"""
COMMANDS = {
    "check good.kbnf good.lark": 0,
    "check good.kbnf -o findings.json --format json": 0,
    "check ugly.kbnf --fix": 0,
    "fmt ugly.kbnf": 0,
    "convert-gbnf good.kbnf -o good.gbnf": 0,
    "convert-lark good.kbnf -o good.lark": 0,
    "convert-json-schema schema.json -o schema.kbnf": 0,
    "compile good.kbnf -o good.kbnfc": 0,
    "mask good.kbnf --text a": 0,
    "mask good.kbnfc --text a": 0,
    "mask good.kbnf --vocab vocab.json": 0,
    "check nothing.kbnf": 2,
}


def test_the_commands_run_without_what_only_posix_has(tmp_path: Path) -> None:
    files = {
        "good.kbnf": 'start ::= "a" "b";\n',
        "good.lark": 'start: "a" "b"\n',
        "ugly.kbnf": 'start::="a"   ;',
        "schema.json": '{"const": 1}',
        "vocab.json": '{"0": "a", "1": "b"}',
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input="\n".join(COMMANDS),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    ended = [line for line in done.stdout.splitlines() if line.startswith("ended ")]
    assert ended == [f"ended {status} {name}" for name, status in COMMANDS.items()], done.stderr
