"""``kbnf convert-*``: a command for each language, to KBNF and, where it can, back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kbnf_cli.console import Console
from kbnf_cli.converting import (
    Delivery,
    Direction,
    conversion_options,
    convert_all,
    deliver,
    refuse_another,
)
from kbnf_cli.inputs import is_artifact, read_vocabulary
from kbnf_cli.models import is_class, of_model, schema_of_model
from kbnf_cli.options import (
    as_value,
    common_options,
    examples,
    lexing_option,
    schema_options,
    together,
    vocabulary_options,
)
from kbnf_core import convert
from kbnf_core.kbnf.parsed import NO_OPTIONS
from kbnf_core.languages import KBNF, LANGUAGES, STRUCTURAL_TAG, Language
from kbnf_core.text.imports import ANYWHERE
from kbnf_core.text.source import Source

if TYPE_CHECKING:
    from kbnf_core.convert import Conversion


_Command = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class _Details:
    """What is special about the command of a language."""

    help: str
    start: str = "The start rule of the original."
    options: tuple[Callable[[_Command], _Command], ...] = (conversion_options,)


_FILES = click.argument(
    "paths", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)

_DETAILS = {
    "ABNF": _Details(
        """Convert ABNF, the grammar language of RFCs, to KBNF.

        FILE is a file, a directory to search for *.abnf, or `-` for stdin. Core rules such as DIGIT
        are known. Values above %x7F are octets where none is above %xFF, and else code points.
        """,
        start="The start rule.  [default: the first rule]",
    ),
    "BNF": _Details(
        """Convert grammars of bnf_sampler to KBNF.

        FILE is a file with rules such as `<start>::=...`, a directory to search for *.bnf, or
        `-` for stdin. `<any!>` and `<except!(..)>` take the text of one token, by whatever tokens
        it is spelled, so they need the vocabulary of the model. Exits with 1, and writes nothing,
        if something cannot be kept; --lossy writes it anyway.
        """,
        start="The start nonterminal of the original.",
        options=(conversion_options, vocabulary_options),
    ),
    "GBNF": _Details(
        """Convert GBNF to KBNF, or KBNF to GBNF.

        FILE is a file, a directory to search, or `-` for stdin. A vocabulary is needed only for
        tokens that are excluded by their text, as in `!</think>`. Exits with 1, and writes nothing,
        if something cannot be kept; --lossy writes it anyway.
        """,
        options=(conversion_options, vocabulary_options),
    ),
    "Lark": _Details(
        """Convert Lark to KBNF, or KBNF to LLGuidance's Lark.

        FILE is a file, a directory to search, or `-` for stdin; imports are looked for beside it.
        Exits with 1, and writes nothing, if something cannot be kept; --lossy writes it anyway.
        """,
        options=(
            lexing_option,
            conversion_options,
        ),
    ),
}


def _command_of(language: Language) -> click.Command:
    name = language.name.lower()
    details = _DETAILS.get(language.name, _Details(f"Convert {language.name} to KBNF."))

    def run(
        console: Console,
        delivery: Delivery,
        paths: tuple[Path, ...],
        start: str | None,
        to: str | None = None,
        vocab: str | None = None,
        eos: tuple[int, ...] = (),
        schema: Mapping[str, Any] = NO_OPTIONS,
    ) -> int:
        vocabulary = read_vocabulary(console, vocab, eos) if vocab else None
        known = [KBNF, language] if language.is_target else [language]

        def direction(file: Path) -> Direction:
            refuse_another(file, language.name, [each.extension for each in known])
            is_kbnf = file.suffix == KBNF.extension or is_artifact(file)
            is_back = KBNF in known and (to == name if to else is_kbnf)
            ends = (KBNF, language) if is_back else (language, KBNF)

            def converted(text: str, path: str) -> "Conversion":
                return convert.convert(
                    text,
                    *ends,
                    path=path,
                    start=start,
                    imports=ANYWHERE,
                    vocabulary=None if is_back else vocabulary,
                    options={} if is_back else schema,
                )

            return Direction(converted, ends[1].extension)

        wanted = [each.extension for each in known if to != each.name.lower()]
        return convert_all(console, paths, wanted, direction, delivery)

    to = click.option(
        "--to",
        type=click.Choice(["kbnf", name]),
        help="The language of the result.  [default: the one that the file is not in]",
    )
    options = together(
        _FILES,
        *([to] if language.is_target else []),
        click.option("--start", metavar="NAME", help=details.start),
        *details.options,
        common_options,
    )
    command = options(click.pass_obj(as_value(Delivery)(run)))
    shown = examples(f"kbnf convert-{name} g{language.extension} -o g.kbnf")
    return click.command(f"convert-{name}", help=details.help, epilog=shown)(command)


COMMANDS = {
    f"convert-{language.name.lower()}": _command_of(language)
    for language in LANGUAGES
    if language.extension and language not in (KBNF, STRUCTURAL_TAG)
}


@click.command(
    "convert-json-schema", epilog=examples("kbnf convert-json-schema schema.json -o schema.kbnf")
)
@_FILES
@schema_options
@conversion_options
@common_options
@click.pass_obj
@as_value(Delivery)
def convert_json_schema(
    console: Console,
    delivery: Delivery,
    paths: tuple[Path, ...],
    schema: Mapping[str, Any],
) -> int:
    """Convert JSON Schemas to KBNF.

    FILE is a schema, or a directory to search for *.json. The grammar allows the JSON texts of the
    values that the schema allows. A keyword that no grammar can keep is an error that names its
    JSON Pointer; with --lossy it is dropped and listed. FILE may also be MODULE:CLASS, a pydantic
    model or another type that pydantic knows; this runs the module.
    """
    one_class = len(paths) == 1 and is_class(str(paths[0]))
    own = of_model(schema) if one_class else schema

    def converted(text: str, name: str) -> "Conversion":
        from kbnf_core.languages import JSON_SCHEMA

        conversion = convert.convert(
            text, JSON_SCHEMA, path=name, lossy=delivery.lossy, options=own
        )
        # They are about the schema; what is delivered with a text is about the text.
        console.diagnostics(conversion.notes)
        return conversion._replace(notes=())

    to_kbnf = Direction(converted, ".kbnf")
    if one_class:
        name = str(paths[0])
        source = Source(schema_of_model(name), name)
        return deliver(console, source, to_kbnf, delivery, delivery.output)

    def direction(file: Path) -> Direction:
        refuse_another(file, "JSON Schema", (".json",))
        return to_kbnf

    return convert_all(console, paths, (".json",), direction, delivery)
