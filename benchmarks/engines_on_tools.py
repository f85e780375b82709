"""Engines on the tools of public servers: ``python -m benchmarks.engines_on_tools``.

``ask FOLDER OUT`` asks every installed engine about every tool of the lists in FOLDER (which
``benchmarks.tool_servers`` writes; any list of tools is one) and appends a line of JSON for each to
OUT. What OUT has is not asked again. An engine runs in a process with limits of time and memory.
Its faults come from ``kbnf_core.targets``, as in ``kbnf check --target``: it *refuses* the schema,
*loosens* it (takes a document that is invalid) or *breaks* it (does not take a valid one).
``jsonschema`` and the engine of kbnf must agree about a document; kbnf itself is judged by
``jsonschema`` alone. Tools are closed: no engine has to take members that a schema does not name.

``report OUT --page PAGE`` writes the tables into the page, and the plot beside it. ``default`` runs
use the options that an engine recommends, ``strict`` runs its strictest ones.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import click
import numpy as np

from benchmarks.public_table import draw, fill
from benchmarks.target_adapters import STRICTEST, Ours, Strictest
from benchmarks.tool_servers import SERVERS
from kbnf_core.languages import TOOL_LIST
from kbnf_core.targets.check import schemas_of
from kbnf_core.targets.exam import Exam, examine
from kbnf_core.targets.judges import shown
from kbnf_core.targets.process import Asked, installed, version_of
from kbnf_core.text.source import Source

OURS = "kbnf"
WORDS = {"ok": "ok", "refuses": "refuses", "weak": "loosens", "rejects": "breaks"}

Lines = Sequence[Mapping[str, Any]]
ByEngine = Mapping[tuple[str, str], Lines]


@click.group()
def main() -> None:
    """Ask engines about the tools of public servers."""


def lines_of(file: Path) -> list[dict[str, Any]]:
    """Return the lines of a file of results; one that was cut is left out."""
    found = []
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


@main.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--seconds", default=2.0, help="Processor time for a tool and engine.")
@click.option("--most", default=60, help="Tools of a server: the first ones.")
def ask(folder: Path, out: Path, seconds: float, most: int) -> None:
    """Ask the engines about the lists in FOLDER, and append the answers to OUT."""
    known = {(e["server"], e["tool"], e["engine"], e["run"]) for e in lines_of(out)}
    asked = {(name, "default"): Asked(name) for name in installed()}
    asked |= {
        (name, "strict"): Asked(name, adapter=Strictest(name))
        for name in installed()
        if name in STRICTEST
    }
    asked[OURS, "default"] = Asked(OURS, adapter=Ours)
    versions = {name: version_of(name) for name in installed()}
    versions[OURS] = version("kbnf-toolkit")
    with out.open("a", encoding="utf-8") as file:
        for path in sorted(folder.glob("*.json")):
            source = Source(path.read_text(encoding="utf-8"), path.name, is_json=True)
            for tool, _, schema in islice(schemas_of(source, TOOL_LIST), most):
                exams = {True: Exam(schema, closed=True, by_ours=False)}
                exams[False] = Exam(schema, closed=True)
                for (name, run), engine in asked.items():
                    if (path.stem, tool, name, run) in known:
                        continue
                    result = examine(exams[name == OURS], engine, seconds)
                    line = {
                        "server": path.stem, "tool": tool, "engine": name, "run": run,
                        "version": versions[name], "date": f"{datetime.now(UTC):%Y-%m-%d}",
                        "verdict": result.verdict, "stopped": result.stopped,
                        "seconds": result.answer.seconds, "bytes": result.answer.bytes,
                        "findings": [
                            [e.fault.value, e.pointer, e.keyword, e.witness, e.words]
                            for e in result.findings
                        ],
                    }  # fmt: skip
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")
                    file.flush()
            print(path.stem, flush=True)
    for engine in asked.values():
        engine.close()


@main.command()
@click.argument("out", type=click.Path(path_type=Path, exists=True))
@click.option("--page", type=click.Path(path_type=Path, exists=True), help="A page with the marks.")
def report(out: Path, page: Path | None) -> None:
    """Print the tables of OUT, or write them and the plot beside PAGE."""
    lines = lines_of(out)
    engines = list(dict.fromkeys((e["engine"], e["run"]) for e in lines))
    by_engine = {key: [e for e in lines if (e["engine"], e["run"]) == key] for key in engines}
    written = [*_lists(lines), "", *_verdicts(by_engine), "", *_constructs(by_engine)]
    text = "\n".join([*written, "", *_witnesses(by_engine), ""])
    if page is None:
        print(text)
        return
    fill(page, BEGIN, END, text)
    times = {
        name: np.array([1e3 * e["seconds"] for e in found])
        for (name, run), found in by_engine.items()
        if run == "default"
    }
    page.with_suffix(".svg").write_text(draw("compile a tool, ms", times), encoding="utf-8")


BEGIN, END = "<!-- made by benchmarks.engines_on_tools -->", "<!-- end of the tools -->"


def _title(key: tuple[str, str], found: Lines) -> str:
    name, run = key
    return f"{name} {found[0]['version']}" + (", strictest" if run == "strict" else "")


def _lists(lines: Lines) -> Iterator[str]:
    """Yield where the tools are from."""
    dates = sorted({e["date"] for e in lines})
    tools = Counter(server for server, _ in {(e["server"], e["tool"]) for e in lines})
    yield f"{tools.total():,} tools of {len(tools)} servers, asked from {dates[0]} to {dates[-1]}."
    yield ""
    yield "| server | package | licence | tools |"
    yield "|---|---|---|---|"
    for each in json.loads(SERVERS.read_text(encoding="utf-8"))["servers"]:
        if count := tools.pop(each["name"], 0):
            yield f"| {each['name']} | `{each['package']}` | {each['licence']} | {count} |"
    for name, count in tools.items():
        yield f"| {name} | a file | | {count} |"


def _verdicts(by_engine: ByEngine) -> Iterator[str]:
    """Yield how many tools have which worst verdict, and what compiling cost."""
    yield "| engine | tools | " + " | ".join(WORDS.values()) + " | p50 ms | p99 ms | most MB |"
    yield "|---" * (len(WORDS) + 5) + "|"
    for key, found in by_engine.items():
        counts = Counter(e["verdict"] for e in found)
        times = np.percentile([1e3 * e["seconds"] for e in found], (50, 99))
        most = max(e["bytes"] for e in found) / 2**20
        cells = " | ".join(f"{counts[word]}" for word in WORDS)
        costs = f"{times[0]:.1f} | {times[1]:.1f} | {most:.0f}"
        yield f"| {_title(key, found)} | {len(found)} | {cells} | {costs} |"


def _constructs(by_engine: ByEngine) -> Iterator[str]:
    """Yield the number of tools in which each keyword has which fault."""
    counts: dict[str, dict[Any, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for key, found in by_engine.items():
        for line in found:
            for fault, keyword in {(fault, keyword) for fault, _, keyword, *_ in line["findings"]}:
                counts[keyword][key][WORDS[fault]] += 1
    yield "| keyword | " + " | ".join(_title(key, each) for key, each in by_engine.items()) + " |"
    yield "|---" * (len(by_engine) + 1) + "|"
    for keyword, cells in sorted(counts.items()):
        row = [", ".join(f"{n} {w}" for w, n in sorted(cells[key].items())) for key in by_engine]
        yield f"| {f'`{keyword}`' if keyword else 'a whole schema'} | {' | '.join(row)} |"


def _witnesses(by_engine: ByEngine) -> Iterator[str]:
    """Yield the first tool of each engine, fault and keyword, with its document or message."""
    yield "| engine | fault | tool, pointer | document or message |"
    yield "|---|---|---|---|"
    for key, found in by_engine.items():
        known: set[tuple[str, str]] = set()
        for line in found if key[1] == "default" else ():
            for fault, pointer, keyword, witness, words in line["findings"]:
                if (fault, keyword) in known:
                    continue
                known.add((fault, keyword))
                where = f"{line['server']}: {line['tool']} {f'`{pointer}`' if pointer else ''}"
                said = shown(witness if witness is not None else words).replace("|", "\\|")
                yield f"| {key[0]} | {WORDS[fault]} | {where} | {said} |"


if __name__ == "__main__":
    main()
