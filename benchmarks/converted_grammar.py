"""Runs a shipped grammar, converted, in other engines over files.

    python -m benchmarks.converted_grammar NAME FOLDER... [--pattern *.py] [--limit N] [--longest N]
                                           [--seed N] [--llama PROGRAM]

N files of at most so many bytes that the grammar takes, and each with one character changed, are
read by xgrammar (GBNF) and llguidance (Lark) over a vocabulary of bytes, where these are installed,
and character by character by llama.cpp, whose PROGRAM is made by
`python tests/differential/llama_cpp.py`. Printed for each: the size of the grammar, the files that
it takes, the changed texts on which it decides as the grammar does, and seconds of processor time;
for llama.cpp also the most stacks that it kept. An engine has its own limits but for ``OPTIONS``.
"""

import argparse
import random
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.grammar_masks import texts_of
from benchmarks.python_grammar import Judge, shipped_text
from kbnf_core import Grammar
from kbnf_core.convert import to_gbnf, to_lark
from kbnf_core.targets.engines import ENGINES, RefusedError
from kbnf_core.targets.exam import near_misses

Verdicts = Callable[[str, list[bytes]], Iterator[tuple[bool, int]]]
"""For a grammar and texts: whether each is taken, and the most stacks, 0 without stacks."""


OPTIONS: Mapping[str, Mapping[str, Any]] = {"llguidance": {"max_items_in_row": 20_000}}
"""Options of engines: the default of 2,000 items is too few for one file of fifty of Python."""


def asked(name: str) -> Verdicts:
    """Return the verdicts of an engine over single bytes."""

    def verdicts(grammar: str, texts: list[bytes]) -> Iterator[tuple[bool, int]]:
        language = ENGINES[name].language
        assert language is not None  # noqa: S101 - those asked here read grammars
        reader = ENGINES[name].load().compile(language, grammar, OPTIONS.get(name, {}))
        for text in texts:
            try:
                yield reader.read(text) is None, 0
            except RefusedError:
                yield False, 0

    return verdicts


def by_program(program: Path) -> Verdicts:
    """Return the verdicts of llama.cpp, with their stacks."""

    def verdicts(grammar: str, texts: list[bytes]) -> Iterator[tuple[bool, int]]:
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder, str(number)) for number in range(len(texts))]
            for file, text in zip(files, texts, strict=True):
                file.write_bytes(text)
            printed = subprocess.run(
                [program, *files], input=grammar, stdout=subprocess.PIPE, text=True, check=True
            ).stdout
        for line in printed.splitlines():
            status, stacks = line.split()
            yield status == "0", int(stacks)

    return verdicts


def seconds() -> float:
    """Return the processor time of this process and of those that it has waited for."""
    return time.process_time() + resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--pattern", default="*.py", help="names of the files")
    parser.add_argument("--limit", type=int, default=50, help="files")
    parser.add_argument("--longest", type=int, default=20_000, help="bytes of a file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--llama", type=Path, help="the program that llama_cpp.py makes")
    options = parser.parse_args()
    rng = random.Random(options.seed)  # noqa: S311 - no secrets
    kbnf = shipped_text(options.name)
    judge = Judge(Grammar(kbnf))
    texts = [text.decode() for text in texts_of(judge, options, rng)]
    changed = list(near_misses(texts, rng))
    data = [text.encode() for text in (*texts, *changed)]
    expected = [judge.takes(text) for text in data]
    gbnf, lark = to_gbnf(kbnf).text, to_lark(kbnf).text
    engines = [(name, {"gbnf": gbnf, "lark": lark}[str(ENGINES[name].language)], asked(name))
        for name in ("xgrammar", "llguidance") if ENGINES[name].version()
    ]  # fmt: skip
    if options.llama is not None:
        engines.append(("llama.cpp", gbnf, by_program(options.llama)))
    print(
        f"{len(texts)} files, {sum(map(len, data[: len(texts)])):,} bytes; {len(changed)} changed"
    )
    for name, grammar, verdicts in engines:
        before = seconds()
        found = list(verdicts(grammar, data))
        right = [taken == wanted for (taken, _), wanted in zip(found, expected, strict=True)]
        most = max(stacks for _, stacks in found)
        print(
            f"{name}: {len(grammar):,} characters, {sum(right[: len(texts)])} files taken, "
            f"{sum(right[len(texts) :])} changed texts alike, {seconds() - before:.1f} s"
            f"{f'; at most {most} stacks' if most else ''}"
        )


if __name__ == "__main__":
    main()
