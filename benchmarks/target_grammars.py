"""How much of what engines do wrong with grammars is named by `kbnf check --target`.

``python -m benchmarks.target_grammars FILE... [--seed N] [--sample N]`` takes grammars in KBNF,
GBNF and Lark; a folder has those below it, of which ``--sample`` are drawn in each language. The
texts that decide are not those that the check makes: the samples beside a file
(``NAME.samples.json`` or ``NAME.examples.toml``: ``accept`` and ``reject``) and texts drawn with
another seed, with one character changed. An engine is at *fault* with a grammar where it refuses
it, rejects a text of its language or takes another one; the fault is *named* where the check
reports one of its kind.
"""

import json
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import click

from kbnf_core.grammar import Grammar
from kbnf_core.targets.engines import ENGINES
from kbnf_core.targets.exam import Fault, examine_grammar, near_misses
from kbnf_core.targets.judges import GrammarTexts
from kbnf_core.targets.process import Asked, installed, version_of
from kbnf_core.text.errors import KbnfError

LANGUAGES = ("kbnf", "gbnf", "lark")
LENGTHS = (8, 16, 32, 64) * 5


def grammars(files: tuple[Path, ...], sample: int, random: Random) -> Iterator[Path]:
    """Yield the files, and of folders as many in each language as are drawn."""
    for file in files:
        if file.is_file():
            yield file
    for language in LANGUAGES:
        found = [each for file in files if file.is_dir() for each in file.rglob(f"*.{language}")]
        usable = [each for each in sorted(found) if _read(each) is not None]
        yield from sorted(random.sample(usable, min(sample, len(usable))))


def _read(path: Path) -> Grammar | None:
    try:
        return Grammar.from_file(path)
    except (KbnfError, OSError):
        return None


def samples(path: Path) -> list[str]:
    """Return the texts beside a file, those that fit and those that do not."""
    beside = path.with_suffix(".samples.json")
    if beside.exists():
        held = json.loads(beside.read_text(encoding="utf-8"))
    else:
        beside = path.with_suffix(".examples.toml")
        held = tomllib.loads(beside.read_text(encoding="utf-8")) if beside.exists() else {}
    listed = [*held.get("accept", ()), *held.get("reject", ())]
    texts = [each["text"] if isinstance(each, dict) else each for each in listed]
    return [each for each in texts if isinstance(each, str)]


def faults(texts: list[str], ours: GrammarTexts, asked: Asked) -> dict[Fault, str]:
    """Return the kinds of faults that an engine has with some texts, and a text for each."""
    found: dict[Fault, str] = {}
    for text in texts:
        is_ours = ours.has(text)
        if asked.accepts(text) is not is_ours:
            found.setdefault(Fault.REJECTS if is_ours else Fault.WEAK, text)
    return found


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--seed", default=1, help="Random seed of the draw and of the texts.")
@click.option("--sample", default=30, help="Grammars to draw in each language.")
@click.option("--engine", "engines", multiple=True, type=click.Choice(list(ENGINES)))
def main(files: tuple[Path, ...], seed: int, sample: int, engines: tuple[str, ...]) -> None:
    """Compare what engines do with grammars with what is found about them."""
    random = Random(seed)  # noqa: S311 - the seed is said
    panel = {name: Asked(name) for name in engines or installed() if ENGINES[name].language}
    counts: dict[tuple[str, str], Counter[str]] = {}
    lines: list[str] = []
    for path in grammars(files, sample, random):
        grammar = _read(path)
        assert grammar is not None  # noqa: S101 - only those that are read are drawn
        ours = GrammarTexts(grammar)
        drawn = list(ours.drawn(LENGTHS, random))
        # Over bytes there are no tokens that a grammar may name.
        beside = [] if grammar.tables.token_terminals else samples(path)
        texts = [*beside, *drawn, *near_misses(drawn, random)]
        for name, asked in panel.items():
            count = counts.setdefault((grammar.language.name, name), Counter())
            count["grammars"] += 1
            result = examine_grammar(grammar, asked)
            if result is None:
                count["not written"] += 1
                continue
            named = {each.fault: each for each in result.findings}
            shown = {Fault.REFUSES: ""} if not result.answer.takes else faults(texts, ours, asked)
            for fault in named.keys() | shown.keys():
                count[fault.value] += 1
                is_named = fault in named
                count[f"{fault.value} named"] += is_named
                said = named[fault].words or named[fault].witness if is_named else shown[fault]
                mark = "named" if is_named else "NOT NAMED"
                lines.append(f"{mark}: {name} {fault.value} {path.name}: {said!r}"[:170])
    print(f"seed {seed}")
    kinds = " | ".join(f"{fault}, named" for fault in ("refuses", "weak", "rejects"))
    print(f"| language | engine | grammars | asked | {kinds} |\n|---|---|---|---|---|---|---|")
    for (language, name), count in counts.items():
        cells = (f"{count[f]}, {count[f'{f} named']}" for f in ("refuses", "weak", "rejects"))
        asked_about = count["grammars"] - count["not written"]
        print(
            f"| {language} | {name} {version_of(name)} | {count['grammars']} | {asked_about} |"
            f" {' | '.join(cells)} |"
        )
    print("\n".join(lines))
    for asked in panel.values():
        asked.close()


if __name__ == "__main__":
    main()
