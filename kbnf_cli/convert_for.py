"""``kbnf convert SCHEMA --for ENGINE``: a schema that the engine takes, as a conversion."""

import json
from dataclasses import replace
from functools import partial

import click

from kbnf_cli.console import Console
from kbnf_cli.converting import Direction
from kbnf_core.kbnf.parsed import Conversion
from kbnf_core.languages import JSON_SCHEMA, TOOL_LIST, Language, detect
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.errors import GrammarError
from kbnf_core.text.source import Source


def direction_for(console: Console, engine: str, language: Language | None) -> Direction:
    """Return the conversion of schemas for an engine; ``language`` is that of the files."""
    return Direction(partial(_convert, console, engine, language), ".json")


def _convert(
    console: Console, engine: str, language: Language | None, text: str, name: str
) -> Conversion:
    """Return a schema, or a list of tools, that the engine takes.

    Raises ``GrammarError`` where there is none (E503).
    """
    from kbnf_core.targets.check import diagnostic, nearest, schemas_of
    from kbnf_core.targets.exam import Fault
    from kbnf_core.targets.judges import replaced, steps_of
    from kbnf_core.targets.process import Asked
    from kbnf_core.targets.rewrite import Change, rewrite

    language = language or detect(text, name)
    source = Source(text, name, is_json=True)
    schemas = list(schemas_of(source, language)) if language in (JSON_SCHEMA, TOOL_LIST) else []
    if not schemas:
        raise click.UsageError(f"--for {engine} is for JSON Schemas and tools; {name} has none")
    value = json.loads(text)
    asked = Asked(engine)
    changes: list[Change] = []
    refused: list[Diagnostic] = []
    weak: list[Diagnostic] = []
    try:
        for tool, prefix, schema in schemas:
            made = rewrite(schema, asked)
            found = made.result.findings
            said = [(each.fault, diagnostic(source, each, prefix, tool)) for each in found]
            weak += [each for fault, each in said if fault is Fault.WEAK]
            if not made.is_taken:
                refused += [each for _, each in said]
            if made.changes:
                value = replaced(value, tuple(steps_of(prefix)), made.schema)
            changes += [replace(each, pointer=prefix + each.pointer) for each in made.changes]
    finally:
        asked.close()
    if refused:
        raise GrammarError(refused)
    for change in changes:
        if change.lost is None:
            console.note(change.said)
    narrower = [
        Diagnostic("W808", change.said, source, source.locate(nearest(source, change.pointer)))
        for change in changes
        if change.lost is not None
    ]
    console.diagnostics((*narrower, *weak))
    shown = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    return Conversion(shown, not narrower, ())
