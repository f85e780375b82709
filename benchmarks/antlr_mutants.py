"""Holds grammars read from ANTLR against the parsers that ANTLR itself makes of them.

    python -m benchmarks.antlr_mutants FOLDER --antlr COMMAND --python PYTHON [--each 60]

FOLDER is a checkout of antlr/grammars-v4. COMMAND makes parsers in Python (``antlr-ng`` of the
package index of npm does), and PYTHON has the package ``antlr4-python3-runtime`` of that version.
Examples of each grammar of one file are changed at random: a character or a word is dropped,
doubled, reversed or replaced. Grammars whose parser refuses most of their own examples are left
out. Printed are the changes that only one of the two accepts, and the counts: *wide* are those that
only kbnf accepts, *narrow* those that only ANTLR accepts.
"""

import argparse
import json
import random
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.antlr import entry, examples, grammars
from kbnf_core import Grammar, GrammarError
from kbnf_core.languages import ANTLR

_LONGEST = 600
"""Characters of an example that is changed."""

_JUDGE = """
import importlib, json, sys
sys.path.insert(0, sys.argv[1])
from antlr4 import CommonTokenStream, InputStream
from antlr4.error.ErrorListener import ErrorListener
lexer, parser = (getattr(importlib.import_module(n), n) for n in sys.argv[2:4])
class Errors(ErrorListener):
    count = 0
    def syntaxError(self, *_):
        self.count += 1
for line in sys.stdin:
    errors = Errors()
    lex = lexer(InputStream(json.loads(line)))
    stream = CommonTokenStream(lex)
    made = parser(stream)
    for each in (lex, made):
        each.removeErrorListeners()
        each.addErrorListener(errors)
    getattr(made, sys.argv[4])()
    print(json.dumps(errors.count == 0 and stream.LA(1) == -1), flush=True)
"""


def mutant(text: str, rng: random.Random) -> tuple[str, str]:
    """Return a text with one change, and what is around that."""
    words = [match.span() for match in re.finditer(r"\w+|\s+|[^\w\s]", text)]
    start, end = rng.choice(words)
    if rng.random() < 0.5:
        start = rng.randrange(len(text))
        end = start + 1
    other = rng.choice(words)
    piece = text[start:end]
    replacement = rng.choice(("", piece * 2, text[other[0] : other[1]], piece[::-1], " " + piece))
    around = f"{text[max(0, start - 15) : start]}[{piece} -> {replacement}]{text[end : end + 15]}"
    return text[:start] + replacement + text[end:], around


def judged(folder: Path, grammar: Path, start: str, python: str, texts: list[str]) -> list[bool]:
    """Return which texts ANTLR's parser takes without an error."""
    name = grammar.stem
    command = [python, "-c", _JUDGE, str(folder), f"{name}Lexer", f"{name}Parser", start]
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    done = subprocess.run(
        command, input=lines, capture_output=True, text=True, check=False, timeout=300
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--antlr", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--each", type=int, default=60)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for path in grammars(options.folder):
        text = path.read_text("utf-8", "replace")
        short = [
            sample
            for each in examples(path)
            if 0 < len(sample := each.read_bytes().decode("utf-8", "replace").strip()) <= _LONGEST
        ]
        start = entry(path)
        if options.only not in str(path) or "tokenVocab" in text or not short or start is None:
            continue
        try:
            grammar = Grammar.read(text, ANTLR, path=str(path), start=start, lossy=True)
        except GrammarError:
            continue
        with tempfile.TemporaryDirectory() as made:
            command = [options.antlr, "-Dlanguage=Python3", "-o", made, path.name]
            tool = subprocess.run(command, cwd=path.parent, capture_output=True, check=False)
            if tool.returncode:
                continue
            rng = random.Random(path.name)  # noqa: S311 - chooses changes
            mutants = [mutant(rng.choice(short), rng) for _ in range(options.each)]
            texts = [(each, "unchanged") for each in short] + mutants
            truth = judged(Path(made), path, start, options.python, [each[0] for each in texts])
        if 2 * sum(truth[: len(short)]) <= len(short):
            counts["grammars left out"] += 1
            continue
        counts["grammars"] += 1
        for (each, change), is_right in zip(texts, truth, strict=False):
            is_ours = grammar.status(each) == "fits"
            verdict = {(True, False): "wide", (False, True): "narrow"}.get((is_ours, is_right))
            counts["texts"] += 1
            counts["texts that ANTLR refuses"] += not is_right
            if verdict:
                counts[verdict] += 1
                print(f"{verdict} {path.stem}: {change!r}"[:200], flush=True)
    for name, count in sorted(counts.items()):
        print(f"{name}: {count}")


if __name__ == "__main__":
    main()
