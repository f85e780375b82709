"""``kbnf help``: the manual from the package, one source with ``man``."""

import os
import re
import sys
from pathlib import Path

import click
import pexpect
import pytest

from kbnf_cli.app import app
from kbnf_cli.help import page_title, render_page
from kbnf_core.text.diagnostics.segments import Role, plain
from kbnf_testing.command import Kbnf

PAGES = sorted((Path(__file__).resolve().parents[2] / "man").glob("*.[157]"))


def test_the_language(kbnf: Kbnf) -> None:
    result = kbnf("help", "language")
    assert (result.status, result.stderr) == (0, "")
    assert result.out.startswith("NAME\n    kbnf - language of grammars for constrained decoding\n")
    assert (
        '    #"regex"\n        A text that the regular expression matches as a whole.' in result.out
    )
    assert "\n    a{3}, a{2,}, a{,5}, a{2,5}\n" in result.out


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
@pytest.mark.parametrize("width", [40, 80])
def test_pages_are_text_of_the_width_that_is_there(page: Path, width: int) -> None:
    shown = plain(render_page(page.read_text(encoding="utf-8"), width))
    assert not re.search(r"^\.[A-Z]|\\f[BIR]|\\\(", shown, re.MULTILINE)
    # Examples, and words that are longer, stay whole.
    wide = [line for line in shown.splitlines() if len(line) > width and "  " not in line.strip()]
    assert all(line.startswith(" " * 8) or len(line.split()) == 1 for line in wide)


def test_fonts_escapes_and_blanks() -> None:
    page = (
        '.SH A\n.TP\n.BR x ", " y\ntext \\fIz\\fR \\(aqq\\(aq \\e \\[u00E9]\n.EX\n  a \\- b\n.EE\n'
    )
    shown = render_page(page, 80)
    assert plain(shown) == "A\n    x, y\n        text z 'q' \\ é\n\n          a - b\n"
    assert [part.text for part in shown if part.role is Role.SECONDARY] == ["z"]


def test_every_command_has_a_page(kbnf: Kbnf) -> None:
    topics = kbnf("help").out
    for name in app.list_commands(click.Context(app)):
        result = kbnf("help", name)
        assert (result.status, f"kbnf-{name} - " in result.out) == (0, True)
        assert f"\n  {name} " in topics


def test_defaults_are_said_once() -> None:
    context = click.Context(app)
    for name in app.list_commands(context):
        command = app.get_command(context, name)
        assert command is not None
        for parameter in command.params:
            record = parameter.get_help_record(click.Context(command))
            assert record is None or record[1].count("[default") <= 1, (name, record)


def test_titles() -> None:
    titles = {page.name: page_title(page.read_text(encoding="utf-8")) for page in PAGES}
    assert all(titles.values())
    assert titles["kbnf.5"] == "language of grammars for constrained decoding"


def test_findings_grammars_and_codes(kbnf: Kbnf) -> None:
    assert kbnf("help", "W301").out == kbnf("rule", "W301").out
    assert kbnf("help", "codes").out == kbnf("rule").out
    assert re.search(r"^  json +JSON$", kbnf("help", "grammars").out, re.MULTILINE)


def test_an_unknown_topic(kbnf: Kbnf) -> None:
    result = kbnf("help", "langage")
    assert (result.status, "did you mean language?" in result.stderr) == (2, True)


@pytest.mark.parametrize(("rows", "is_paged"), [(10, True), (400, False)])
def test_a_terminal_that_is_too_low_gets_the_pager(rows: int, is_paged: bool) -> None:
    # By the environment, since the size of a new pseudo-terminal may come late.
    size = {"LINES": str(rows), "COLUMNS": "80"}
    environment = {**os.environ, **size, "PAGER": "sed s/SYMBOLS/PAGED/", "TERM": "xterm"}
    shown = pexpect.run(
        f"{sys.executable} -m kbnf_cli help language",
        env=environment,
        timeout=60,
    )
    assert isinstance(shown, bytes)
    assert (b"PAGED" in shown) is is_paged
    assert b"\x1b[1m" in shown


def test_no_summary_of_a_command_is_cut(kbnf: Kbnf) -> None:
    assert "..." not in kbnf("--help").out.replace("[ARGS]...", "").replace("WORD...", "")


def test_no_entry_is_cut(kbnf: Kbnf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    listed = kbnf("--help").out.partition("Write:")[2].partition("Examples:")[0]
    assert [line for line in listed.splitlines() if line.endswith("...")] == []
