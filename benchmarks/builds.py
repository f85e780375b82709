"""From a grammar to its first mask, and mask application alone."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.engines import LLGuidance, Maker, OurMatcher, Ours, XGrammar
from benchmarks.measure import median_times
from benchmarks.workloads import Workload
from kbnf_core import Compiler, Config, Engine, load_artifact

OURS = "kbnf-toolkit"
FROM_ARTIFACT = "kbnf-toolkit, artifact"
OURS_AGAIN = "kbnf-toolkit, text seen before"
XGRAMMAR_AGAIN = "xgrammar, text seen before"

FAST = (Ours.name, LLGuidance.name)
"""Engines whose building takes so little that it can be repeated more often."""


def first_masks(
    workload: Workload, ours: Ours, peers: list[Maker], repeats: int
) -> dict[str, float]:
    """Return milliseconds from a grammar's text, and from an artifact, to the first mask.

    A text that was seen before is one that a ``Compiler``, or XGrammar's, still has.
    """
    makers: dict[str, Maker] = {maker.name: maker for maker in (ours, *peers)}
    quick = [_build(makers[name], workload) for name in FAST if name in makers]
    names = [name for name in FAST if name in makers]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "artifact.kbnfc"
        write_artifact(workload, ours, path)
        names.append(FROM_ARTIFACT)
        quick.append(lambda: _load(path, ours))
        names.append(OURS_AGAIN)
        quick.append(_build_again(workload, ours))
        if (peer := makers.get(XGrammar.name)) is not None:
            names.append(XGRAMMAR_AGAIN)
            quick.append(_xgrammar_again(workload, peer))
        median_times(1, quick)
        times = dict(zip(names, median_times(repeats, quick), strict=True))
    for name, maker in makers.items():
        if name not in FAST:
            (times[name],) = median_times(max(1, repeats // 5), [_build(maker, workload)])
    return {name: seconds * 1e3 for name, seconds in times.items()}


def write_artifact(workload: Workload, ours: Ours, path: Path) -> None:
    """Write the artifact of a grammar and the vocabulary, as ``kbnf compile`` does."""
    from kbnf_core.compiled import compile_artifact

    engine = ours.make(workload).engine
    compile_artifact(engine.grammar, engine.vocabulary, path)


def _build(maker: Maker, workload: Workload) -> Callable[[], None]:
    def build() -> None:
        matcher = maker.make(workload)
        if matcher is not None:
            matcher.begin()
            matcher.mask()

    return build


def _build_again(workload: Workload, ours: Ours) -> Callable[[], None]:
    compiler = Compiler(ours.vocabulary)
    text = workload.grammar("kbnf") or ""

    def build() -> None:
        engine = Engine(compiler.grammar(text), ours.vocabulary, Config(finish="eos"))
        OurMatcher(engine).mask()

    return build


def _xgrammar_again(workload: Workload, peer: Any) -> Callable[[], None]:
    compiler = peer.compiler(cached=True)
    return lambda: peer.compile(compiler, workload).mask()


def _load(path: Path, ours: Ours) -> None:
    engine = Engine(load_artifact(path), ours.vocabulary, Config(finish="eos"))
    bits = np.zeros((engine.vocabulary.size + 31) // 32, np.int32)
    engine.fill_bitmask(bits)


def artifact_size(workload: Workload, ours: Ours) -> int:
    """Return the bytes of a grammar's artifact."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "artifact.kbnfc"
        write_artifact(workload, ours, path)
        return path.stat().st_size


def application(workload: Workload, ours: Ours, repeats: int) -> dict[str, dict[str, float]]:
    """Return microseconds of applying the mask of a JSON string, and of filling the same array."""
    engine = ours.make(workload).engine
    engine.try_accept_new_bytes(b'["a')
    engine.compute_allowed_token_ids()
    found: dict[str, dict[str, float]] = {}
    for dtype in (np.float32, np.float64):
        logits = np.zeros(engine.vocabulary.size, dtype)
        mask = partial(_many, partial(engine.mask_logits, logits))
        times = median_times(repeats, [mask, partial(_many, partial(logits.fill, 0))])
        found[dtype.__name__] = {"mask": times[0] * 1e4, "fill": times[1] * 1e4}
    return found


def _many(action: Callable[[], object]) -> None:
    for _ in range(100):
        action()
