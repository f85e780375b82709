"""``kbnf convert-json-schema``: JSON Schema to KBNF."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

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
from kbnf_cli.models import is_model_name, schema_of_model
from kbnf_cli.options import as_value, common_options
from kbnf_core.diagnostics.text import render_text
from kbnf_core.source import Source

if TYPE_CHECKING:
    from kbnf_core.convert import Conversion


@click.command("convert-json-schema")
@click.argument(
    "paths", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option(
    "--whitespace",
    type=click.Choice(["flexible", "compact", "bounded"]),
    help="The gaps of the JSON text: any, none, or (the default) a blank or one line break with"
    " indentation. Given, it wins over the schema's x-guidance.",
)
@click.option(
    "--order",
    type=click.Choice(["declared", "any"]),
    default="declared",
    show_default=True,
    help="The order of properties; `any` is for objects with few of them.",
)
@click.option(
    "--additional-properties/--no-additional-properties",
    default=True,
    show_default=True,
    help="What a schema means that does not say whether other properties may come.",
)
@click.option(
    "--escapes",
    type=click.Choice(["canonical", "unicode", "any"]),
    help="How characters of unrestricted strings are spelt: one way (the default), also by their"
    " numbers, or any way JSON knows.",
)
@click.option(
    "--standard",
    type=click.Choice(["json-schema", "llguidance"]),
    default="json-schema",
    show_default=True,
    help="Whose reading holds: the draft's and the RFCs' of formats, or LLGuidance's.",
)
@click.option(
    "--formats",
    type=click.Choice(["assertion", "annotation"]),
    default="assertion",
    show_default=True,
    help="Whether `format` restricts values.",
)
@click.option(
    "--strict",
    type=click.Choice(["openai", "anthropic"]),
    help="Refuse what the strict mode of this service refuses, and say what to do about it.",
)
@conversion_options
@common_options
@click.pass_obj
@as_value(Delivery)
def convert_json_schema(
    console: Console,
    delivery: Delivery,
    paths: tuple[Path, ...],
    whitespace: str | None,
    order: str,
    additional_properties: bool,
    escapes: str | None,
    standard: str,
    formats: str,
    strict: str | None,
) -> int:
    """Convert JSON Schemas to KBNF.

    FILE is a schema, or a directory to search for *.json. The grammar allows the JSON texts of the
    values that the schema allows. A keyword that no grammar can keep is an error that names its
    JSON Pointer; with --lossy it is dropped and listed. FILE may also be MODULE:CLASS, a pydantic
    model or another type that pydantic knows; this runs the module.
    """

    def convert(text: str, name: str) -> "Conversion":
        from kbnf_core.languages.json_schema import (
            Escapes,
            Formats,
            Options,
            Order,
            Service,
            Standard,
            Whitespace,
            from_json_schema,
        )

        options = Options(
            None if whitespace is None else Whitespace(whitespace),
            Order(order),
            additional_properties,
            None if escapes is None else Escapes(escapes),
            delivery.lossy,
            standard=Standard(standard),
            formats=Formats(formats),
            strict=None if strict is None else Service(strict),
        )
        conversion = from_json_schema(text, options, path=name)
        # `kbnf check` does not read schemas, so what there is to remark is said here.
        for note in conversion.notes:
            console.findings(render_text(note))
        return replace(conversion, notes=())

    if len(paths) == 1 and is_model_name(str(paths[0])) and not paths[0].exists():
        name = str(paths[0])
        source = Source(schema_of_model(name), name)
        return deliver(console, source, convert(source.text, name), delivery, delivery.output)

    def direction(file: Path) -> Direction:
        refuse_another(file, "JSON Schema", (".json",))
        return Direction(convert, ".kbnf")

    return convert_all(console, paths, (".json",), direction, delivery)
