"""``kbnf convert``: from any language that is read, or tools, to any that is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kbnf_cli.console import Console
from kbnf_cli.converting import (
    READ,
    WRITTEN,
    Delivery,
    Direction,
    conversion_options,
    convert_all,
    deliver,
    listing,
)
from kbnf_cli.inputs import is_artifact, read_vocabulary
from kbnf_cli.models import GRAMMAR_OR_CLASS, of_model, schema_of_model
from kbnf_cli.options import (
    as_value,
    common_options,
    examples,
    schema_options,
    vocabulary_options,
)
from kbnf_core.languages import (
    EXTENSIONS,
    JSON_SCHEMA,
    KBNF,
    LANGUAGES,
    STRUCTURAL_TAG,
    TOOL_LIST,
    Language,
    detect,
    named,
)
from kbnf_core.languages.tools.options import CALLS
from kbnf_core.targets.names import ENGINE_NAMES
from kbnf_core.text.errors import GrammarError
from kbnf_core.text.source import Source

if TYPE_CHECKING:
    from kbnf_core.convert import Conversion
    from kbnf_core.vocab.vocabulary import Vocabulary


_EXAMPLE = """[{"type": "function", "function": {"name": "get_weather", "parameters":
{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]
"""


_TAG = "structural-tag"


def _list_formats(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        context.ensure_object(Console).text(listing())
        context.exit()


@click.command(
    "convert",
    epilog=examples(
        "kbnf convert answer.gbnf -o answer.kbnf",
        "kbnf convert answer.kbnf --to lark",
        "kbnf convert schema.json --to gbnf",
        "kbnf convert app.models:Person",
        "kbnf convert schema.json --for llama.cpp -o schema.llama.json",
        "kbnf convert tools.json --tool get_weather",
        "kbnf convert tools.json --tool-calls qwen_3",
        "echo '[0-9]{4}' | kbnf convert --from regex -",
    ),
)
@click.argument("sources", metavar="FILE...", nargs=-1, type=GRAMMAR_OR_CLASS)
@click.option(
    "--to",
    type=click.Choice([*WRITTEN, _TAG]),
    help="The language of the result; structural-tag is for --tool-calls.  [default: kbnf]",
)
@click.option(
    "--from",
    "from_",
    type=click.Choice(READ),
    help="The language of FILE.  [default: by its extension, else by its content]",
)
@click.option("--start", metavar="NAME", help="The start rule of the original.")
@schema_options
@click.option(
    "--list-formats",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_formats,
    help="List the languages, and the models whose tool calls are known, and exit.",
)
@vocabulary_options
@conversion_options
@common_options
@click.pass_obj
@as_value(Delivery)
def convert_any(
    console: Console,
    delivery: Delivery,
    sources: tuple[str | Path, ...],
    to: str | None,
    from_: str | None,
    start: str | None,
    vocab: str | None,
    eos: tuple[int, ...],
    schema: Mapping[str, Any],
) -> int:
    """Convert grammars from one language to another.

    FILE is a file in any language of --list-formats, a directory to search for grammars, the name
    of a grammar that is shipped, `-` for stdin, or a pydantic model as `module:Class`, which is
    imported. Without --to the result is KBNF. Exits with 1, and writes nothing, if something
    cannot be kept; --lossy writes it anyway. What is an option of one language is refused for
    others.
    """
    models = [each for each in sources if isinstance(each, str)]
    if delivery.target in ENGINE_NAMES:
        return _convert_for(console, delivery, sources, to, from_)
    _check_usage(sources, models, to, schema)
    vocabulary = read_vocabulary(console, vocab, eos) if vocab else None
    target = named(to or KBNF.name) or KBNF
    own = dict(schema)
    if models:
        own = of_model(own)
    conversion = _Conversion(target, to is not None, from_, start, vocabulary, delivery.lossy, own)
    paths = [each for each in sources if isinstance(each, Path)]
    if sources and not models:
        direction = Direction(conversion.convert, target.extension)
        wanted = [each for each in EXTENSIONS if each != target.extension]
        return convert_all(console, paths, wanted, lambda _: direction, delivery)
    if models:
        source, language = Source(schema_of_model(models[0]), models[0]), JSON_SCHEMA
    else:
        source, language = Source(_EXAMPLE, "get_weather"), TOOL_LIST
    direction = Direction(partial(conversion.convert_from, language), target.extension)
    return deliver(console, source, direction, delivery, delivery.output)


def _convert_for(
    console: Console,
    delivery: Delivery,
    sources: Sequence[str | Path],
    to: str | None,
    from_: str | None,
) -> int:
    """Write schemas that an engine takes."""
    from kbnf_cli.convert_for import direction_for

    if to is not None:
        raise click.UsageError(f"--for {delivery.target} writes JSON Schemas, not {to}")
    if not sources:
        raise click.UsageError("Missing argument 'FILE...'.")
    language = None if from_ is None else named(from_)
    direction = direction_for(console, str(delivery.target), language)
    models = [each for each in sources if isinstance(each, str)]
    if models:
        if len(sources) > 1:
            raise click.UsageError("a class is converted by itself")
        direction = direction_for(console, str(delivery.target), JSON_SCHEMA)
        source = Source(schema_of_model(models[0], for_engines=True), models[0])
        return deliver(console, source, direction, delivery, delivery.output)
    paths = [each for each in sources if isinstance(each, Path)]
    return convert_all(console, paths, (".json",), lambda _: direction, delivery)


def _check_usage(
    sources: Sequence[str | Path],
    models: Sequence[str],
    to: str | None,
    schema: Mapping[str, Any],
) -> None:
    if models and len(sources) > 1:
        raise click.UsageError("a class is converted by itself")
    if "tool_calls" not in schema and not sources:
        raise click.UsageError("Missing argument 'FILE...'.")
    if "tool_calls" not in schema and to == _TAG:
        raise click.UsageError(f"only --tool-calls are written as {_TAG}")


@dataclass(frozen=True, slots=True)
class _Conversion:
    """A conversion as it was asked for, for one text after the other.

    ``is_named``: the target was. ``lossy``: what a schema asks for and no grammar keeps is dropped.
    ``own`` are the options of one language that were given.
    """

    target: Language
    is_named: bool
    source: str | None
    start: str | None
    vocabulary: "Vocabulary | None"
    lossy: bool
    own: Mapping[str, Any]

    def convert(self, text: str, name: str) -> "Conversion":
        """Return the converted text, whose language is the one that was named, or detected."""
        compiled = is_artifact(Path(name))
        given = None if self.source is None else named(self.source)
        language = given or (KBNF if compiled else detect(text, name))
        if language is JSON_SCHEMA and self.own.keys() & set(CALLS):
            language = TOOL_LIST
        if language is self.target and not compiled:
            if language is KBNF:
                _require_kbnf(text, name)
            raise click.UsageError(self._why_not(name, language))
        return self.convert_from(language, text, name)

    def convert_from(self, language: Language, text: str, name: str) -> "Conversion":
        """Return the converted text, whose language is known."""
        from kbnf_core.convert import convert
        from kbnf_core.text.imports import ANYWHERE

        for option in self.own:
            if option not in language.options:
                flag = option.replace("_", "-")
                owners = (JSON_SCHEMA, *LANGUAGES)
                owner = next(each.name for each in owners if option in each.options)
                raise click.UsageError(f"--{flag} is for {owner}; {name} is {language.name}")
        if self.target is STRUCTURAL_TAG:
            from kbnf_core.languages.tools.parse import tag_of_text

            return tag_of_text(text, self.own, name)
        return convert(
            text,
            language,
            self.target,
            path=name,
            start=self.start,
            imports=ANYWHERE,
            vocabulary=self.vocabulary,
            lossy=self.lossy,
            options=self.own,
        )

    def _why_not(self, name: str, language: Language) -> str:
        if self.is_named:
            return f"{name} is written in {language.name} already"
        others = ", ".join(each for each in WRITTEN if each != KBNF.name.lower())
        return f"{name} is written in {language.name}: say what to convert it to, --to {others}"


def _require_kbnf(text: str, name: str) -> None:
    """Raise ``GrammarError`` for a text that was taken for KBNF and is in another language."""
    from kbnf_core.kbnf.read import parse_kbnf

    foreign = [each for each in parse_kbnf(Source(text, name)).diagnostics if each.code == "E008"]
    if foreign:
        raise GrammarError(foreign)
