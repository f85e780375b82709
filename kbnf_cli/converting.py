"""Shared parts of the commands that convert: formats, options, schemas for engines, delivery.

A conversion that loses something writes nothing, unless ``--lossy`` allows it.

Tests: tests/cli
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import click

from kbnf_cli.console import Console, Exit
from kbnf_cli.files import find_grammars, write_text
from kbnf_cli.inputs import (
    FileInputs,
    is_artifact,
    name_of,
    permitted_imports,
    read_text_or_artifact,
)
from kbnf_cli.options import (
    config_options,
    file_options,
    format_option,
    outside_option,
    stdin_option,
    together,
)
from kbnf_core.kbnf.parsed import OF_CONVERSION, Conversion
from kbnf_core.kernel import has_engine
from kbnf_core.languages import (
    GBNF,
    JSON_SCHEMA,
    KBNF,
    LANGUAGES,
    LARK,
    RESPONSE_TEMPLATE,
    TOOL_LIST,
    TREE_SITTER,
    Language,
    detect,
)
from kbnf_core.lint import TARGETS
from kbnf_core.targets import ENGINE_NAMES, HOST_NAMES, HOSTS, engines_of
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.diagnostics.formats import span_value
from kbnf_core.text.diagnostics.text import count_of
from kbnf_core.text.errors import GrammarError
from kbnf_core.text.files import load_text
from kbnf_core.text.source import Source

MODEL = "model"


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """A format: its name in options, and its files.

    ``is_written`` says whether something can be converted to it.
    """

    name: str
    files: str
    what: str
    is_written: bool = False


_ABOUT = {
    "KBNF": "the language of this toolkit",
    "GBNF": "llama.cpp's grammars",
    "BNF": "bnf_sampler's <start>::=...",
    "Lark": "Lark, also LLGuidance's",
    "ABNF": "the grammars of RFCs",
    "ANTLR": "ANTLR 4",
    "EBNF": "EBNF and BNF of standards",
    "Tree sitter": "tree-sitter's grammar.json",
    "Structural tag": "XGrammar's structural tags",
    "Response template": "messages of transformers",
    "JSON Schema": "JSON Schema",
    "Tool list": "tools of a request or of MCP",
    "regex": "a regular expression",
    "choice": "a JSON list of texts",
}

_FILES = dict.fromkeys((JSON_SCHEMA, RESPONSE_TEMPLATE, TOOL_LIST, TREE_SITTER), "*.json")


def _files_of(language: Language) -> str:
    named = f"*{language.extension}" if language.extension else f"--from {language.name}"
    return _FILES.get(language, named)


FORMATS = (
    *(
        OutputFormat(
            language.name.lower().replace(" ", "-"),
            _files_of(language),
            _ABOUT.get(language.name, language.name),
            language.is_target,
        )
        for language in LANGUAGES
    ),
    OutputFormat(MODEL, "module:Class", "pydantic models, dataclasses"),
)

READ = tuple(entry.name for entry in FORMATS if entry.name != MODEL)
WRITTEN = tuple(entry.name for entry in FORMATS if entry.is_written)


_CALLS = """
formats of tool calls, for --tool-calls; `--tool-calls NAME --to structural-tag` shows one:
"""


def listing() -> str:
    """Return a line for each format, and one for each format of tool calls."""
    from kbnf_core.languages.structural_tag.models import ALIASES, table

    width = max(len(format_.name) for format_ in FORMATS)
    lines = (
        f"{format_.name:<{width}}  {'read, written' if format_.is_written else 'read':<13}"
        f"  {format_.files:<12}  {format_.what}\n"
        for format_ in FORMATS
    )
    calls = []
    for name, call_format in table().items():
        others = ", ".join(other for other, meant in ALIASES.items() if meant == name)
        also = f" (also {others})" if others else ""
        calls.append(f"  {name:<{width}}  {call_format['models']}{also}\n")
    return "".join((*lines, _CALLS, *calls))


SCHEMA = "kbnf.convert/1"

WITHOUT_RAW = tuple(name for name in TARGETS if name.startswith("kbnf-"))
"""Engines that read KBNF, but no raw patterns."""


def _first_engine(
    context: click.Context, parameter: click.Parameter, name: str | None
) -> str | None:
    """Return the engine that a host tries first, and every other name as it is."""
    del context, parameter
    return name and next(iter(engines_of((name,))))


Convert: TypeAlias = Callable[[str, str], Conversion]
"""Converts a text, with the name of its file."""


@dataclass(frozen=True, slots=True)
class Direction:
    """How one file is converted.

    ``extension`` is that of the results, with its dot.
    """

    convert: Convert
    extension: str

    def convert_for(self, target: str | None, source: Source) -> Conversion:
        """Convert a text, to the spelling that ``target``, an engine for KBNF, knows."""
        result = self.convert(source.text, source.name)
        if target not in WITHOUT_RAW or self.extension != KBNF.extension:
            return result
        from kbnf_core.kbnf.read import without_raw

        return result._replace(text=without_raw(result.text))


Directions: TypeAlias = Callable[[Path], Direction]
"""Chooses the direction for a file by its name."""


@dataclass(frozen=True, kw_only=True)
class Delivery(FileInputs):
    """The conversion, and where results go: the values of the shared options."""

    output: Path | None
    lossy: bool
    format_: str
    target: str | None
    stdin_filename: Path | None


conversion_options = together(
    stdin_option,
    click.option(
        "--for",
        "target",
        type=click.Choice([*ENGINE_NAMES, *HOST_NAMES, *WITHOUT_RAW]),
        metavar="ENGINE",
        callback=_first_engine,
        help=f"The engine that the result is for: {', '.join((*ENGINE_NAMES, *WITHOUT_RAW))}, or"
        f" the first one of a host ({', '.join(HOSTS)}). A JSON Schema is rewritten until "
        "the engine accepts and enforces it. KBNF for"
        " kbnf-0.2 or kbnf-0.4 has no raw patterns.",
    ),
    format_option(["text", "json"], "Format of the report; json contains the result too."),
    click.option("--lossy", is_flag=True, help="Write the result even if something is lost."),
    click.option(
        "--output",
        "-o",
        metavar="OUT",
        type=click.Path(path_type=Path),
        help="Write to OUT rather than to stdout; a directory for more than one file.",
    ),
    outside_option,
    file_options,
    config_options,
)
"""The options of all conversions: see ``Delivery``."""


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
        target = (
            delivery.output if top is None else _output_path(file, paths, directions(file), top)
        )
        try:
            worst = max(worst, _convert_one(console, file, directions, delivery, target))
        except GrammarError as error:
            if not several:
                raise
            console.diagnostics(error.diagnostics)
            worst = max(worst, Exit.FINDINGS)
        except OSError as error:
            console.problem(error)
    return worst


def refuse_another(file: Path, language: str, extensions: Sequence[str]) -> None:
    """Raise ``UsageError`` for a file whose extension is that of another language.

    An artifact counts as KBNF.
    """
    if is_artifact(file) and KBNF.extension not in extensions:
        raise click.UsageError(f"{file} is an artifact; its grammar is KBNF: `kbnf convert {file}`")
    from kbnf_core.languages.lark.reader.parse import is_gbnf

    suffix = file.suffix.lower()
    other = next(
        (candidate for candidate in LANGUAGES if suffix and candidate.extension == suffix),
        None,
    )
    if other is LARK and GBNF.extension in extensions and is_gbnf(load_text(str(file)) or ""):
        # LLGuidance once read GBNF under this name.
        return
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


def _output_path(file: Path, paths: Sequence[Path], direction: Direction, top: Path) -> Path:
    """Return where the result of ``file`` goes: the same place below ``top``."""
    roots = (path for path in paths if path.is_dir() and file.is_relative_to(path))
    inner = file.relative_to(next(roots, file.parent))
    target = top / inner.with_suffix(direction.extension)
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


def _convert_one(
    console: Console, file: Path, directions: Directions, delivery: Delivery, target: Path | None
) -> Exit:
    name = name_of(file, delivery.stdin_filename)
    source = read_text_or_artifact(file, name.as_posix())
    return deliver(console, source, directions(name), delivery, target)


def deliver(
    console: Console,
    source: Source,
    direction: Direction,
    delivery: Delivery,
    target: Path | None,
) -> Exit:
    """Convert ``source``, report its losses, and write the result, to ``target`` if given."""
    conversion = direction.convert_for(delivery.target, source)
    withheld = bool(conversion.losses) and not delivery.lossy
    if delivery.format_ == "json":
        value = conversion_value(conversion, source)
        console.text(json.dumps(value | {"output": None} if withheld else value, indent=2) + "\n")
    else:
        _show_findings(console, conversion, source, withheld)
    if direction.extension != KBNF.extension and not has_engine():
        console.note(
            f"{source.name}: not checked without the compiled engine: whether a text goes on"
            " to another, and examples of what is lost"
        )
    if withheld:
        return Exit.FINDINGS
    if target is not None:
        write_text(target, conversion.text)
        console.note(f"wrote {target}")
    elif delivery.format_ == "text":
        console.text(conversion.text)
    return Exit.CLEAN


def _show_findings(
    console: Console, conversion: Conversion, source: Source, withheld: bool
) -> None:
    losses = [loss.diagnostic(source) for loss in conversion.losses]
    own = [note for note in conversion.notes if note.code in OF_CONVERSION]
    console.diagnostics((*own, *losses))
    others = len(conversion.notes) - len(own)
    if others:
        console.note(f"{source.name}: `kbnf check` has {count_of(others, 'remark')}")
    if withheld:
        lost = count_of(len(losses), "thing")
        console.error(f"{source.name}: {lost} cannot be kept", "--lossy writes the result anyway")


def conversion_value(conversion: Conversion, source: Source) -> dict[str, Any]:
    """Return the object ``kbnf.convert/1``; spans are in ``source``, the original.

    An example's ``text`` has U+FFFD for invalid bytes; its ``hex`` contains all bytes.
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


def direction_for(console: Console, engine: str, language: Language | None) -> Direction:
    """Return the conversion of schemas for an engine; ``language`` is that of the files."""
    return Direction(partial(_convert, console, engine, language), ".json")


def _convert(
    console: Console, engine: str, language: Language | None, text: str, name: str
) -> Conversion:
    """Return a schema, or a list of tools, that the engine takes.

    Raises ``GrammarError`` where there is none (E503).
    """
    from kbnf_core.targets.check import diagnostic, schemas_of
    from kbnf_core.targets.engines import ENGINES
    from kbnf_core.targets.exam import Fault
    from kbnf_core.targets.judges import replaced
    from kbnf_core.targets.process import Asked
    from kbnf_core.targets.rewrite import KeywordChange, rewrite
    from kbnf_core.text.json_text import steps_of

    language = language or detect(text, name)
    text = language.self_contained(text, name, permitted_imports())
    source = Source(text, name, is_json=True)
    schemas = list(schemas_of(source, language)) if language in (JSON_SCHEMA, TOOL_LIST) else []
    if not schemas:
        written = ENGINES[engine].language
        advice = f": `--to {written}` converts a grammar" if written else ""
        raise click.UsageError(f"--for {engine} needs a JSON Schema or tools{advice}")
    value = json.loads(text)
    asked = Asked(engine)
    changes: list[KeywordChange] = []
    refused: list[Diagnostic] = []
    weak: list[Diagnostic] = []
    try:
        for tool, prefix, schema in schemas:
            made = rewrite(schema, asked)
            finding_list = made.result.findings
            reported = [
                (finding.fault, diagnostic(source, finding, prefix, tool))
                for finding in finding_list
            ]
            weak += [finding for fault, finding in reported if fault is Fault.WEAK]
            if not made.is_taken:
                refused += [finding for _, finding in reported]
            if made.changes:
                value = replaced(value, tuple(steps_of(prefix)), made.schema)
            changes += [replace(change, pointer=prefix + change.pointer) for change in made.changes]
    finally:
        asked.close()
    if refused:
        raise GrammarError(refused)
    for change in changes:
        if change.lost is None:
            console.note(change.summary)
    narrower = [
        Diagnostic("W808", change.summary, source, source.locate(change.pointer))
        for change in changes
        if change.lost is not None
    ]
    console.diagnostics((*narrower, *weak))
    shown = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    return Conversion(shown, not narrower, ())
