"""``kbnf convert``: from any language that is read to any that is written."""

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
from kbnf_cli.grammars import GRAMMAR
from kbnf_cli.inputs import read_vocabulary
from kbnf_cli.models import is_model_name, schema_of_model
from kbnf_cli.options import as_value, common_options, examples, vocabulary_options
from kbnf_core.convert import JSON_SCHEMA, detect
from kbnf_core.languages import EXTENSIONS, KBNF, LANGUAGES, Language

if TYPE_CHECKING:
    from kbnf_core.convert import Conversion, Loss
    from kbnf_core.vocab.vocabulary import Vocabulary

_BY_NAME = {each.name: each for each in FORMATS}


class _Source(click.ParamType[str | Path]):
    """A path, the name of a shipped grammar, or ``module:Class``."""

    name = "FILE"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | Path:
        text = str(value)
        if is_model_name(text) and not text.startswith("builtin:") and not Path(text).exists():
            return text
        return Path(str(GRAMMAR.convert(text, param, ctx)))

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[click.shell_completion.CompletionItem]:
        return GRAMMAR.shell_complete(ctx, param, incomplete)


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
        "echo '[0-9]{4}' | kbnf convert --from regex -",
    ),
)
@click.argument("sources", metavar="FILE...", nargs=-1, required=True, type=_Source())
@click.option(
    "--to",
    type=click.Choice(WRITTEN),
    help="The language of the result.  [default: kbnf]",
)
@click.option(
    "--from",
    "from_",
    type=click.Choice(READ),
    help="The language of FILE.  [default: by its extension, else by what it holds]",
)
@click.option("--start", metavar="NAME", help="The start rule of the original.")
@click.option(
    "--list-formats",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_formats,
    help="List the languages, and exit.",
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
) -> int:
    """Convert grammars from one language to another.

    FILE is a file in any language of --list-formats, a directory to search for grammars, the name
    of a grammar that is shipped, `-` for stdin, or a pydantic model as `module:Class`, which is
    imported. Without --to the result is KBNF. Exits with 1, and writes nothing, if something
    cannot be kept; --lossy writes it anyway. The commands `convert-*` have the options of one
    language.
    """
    models = [each for each in sources if isinstance(each, str)]
    if models and len(sources) > 1:
        raise click.UsageError("a class is converted by itself")
    vocabulary = read_vocabulary(console, vocab, eos) if vocab else None
    target = next(each for each in LANGUAGES if each.name.lower() == (to or KBNF.name.lower()))
    conversion = _Conversion(target, to is not None, from_, start, vocabulary)
    direction = Direction(conversion.convert, target.extension)
    if models:
        return _convert_model(console, models[0], conversion, direction, delivery)
    paths = [each for each in sources if isinstance(each, Path)]
    wanted = [each for each in EXTENSIONS if each != target.extension]
    return convert_all(console, paths, wanted, lambda _: direction, delivery)


class _Conversion:
    """A conversion as it was asked for, for one text after the other."""

    def __init__(
        self,
        target: Language,
        is_named: bool,
        from_: str | None,
        start: str | None,
        vocabulary: "Vocabulary | None",
    ) -> None:
        self._target = target
        self._is_named = is_named
        self._from = from_
        self._start = start
        self._vocabulary = vocabulary

    def convert(self, text: str, name: str) -> "Conversion":
        """Return the converted text; in two steps where neither end is KBNF."""
        given = None if self._from is None else _BY_NAME[self._from].language
        language = given or detect(text, name)
        if language == self._target.name:
            raise click.UsageError(self._why_not(name, language))
        return self.convert_from(language, text, name)

    def convert_from(self, language: str, text: str, name: str) -> "Conversion":
        """Return the converted text, whose language is known."""
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

        if language == REGEX:
            return Conversion(_of_regex(text), True, ())
        return to_kbnf(
            language,
            text,
            path=name,
            start=self._start,
            imports=ANYWHERE,
            vocabulary=self._vocabulary,
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
