"""Commands that convert: ``kbnf convert``, and a ``kbnf convert-*`` for each language.

Tests: tests/cli/test_convert.py
"""

from collections.abc import Callable, Mapping, Sequence
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
    direction_for,
    listing,
    refuse_another,
)
from kbnf_cli.inputs import (
    GRAMMAR_OR_CLASS,
    is_artifact,
    is_class,
    of_model,
    permitted_imports,
    read_vocabulary,
    schema_of_model,
)
from kbnf_cli.options import (
    as_value,
    common_options,
    examples,
    indenter_option,
    lexing_option,
    schema_options,
    together,
    vocabulary_options,
)
from kbnf_core import convert
from kbnf_core.kbnf.parsed import NO_OPTIONS
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
from kbnf_core.targets import ENGINE_NAMES
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
    help="List languages and formats of tool calls, and exit.",
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
    of a shipped grammar, `-` for stdin, or a pydantic model as `module:Class`, which is imported.
    Without --to the result is KBNF. Exits with 1 and writes nothing if something would be lost,
    unless --lossy is given. Options of one language are refused for others.
    """
    models = [item for item in sources if isinstance(item, str)]
    if delivery.target in ENGINE_NAMES:
        return _convert_for(console, delivery, sources, to, from_)
    _check_usage(sources, models, to, schema)
    vocabulary = read_vocabulary(console, vocab, eos) if vocab else None
    target = named(to or KBNF.name) or KBNF
    own = of_model(schema) if models else schema
    conversion = _Conversion(target, to is not None, from_, start, vocabulary, delivery, own)
    paths = [item for item in sources if isinstance(item, Path)]
    if sources and not models:
        direction = Direction(conversion.convert, target.extension)
        wanted = [extension for extension in EXTENSIONS if extension != target.extension]
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
    if to is not None:
        raise click.UsageError(f"--for {delivery.target} writes JSON Schemas, not {to}")
    if not sources:
        raise click.UsageError("Missing argument 'FILE...'.")
    language = None if from_ is None else named(from_)
    direction = direction_for(console, str(delivery.target), language)
    models = [item for item in sources if isinstance(item, str)]
    if models:
        if len(sources) > 1:
            raise click.UsageError("a class is converted by itself")
        direction = direction_for(console, str(delivery.target), JSON_SCHEMA)
        source = Source(schema_of_model(models[0], for_engines=True), models[0])
        return deliver(console, source, direction, delivery, delivery.output)
    paths = [item for item in sources if isinstance(item, Path)]
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

    ``is_named``: the target was. ``own`` are the options of one language that were given.
    """

    target: Language
    is_named: bool
    source: str | None
    start: str | None
    vocabulary: "Vocabulary | None"
    delivery: Delivery
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

        for option in self.own:
            if option not in language.options:
                flag = option.replace("_", "-")
                owners = (JSON_SCHEMA, *LANGUAGES)
                owner = next(candidate.name for candidate in owners if option in candidate.options)
                raise click.UsageError(f"--{flag} is for {owner}; {name} is {language.name}")
        own = {**self.delivery.options_for(Path(name), language), **self.own}
        if self.target is STRUCTURAL_TAG:
            from kbnf_core.languages.tools.parse import tag_of_text

            return tag_of_text(text, own, name, permitted_imports())
        return convert(
            text,
            language,
            self.target,
            path=name,
            start=self.start,
            imports=permitted_imports(),
            vocabulary=self.vocabulary,
            lossy=self.delivery.lossy,
            options=own,
        )

    def _why_not(self, name: str, language: Language) -> str:
        if self.is_named:
            return f"{name} is written in {language.name} already"
        others = ", ".join(written for written in WRITTEN if written != KBNF.name.lower())
        return f"{name} is written in {language.name}: say what to convert it to, --to {others}"


def _require_kbnf(text: str, name: str) -> None:
    """Raise ``GrammarError`` for a text that was taken for KBNF and is in another language."""
    from kbnf_core.kbnf.read import parse_kbnf

    foreign = [
        diagnostic
        for diagnostic in parse_kbnf(Source(text, name)).diagnostics
        if diagnostic.code == "E008"
    ]
    if foreign:
        raise GrammarError(foreign)


_Command = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class _Details:
    """The peculiarities of the command of a language."""

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
        it is spelled, so they need the vocabulary of the model, all of whose tokens are in the
        result; other commands with --vocab read the file itself. Exits with 1 and writes nothing
        if something would be lost, unless --lossy is given.
        """,
        start="The start nonterminal of the original.",
        options=(conversion_options, vocabulary_options),
    ),
    "GBNF": _Details(
        """Convert GBNF to KBNF, or KBNF to GBNF.

        FILE is a file, a directory to search, or `-` for stdin. A vocabulary is needed only for
        tokens that are excluded by their text, as in `!</think>`. Exits with 1 and writes nothing
        if something would be lost, unless --lossy is given.
        """,
        options=(conversion_options, vocabulary_options),
    ),
    "Lark": _Details(
        """Convert Lark to KBNF, or KBNF to LLGuidance's Lark.

        FILE is a file, a directory to search, or `-` for stdin; imports are looked for beside it.
        Exits with 1 and writes nothing if something would be lost, unless --lossy is given.
        """,
        options=(
            lexing_option,
            indenter_option,
            conversion_options,
        ),
    ),
}


def _command_of(language: Language) -> click.Command:
    name = language.name.lower()
    details = _DETAILS[language.name]

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
        languages = [KBNF, language] if language.is_target else [language]

        def direction(file: Path) -> Direction:
            refuse_another(file, language.name, [format_.extension for format_ in languages])
            is_kbnf = file.suffix == KBNF.extension or is_artifact(file)
            is_back = KBNF in languages and (to == name if to else is_kbnf)
            ends = (KBNF, language) if is_back else (language, KBNF)

            def converted(text: str, path: str) -> "Conversion":
                own = {**delivery.options_for(Path(path), ends[0]), **schema}
                return convert.convert(
                    text,
                    *ends,
                    path=path,
                    start=start,
                    imports=permitted_imports(),
                    vocabulary=None if is_back else vocabulary,
                    options={} if is_back else own,
                )

            return Direction(converted, ends[1].extension)

        wanted = [format_.extension for format_ in languages if to != format_.name.lower()]
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
    if language.name in _DETAILS
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
    given = of_model(schema) if one_class else schema

    def converted(text: str, name: str) -> "Conversion":
        own = {**delivery.options_for(Path(name), JSON_SCHEMA), **given}
        conversion = convert.convert(
            text,
            JSON_SCHEMA,
            path=name,
            imports=permitted_imports(),
            lossy=delivery.lossy,
            options=own,
        )
        # They are about the schema; the notes delivered with a text are about the text.
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
