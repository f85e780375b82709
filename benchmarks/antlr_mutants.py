"""Compares grammars read from ANTLR with the parsers that ANTLR itself makes of them.

    python -m benchmarks.antlr_mutants FOLDER --antlr COMMAND --python PYTHON --kept KEPT

FOLDER is a checkout of antlr/grammars-v4. COMMAND makes parsers in Python (``antlr-ng`` of the
package index of npm does), and PYTHON has the package ``antlr4-python3-runtime`` of that version.
Examples of each grammar of one file are changed at random: a character or a word is dropped,
doubled, reversed or replaced. Grammars whose parser refuses most of their own examples are left
out. ANTLR's verdicts are kept in the folder KEPT, a file for each grammar, so that a second run
asks kbnf only, and one that was interrupted goes on.

Printed are the changes that only one of the two accepts, and the counts: *wide* are those that only
kbnf accepts, *narrow* those that only ANTLR accepts. The kind of a wide one is the first of these:

- ``no token``: ANTLR's first error is a place where its lexer has no token;
- ``longer token``: a token up to the error goes on where kbnf has two tokens that touch (W452);
- ``empty token``: kbnf has a token without characters, which lexers never make;
- ``other token``: a token up to the error is another one than that of kbnf;
- ``longer token``, too: one after the error, as the parser decides by tokens that are far ahead;
- ``parser``: the tokens are those of kbnf.
"""

import argparse
import json
import random
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from benchmarks.antlr import entry, examples, grammars
from kbnf_core import Grammar, GrammarError
from kbnf_core.languages import ANTLR

_LONGEST = 600
"""Characters of an example that is changed."""

_SECONDS = 60
"""The time that ANTLR's parser has for the texts of a grammar."""

_JUDGE = """
import importlib, json, sys
sys.path.insert(0, sys.argv[1])
from antlr4 import CommonTokenStream, InputStream
from antlr4.error.ErrorListener import ErrorListener
lexer, parser = (getattr(importlib.import_module(n), n) for n in sys.argv[2:4])
class Errors(ErrorListener):
    first = None
    def syntaxError(self, recognizer, symbol, line, column, message, error):
        if self.first is None:
            at = symbol.start if symbol is not None else error.startIndex
            self.first = [at, symbol is None, message]
for line in sys.stdin:
    errors = Errors()
    lex = lexer(InputStream(json.loads(line)))
    stream = CommonTokenStream(lex)
    made = parser(stream)
    for each in (lex, made):
        each.removeErrorListeners()
        each.addErrorListener(errors)
    getattr(made, sys.argv[4])()
    if errors.first is None and stream.LA(1) != -1:
        errors.first = [stream.LT(1).start, False, "what follows the text"]
    stream.fill()
    names = [made.symbolicNames[: each.type + 1][-1] for each in stream.tokens[:-1]]
    tokens = [[each.start, each.stop + 1, n] for each, n in zip(stream.tokens, names)]
    print(json.dumps([errors.first, tokens]), flush=True)
"""


class Verdict(NamedTuple):
    """A text, its change, ANTLR's first error (position, whether the lexer's, message), tokens.

    Tokens have their ends and their names, those without a rule ``<INVALID>``.
    """

    text: str
    change: str
    error: tuple[int, bool, str] | None
    tokens: list[tuple[int, int, str]]


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


def short_examples(path: Path) -> list[str]:
    """Return the examples of a grammar that are changed."""
    texts = (each.read_bytes().decode("utf-8", "replace").strip() for each in examples(path))
    return [text for text in texts if 0 < len(text) <= _LONGEST]


def judged(path: Path, start: str, options: argparse.Namespace) -> list[Verdict]:
    """Return what ANTLR says of the examples of a grammar and of their changes."""
    kept = options.kept / ".".join(path.relative_to(options.folder).parts)
    kept = kept.with_suffix(".json")
    if kept.exists():
        return [Verdict(*each) for each in json.loads(kept.read_text("utf-8"))]
    rng = random.Random(path.name)  # noqa: S311 - chooses changes
    originals = short_examples(path)
    texts = [(each, "unchanged") for each in originals]
    texts += [mutant(rng.choice(originals), rng) for _ in range(options.each)]
    with tempfile.TemporaryDirectory() as made:
        command = [options.antlr, "-Dlanguage=Python3", "-o", made, path.name]
        subprocess.run(command, cwd=path.parent, capture_output=True, check=False)
        name = path.stem
        command = [options.python, "-c", _JUDGE, made, f"{name}Lexer", f"{name}Parser", start]
        lines = "".join(json.dumps(text) + "\n" for text, _ in texts)
        output = _output(command, lines)
    # The last line of a process that was stopped may be half of one.
    answers = [json.loads(line) for line in output.splitlines() if line.endswith("]]")]
    verdicts = [Verdict(*text, *answer) for text, answer in zip(texts, answers, strict=False)]
    kept.write_text(json.dumps(verdicts), "utf-8")
    return verdicts


def _output(command: list[str], lines: str) -> str:
    try:
        done = subprocess.run(
            command, input=lines.encode(), capture_output=True, check=False, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired as stopped:
        return (stopped.stdout or b"").decode()
    return done.stdout.decode()


def kind(grammar: Grammar, verdict: Verdict) -> str:
    """Return what ANTLR does at its first error in a text that kbnf accepts."""
    error = verdict.error
    if error is None:
        return ""
    place, is_lexers, _ = error
    if is_lexers:
        return "no token"
    rules: dict[tuple[int, int], set[str]] = {}
    stack = [grammar.parse(verdict.text.encode())]
    while stack:
        node = stack.pop()
        rules.setdefault((node.start, node.end), set()).add(node.rule)
        stack.extend(node.children)
    borders = {border for span in rules for border in span}
    has_empty = any(
        name[:1].isupper() for span, same in rules.items() if span[0] == span[1] for name in same
    )
    found = "empty token" if has_empty else "parser"
    for *ends, name in verdict.tokens:
        begin, end = (len(verdict.text[:each].encode()) for each in ends)
        is_before = ends[0] <= place
        if not borders.isdisjoint(range(begin + 1, end)) and (is_before or found == "parser"):
            return "longer token"
        is_known = any(each.startswith(name) for each in rules.get((begin, end), ()))
        if is_before and name != "<INVALID>" and not is_known and found == "parser":
            found = "other token"
    return found


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--antlr", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--kept", type=Path, required=True)
    parser.add_argument("--each", type=int, default=20)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    options.kept.mkdir(parents=True, exist_ok=True)
    counts: Counter[str] = Counter()
    for path in grammars(options.folder):
        text = path.read_text("utf-8", "replace")
        start = entry(path)
        if options.only not in str(path) or "tokenVocab" in text or start is None:
            continue
        verdicts = judged(path, start, options) if short_examples(path) else []
        originals = [each.error is None for each in verdicts if each.change == "unchanged"]
        if 2 * sum(originals) <= len(originals):
            counts["grammars left out"] += 1
            continue
        try:
            grammar = Grammar.read(text, ANTLR, path=str(path), start=start, lossy=True)
        except GrammarError:
            counts["grammars refused"] += 1
            continue
        counts["grammars"] += 1
        for each in verdicts:
            is_ours, is_right = grammar.status(each.text) == "fits", each.error is None
            counts["texts"] += 1
            counts["texts that ANTLR refuses"] += not is_right
            if is_ours and not is_right:
                counts["wide"] += 1
                counts[f"wide, {kind(grammar, each)}"] += 1
                found = f"wide ({kind(grammar, each)}) {path.stem}: {each.change!r}: {each.error}"
                print(found[:300], flush=True)
            elif is_right and not is_ours:
                counts["narrow"] += 1
                print(f"narrow {path.stem}: {each.change!r}"[:300], flush=True)
    for name, count in sorted(counts.items()):
        print(f"{name}: {count}")


if __name__ == "__main__":
    main()
