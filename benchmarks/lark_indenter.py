"""Compares Lark's own grammar of Python, read with its indenter, with Lark itself.

    python -m benchmarks.lark_indenter FOLDER... [--limit N] [--mutants N] [--seed N]

The grammar is `python.lark` of the package `lark`, with `PythonIndenter` and `file_input` as start;
Lark's parser is LALR. Files below each FOLDER that `ast.parse` reads are judged by both, with a
line break at the end, and then files of at most 20,000 bytes that are changed at random, as in
`benchmarks.python_grammar`. Printed are the counts, and the texts on which the two disagree:
*narrow* are those that only Lark takes, *wide* those that only the grammar takes. Columns go up to
64.
"""

import argparse
import random
import time
import warnings
from collections import Counter
from pathlib import Path

import lark
from lark.exceptions import LarkError
from lark.indenter import PythonIndenter

from benchmarks.python_grammar import corpus, mutants
from kbnf_core import Grammar

_LONGEST = 20_000
"""Bytes of a file that is changed."""


class Verdicts:
    """Both verdicts on texts, counted by kind."""

    def __init__(self) -> None:
        path = Path(lark.__file__).parent / "grammars" / "python.lark"
        text, start = path.read_text(encoding="utf-8"), "file_input"
        began = time.process_time()
        self._grammar = Grammar.from_lark(
            text, start=start, postlex=PythonIndenter, finish="eos", lossy=True
        )
        print(f"read in {time.process_time() - began:.1f} s of CPU")
        for loss in self._grammar.losses:
            print(f"  {loss.code}: {loss.message}")
        self._parser = lark.Lark(text, parser="lalr", postlex=PythonIndenter(), start=start)
        self.seen, self.valid = Counter[str](), Counter[str]()
        self.narrow, self.wide = Counter[str](), Counter[str]()

    def judge(self, kind: str, text: str, around: str) -> bool:
        """Count a text; return whether Lark takes it."""
        expected = self._parses(text)
        fits = self._grammar.status(text) == "fits"
        self.seen[kind] += 1
        self.valid[kind] += expected
        if fits != expected:
            (self.wide if fits else self.narrow)[kind] += 1
            print(f"{'wide' if fits else 'narrow'}: {kind} {around!r}")
        return expected

    def _parses(self, text: str) -> bool:
        try:
            self._parser.parse(text)
        except (LarkError, AssertionError, IndexError):
            return False
        return True

    def show(self) -> None:
        """Print the counts."""
        for kind, total in self.seen.items():
            print(
                f"{kind}: {total} texts, {self.valid[kind]} valid,"
                f" {self.narrow[kind]} narrow, {self.wide[kind]} wide"
            )


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--limit", type=int, default=100, help="files, 0 for all")
    parser.add_argument("--mutants", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    verdicts, rng = Verdicts(), random.Random(options.seed)  # noqa: S311 - no secrets
    texts: list[str] = []
    for file, data in corpus(options.folders, options.limit, rng):
        text = data.decode() + "\n"
        if verdicts.judge("files", text, str(file)) and len(data) <= _LONGEST and data.strip():
            texts.append(text)
    for mutant in mutants(texts, options.mutants if texts else 0, rng):
        verdicts.judge(mutant.kind, mutant.text, mutant.around)
    verdicts.show()


if __name__ == "__main__":
    main()
