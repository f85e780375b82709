"""Times the cold steps of a grammar: masks along texts that it has not met before.

    python -m benchmarks.cold_steps GRAMMAR TEXT... [--tokens 1500] [--vocab FILE] [--slowest N]

GRAMMAR is a file in any language that is read, with what is lost in it, or the name of an included
grammar; a TEXT is a file, or a folder of files. A step is the mask in a buffer and the next token,
in CPU time of the thread, over tekken; work ahead is off. Each text begins with new masks and a new
table of states (*each text new*), then all share them (*one after another*). A text is followed for
at most ``--tokens`` tokens, or up to the token that is refused, which is printed. ``--slowest``
prints the slowest steps and the text before them.
"""

import argparse
import gc
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import thread_time
from typing import NamedTuple

import numpy as np

from benchmarks.vocabulary import Setting, read_setting
from kbnf_core import Engine, Grammar
from kbnf_core.shipped import grammar_file


class Step(NamedTuple):
    """A step: its milliseconds, the text, and how many tokens came before."""

    cost: float
    path: Path
    place: int


def files_of(paths: Sequence[Path]) -> Iterator[Path]:
    """Yield files, of folders what is in them."""
    for path in paths:
        yield from sorted(p for p in path.iterdir() if p.is_file()) if path.is_dir() else (path,)


def follow(engine: Engine, path: Path, tokens: Sequence[int], steps: list[Step]) -> bool:
    """Note the steps along a text; return whether all of it fits."""
    row = np.empty((1, (engine.vocabulary.size + 31) // 32), np.int32)
    gc.collect()
    for place, token in enumerate(tokens):
        started = thread_time()
        engine.fill_bitmask(row, 0)
        is_allowed = bool(row[0, token >> 5] >> (token & 31) & 1)
        if is_allowed:
            engine.try_accept_new_token(token)
        steps.append(Step(1e3 * (thread_time() - started), path, place))
        if not is_allowed:
            return False
    return True


def described(name: str, steps: Sequence[Step]) -> str:
    """Return the line of figures."""
    costs = np.array([step.cost for step in steps])
    shown = "  ".join(f"p{share:g} {np.percentile(costs, share):.3f}" for share in (50, 99, 99.9))
    return (
        f"{name}: {len(costs)} steps, ms: {shown}  max {costs.max():.2f}  mean {costs.mean():.3f}"
    )


def main() -> None:
    """Print the figures of one grammar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("grammar")
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("--tokens", type=int, default=1_500)
    parser.add_argument("--vocab", type=Path)
    parser.add_argument("--slowest", type=int, default=0)
    given = parser.parse_args()
    setting = read_setting(given.vocab)
    path = grammar_file(given.grammar) or Path(given.grammar)
    texts = {
        each: setting.encode(each.read_text("utf-8", "replace"))[: given.tokens]
        for each in files_of(given.texts)
    }
    report(path, texts, setting, given.slowest)


def report(path: Path, texts: dict[Path, list[int]], setting: Setting, slowest: int) -> None:
    """Follow the texts twice, and print what that took."""

    def fresh() -> Engine:
        return Engine(Grammar.from_any(path, lossy=True), setting.vocabulary, ahead=False)

    alone: list[Step] = []
    for each, tokens in texts.items():
        if not follow(fresh(), each, tokens, alone):
            _, _, place = alone[-1]
            read = setting.vocabulary.decode(tokens[:place])[-50:]
            print(f"{each}: token {place} of {len(tokens)} is refused after {read!r}")
    print(described("each text new", alone))
    shared: list[Step] = []
    engine = fresh()
    for each, tokens in texts.items():
        engine.reset()
        follow(engine, each, tokens, shared)
    print(described("one after another", shared))
    for cost, each, place in sorted(alone, reverse=True)[:slowest]:
        read = setting.vocabulary.decode(texts[each][:place])[-60:]
        print(f"{cost:9.2f} ms  {each.name} after {read!r}")


if __name__ == "__main__":
    main()
