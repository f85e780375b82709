"""Artifacts beside their sources: the first mask, cold steps, sizes, and commands.

::

    python -m benchmarks.artifacts SOURCE... [--vocab tokenizer.json] [--repeat N] [--commands]

Each source is compiled once. Then source and artifact take turns, each measurement in a process of
its own, since the memos of a vocabulary are the process's; the least of the repetitions counts.

A measurement is CPU time after the imports and the vocabulary: from the file to the first mask,
and the sum and the worst of 1,000 steps (a mask and the acceptance of a token, chosen among those
allowed by a seed; a text that is over or has 200 tokens begins anew). With ``--commands`` it is the
CPU time of ``kbnf mask``, ``sample``, ``match``, ``check``, ``explain``, ``parse`` and ``diff`` (of
the file and itself) instead.

A line a source; at the end the medians and the largest ratios, artifact to source, and the bytes.
A JSON file with the member ``schema``, as maskbench has them, is read as that schema.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import numpy as np

from benchmarks.vocabulary import read_setting
from kbnf_core import Config, Engine, Grammar, Vocabulary, load_artifact

STEPS = 1_000
LONGEST = 200

WARM = {
    "warm.kbnf": "start ::= #'[a-z]{1,9}' ['x'];",
    "warm.json": '{"type": "object", "properties": {"a": {"maxLength": 9}}}',
}
"""Small sources that a measurement reads first, of each kind, for what is imported late."""

Measure = Callable[[Path, Path, str | None], dict[str, float]]


def main() -> None:
    """Measure all sources."""
    parser = argparse.ArgumentParser(description="Compare artifacts with their sources.")
    parser.add_argument("sources", nargs="+", type=Path, metavar="SOURCE")
    parser.add_argument("--vocab")
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--commands", action="store_true")
    asked = parser.parse_args()
    measure = _commands if asked.commands else _steps
    pairs: list[list[dict[str, float]]] = []
    sizes: list[int] = []
    with tempfile.TemporaryDirectory() as name:
        folder, artifact = Path(name), Path(name) / "a.kbnfc"
        _write_warm(folder)
        for source in asked.sources:
            given = _as_given(source, folder)
            if _run("compile", str(given), "--lossy", "-o", str(artifact)) is None:
                print(f"{source}: refused")
                continue
            figures = _least(measure, (given, artifact), folder, asked.vocab, asked.repeat)
            pairs.append(figures)
            sizes.append(artifact.stat().st_size)
            shown = (
                f"{key} {value:.2f} -> {figures[1][key]:.2f}" for key, value in figures[0].items()
            )
            print(f"{source}: {', '.join(shown)}; {sizes[-1]:,} bytes", flush=True)
    for key in pairs[0][0]:
        ratios = [after[key] / max(before[key], 1e-9) for before, after in pairs]
        print(f"{key}: {median(ratios):.2f} times at the median, at most {max(ratios):.2f}")
    print(f"{len(pairs)} sources; {median(sizes):,.0f} bytes at the median, {max(sizes):,} at most")


def _least(
    measure: Measure, paths: tuple[Path, Path], folder: Path, vocab: str | None, repeat: int
) -> list[dict[str, float]]:
    """Return the least figures of both files, measured in turns."""
    rounds = [[measure(path, folder, vocab) for path in paths] for _ in range(repeat)]
    return [
        {key: min(each[key] for each in runs) for key in runs[0]}
        for runs in zip(*rounds, strict=True)
    ]


def _write_warm(folder: Path) -> None:
    for name, text in WARM.items():
        (folder / name).write_text(text, encoding="utf-8")
    _run("compile", str(folder / "warm.kbnf"), "-o", str(folder / "warm.kbnfc"))


def _as_given(source: Path, folder: Path) -> Path:
    """Return a source, or a file with the schema that is in it."""
    if source.suffix != ".json":
        return source
    value = json.loads(source.read_text(encoding="utf-8"))
    path = folder / "source.schema.json"
    schema = value["schema"] if isinstance(value, dict) and "schema" in value else value
    path.write_text(json.dumps(schema), encoding="utf-8")
    return path


def _steps(path: Path, folder: Path, vocab: str | None) -> dict[str, float]:
    program = "import sys; from benchmarks.artifacts import take; take(*sys.argv[1:])"
    arguments = [str(path), str(folder), *([] if vocab is None else [vocab])]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, check=True, text=True
    )
    return dict(json.loads(done.stdout))


def take(path: str, folder: str, vocab: str | None = None) -> None:
    """Print the milliseconds of the first mask, of all steps, and of the worst one."""
    warnings.simplefilter("ignore")
    vocabulary = read_setting(None if vocab is None else Path(vocab)).vocabulary
    bits = np.zeros((vocabulary.size + 31) // 32, np.int32)
    for warm in sorted(Path(folder).glob("warm.*")):
        if warm.suffix == Path(path).suffix:
            _begin(warm, vocabulary, bits)
    start = time.process_time_ns()
    engine = _begin(Path(path), vocabulary, bits)
    first = time.process_time_ns() - start
    times = [*_step(engine, bits)]
    figures = {"first mask": first, "all steps": sum(times), "worst step": max(times, default=0)}
    print(json.dumps({name: taken / 1e6 for name, taken in figures.items()}))


def _begin(
    path: Path, vocabulary: Vocabulary, bits: "np.ndarray[tuple[int], np.dtype[np.int32]]"
) -> Engine:
    is_artifact = path.suffix == ".kbnfc"
    grammar = load_artifact(path) if is_artifact else Grammar.from_file(path, lossy=True)
    engine = Engine(grammar, vocabulary, Config(finish="eos"), ahead=False)
    engine.fill_bitmask(bits)
    return engine


def _step(engine: Engine, bits: "np.ndarray[tuple[int], np.dtype[np.int32]]") -> Iterator[int]:
    """Yield the nanoseconds of each step."""
    choose, length = random.Random(1), 0  # noqa: S311 - no secret
    for _ in range(STEPS):
        allowed = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little"))
        if length == LONGEST or engine.is_finished() or not len(allowed):
            engine.reset()
            engine.fill_bitmask(bits)
            length = 0
            continue
        token = int(allowed[int(choose.random() * len(allowed))])
        start = time.process_time_ns()
        engine.try_accept_new_token(token)
        if not engine.is_finished():
            engine.fill_bitmask(bits)
        yield time.process_time_ns() - start
        length += 1


def _commands(path: Path, folder: Path, vocab: str | None) -> dict[str, float]:
    """Return the CPU seconds of each command on a file."""
    del folder
    options = () if vocab is None else ("--vocab", vocab)
    commands = {
        "mask": ("mask", str(path), *options),
        "sample": ("sample", str(path), "-n", "3"),
        "match": ("match", str(path), "--text", "{"),
        "check": ("check", str(path), "--no-cache"),
        "explain": ("explain", str(path)),
        "parse": ("parse", str(path), "--partial", "--text", "{"),
        "diff": ("diff", str(path), str(path)),
    }
    figures = {}
    for name, command in commands.items():
        taken = _run(*command)
        if taken is None:
            raise RuntimeError(f"kbnf {' '.join(command)} fails")
        figures[name] = taken
    return figures


def _run(*arguments: str) -> float | None:
    """Return the CPU seconds of a command, None where it cannot run."""
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-m", "kbnf_cli", *arguments], capture_output=True, check=False
    )
    after = os.times()
    taken = after.children_user - before.children_user
    return None if done.returncode > 1 else taken + after.children_system - before.children_system


if __name__ == "__main__":
    main()
