"""The languages: each as a grammar for every engine, and random texts of it.

The files in ``grammars`` describe the same language; all texts of one end with something that
occurs nowhere else, so that no text begins another and every way to finish is the same.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks import texts

GRAMMARS = Path(__file__).parent / "grammars"


@dataclass(frozen=True, slots=True)
class Workload:
    """``about``: what it is. ``text``: makes a random text of the language."""

    name: str
    about: str
    text: Callable[[Random], str]

    def grammar(self, form: str) -> str | None:
        """Return the grammar as ``kbnf``, ``lark``, ``gbnf`` or ``regex``, None if it has none."""
        path = GRAMMARS / f"{self.name}.{form}"
        return path.read_text(encoding="utf-8").rstrip("\n") if path.exists() else None

    def documents(self, encode: Callable[[str], list[int]], tokens: int) -> list[list[int]]:
        """Return random texts as token ids, at least ``tokens`` of them together."""
        random = Random(self.name)  # noqa: S311 - the same texts every time
        found: list[list[int]] = []
        while sum(map(len, found)) < tokens:
            found.append(encode(self.text(random)))
        return found


WORKLOADS = (
    Workload("json", "random JSON documents", texts.json_document),
    Workload("arithmetic", "expressions, left recursive", texts.arithmetic),
    Workload("c", "a C-like language", texts.c_program),
    Workload("regex", "dates and URLs, one regular expression", texts.log_lines),
    Workload("except", "text up to a closing tag, except!", texts.code_block),
    Workload("cjk", "Chinese and Japanese sentences", texts.cjk),
)
