"""What ``kbnf compile --info`` prints."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbnf_core.artifact.read import Description


def description_text(description: "Description") -> str:
    """Return the lines that describe an artifact."""
    manifest = description.manifest
    vocabulary = manifest.vocabulary
    lines = {
        "grammar": manifest.source_path or "(a text)",
        "source hash": manifest.source_hash,
        "start": manifest.start,
        "finish": manifest.finish.value,
        "written by": f"kbnf {manifest.tool}, Unicode tables of regex {manifest.unicode}",
        "vocabulary": "none"
        if vocabulary is None
        else f"{vocabulary.name or '(unnamed)'}, {vocabulary.size:,} ids, {vocabulary.fingerprint}",
        **{name: f"{count:,}" for name, count in description.counts.items()},
        "size": f"{description.size:,} bytes",
    }
    width = max(map(len, lines)) + 2
    return "".join(f"{name + ':':<{width}}{value}\n" for name, value in lines.items())
