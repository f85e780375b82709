"""``kbnf diff``: compare the languages of two grammars."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kbnf_cli.console import Console
from kbnf_cli.diff_report import RENDERERS, Compared, Forbids
from kbnf_cli.exits import Exit
from kbnf_cli.files import STDIN, read_source
from kbnf_cli.grammars import is_artifact, language_name
from kbnf_cli.inputs import Inputs
from kbnf_cli.models import GRAMMAR_OR_CLASS, schema_of_model
from kbnf_cli.options import common_options, config_options, stdin_option
from kbnf_core.diagnostics.text import render_text
from kbnf_core.errors import GrammarError
from kbnf_core.source import Source

if TYPE_CHECKING:
    from kbnf_core import Grammar

_FORBIDS = {
    ("equal", None): Forbids(old_only=True, new_only=True),
    ("subset", None): Forbids(old_only=True, new_only=False),
    ("breaking", "backward"): Forbids(old_only=True, new_only=False),
    ("breaking", "forward"): Forbids(old_only=False, new_only=True),
    ("breaking", "full"): Forbids(old_only=True, new_only=True),
}


@dataclass(frozen=True, slots=True)
class _Side:
    """What was given; ``grammar`` is None for a JSON Schema."""

    source: Source
    grammar: "Grammar | None" = None


@click.command()
@click.argument("old", type=GRAMMAR_OR_CLASS)
@click.argument("new", type=GRAMMAR_OR_CLASS)
@click.option(
    "--mode",
    type=click.Choice(["equal", "subset", "breaking"]),
    help="What must hold: the texts are the same, those of OLD are texts of NEW, or nothing breaks."
    "  [default: equal]",
)
@click.option(
    "--breaking",
    type=click.Choice(["backward", "forward", "full"]),
    help="What breaks: NEW refuses a text of OLD, NEW has a text that OLD refuses, or both; implies"
    " --mode breaking.  [default: forward]",
)
@click.option("--allow-unknown", is_flag=True, help="Exit with 0 where nothing was proved.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(list(RENDERERS)),
    default="text",
    show_default=True,
    help="How to show what was found.",
)
@stdin_option
@config_options
@common_options
@click.pass_obj
def diff(
    console: Console,
    old: str | Path,
    new: str | Path,
    mode: str | None,
    breaking: str | None,
    allow_unknown: bool,
    format_: str,
    config_file: Path | None,
    isolated: bool,
    stdin_filename: Path | None,
) -> int:
    """Compare the languages of two grammars.

    OLD and NEW are grammars in any language that is read, JSON Schemas, artifacts, names of
    built-in grammars, or pydantic models as `module:Class`, which is imported; one of them may be
    `-` for stdin. For each side the answer is a proof that it
    has no text of its own, a shortest one, or up to which length none was found. Regular
    languages, and those that nest visibly as JSON does, are decided; of others some are. Each
    grammar has its own `finish`. Exits with 1 on a difference that the mode forbids, and where that
    is unknown.
    """
    if old == STDIN == new:
        raise click.UsageError("only one of OLD and NEW can be stdin")
    if breaking is not None and mode not in (None, "breaking"):
        raise click.UsageError("--breaking is for --mode breaking")
    mode = mode or ("equal" if breaking is None else "breaking")
    breaking = breaking or ("forward" if mode == "breaking" else None)
    inputs = Inputs(
        vocab=None, eos=(), start=None, finish=None, config_file=config_file, isolated=isolated,
        stdin_filename=stdin_filename,
    )  # fmt: skip
    sides = [_open(console, inputs, path) for path in (old, new)]
    with console.busy("comparing"):
        compared = _compare(sides, mode, breaking, allow_unknown)
    console.data(RENDERERS[format_](compared))
    return Exit.CLEAN if compared.passes else Exit.FINDINGS


def _open(console: Console, inputs: Inputs, path: str | Path) -> _Side:
    from kbnf_core import Vocabulary

    if isinstance(path, str):
        return _Side(Source(schema_of_model(path), path))
    name = inputs.name_of(path).as_posix()
    # What comes from stdin is read once, and its content is not asked for its language.
    if (path != STDIN and not is_artifact(path)) or Path(name).suffix == ".json":
        source, invalid = read_source(path, name)
        if invalid is not None:
            raise GrammarError([invalid])
        if path == STDIN or language_name(source.text, name) == "JSON Schema":
            return _Side(source)
    opened = inputs.grammar(path, Vocabulary.bytes())
    for loss in opened.losses:
        console.findings(render_text(loss))
    return _Side(Source(opened.grammar.source.text, name), opened.grammar)


def _compare(sides: list[_Side], mode: str, breaking: str | None, allow_unknown: bool) -> Compared:
    from kbnf_core.diff import compare
    from kbnf_core.diff.schemas import compare_schemas

    old, new = sides
    if old.grammar is None and new.grammar is None:
        found = compare_schemas(old.source.text, new.source.text)
    else:
        found = compare(_grammar(old), _grammar(new))
    forbids = _FORBIDS[mode, breaking]
    return Compared(old.source, new.source, mode, breaking, forbids, allow_unknown, found)


def _grammar(side: _Side) -> "Grammar":
    from kbnf_core import Grammar

    return side.grammar or Grammar.from_json_schema(side.source.text)
