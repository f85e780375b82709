"""The bar: what the figures must be."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.builds import FROM_ARTIFACT, OURS, OURS_AGAIN, XGRAMMAR_AGAIN
from benchmarks.engines import KbnfRust, LLGuidance, XGrammar
from benchmarks.measure import OURS_COLD, OURS_INSIDE, OURS_WARM


@dataclass(frozen=True, slots=True)
class Line:
    """``value`` is what was measured, and must be at most ``limit``."""

    figure: str
    value: float
    limit: float

    @property
    def passed(self) -> bool:
        """Return whether the bar is met."""
        return self.value <= self.limit


def judge(results: Mapping[str, Any]) -> list[Line]:
    """Return the bar's lines for which there are figures."""
    lines = [
        line for name, found in results["workloads"].items() for line in _workload(name, found)
    ]
    fill = results["application"]["float32"]
    lines.append(Line("mask on float32 logits / fill", fill["mask"] / fill["fill"], 1.5))
    for form, costs in results["positions"].items():
        ratio = costs["100000"] / costs["100"]
        lines.append(Line(f"{form}: cost at 100,000 / at 100", ratio, 1.2))
    lines.append(Line("json: resident memory, MB", results["memory"]["after all"], 100))
    lines.append(Line("json: artifact, MB", results["artifact bytes"] / 2**20, 5))
    return lines


def _workload(name: str, found: Mapping[str, Any]) -> Iterator[Line]:
    times = found["times"]
    for ours, peer, measure, limit in (
        (OURS_WARM, LLGuidance.name, "p50", 0.1),
        # kbnf's mask stays inside the engine, so ours does too where the two are compared.
        (OURS_INSIDE, KbnfRust.name, "p50", 0.2),
        (OURS_WARM, LLGuidance.name, "p99", 0.1),
    ):
        if peer in times:
            ratio = times[ours][measure] / times[peer][measure]
            yield Line(f"{name}: warm, {measure} / {peer}", ratio, limit)
    if LLGuidance.name in times:
        for measure in ("mean", "p99"):
            ratio = times[OURS_COLD][measure] / times[LLGuidance.name][measure]
            yield Line(f"{name}: first pass, {measure} / {LLGuidance.name}", ratio, 0.5)
    build = found["first mask"]
    for ours, peer, limit in (
        (FROM_ARTIFACT, LLGuidance.name, 1.0),
        (OURS, LLGuidance.name, 5.0),
        (OURS, XGrammar.name, 0.2),
        (OURS_AGAIN, XGRAMMAR_AGAIN, 1.0),
    ):
        if ours in build and peer in build:
            yield Line(f"{name}: first mask, {ours} / {peer}", build[ours] / build[peer], limit)
