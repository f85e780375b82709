"""Fingerprints of findings, which stay the same while the lines around them move."""

from collections import Counter
from collections.abc import Iterable
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
