"""Options have one meaning over all commands, and `--help` is short."""

import click
import pytest

from kbnf_cli.app import app
from kbnf_cli.config import KEYS, key_of, keys_of
from kbnf_cli.options import RENAMED, TOPICS, SharedOption
from kbnf_testing.command import Kbnf

CONTEXT = click.Context(app, info_name="kbnf")
COMMANDS = {
    name: command
    for name in app.list_commands(CONTEXT)
    if (command := app.get_command(CONTEXT, name)) is not None
}
MOST_LINES = 60


def matrix() -> dict[str, dict[str, list[str]]]:
    """Return the commands that have an option by each of its spellings, and by its name.

    The letters of play are those of its forerunner, bnf_sampler's console.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for command, value in COMMANDS.items():
        for option in _options(value):
            name = f"--{key_of(option)}"
            for spelling in option.opts:
                if command != "play" or spelling.startswith("--"):
                    found.setdefault(spelling, {}).setdefault(name, []).append(command)
    return found


def _options(command: click.Command) -> list[click.Option]:
    return [each for each in command.params if isinstance(each, click.Option)]


def test_a_letter_has_one_meaning() -> None:
    assert {letter: names for letter, names in matrix().items() if len(names) > 1} == {}


def test_a_name_has_one_form() -> None:
    """A flag in one command is a flag in all, and what may be repeated may be so in all."""
    forms: dict[str, set[tuple[bool, bool]]] = {}
    for command in COMMANDS.values():
        for option in _options(command):
            form = (option.is_flag, option.multiple and key_of(option) not in _SEVERAL)
            forms.setdefault(key_of(option), set()).add(form)
    assert {name: found for name, found in forms.items() if len(found) > 1} == {}


_SEVERAL = ("text", "vocab")
"""Options that some commands take several times, each in the meaning of the others."""


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_can_be_configured(name: str) -> None:
    command = COMMANDS[name]
    left = {key_of(each) for each in _options(command)} - {*KEYS, *keys_of(command)}
    about_settings = {"config", "isolated", "stdin-filename", "show-settings"}
    # The settings of a folder must not import its modules.
    assert left <= {*about_settings, "list-formats", "help", "indenter"}


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_short(name: str, kbnf: Kbnf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert len(kbnf(name, "--help").out.splitlines()) <= MOST_LINES


@pytest.mark.parametrize("topic", TOPICS)
def test_shared_options_are_described_once(topic: str, kbnf: Kbnf) -> None:
    page = kbnf("help", topic).out
    shared = {
        parameter.opts[0]
        for command in COMMANDS.values()
        for parameter in command.params
        if isinstance(parameter, SharedOption) and parameter.topic == topic
    }
    assert len(shared) > 3
    assert all(f"    {option}" in page for option in shared)


def test_former_names_are_accepted_and_noted(kbnf: Kbnf) -> None:
    shown = kbnf("match", "json", "--text", '{"a": x}', "--tree")
    former = kbnf("match", "json", "--text", '{"a": x}', "--why")
    assert former.out == shown.out
    assert "`--why` of `kbnf match` is called `--tree` now" in former.stderr
    assert kbnf("match", "json", "--text=1", "--", "--why").stderr.count("is called") == 0
    for command, name in RENAMED:
        assert name not in {
            spelling for each in _options(COMMANDS[command]) for spelling in each.opts
        }


if __name__ == "__main__":
    for spelling, names in sorted(matrix().items()):
        for name, commands in names.items():
            print(spelling, name, *commands)  # noqa: T201 - the matrix, for people
