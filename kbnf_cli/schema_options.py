"""The options of conversions from JSON Schema, which two commands have."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--whitespace",
        type=click.Choice(["flexible", "compact", "bounded"]),
        help="The gaps of the text of a JSON Schema: any, none, or (the default) a blank or one"
        " line break with indentation. Given, it wins over the schema's x-guidance.",
    ),
    click.option(
        "--order",
        type=click.Choice(["declared", "any"]),
        help="The order of properties; `any` is for objects with few of them.  [default: declared]",
    ),
    click.option(
        "--additional-properties/--no-additional-properties",
        default=None,
        help="What a schema means that does not say whether other properties may come."
        "  [default: additional-properties]",
    ),
    click.option(
        "--escapes",
        type=click.Choice(["canonical", "unicode", "any"]),
        help="How characters of unrestricted strings of JSON are spelt: one way (the default), also"
        " by their numbers, or any way JSON knows.",
    ),
    click.option(
        "--standard",
        type=click.Choice(["json-schema", "llguidance"]),
        help="Whose reading of schemas holds: the draft's and the RFCs' of formats, or that of"
        " LLGuidance.  [default: json-schema]",
    ),
    click.option(
        "--formats",
        type=click.Choice(["assertion", "annotation"]),
        help="Whether `format` of a schema restricts values.  [default: assertion]",
    ),
    click.option(
        "--strict",
        type=click.Choice(["openai", "anthropic"]),
        help="Refuse what the strict mode of this service refuses in a JSON Schema, and say what to"
        " do about it.",
    ),
)

NAMES = ("whitespace", "order", "additional_properties", "escapes", "standard", "formats", "strict")
"""The names of their values; one that was not given is None."""


def schema_options(command: _Command) -> _Command:
    """Add the options."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def given(own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that were given."""
    return {name: value for name, value in own.items() if value is not None}
