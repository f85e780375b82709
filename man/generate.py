"""Writes the man pages of the commands and of shared options: ``python man/generate.py [FOLDER]``.

Name, synopsis, description and options come from the commands themselves; what click cannot know
(examples, formats, files) is written by hand in ``parts/COMMAND.roff`` and put in behind. The page
of the language, ``kbnf.5``, is written by hand as a whole.
"""

import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from kbnf_cli.app import app
from kbnf_cli.options import TOPICS, SharedOption
from kbnf_core import __version__

HERE = Path(__file__).parent
DATE = "2026-11-21"
"""When the pages were last changed by hand; the pages must not differ from run to run."""

_ESCAPES = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "^": "\\(ha", "~": "\\(ti", '"': "\\(dq"}
_COLUMNS = 72

_EXIT_STATUS = """\
.SH EXIT STATUS
.TP
.B 0
Done, and nothing was found that counts.
.TP
.B 1
Something was found, or the input was rejected.
.TP
.B 2
Wrong usage, a file that cannot be read, bad configuration, or an internal failure.
"""


_SEE_ALSO = """\
.SH SEE ALSO
.BR kbnf (1),
.BR kbnf (5)
"""


def pages() -> dict[str, str]:
    """Return all generated pages by their file names."""
    top = click.Context(app, info_name="kbnf", **app.context_settings)
    found = {"kbnf.1": _page("kbnf", top)}
    shared: dict[str, dict[str, str]] = {topic: {} for topic in TOPICS}
    for name in app.list_commands(top):
        command = app.get_command(top, name)
        if command is not None and not command.hidden:
            context = click.Context(command, info_name=name, parent=top)
            found[f"kbnf-{name}.1"] = _page(f"kbnf-{name}", context)
            for each in command.params:
                if isinstance(each, SharedOption) and (record := each.full_record(context)):
                    shared[each.topic].setdefault(each.opts[0], _option(record))
    return found | {
        f"kbnf-{topic}.7": _page_of_options(topic, options.values())
        for topic, options in shared.items()
    }


def _page_of_options(topic: str, options: Iterable[str]) -> str:
    name = f"kbnf-{topic}"
    return "".join(
        (
            f'.TH {name.upper()} 7 {DATE} "kbnf\\-toolkit {__version__}" "kbnf manual"\n',
            f".SH NAME\n{name} \\- shared options: {_escape(TOPICS[topic])}\n",
            ".SH OPTIONS\n",
            *options,
            _part(name),
            _SEE_ALSO,
        )
    )


def _page(name: str, context: click.Context) -> str:
    sections = [
        f'.TH {name.upper()} 1 {DATE} "kbnf\\-toolkit {__version__}" "kbnf manual"\n',
        *_name(name, context.command),
        *_synopsis(context),
        *_examples(context.command),
        ".SH DESCRIPTION\n",
        *_paragraphs(context.command.help or ""),
        *_commands(context),
        *_options(context),
        _part(name),
        _EXIT_STATUS,
        _SEE_ALSO,
    ]
    return "".join(sections)


def _name(name: str, command: click.Command) -> Iterator[str]:
    summary = (command.help or "").split("\n\n")[0].strip().removesuffix(".")
    # Not `\\-` inside the name: index builders look for the plain one.
    yield f".SH NAME\n{name} \\- {_escape(summary[:1].lower() + summary[1:])}\n"


def _synopsis(context: click.Context) -> Iterator[str]:
    pieces = " ".join(context.command.collect_usage_pieces(context))
    yield f".SH SYNOPSIS\n.B {_escape(context.command_path)}\n{_escape(pieces)}\n"


def _commands(context: click.Context) -> Iterator[str]:
    command = context.command
    if not isinstance(command, click.Group):
        return
    subcommands = [(name, command.commands[name]) for name in sorted(command.commands)]
    groups = app.groups(context) if command is app else {"": subcommands}
    for title, commands in groups.items():
        yield f".SH COMMANDS{f': {title.upper()}' if title else ''}\n"
        for name, command in commands:
            summary = _wrapped(command.get_short_help_str(limit=200))
            yield f".TP\n.BR kbnf\\-{_escape(name)} (1)\n{summary}"


def _options(context: click.Context) -> Iterator[str]:
    yield ".SH OPTIONS\n"
    for parameter in context.command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and isinstance(parameter, click.Option):
            yield _option(record)


def _option(record: tuple[str, str]) -> str:
    names, text = record
    plain = text.removeprefix("\b\n")
    return f".TP\n{_option_names(names)}\n{_wrapped(plain)}"


def _option_names(names: str) -> str:
    """Return the names in bold and the rest in italics."""
    words = (
        f"\\fB{_escape(word)}\\fR" if word.startswith("-") else f"\\fI{_escape(word)}\\fR"
        for word in re.split(r"(?<=,) | ", names)
    )
    return " ".join(words).replace(",\\fR", "\\fR,")


def _examples(command: click.Command) -> Iterator[str]:
    lines = (command.epilog or "").splitlines()[2:]
    if lines:
        shown = "".join(f"{_escape(line.strip())}\n" for line in lines)
        yield f".SH EXAMPLES\n.EX\n{shown}.EE\n"


def _part(name: str) -> str:
    file = HERE / "parts" / f"{name}.roff"
    return file.read_text(encoding="utf-8") if file.exists() else ""


def _paragraphs(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(text.replace("\b\n", "").split("\n\n")):
        yield (".PP\n" if number else "") + _wrapped(paragraph)


def _wrapped(text: str) -> str:
    lines = textwrap.wrap(" ".join(text.split()), _COLUMNS, break_on_hyphens=False)
    return _bold_code("\n".join(map(_escape, lines))) + "\n"


def _bold_code(text: str) -> str:
    r"""Turn what stands between backquotes bold."""
    return re.sub(r"`([^`]*)`", r"\\fB\1\\fR", text)


def _escape(line: str) -> str:
    """Return ``line`` so that roff shows it as it is; backquotes stay."""
    escaped = "".join(_ESCAPES.get(each, each) if each.isascii() else _code(each) for each in line)
    return f"\\&{escaped}" if escaped.startswith(".") else escaped


def _code(character: str) -> str:
    return f"\\[u{ord(character):04X}]"


def main(folder: Path = HERE) -> None:
    """Write all pages into ``folder``."""
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
