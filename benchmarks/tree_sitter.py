"""Reads grammars of tree-sitter, and compares them with their own parsers.

    python -m benchmarks.tree_sitter FOLDER LANGUAGE... --python PYTHON [--mutants 200]

FOLDER/LANGUAGE is a checkout of tree-sitter-LANGUAGE, PYTHON an interpreter with the packages
``tree-sitter`` and ``tree-sitter-LANGUAGE``. Texts are those of ``test/corpus`` and random changes
of them; tree-sitter takes a text whose tree has no error and nothing missing. Printed are the
changes that only one of the two accepts, and the counts: *wide* are those that only kbnf accepts,
*narrow* those that only tree-sitter accepts.

``tree_sitter.json`` has rules for external tokens, which are looser than the code that scans them
(those of Python know no indentation), and by parts of texts the reasons why a test is narrow.
"""

import argparse
import json
import random
import re
import subprocess
import time
from collections import Counter
from pathlib import Path

from benchmarks.antlr_mutants import mutant
from kbnf_core import Grammar
from kbnf_core.languages import TREE_SITTER

_JUDGE = """
import importlib, json, sys
from tree_sitter import Language, Parser
parser = Parser(Language(importlib.import_module("tree_sitter_" + sys.argv[1]).language()))
for line in sys.stdin:
    print(json.dumps(not parser.parse(json.loads(line).encode()).root_node.has_error))
"""

_CASE = re.compile(r"^===+\n(.*?)\n===+\n(.*?)\n---+\n", re.DOTALL | re.MULTILINE)
LONGEST = 2_000
_KNOWN = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


def corpus(folder: Path) -> list[str]:
    """Return the texts of the tests of a grammar."""
    texts: list[str] = []
    for file in sorted((folder / "test" / "corpus").glob("*.txt")):
        cases = _CASE.findall(file.read_text("utf-8"))
        texts += [text.strip("\n") + "\n" for _, text in cases if 0 < len(text.strip()) < LONGEST]
    return texts


def read(folder: Path, language: str) -> Grammar:
    """Return a grammar with rules for its external tokens."""
    value = json.loads((folder / "src" / "grammar.json").read_text("utf-8"))
    value["rules"] |= _KNOWN["externals"].get(language, {})
    return Grammar.read(json.dumps(value), TREE_SITTER, lossy=True)


def reason(language: str, text: str) -> str:
    """Return why a text of a test is narrow, where that is known."""
    reasons = _KNOWN["narrow"].get(language, {}).items()
    return next((f" ({why})" for part, why in reasons if part in text), "")


def judged(python: str, language: str, texts: list[str]) -> list[bool]:
    """Return which texts the parser of tree-sitter takes."""
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    command = [python, "-c", _JUDGE, language]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("languages", nargs="+")
    parser.add_argument("--python", required=True)
    parser.add_argument("--mutants", type=int, default=200)
    options = parser.parse_args()
    for language in options.languages:
        folder = options.folder / language
        begun = time.process_time()
        grammar = read(folder, language)
        took = time.process_time() - begun
        originals = corpus(folder)
        rng = random.Random(language)  # noqa: S311 - the same changes every time
        changed = [mutant(rng.choice(originals), rng) for _ in range(options.mutants)]
        counts: Counter[str] = Counter()
        cases = [(each, each, "corpus") for each in originals]
        cases += [(each, change, "mutants") for each, change in changed]
        truth = judged(options.python, language, [each for each, _, _ in cases])
        for (each, change, kind), is_right in zip(cases, truth, strict=True):
            is_ours = grammar.status(each) == "fits"
            verdict = {(True, False): "wide", (False, True): "narrow"}.get((is_ours, is_right))
            counts[f"{kind}: {verdict or 'alike'}"] += 1
            if verdict:
                why = reason(language, change) if verdict == "narrow" else ""
                print(f"{language} {kind} {verdict}{why}: {change!r}"[:200], flush=True)
        figures = ", ".join(f"{name} {count}" for name, count in sorted(counts.items()))
        lost = ", ".join(sorted({loss.code for loss in grammar.losses})) or "nothing"
        print(f"{language}: read in {took:.2f} s of CPU, lost {lost}; {figures}", flush=True)


if __name__ == "__main__":
    main()
