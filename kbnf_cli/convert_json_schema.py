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
from kbnf_cli.schema_options import given, schema_options
from kbnf_core.diagnostics.text import render_text
from kbnf_core.source import Source

if TYPE_CHECKING:
    from kbnf_core.convert import Conversion


@click.command("convert-json-schema")
@click.argument(
    "paths", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@schema_options
@conversion_options
@common_options
@click.pass_obj
@as_value(Delivery)
def convert_json_schema(
    console: Console,
    delivery: Delivery,
    paths: tuple[Path, ...],
    **own: str | bool | None,
) -> int:
    """Convert JSON Schemas to KBNF.

    FILE is a schema, or a directory to search for *.json. The grammar allows the JSON texts of the
    values that the schema allows. A keyword that no grammar can keep is an error that names its
    JSON Pointer; with --lossy it is dropped and listed. FILE may also be MODULE:CLASS, a pydantic
    model or another type that pydantic knows; this runs the module.
    """

    def convert(text: str, name: str) -> "Conversion":
        from kbnf_core.languages.json_schema import from_json_schema
        from kbnf_core.languages.json_schema import schema_options as options_of

        options = options_of(lossy=delivery.lossy, **given(own))
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
