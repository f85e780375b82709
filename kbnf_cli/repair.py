"""``kbnf repair``: the nearest texts of a language, and the edits.

Tests: tests/cli/test_repair.py
"""

import json
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kbnf_cli.complete import head_of, texts_options
from kbnf_cli.console import Console, Exit
from kbnf_cli.escaped import shown
from kbnf_cli.inputs import Inputs, open_engine
from kbnf_cli.match import MatchVerdict, Split, all_texts, as_printed, judge, position_of
from kbnf_cli.options import (
    as_value,
    common_options,
    examples,
    format_option,
    input_options,
    stdin_option,
)
from kbnf_core.text.diagnostics.segments import Role, Segment, Segments, visible
from kbnf_core.text.diagnostics.text import count_of
from kbnf_core.text.errors import EngineError, WorkLimitError

if TYPE_CHECKING:
    from kbnf_core.repair import Edit, Repair

SCHEMA = "kbnf.repair/1"

_DONE = {
    "insert": "inserted",
    "delete": "deleted",
    "replace": "replaced",
    "swap": "swapped",
    "strip": "stripped",
    "complete": "completed with",
}


@dataclass(frozen=True, slots=True)
class RepairOptions:
    """Which repairs are wanted."""

    most: float
    best: int
    no_invent: bool


@click.command(
    epilog=examples(
        "kbnf repair json answer.json",
        """kbnf repair json --text "{'a': [1, 2,], b: None}" """.rstrip(),
        "kbnf repair schema.json answer.json --format diff",
        "kbnf repair schema.json --lines --no-invent --format json < answers.txt",
    )
)
@texts_options
@click.option(
    "--most",
    metavar="COST",
    type=click.FloatRange(min=0),
    default=12.0,
    show_default=True,
    help="Maximum cost of all edits of a text together.",
)
@click.option(
    "--best",
    metavar="K",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Number of repairs of each text, the nearest first.",
)
@click.option("--no-invent", is_flag=True, help="Refuse repairs with invented data.")
@format_option(["text", "diff", "json"], "Output format.")
@input_options
@stdin_option
@common_options
@click.pass_obj
@as_value(RepairOptions)
@as_value(Inputs)
def repair(
    console: Console,
    search: RepairOptions,
    inputs: Inputs,
    grammar: Path,
    files: tuple[Path, ...],
    given: tuple[str, ...],
    split: Split | None,
    format_: str,
) -> int:
    """Repair texts by the cheapest edits that make them fit.

    Prints the nearest text of the language, and on stderr each edit with its position and cost. A
    text that was cut is completed. Data that neither the text nor the grammar determines, such as
    a missing number, is called invented; letters, digits and contents of strings that are not in
    the result are called lost; an edit that decides where a string or a list begins or ends is
    called uncertain. Exits with status 1 if a text has no repair within the cost.
    """
    texts = all_texts(console, grammar, files, given, split)
    engine = open_engine(console, inputs, grammar, of_texts=True)
    status = Exit.CLEAN
    for text in texts:
        verdict = judge(engine, text)
        repairs: list[Repair] = []
        try:
            repairs = engine.grammar.repair(
                verdict.data, search.most, search.best, invent=not search.no_invent
            )
            if not repairs:
                _report_none(console, verdict, search)
        except (EngineError, WorkLimitError) as error:
            console.error(f"{text.path}: {error}")
        status = status if repairs else Exit.FINDINGS
        if format_ == "json":
            console.text(json.dumps(_value(verdict, repairs)) + "\n")
            continue
        for result in repairs:
            console.findings(_lines(verdict, result))
            if format_ == "text":
                console.binary(as_printed(result.data, split) + b"\n")
            else:
                console.text(_difference(verdict, result))
    return status


def _report_none(console: Console, verdict: MatchVerdict, search: RepairOptions) -> None:
    without = " that invents nothing" if search.no_invent else ""
    console.error(
        f"{verdict.text.path}: no repair{without} costs at most {search.most:g}",
        "--most COST allows more",
    )


def _lines(verdict: MatchVerdict, result: "Repair") -> Segments:
    """Return a line for each edit, and one for all of them."""
    lines: Segments = []
    for edit in result.edits:
        line, column = _line_and_column(verdict, edit.start)
        name = visible(verdict.text.path)
        changes = [f"`{shown(data)}`" for data in (edit.before, edit.after) if data]
        notes = [f"cost {edit.cost:g}"] + ["invented"] * edit.invented
        if edit.lost:
            notes.append("lost" if edit.lost == edit.before else f"lost `{shown(edit.lost)}`")
        notes += ["uncertain"] * edit.uncertain
        lines += [
            Segment(f"{name}:{line}:{column}: ", Role.PLACE),
            Segment(f"{_DONE[edit.kind]} {' by '.join(changes)}"),
            Segment(f" ({', '.join(notes)})\n", Role.SECONDARY),
        ]
    if result.status == "fits" and not result.edits:
        summary = "fits"
    elif all(edit.kind == "complete" for edit in result.edits):
        summary = "completed"
    else:
        summary = f"repaired by {count_of(len(result.edits), 'edit')}, cost {result.cost:g}"
    lines += [
        Segment(f"{visible(verdict.text.path)}: ", Role.PLACE),
        Segment(f"{summary}\n", Role.HELP),
    ]
    return lines


def _line_and_column(verdict: MatchVerdict, offset: int) -> tuple[int, int]:
    return position_of(MatchVerdict(verdict.text, None, offset))


def _difference(verdict: MatchVerdict, result: "Repair") -> str:
    name = verdict.text.path
    before, after = (
        data.decode("utf-8", "replace").splitlines(keepends=True)
        for data in (verdict.data, result.data)
    )
    lines = unified_diff(before, after, name, f"{name} (repaired)")
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _value(verdict: MatchVerdict, repairs: "list[Repair]") -> dict[str, object]:
    """Return the object that ``schemas/repair.schema.json`` describes."""
    return {
        **head_of(SCHEMA, verdict),
        "repairs": [
            {
                "text": result.text,
                "cost": result.cost,
                "invented": result.invented,
                "lost": list(result.lost),
                "uncertain": result.uncertain,
                "edits": [_edit_value(verdict, edit) for edit in result.edits],
            }
            for result in repairs
        ],
    }


def _edit_value(verdict: MatchVerdict, edit: "Edit") -> dict[str, object]:
    line, column = _line_and_column(verdict, edit.start)
    return {
        "kind": edit.kind,
        "position": {"offset": edit.start, "line": line, "column": column},
        "before": edit.before.decode("utf-8", "replace"),
        "after": edit.after.decode("utf-8", "replace"),
        "cost": round(edit.cost, 3),
        "invented": edit.invented,
        "lost": edit.lost.decode("utf-8", "replace"),
        "uncertain": edit.uncertain,
    }
