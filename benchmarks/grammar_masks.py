"""Measures masks of a shipped grammar over texts that it has not seen, and compares them.

    python -m benchmarks.grammar_masks NAME FOLDER... [--pattern *.py] [--limit N] [--places N]
                                       [--seed N] [--vocab FILE]

Files below each FOLDER that the grammar NAME takes are encoded first. Then each is followed token
by token, once, with the mask of every step: printed are the times of a step in ms of processor
time, mask and acceptance together, and by how many MB the process has grown since the vocabulary
and its slices were read. A part of the growth is the engine's, whatever the grammar is.

With `--places`, masks at random places of these files are compared with the tokens whose bytes an
engine over single bytes accepts; each place that differs is printed.
"""

import argparse
import random
import time
from pathlib import Path

import numpy as np

from benchmarks.measure import resident
from benchmarks.python_grammar import Judge, shipped_text
from benchmarks.vocabulary import Setting, read_setting
from kbnf_core import Engine, Grammar
from kbnf_core.mask.slices import slice_set_of
from kbnf_testing.acceptance import START, Acceptance, Prefixes, TooManyPlacesError, mask_of


def texts_of(judge: Judge, options: argparse.Namespace, rng: random.Random) -> list[bytes]:
    """Return the files that the grammar takes, at most ``limit`` of them, in random order."""
    files = sorted(
        file for folder in options.folders for file in folder.rglob(options.pattern)
        if file.is_file()
    )  # fmt: skip
    rng.shuffle(files)
    texts: list[bytes] = []
    for file in files:
        data = file.read_bytes()
        if data.strip() and len(data) <= options.longest and judge.takes(data):
            texts.append(data)
        if len(texts) == options.limit:
            break
    return texts


def time_steps(grammar: Grammar, setting: Setting, documents: list[list[int]]) -> list[float]:
    """Return the milliseconds of each step of each document."""
    times: list[float] = []
    engine = Engine(grammar, setting.vocabulary)
    words = np.zeros((setting.vocabulary.size + 31) // 32, np.int32)
    for document in documents:
        engine.reset()
        for token in document:
            start = time.thread_time()
            engine.fill_bitmask(words)
            engine.try_accept_new_token(token)
            times.append((time.thread_time() - start) * 1000)
    return times


def compare(
    grammar: Grammar, setting: Setting, documents: list[list[int]], count: int, rng: random.Random
) -> tuple[int, int]:
    """Return how many places were compared, and how many of them differ."""
    prefixes = Prefixes(setting.vocabulary)
    engine = Engine(grammar, setting.vocabulary)
    compared = differing = 0
    while compared < count:
        document = rng.choice(documents)
        length = rng.randrange(len(document) + 1)
        data = b"".join(setting.vocabulary.token(each) or b"" for each in document[:length])
        engine.reset()
        engine.try_accept_new_bytes(data)
        try:
            expected = Acceptance(grammar, prefixes, data).allowed(START, "eos")
        except TooManyPlacesError:
            continue
        compared += 1
        different = expected != mask_of(engine)
        if different.any():
            differing += 1
            print(f"differs after {data[-60:]!r}: {np.flatnonzero(different)[:8].tolist()}")
    return compared, differing


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--pattern", default="*.py", help="names of the files")
    parser.add_argument("--limit", type=int, default=100, help="files")
    parser.add_argument("--longest", type=int, default=10_000_000, help="bytes of a file")
    parser.add_argument("--places", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--vocab", type=Path, help="a tokenizer.json instead of tekken")
    options = parser.parse_args()
    rng = random.Random(options.seed)  # noqa: S311 - no secrets
    setting = read_setting(options.vocab)
    text = shipped_text(options.name)
    texts = texts_of(Judge(Grammar(text)), options, rng)
    documents = [setting.encode(text.decode()) for text in texts]
    slice_set_of(setting.vocabulary)
    before = resident()
    grammar = Grammar(text)
    times = np.array(time_steps(grammar, setting, documents))
    grown = resident() - before
    shown = ", ".join(
        f"{title} {value:.3f}"
        for title, value in (
            ("mean", times.mean()),
            ("p50", np.percentile(times, 50)),
            ("p99", np.percentile(times, 99)),
            ("worst", times.max()),
        )
    )
    print(f"{len(documents)} files, {len(times):,} steps: {shown} ms; {grown:.0f} MB")
    if options.places:
        compared, differing = compare(Grammar(text), setting, documents, options.places, rng)
        print(f"{compared:,} masks compared, {differing} differ")


if __name__ == "__main__":
    main()
