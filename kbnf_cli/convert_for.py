"""``kbnf convert SCHEMA --for ENGINE``: a schema that the engine takes, as a conversion."""

import json
from functools import partial

import click

from kbnf_cli.console import Console
from kbnf_cli.converting import Direction
from kbnf_core.kbnf.parsed import Conversion
from kbnf_core.languages import JSON_SCHEMA, Language, detect
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.errors import GrammarError
from kbnf_core.text.source import Source


def direction_for(console: Console, engine: str, language: Language | None) -> Direction:
    """Return the conversion of schemas for an engine; ``language`` is that of the files."""
    return Direction(partial(_convert, console, engine, language), ".json")


def _convert(
    console: Console, engine: str, language: Language | None, text: str, name: str
) -> Conversion:
    """Return a schema that the engine takes. Raises ``GrammarError`` where there is none (E503)."""
    from kbnf_core.targets.check import diagnostic
    from kbnf_core.targets.exam import Fault
    from kbnf_core.targets.process import Asked
    from kbnf_core.targets.rewrite import rewrite

    if (language or detect(text, name)) is not JSON_SCHEMA:
        raise click.UsageError(f"--for {engine} is for JSON Schemas; {name} is none")
    source = Source(text, name, is_json=True)
    asked = Asked(engine)
    try:
        made = rewrite(json.loads(text), asked)
    except ValueError as error:
        raise click.UsageError(f"{name} is no JSON: {error}") from None
    finally:
        asked.close()
    found = [diagnostic(source, each) for each in made.result.findings]
    if not made.is_taken:
        raise GrammarError(found)
    for change in made.changes:
        if change.lost is None:
            console.note(change.said)
    narrower = [
        Diagnostic("W808", change.said, source, source.locate(change.pointer))
        for change in made.changes
        if change.lost is not None
    ]
    weak = [each for each in found if dict(each.details)["fault"] == Fault.WEAK.value]
    shown = json.dumps(made.schema, indent=2, ensure_ascii=False) + "\n"
    console.diagnostics((*narrower, *weak))
    return Conversion(shown, not narrower, ())
