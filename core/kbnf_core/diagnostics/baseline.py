"""Baselines: recorded findings, which are not reported again.

Fingerprints stand for findings: they stay the same while the lines around them move.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from kbnf_core.diagnostics.model import Diagnostic


def fingerprints(diagnostics: Iterable[Diagnostic]) -> list[str]:
    """Return 32 hexadecimal digits for each finding, in the given order.

    They depend on the file's name, the code, the text of the line without its indentation, and
    on how many findings before it have all of these in common.
    """
    seen: Counter[tuple[str, str, str]] = Counter()
    found = []
    for diagnostic in diagnostics:
        source = diagnostic.source
        line = source.line(source.position(diagnostic.span.start).line).strip()
        key = (source.name, diagnostic.code, line)
        data = "\0".join((*key, str(seen[key]))).encode("utf-8", "surrogatepass")
        found.append(blake2b(data, digest_size=16).hexdigest())
        seen[key] += 1
    return found


SCHEMA = "kbnf.baseline/1"


def write_baseline(diagnostics: Sequence[Diagnostic]) -> str:
    """Return the text of a baseline: one entry for each finding, for people with path and code."""
    entries = [
        {"fingerprint": name, "path": diagnostic.source.name, "code": diagnostic.code}
        for name, diagnostic in zip(fingerprints(diagnostics), diagnostics, strict=True)
    ]
    return json.dumps({"schema": SCHEMA, "findings": entries}, indent=2) + "\n"


def read_baseline(text: str) -> frozenset[str]:
    """Return the fingerprints in a baseline; ValueError for a text that is none."""
    value = json.loads(text)
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        raise ValueError(f"this is no baseline ({SCHEMA})")
    entries = value.get("findings")
    if not isinstance(entries, list) or not all(_is_entry(entry) for entry in entries):
        raise ValueError("`findings` must be a list of objects with a `fingerprint`")
    return frozenset(entry["fingerprint"] for entry in entries)


def without_baseline(
    diagnostics: Sequence[Diagnostic], known: frozenset[str]
) -> tuple[Diagnostic, ...]:
    """Return the findings that a baseline does not hold."""
    names = fingerprints(diagnostics)
    return tuple(d for name, d in zip(names, diagnostics, strict=True) if name not in known)


def _is_entry(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("fingerprint"), str)
