"""Options have one meaning over all commands, and `--help` is short."""

import click
import pytest

from kbnf_cli.app import app
from kbnf_cli.options import TOPICS, SharedOption
from kbnf_testing.command import Kbnf

CONTEXT = click.Context(app, info_name="kbnf")
COMMANDS = {
    name: command
    for name in app.list_commands(CONTEXT)
    if (command := app.get_command(CONTEXT, name)) is not None
}
MOST_LINES = 60


def matrix() -> dict[str, dict[str, list[str]]]:
    """Return the commands that have an option by its letter, and by its name.

    The letters of play are those of its forerunner, bnf_sampler's console.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for command, value in COMMANDS.items():
        if command == "play":
            continue
        for parameter in value.params:
            if not isinstance(parameter, click.Option):
                continue
            name = next(each for each in parameter.opts if each.startswith("--"))
            for letter in parameter.opts:
                if not letter.startswith("--"):
                    found.setdefault(letter, {}).setdefault(name, []).append(command)
    return found


def test_a_letter_has_one_meaning() -> None:
    assert {letter: names for letter, names in matrix().items() if len(names) > 1} == {}


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


if __name__ == "__main__":
    for letter, names in sorted(matrix().items()):
        for name, commands in names.items():
            print(letter, name, *commands)  # noqa: T201 - the matrix, for people
