"""``kbnf vocab``: look at a vocabulary.

Tests: tests/cli/test_vocab.py
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from kbnf_cli.console import Console, Exit
from kbnf_cli.escaped import escaped
from kbnf_cli.inputs import read_vocabulary
from kbnf_cli.options import common_options, examples, format_option
from kbnf_core.text.diagnostics.segments import visible
from kbnf_core.text.diagnostics.text import count_of

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Inspection, Vocabulary


@click.command(
    epilog=examples("kbnf vocab tokenizer.json", "kbnf vocab tokenizer.json --format json")
)
@click.argument("file", metavar="FILE|MODEL|bytes", default="bytes")
@format_option(["text", "json"], "Output format.")
@click.option(
    "--eos",
    metavar="ID",
    type=click.IntRange(min=0),
    multiple=True,
    help="A token that ends the sequence, in place of the file's own; repeatable.",
)
@common_options
@click.pass_obj
def vocab(console: Console, file: str, format_: str, eos: tuple[int, ...]) -> int:
    """Inspect a vocabulary.

    Shows its counts, special and stop tokens, duplicates, missing bytes and round trips.
    """
    from kbnf_core.vocab.vocabulary import inspect

    vocabulary = read_vocabulary(console, file, eos)
    inspection = inspect(vocabulary)
    console.text({"text": _as_text, "json": _as_json}[format_](vocabulary, inspection))
    return Exit.CLEAN


SCHEMA = "kbnf.vocab/1"

_SHOWN = 8
"""Items of a long list that the text form shows."""


def _as_json(vocabulary: "Vocabulary", inspection: "Inspection") -> str:
    """Return everything as one object (schema ``kbnf.vocab/1``).

    ``special`` contains ``{"id", "text"}``, ``duplicates`` groups of ids, ``gaps`` half-open ranges
    of ids; every list is ascending. ``single_bytes`` counts the byte values that are tokens by
    themselves: with all 256 any text can be spelled. ``round_trip`` counts the ordinary ids that
    come back as the same or as another id when their bytes are looked up.
    """
    fields = asdict(inspection)
    length = fields.pop("longest_length")
    value = {
        "schema": SCHEMA,
        **fields,
        "special": [{"id": key, "text": text} for key, text in inspection.special],
        "longest": {"length": length, "ids": inspection.longest},
        "single_bytes": _single_bytes(vocabulary),
        "round_trip": _round_trip(vocabulary),
    }
    return json.dumps(value) + "\n"


def _as_text(vocabulary: "Vocabulary", inspection: "Inspection") -> str:
    """Return one line for each thing there is to know; long lists are cut."""
    rows = dict(_rows(vocabulary, inspection))
    width = max(map(len, rows))
    return "".join(f"{key:{width}}  {value}\n" for key, value in rows.items())


def _rows(vocabulary: "Vocabulary", inspection: "Inspection") -> Iterator[tuple[str, str]]:
    yield "name", visible(inspection.name or "-")
    yield "fingerprint", inspection.fingerprint
    yield "size", f"{inspection.size:,} (one more than the largest id)"
    yield "ordinary", count_of(inspection.ordinary, "token")
    yield "special", _listed(f"{key} {visible(text)}" for key, text in inspection.special)
    yield "stop ids", _listed(map(str, inspection.stop_ids))
    yield "duplicates", _duplicates(vocabulary, inspection)
    yield "empty", _listed(map(str, inspection.empty))
    yield "missing bytes", _listed(f"0x{value:02x}" for value in inspection.missing_bytes)
    yield "longest", _longest(vocabulary, inspection)
    yield "gaps", _listed(_range(*gap) for gap in inspection.gaps)
    yield "partial UTF-8", count_of(len(inspection.partial_utf8), "token")
    yield "single bytes", f"{_single_bytes(vocabulary)} of 256 byte values are tokens"
    yield "round trip", _round_trip_text(vocabulary)


def _duplicates(vocabulary: "Vocabulary", inspection: "Inspection") -> str:
    return _listed(
        f"{escaped(vocabulary.tokens[group[0]])} ({', '.join(map(str, group))})"
        for group in inspection.duplicates
    )


def _longest(vocabulary: "Vocabulary", inspection: "Inspection") -> str:
    if not inspection.longest:
        return "-"
    first = inspection.longest[0]
    length = count_of(inspection.longest_length, "byte")
    return f"{length}: {first} {escaped(vocabulary.tokens[first])}"


def _single_bytes(vocabulary: "Vocabulary") -> int:
    return sum(bool(vocabulary.token_ids(bytes((value,)))) for value in range(256))


def _round_trip(vocabulary: "Vocabulary") -> dict[str, int]:
    tokens = vocabulary.tokens
    same = sum(vocabulary.get_token_id(data) == key for key, data in tokens.items())
    return {"same": same, "other": len(tokens) - same}


def _round_trip_text(vocabulary: "Vocabulary") -> str:
    counts = _round_trip(vocabulary)
    other = f"; {counts['other']:,} as another id" if counts["other"] else ""
    return f"{counts['same']:,} ids come back from their bytes{other}"


def _range(start: int, end: int) -> str:
    return str(start) if end == start + 1 else f"{start}-{end - 1}"


def _listed(items: Iterable[str]) -> str:
    """Return the first few items, led by their number; ``none`` if there are none."""
    every = list(items)
    if not every:
        return "none"
    shown = ", ".join(every[:_SHOWN])
    more = f", ... ({len(every) - _SHOWN:,} more)" if len(every) > _SHOWN else ""
    return f"{len(every):,}: {shown}{more}"
