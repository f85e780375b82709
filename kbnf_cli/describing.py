"""Descriptions of compiled grammars for people: artifacts and device tables."""

from typing import TYPE_CHECKING

from kbnf_core.text.diagnostics.segments import visible

if TYPE_CHECKING:
    from kbnf_core.artifact.read import Description
    from kbnf_core.device import TokenTable


def table_text(table: "TokenTable") -> str:
    """Return the lines that describe a device table."""
    states, classes = table.transitions.shape
    awaited = int(table.waiting.sum())
    return _laid_out(
        {
            "finish": table.finish.value,
            "vocabulary": f"{len(table.token_class):,} ids, {table.fingerprint}",
            "states": f"{states - 1:,}",
            "token classes": f"{classes:,}",
            "table": f"{table.transitions.nbytes:,} bytes",
            "class map": f"{table.token_class.nbytes:,} bytes",
            "whole": "no, a part" if table.is_partial else "yes",
            **({"begins": f"after a text of {awaited} bytes"} if awaited else {}),
        }
    )


def artifact_text(description: "Description") -> str:
    """Return the lines that describe an artifact."""
    manifest = description.manifest
    vocabulary = manifest.vocabulary
    over = "none"
    if vocabulary is not None:
        name = vocabulary.name or "(unnamed)"
        over = f"{name}, {vocabulary.size:,} ids, {vocabulary.fingerprint}"
    return _laid_out(
        {
            "grammar": manifest.source_path or "(a text)",
            "source hash": manifest.source_hash,
            "start": manifest.start,
            "finish": manifest.finish.value,
            "written by": f"kbnf {manifest.tool}, Unicode tables of regex {manifest.unicode}",
            "vocabulary": over,
            **{name: f"{count:,}" for name, count in description.counts.items()},
            "size": f"{description.size:,} bytes",
        }
    )


def _laid_out(lines: dict[str, str]) -> str:
    width = max(map(len, lines)) + 2
    shown = {name: visible(value).replace("\n", " ") for name, value in lines.items()}
    return "".join(f"{name + ':':<{width}}{value}\n" for name, value in shown.items())
