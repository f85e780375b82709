"""Reads the grammars of antlr/grammars-v4, and matches their example files.

    python -m benchmarks.antlr FOLDER [--only NAME] [--jobs 2] [--plain]

FOLDER is a checkout. Each grammar is read in a process with limits of time and memory; printed
are a line for each grammar that is refused, or refuses an example, and the counts. A grammar is
*combined* (one file) or a parser with its lexer; those with code that decides (predicates, `more`)
are counted apart; ``--plain`` leaves these and parsers of two files out.
"""

import argparse
import json
import re
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

SECONDS, MEMORY = 20, 2 * 2**30
"""Limits of CPU seconds and bytes for a grammar and its examples."""

MOST_EXAMPLES, LARGEST = 8, 60_000
"""Example files for each grammar, and their bytes."""

_CODE = re.compile(r"\}\s*\?|superClass|->\s*more|@(?:lexer::|parser::)?members")


def grammars(folder: Path) -> Iterator[Path]:
    """Yield the grammars that have rules of a parser."""
    for path in sorted(folder.rglob("*.g4")):
        head = path.read_text("utf-8", "replace")
        if "/examples/" in str(path) or re.search(r"^\s*lexer\s+grammar", head, re.MULTILINE):
            continue
        if re.search(r"^\s*(?:parser\s+)?grammar\s+\w+\s*;", head, re.MULTILINE):
            yield path


def examples(path: Path) -> list[Path]:
    """Return some example files of a grammar."""
    folders = [path.parent / "examples", path.parent.parent / "examples"]
    folder = next((each for each in folders if each.is_dir()), None)
    files = sorted(folder.rglob("*")) if folder else []
    plain = [
        each
        for each in files
        if each.is_file()
        and not each.with_name(f"{each.name}.errors").exists()
        and each.suffix not in {".errors", ".tree", ".md", ".g4", ".ignore", ".sh"}
        and 0 < each.stat().st_size <= LARGEST
    ]
    return plain[:: max(1, len(plain) // MOST_EXAMPLES)][:MOST_EXAMPLES]


def look_at(path: Path) -> dict[str, Any]:
    """Read a grammar, and match its examples; called in a process of its own."""
    from kbnf_core import Grammar, GrammarError
    from kbnf_core.languages import ANTLR

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    start = entry(path)
    try:
        grammar = Grammar.read(
            path.read_text("utf-8-sig"), ANTLR, path=str(path), start=start, lossy=True
        )
    except GrammarError as error:
        return {"refused": str(error.diagnostics[0].code), "why": error.diagnostics[0].message}
    except UnicodeDecodeError:
        return {"refused": "E009", "why": "not UTF-8"}
    misfits = []
    files = examples(path)
    for file in files:
        data = file.read_bytes()
        status = grammar.status(data)
        if status != "fits":
            place = _place(grammar, data) if status == "wrong" else status
            misfits.append(f"{file.name}@{place}")
    return {
        "examples": len(files),
        "misfits": misfits,
        "losses": sorted({loss.code for loss in grammar.losses}),
    }


def _place(grammar: Any, data: bytes) -> str:
    from kbnf_core import ParseError

    try:
        grammar.complete(data)
    except ParseError as error:
        before = data[: error.offset].decode("utf-8", "replace")
        return f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}"
    return "?"


def entry(path: Path) -> str | None:
    """Return the start that the folder's description names."""
    description = path.parent / "desc.xml"
    pom = path.parent / "pom.xml"
    for file in (description, pom):
        if file.exists():
            found = re.search(r"<entry-?[pP]oint>\s*(\w+)\s*<", file.read_text("utf-8", "replace"))
            if found:
                return found[1]
    return None


def one(path: Path) -> tuple[Path, dict[str, Any]]:
    """Return what a process says of a grammar."""
    command = [sys.executable, "-m", "benchmarks.antlr", "--one", str(path)]
    try:
        result = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=4 * SECONDS
        )
    except subprocess.TimeoutExpired:
        return path, {"refused": "time", "why": "no answer"}
    if result.returncode:
        why = (result.stderr.strip().splitlines() or ["killed"])[-1]
        return path, {"refused": "failed", "why": f"exit {result.returncode}: {why[:150]}"}
    answer: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return path, answer


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(look_at(options.folder)))
        return
    counts: Counter[str] = Counter()
    chosen = [path for path in grammars(options.folder) if options.only in str(path)]
    if options.plain:
        texts = {path: path.read_text("utf-8", "replace") for path in chosen}
        chosen = [
            path
            for path in chosen
            if not (_CODE.search(texts[path]) or "tokenVocab" in texts[path])
        ]
    with ThreadPoolExecutor(options.jobs) as pool:
        for path, answer in pool.map(one, chosen):
            text = path.read_text("utf-8", "replace")
            kind = "with code" if _CODE.search(text) else "plain"
            kind = f"{kind}, {'two files' if 'tokenVocab' in text else 'combined'}"
            counts[f"{kind}: grammars"] += 1
            name = path.relative_to(options.folder)
            if "refused" in answer:
                print(f"refused {name}: {answer['refused']} {answer['why']}", flush=True)
                continue
            counts[f"{kind}: read"] += 1
            counts[f"{kind}: examples"] += answer["examples"]
            counts[f"{kind}: examples that fit"] += answer["examples"] - len(answer["misfits"])
            if answer["misfits"]:
                print(f"misfits {name}: {', '.join(answer['misfits'][:4])}", flush=True)
    for kind, count in sorted(counts.items()):
        print(f"{kind}: {count}")


if __name__ == "__main__":
    main()
