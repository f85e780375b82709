"""``kbnf convert``: from any language that is read to any that is written."""

from collections.abc import Mapping, Sequence
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
    for_target,
)
from kbnf_cli.exits import Exit
from kbnf_cli.formats import FORMATS, READ, REGEX, WRITTEN, listing
from kbnf_cli.inputs import read_vocabulary
from kbnf_cli.models import GRAMMAR_OR_CLASS, schema_of_model
from kbnf_cli.options import as_value, common_options, examples, vocabulary_options
from kbnf_cli.schema_options import NAMES as OF_SCHEMAS
from kbnf_cli.schema_options import given, schema_options
from kbnf_cli.tool_calls import ToolCalls, read_tag, tool_options
from kbnf_core.convert import JSON_SCHEMA, detect
from kbnf_core.languages import EXTENSIONS, KBNF, LANGUAGES, LARK, STRUCTURAL_TAG, Language

if TYPE_CHECKING:
    from kbnf_core.convert import Conversion, Loss
    from kbnf_core.source import Source
    from kbnf_core.vocab.vocabulary import Vocabulary

_TAG = "structural-tag"
_OWNER = {"lexing": LARK.name, **dict.fromkeys(OF_SCHEMAS, JSON_SCHEMA)}
"""The language whose option it is."""

_BY_NAME = {each.name: each for each in FORMATS}


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
        "kbnf convert --tool-calls qwen_3 tools.json",
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
    help="The language of FILE.  [default: by its extension, else by what it holds]",
)
@click.option("--start", metavar="NAME", help="The start rule of the original.")
@click.option(
    "--lexing",
    type=click.Choice(["llguidance", "earley", "lalr", "scannerless"]),
    help="How a Lark grammar cuts text into lexemes.  [default: as its dialect does]",
)
@schema_options
@tool_options
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
@as_value(ToolCalls)
def convert_any(
    console: Console,
    delivery: Delivery,
    calls: ToolCalls,
    sources: tuple[str | Path, ...],
    to: str | None,
    from_: str | None,
    start: str | None,
    vocab: str | None,
    eos: tuple[int, ...],
    **own: str | bool | None,
) -> int:
    """Convert grammars from one language to another.

    FILE is a file in any language of --list-formats, a directory to search for grammars, the name
    of a grammar that is shipped, `-` for stdin, or a pydantic model as `module:Class`, which is
    imported. Without --to the result is KBNF. Exits with 1, and writes nothing, if something
    cannot be kept; --lossy writes it anyway. What is an option of one language is refused for
    others.
    """
    models = [each for each in sources if isinstance(each, str)]
    _check_usage(sources, models, to, calls)
    vocabulary = read_vocabulary(console, vocab, eos) if vocab else None
    wished = (to or KBNF.name).lower().replace("-", " ")
    target = next(each for each in LANGUAGES if each.name.lower() == wished)
    conversion = _Conversion(target, to is not None, from_, start, vocabulary, own)
    direction = Direction(conversion.convert, target.extension)
    if calls.tool_calls is not None:
        file = next((each for each in sources if isinstance(each, Path)), None)
        return _convert_calls(console, read_tag(calls, file), conversion, direction, delivery)
    if models:
        return _convert_model(console, models[0], conversion, direction, delivery)
    paths = [each for each in sources if isinstance(each, Path)]
    wanted = [each for each in EXTENSIONS if each != target.extension]
    return convert_all(console, paths, wanted, lambda _: direction, delivery)


def _check_usage(
    sources: Sequence[str | Path], models: Sequence[str], to: str | None, calls: ToolCalls
) -> None:
    if models and len(sources) > 1:
        raise click.UsageError("a class is converted by itself")
    if calls.tool_calls is None and not sources:
        raise click.UsageError("Missing argument 'FILE...'.")
    if calls.tool_calls is None and to == _TAG:
        raise click.UsageError(f"only --tool-calls are written as {_TAG}")
    if calls.tool_calls is not None and (models or len(sources) > 1):
        raise click.UsageError("--tool-calls takes one file, a list of tools")


class _Conversion:
    """A conversion as it was asked for, for one text after the other."""

    def __init__(
        self,
        target: Language,
        is_named: bool,
        from_: str | None,
        start: str | None,
        vocabulary: "Vocabulary | None",
        own: Mapping[str, str | bool | None],
    ) -> None:
        self._target = target
        self._is_named = is_named
        self._from = from_
        self._start = start
        self._vocabulary = vocabulary
        self._own = given(own)

    def convert(self, text: str, name: str) -> "Conversion":
        """Return the converted text; in two steps where neither end is KBNF."""
        given = None if self._from is None else _BY_NAME[self._from].language
        language = given or detect(text, name)
        if language == self._target.name:
            raise click.UsageError(self._why_not(name, language))
        return self.convert_from(language, text, name)

    def convert_from(self, language: str, text: str, name: str) -> "Conversion":
        """Return the converted text, whose language is known."""
        if language == self._target.name:
            from kbnf_core.convert import Conversion

            return Conversion(text, True, ())
        first = self._to_kbnf(language, text, name)
        if self._target is KBNF:
            return first
        from kbnf_core.imports import BELOW

        back = self._target.from_kbnf
        if back is None:
            raise click.UsageError(f"nothing is converted to {self._target.name}")
        if language == KBNF.name:
            return back(text, path=name, start=self._start, imports=BELOW)
        second = back(first.text, path=f"{name} (as KBNF)", start=None, imports=BELOW)
        losses = (*first.losses, *map(_in_between, second.losses))
        return replace(second, exact=not losses, losses=losses, notes=first.notes)

    def _to_kbnf(self, language: str, text: str, name: str) -> "Conversion":
        from kbnf_core.convert import Conversion, to_kbnf
        from kbnf_core.imports import ANYWHERE

        for option in self._own:
            if language != _OWNER[option]:
                flag = option.replace("_", "-")
                raise click.UsageError(f"--{flag} is for {_OWNER[option]}; {name} is {language}")
        if language == REGEX:
            return Conversion(_of_regex(text), True, ())
        return to_kbnf(
            language,
            text,
            path=name,
            start=self._start,
            imports=ANYWHERE,
            vocabulary=self._vocabulary,
            **self._own,
        )

    def _why_not(self, name: str, language: str) -> str:
        if self._is_named:
            return f"{name} is written in {language} already"
        others = ", ".join(each for each in WRITTEN if each != KBNF.name.lower())
        return f"{name} is written in {language}: say what to convert it to, --to {others}"


def _in_between(loss: "Loss") -> "Loss":
    """Return a loss of the second step, whose place is not in the original, at its beginning."""
    from kbnf_core.source import Span

    return replace(loss, span=Span(0, 0))


def _of_regex(text: str) -> str:
    """Return the grammar of a regular expression; raises ``GrammarError`` for a wrong one."""
    from kbnf_core import Grammar
    from kbnf_core.syntax.printer import spell_regex

    pattern = text.removesuffix("\n").removesuffix("\r")
    grammar = f"(* kbnf: finish=eos *)\nstart ::= {spell_regex(pattern)};\n"
    return Grammar(grammar).source.text


def _convert_calls(
    console: Console,
    tag: "Source",
    conversion: _Conversion,
    direction: Direction,
    delivery: Delivery,
) -> Exit:
    found = conversion.convert_from(STRUCTURAL_TAG.name, tag.text, str(tag.path))
    found = for_target(found, delivery.target, direction.extension)
    return deliver(console, tag, found, delivery, delivery.output)


def _convert_model(
    console: Console,
    name: str,
    conversion: _Conversion,
    direction: Direction,
    delivery: Delivery,
) -> Exit:
    from kbnf_core.source import Source

    source = Source(schema_of_model(name), name)
    found = conversion.convert_from(JSON_SCHEMA, source.text, name)
    found = for_target(found, delivery.target, direction.extension)
    return deliver(console, source, found, delivery, delivery.output)
