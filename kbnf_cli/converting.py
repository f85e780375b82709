"""Shared parts of the ``convert-*`` commands: their options, and writing the result.

A conversion that loses something writes nothing, unless ``--lossy`` allows it.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click

from kbnf_cli.console import Console
from kbnf_cli.exits import Exit
from kbnf_cli.files import STDIN, find_grammars, read_source, write_text
from kbnf_cli.inputs import FileInputs
from kbnf_cli.options import config_options, file_options, stdin_option
from kbnf_cli.shipped import shown_path
from kbnf_core.diagnostics.formats import span_value
from kbnf_core.diagnostics.text import count_of, render_text
from kbnf_core.errors import GrammarError
from kbnf_core.languages import KBNF, LANGUAGES
from kbnf_core.lint.options import TARGETS
from kbnf_core.source import Source
from kbnf_core.syntax.conversion import OF_CONVERSION

if TYPE_CHECKING:
    from kbnf_core.convert import Conversion

_Command = TypeVar("_Command", bound=Callable[..., Any])

SCHEMA = "kbnf.convert/1"

WITHOUT_RAW = tuple(name for name in TARGETS if name.startswith("kbnf-"))
"""Engines that read KBNF, but no raw patterns."""


Convert: TypeAlias = "Callable[[str, str], Conversion]"
"""Converts a text, with the name of its file."""


@dataclass(frozen=True, slots=True)
class Direction:
    """How one file is converted.

    ``extension`` is that of the results, with its dot.
    """

    convert: Convert
    extension: str


Directions: TypeAlias = Callable[[Path], Direction]
"""Chooses the direction for a file by its name."""


@dataclass(frozen=True, kw_only=True)
class Delivery(FileInputs):
    """What is converted, and where results go: the values of the shared options."""

    output: Path | None
    lossy: bool
    format_: str
    target: str | None
    stdin_filename: Path | None


def conversion_options(command: _Command) -> _Command:
    """Add the options of all conversions: see ``Delivery``."""
    for option in (
        config_options,
        file_options,
        click.option(
            "--output",
            "-o",
            metavar="OUT",
            type=click.Path(path_type=Path),
            help="Write to OUT rather than to stdout; a directory for more than one file.",
        ),
        click.option("--lossy", is_flag=True, help="Write the result even if something is lost."),
        click.option(
            "--format",
            "format_",
            type=click.Choice(["text", "json"]),
            default="text",
            show_default=True,
            help="How to report; json holds the result too.",
        ),
        click.option(
            "--target",
            type=click.Choice(WITHOUT_RAW),
            help="The engine that KBNF is for: it gets no raw patterns, which it does not know.",
        ),
        stdin_option,
    ):
        command = option(command)
    return command


def convert_all(
    console: Console,
    paths: Sequence[Path],
    extensions: Sequence[str],
    directions: Directions,
    delivery: Delivery,
) -> int:
    """Convert the named files, and those with ``extensions`` below the named directories.

    Returns the exit status. Raises ``GrammarError`` for a single file with errors; among several
    it is reported, as is one that cannot be read or written, and the others are still converted.
    """
    files = find_grammars(paths, console.note, delivery.choice(extensions))
    several = len(files) > 1 or any(path.is_dir() for path in paths)
    top = _directory_for_several(delivery) if several else None
    worst = Exit.CLEAN
    for file in console.track(files, "converting"):
        target = delivery.output if top is None else _place(file, paths, directions(file), top)
        try:
            worst = max(worst, _convert_one(console, file, directions, delivery, target))
        except GrammarError as error:
            if not several:
                raise
            for diagnostic in error.diagnostics:
                console.findings(render_text(diagnostic))
            worst = max(worst, Exit.FINDINGS)
        except OSError as error:
            console.problem(error)
    return worst


def refuse_another(file: Path, language: str, extensions: Sequence[str]) -> None:
    """Raise ``UsageError`` for a file whose extension is that of another language."""
    suffix = file.suffix.lower()
    other = next((each for each in LANGUAGES if each.extension == suffix), None)
    if other is not None and suffix not in extensions:
        raise click.UsageError(
            f"{file} is written in {other.name}, not in {language}: `kbnf convert {file}`"
        )


def _directory_for_several(delivery: Delivery) -> Path:
    if delivery.format_ == "json":
        raise click.UsageError("--format json takes one file")
    if delivery.output is None:
        raise click.UsageError("more than one file needs a directory for the results: -o OUT")
    delivery.output.mkdir(parents=True, exist_ok=True)
    return delivery.output


def _place(file: Path, paths: Sequence[Path], direction: Direction, top: Path) -> Path:
    """Return where the result of ``file`` goes: the same place below ``top``."""
    roots = (path for path in paths if path.is_dir() and file.is_relative_to(path))
    inner = file.relative_to(next(roots, file.parent))
    target = top / inner.with_suffix(direction.extension)
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


def _convert_one(
    console: Console, file: Path, directions: Directions, delivery: Delivery, target: Path | None
) -> Exit:
    name = delivery.stdin_filename or Path("<stdin>") if file == STDIN else shown_path(file)
    source, invalid = read_source(file, name.as_posix())
    if invalid is not None:
        raise GrammarError([invalid])
    direction = directions(name)
    conversion = direction.convert(source.text, name.as_posix())
    conversion = for_target(conversion, delivery.target, direction.extension)
    return deliver(console, source, conversion, delivery, target)


def deliver(
    console: Console,
    source: Source,
    conversion: "Conversion",
    delivery: Delivery,
    target: Path | None,
) -> Exit:
    """Report what a conversion of ``source`` lost, and write its result, to ``target`` if given."""
    withheld = bool(conversion.losses) and not delivery.lossy
    if delivery.format_ == "json":
        _show_json(console, conversion, source, withheld)
    else:
        _show_findings(console, conversion, source, withheld)
    if withheld:
        return Exit.FINDINGS
    if target is not None:
        write_text(target, conversion.text)
        console.note(f"wrote {target}")
    elif delivery.format_ == "text":
        console.text(conversion.text)
    return Exit.CLEAN


def for_target(conversion: "Conversion", target: str | None, extension: str) -> "Conversion":
    """Return a conversion in the spelling that ``target``, an engine for KBNF, knows."""
    if target is None or extension != KBNF.extension:
        return conversion
    from kbnf_core.languages.kbnf.raw import without_raw

    return replace(conversion, text=without_raw(conversion.text))


def _show_findings(
    console: Console, conversion: "Conversion", source: Source, withheld: bool
) -> None:
    losses = [loss.diagnostic(source) for loss in conversion.losses]
    own = [note for note in conversion.notes if note.code in OF_CONVERSION]
    for diagnostic in (*own, *losses):
        console.findings(render_text(diagnostic))
    others = len(conversion.notes) - len(own)
    if others:
        console.note(f"{source.name}: `kbnf check` has {count_of(others, 'remark')}")
    if withheld:
        lost = count_of(len(losses), "thing")
        console.error(f"{source.name}: {lost} cannot be kept", "--lossy writes the result anyway")


def _show_json(console: Console, conversion: "Conversion", source: Source, withheld: bool) -> None:
    value = conversion_value(conversion, source)
    if withheld:
        value["output"] = None
    console.text(json.dumps(value, indent=2) + "\n")


def conversion_value(conversion: "Conversion", source: Source) -> dict[str, Any]:
    """Return the object ``kbnf.convert/1``; spans are in ``source``, the original.

    An example's ``text`` has U+FFFD for bytes that are no text; its ``hex`` holds all bytes.
    """
    return {
        "schema": SCHEMA,
        "output": conversion.text,
        "exact": conversion.exact,
        "losses": [
            {
                "code": loss.code,
                "message": loss.message,
                "span": span_value(source, loss.span),
                "example": None
                if loss.example is None
                else {
                    "text": loss.example.data.decode("utf-8", "replace"),
                    "hex": loss.example.data.hex(),
                    "wrongly": "refused" if loss.example.kept_out else "accepted",
                },
            }
            for loss in conversion.losses
        ],
    }
