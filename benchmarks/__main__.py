"""Run the benchmark: ``python -m benchmarks``; see README.md."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from benchmarks import builds, positions, report
from benchmarks.bar import judge
from benchmarks.engines import LLGuidance, Maker, Ours, make_peers
from benchmarks.equality import Comparison, compare
from benchmarks.measure import Effort, time_workload
from benchmarks.memory import measure_memory
from benchmarks.vocabulary import Setting, read_setting
from benchmarks.workloads import WORKLOADS, Workload

FULL = Effort(tokens=5_000, repeats=5, patience=4.0)
QUICK = Effort(tokens=200, repeats=1, patience=0.5)


@click.command()
@click.option("--quick", is_flag=True, help="Few tokens and one repeat: shows that it works.")
@click.option("--only", multiple=True, help="A workload's name; several are allowed.")
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write all figures here.")
def main(quick: bool, only: tuple[str, ...], path: Path | None) -> None:
    """Measure this library beside its peers, and compare all masks with llguidance's."""
    effort = QUICK if quick else FULL
    setting = read_setting()
    ours = Ours(setting)
    peers, missing = make_peers(setting)
    for name in missing:
        print(f"{name} is not installed: pip install -e '.[bench]'")
    chosen = [workload for workload in WORKLOADS if not only or workload.name in only]
    results: dict[str, Any] = {"workloads": {}}
    for workload in chosen:
        found = _measure(workload, setting, ours, peers, effort)
        report.print_workload(workload.name, workload.about, found)
        results["workloads"][workload.name] = found
    results |= _measure_rest(setting, ours, effort)
    report.print_rest(results)
    lines = judge(results)
    report.print_bar(lines)
    if path is not None:
        results["bar"] = [asdict(line) | {"passed": line.passed} for line in lines]
        path.write_text(json.dumps(results, indent=1, sort_keys=True), encoding="utf-8")
    wrong = [found for found in results["workloads"].values() if found["masks"]["unexplained"]]
    sys.exit(1 if wrong else 0)


def _measure(
    workload: Workload, setting: Setting, ours: Ours, peers: list[Maker], effort: Effort
) -> dict[str, Any]:
    documents = workload.documents(setting.encode, effort.tokens)
    reference = next((peer for peer in peers if isinstance(peer, LLGuidance)), None)
    comparison = Comparison()
    if reference is not None:
        comparison = compare(ours.make(workload), reference.make(workload), documents)
    times, failures = time_workload(workload, ours, peers, documents, effort)
    able = [peer for peer in peers if peer.name in times]
    first = builds.first_masks(workload, ours, able, effort.repeats)
    masks = asdict(comparison)
    return {"times": times, "failures": failures, "first mask": first, "masks": masks}


def _measure_rest(setting: Setting, ours: Ours, effort: Effort) -> dict[str, Any]:
    return {
        "positions": positions.costs(setting.vocabulary, effort.repeats),
        "application": builds.application(WORKLOADS[0], ours, 5 * effort.repeats),
        "memory": measure_memory(effort.tokens),
        "artifact bytes": builds.artifact_size(WORKLOADS[0], ours),
    }


if __name__ == "__main__":
    main()
