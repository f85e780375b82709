"""Tables of what was measured."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.bar import Line
from benchmarks.engines import LLGuidance
from benchmarks.measure import OURS_WARM


def print_workload(name: str, about: str, found: Mapping[str, Any]) -> None:
    """Print times, ratios, and the comparison of masks."""
    print(f"\n## {name}: {about}\n")
    first = found["first mask"]
    print(_row(("mask + accept, us", "p50", "p99", "mean", "tokens", "ours/its p50", "p99")))
    print(_row(("---",) * 7))
    ours = found["times"][OURS_WARM]
    for lane, times in found["times"].items():
        ratios = (ours["p50"] / times["p50"], ours["p99"] / times["p99"])
        values = (times["p50"], times["p99"], times["mean"])
        shown = [*map(_number, values), f"{times['count']:.0f}", *map(_number, ratios)]
        print(_row((lane, *shown)))
    print("\nfirst mask, ms: " + ", ".join(f"{k} {_number(v)}" for k, v in first.items()))
    masks = found["masks"]
    print(f"masks compared with {LLGuidance.name}: {masks['steps']}", end="")
    print(f", unexplained differences: {len(masks['unexplained'])}")
    for reason, count in masks["explained"].items():
        print(f"- {count} differ: {reason}")
    for text in masks["unexplained"][:5]:
        print(f"- UNEXPLAINED {text}")
    for engine, text in found["failures"].items():
        print(f"- no figures for {engine}: {text}")


def print_rest(results: Mapping[str, Any]) -> None:
    """Print what does not belong to one workload."""
    print("\n## Cost of a token, us\n")
    for form, costs in results["positions"].items():
        print(f"- {form}: " + ", ".join(f"{k} {_number(v)}" for k, v in costs.items()))
    print("\n## Mask on 131,072 logits, us\n")
    for dtype, times in results["application"].items():
        print(f"- {dtype}: " + ", ".join(f"{k} {_number(v)}" for k, v in times.items()))
    print(f"\nmemory of json, MB: {results['memory']}")
    print(f"artifact of json, bytes: {results['artifact bytes']:,}")


def print_bar(lines: Iterable[Line]) -> None:
    """Print the bar, line by line."""
    print("\n## The bar\n")
    print(_row(("figure", "measured", "at most", "")))
    print(_row(("---",) * 4))
    for line in lines:
        verdict = "pass" if line.passed else "FAIL"
        print(_row((line.figure, _number(line.value), f"{line.limit:g}", verdict)))


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _number(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"
