"""``kbnf diff``: compare the languages of two grammars; text, JSON, SARIF, GitHub's annotations.

Tests: tests/cli/test_diff.py
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kbnf_cli.console import Console, Exit
from kbnf_cli.files import STDIN, read_text
from kbnf_cli.inputs import (
    BUILT_IN,
    GRAMMAR_OR_CLASS,
    Inputs,
    ReadableText,
    is_artifact,
    language_for,
    note_vocabulary,
    of_model,
    own_options,
    read_vocabulary,
    read_whole,
    refuse_schema_options,
    schema_of_model,
)
from kbnf_cli.options import (
    as_value,
    common_options,
    config_options,
    examples,
    format_option,
    outside_option,
    schema_options,
    stdin_option,
    vocabulary_options,
)
from kbnf_core.kbnf.parsed import NO_OPTIONS
from kbnf_core.languages import BNF, JSON_SCHEMA
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.diagnostics.formats import render_github, render_sarif
from kbnf_core.text.diagnostics.segments import Role, Segment, Segments, visible
from kbnf_core.text.diagnostics.text import count_of
from kbnf_core.text.source import Source, Span

if TYPE_CHECKING:
    from kbnf_core import Grammar
    from kbnf_core.diff import Answer, Comparison


SCHEMA = "kbnf.diff/1"


@dataclass(frozen=True, slots=True)
class Forbids:
    """Which texts a mode forbids: those of one side alone."""

    old_only: bool
    new_only: bool


@dataclass(frozen=True, slots=True)
class SourcePair:
    """The names of two sources, the question about them, and the result.

    ``source`` is the second of them.
    """

    old: str
    new: str
    source: Source
    mode: str
    breaking: str | None
    forbids: Forbids
    allow_unknown: bool
    compared_grammars: "Comparison"

    @property
    def forbidden(self) -> "list[tuple[str, str, Answer]]":
        """The differences that count: the side with a text, the side without it, and the answer."""
        old, new = self.old, self.new
        result = (
            (self.forbids.old_only, old, new, self.compared_grammars.old_only),
            (self.forbids.new_only, new, old, self.compared_grammars.new_only),
        )
        return [
            (has, lacks, answer)
            for counts, has, lacks, answer in result
            if counts and not (answer.verdict.value == "none" or self._is_allowed(answer))
        ]

    def _is_allowed(self, answer: "Answer") -> bool:
        return self.allow_unknown and answer.verdict.value == "unknown"

    @property
    def passes(self) -> bool:
        """Whether nothing counts."""
        return not self.forbidden


_RELATIONS = {
    "equal": "{old} and {new} have the same {texts} (proved)",
    "subset": "every {text} of {old} is one of {new}, which has more",
    "superset": "every {text} of {new} is one of {old}, which has more",
    "different": "{old} and {new} both have {texts} that the other lacks",
    "unknown": "the relation of {old} and {new} is not known",
}


def as_text(compared: SourcePair) -> Segments:
    """Return the relation, a line for each side, and its subject."""
    old, new = visible(compared.old), visible(compared.new)
    relation = compared.compared_grammars.relation.value
    text, texts = "text", "texts"
    if compared.compared_grammars.of_prefixes:
        text, texts = "viable prefix", "viable prefixes"
    title = _RELATIONS[relation].format(old=old, new=new, text=text, texts=texts)
    segments = [Segment(f"{title}\n", Role.TITLE)]
    for name, answer in (
        (old, compared.compared_grammars.old_only),
        (new, compared.compared_grammars.new_only),
    ):
        if relation != "equal":
            segments.append(Segment(f"  only in {name}: {_answer(answer)}\n"))
    segments += [
        Segment(f"  note: {note}\n", Role.NOTE) for note in compared.compared_grammars.notes
    ]
    return segments


def _answer(answer: "Answer") -> str:
    match answer.verdict.value:
        case "none":
            return "nothing (proved)"
        case "some":
            return f"{visible(answer.shown)}  ({_measure(answer)})"
        case _:
            return f"nothing up to {answer.searched:,} bytes, unknown for longer texts"


def _measure(answer: "Answer") -> str:
    length = "" if answer.data is None else f", {count_of(len(answer.data), 'byte')}"
    return f"a shortest one{length}"


def as_json(compared: SourcePair) -> Segments:
    """Return the object that ``schemas/diff.schema.json`` describes."""
    comparison = compared.compared_grammars
    value = {
        "schema": SCHEMA,
        "old": compared.old,
        "new": compared.new,
        "mode": compared.mode,
        "breaking": compared.breaking,
        "passed": compared.passes,
        "relation": comparison.relation.value,
        "old_only": _answer_value(comparison.old_only),
        "new_only": _answer_value(comparison.new_only),
        "notes": list(comparison.notes),
    }
    return [Segment(json.dumps(value, indent=2) + "\n")]


def _answer_value(answer: "Answer") -> dict[str, Any]:
    is_witness = answer.verdict.value == "some"
    data = answer.data
    return {
        "verdict": answer.verdict.value,
        "text": None if data is None else _text(data),
        "hex": None if data is None else data.hex(),
        "shown": answer.shown if is_witness else None,
        "searched": answer.searched if answer.verdict.value == "unknown" else None,
    }


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def as_sarif(compared: SourcePair) -> Segments:
    """Return a SARIF log with a result for each side that counts."""
    return [Segment(render_sarif(list(_findings(compared))))]


def as_github(compared: SourcePair) -> Segments:
    """Return an annotation for each side that counts."""
    return [Segment(render_github(list(_findings(compared))))]


def _findings(compared: SourcePair) -> Iterator[Diagnostic]:
    """Yield findings, which are at the beginning of NEW."""
    for has, lacks, answer in compared.forbidden:
        if answer.verdict.value == "some":
            message = f"{has} has the text {answer.shown}, which {lacks} lacks"
            code = "E901"
        else:
            message = (
                f"it is unknown whether {has} has texts that {lacks} lacks; of up to"
                f" {answer.searched:,} bytes it has none"
            )
            code = "E902"
        yield Diagnostic(
            code, message, compared.source, Span(0, 0), notes=compared.compared_grammars.notes
        )


RENDERERS: dict[str, Callable[[SourcePair], Segments]] = {
    "text": as_text,
    "json": as_json,
    "sarif": as_sarif,
    "github": as_github,
}


_FORBIDS = {
    ("equal", None): Forbids(old_only=True, new_only=True),
    ("subset", None): Forbids(old_only=True, new_only=False),
    ("breaking", "backward"): Forbids(old_only=True, new_only=False),
    ("breaking", "forward"): Forbids(old_only=False, new_only=True),
    ("breaking", "full"): Forbids(old_only=True, new_only=True),
}


@dataclass(frozen=True, kw_only=True)
class DiffInputs(Inputs):
    """The inputs of a comparison."""

    reads_several = True


@dataclass(frozen=True, slots=True)
class _Side:
    """One argument; ``grammar`` is None for a JSON Schema, which is read with ``options``."""

    name: str
    source: Source
    grammar: "Grammar | None" = None
    options: Mapping[str, Any] = field(default_factory=lambda: NO_OPTIONS)


@click.command(
    epilog=examples(
        "kbnf diff old.kbnf new.kbnf", "kbnf diff old.json new.json --breaking backward"
    )
)
@click.argument("old", type=GRAMMAR_OR_CLASS)
@click.argument("new", type=GRAMMAR_OR_CLASS)
@click.option(
    "--mode",
    type=click.Choice(["equal", "subset", "breaking"]),
    help="Requirement: the same texts; all texts of OLD in NEW; or no breaking change."
    "  [default: equal]",
)
@click.option(
    "--breaking",
    type=click.Choice(["backward", "forward", "full"]),
    help="Breaking change: NEW refuses a text of OLD (backward), NEW has a text that OLD "
    "refuses (forward), or either; implies --mode breaking.  [default: forward]",
)
@click.option("--allow-unknown", is_flag=True, help="Exit with 0 if nothing was proved.")
@format_option(RENDERERS, "Output format.")
@vocabulary_options
@outside_option
@schema_options
@stdin_option
@config_options
@common_options
@click.pass_obj
@as_value(DiffInputs)
def diff(
    console: Console,
    inputs: Inputs,
    old: str | Path,
    new: str | Path,
    mode: str | None,
    breaking: str | None,
    allow_unknown: bool,
    format_: str,
) -> int:
    """Compare the languages of two grammars.

    OLD and NEW are grammars in any supported language, JSON Schemas, artifacts, names of shipped
    grammars, or pydantic models as `module:Class`, which is imported; one of them may be `-` for
    stdin. For each side the answer is a proof that it has no text of its own, a shortest such
    text, or the length up to which none was found. Regular languages and those that nest visibly,
    like JSON, are always decided. Each grammar has its own `finish`. Exits with 1 on a difference
    that the mode forbids, or if that is unknown.
    """
    if old == STDIN == new:
        raise click.UsageError("only one of OLD and NEW can be stdin")
    if breaking is not None and mode not in (None, "breaking"):
        raise click.UsageError("--breaking is for --mode breaking")
    mode = mode or ("equal" if breaking is None else "breaking")
    breaking = breaking or ("forward" if mode == "breaking" else None)
    sides = [_open(console, inputs, path) for path in (old, new)]
    with console.busy("comparing"):
        compared = _compare(sides, mode, breaking, allow_unknown)
    console.data(RENDERERS[format_](compared))
    return Exit.CLEAN if compared.passes else Exit.FINDINGS


def _open(console: Console, inputs: Inputs, path: str | Path) -> _Side:
    if isinstance(path, str):
        own = own_options(inputs.schema_for(Path(path)), JSON_SCHEMA)
        return _Side(path, Source(schema_of_model(path), path), options=of_model(own))
    name = inputs.name_of(path).as_posix()
    # Stdin is read once, and its language is not detected by its content.
    if (path != STDIN and not is_artifact(path)) or Path(name).suffix == ".json":
        source = read_text(path, name)
        language = language_for(source.text, name)
        if path == STDIN or language is JSON_SCHEMA:
            refuse_schema_options(inputs.schema, name, JSON_SCHEMA)
            return _Side(name, source, options=own_options(inputs.schema_for(path), JSON_SCHEMA))
        if language is BNF and inputs.vocab is None:
            note_vocabulary(console, read_whole(ReadableText(source, BNF), inputs.start))
    vocabulary = read_vocabulary(console, inputs.vocab or BUILT_IN, inputs.eos)
    grammar = inputs.grammar(path, vocabulary)
    console.diagnostics(grammar.losses)
    return _Side(name, grammar.source, grammar)


def _compare(
    sides: list[_Side], mode: str, breaking: str | None, allow_unknown: bool
) -> SourcePair:
    from kbnf_core.diff import compare
    from kbnf_core.diff.comparison import compare_schemas, compare_with_schema

    old, new = sides
    if old.grammar is None and new.grammar is None:
        result = compare_schemas(
            old.source.text, new.source.text, old_options=old.options, new_options=new.options
        )
    else:
        one, two = _grammar(old), _grammar(new)
        result = compare(one, two)
        schema, other = (old, two) if old.grammar is None else (new, one)
        if schema.grammar is None:
            result = compare_with_schema(schema.source.text, schema.options, other, result)
    forbids = _FORBIDS[mode, breaking]
    left, right = old.name, new.name
    if left == right:
        left, right = f"OLD ({left})", f"NEW ({right})"
    return SourcePair(left, right, new.source, mode, breaking, forbids, allow_unknown, result)


def _grammar(side: _Side) -> "Grammar":
    from kbnf_core import Grammar

    return side.grammar or Grammar.from_json_schema(side.source.text, **side.options)
