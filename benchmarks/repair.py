"""Repair beside json_repair: ``python -m benchmarks.repair [FOLDER] --seed N``.

Valid documents of a folder like maskbench's, drawn by the seed, are damaged in several ways and
repaired by ``Grammar.repair`` and by json_repair, plainly and with the schema. What counts: whether
the document comes back, whether what comes is valid by jsonschema, and the time of the processor.

Damages: ``structural`` loses one bracket, comma, colon or quote outside of strings; ``one`` is a
random edit (insertion, deletion, replacement or swap, at any place); ``two`` are two; ``seen``
are two of which each makes the text wrong by itself and neither loses a free character: a letter
or digit in whose place others fit; ``cut`` ends the text anywhere.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median
from time import process_time
from typing import Any

import click

from benchmarks.drawn import default_cases
from kbnf_core import Grammar
from kbnf_core.text.errors import KbnfError, WorkLimitError

DOCUMENTS = 250
LONGEST = 20_000
SIGNS = '{}[],:"'
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789 {}[],:\"'\\-.\n"
TRIES = 60
"""Damages that are drawn before a document is said to allow for none of a kind."""


@dataclass(frozen=True)
class Document:
    """A schema, its grammar and a valid text."""

    schema: Any
    grammar: Grammar
    text: str


def documents(folder: Path | None, seed: int) -> list[Document]:
    """Return the documents drawn, of schemas that can be kept."""
    found: list[Document] = []
    for case in default_cases(folder, seed):
        try:
            grammar = Grammar.from_json_schema(case.schema)
        except (KbnfError, OverflowError):
            continue
        for text, valid in case.values:
            fits = valid and len(text) <= LONGEST and grammar.status(text) == "fits"
            if fits and is_valid(case.schema, text):
                found.append(Document(case.schema, grammar, text))
        if len(found) >= DOCUMENTS:
            break
    return found[:DOCUMENTS]


def is_valid(schema: Any, text: str) -> bool:
    """Return whether a text is JSON that jsonschema takes."""
    from jsonschema.validators import validator_for

    try:
        return bool(validator_for(schema)(schema).is_valid(json.loads(text)))
    except (ValueError, RecursionError):
        return False


def outside_strings(text: str) -> list[int]:
    """Return the places of signs that are no content of a string."""
    found, inside, escaped = [], False, False
    for place, character in enumerate(text):
        if inside and escaped:
            escaped = False
        elif inside and character == "\\":
            escaped = True
        elif character == '"':
            inside = not inside
            found.append(place)
        elif not inside and character in SIGNS:
            found.append(place)
    return found


def lose_sign(document: Document, random: Random) -> str | None:
    """Return the text without one structural character."""
    places = outside_strings(document.text)
    if not places:
        return None
    place = random.choice(places)
    return document.text[:place] + document.text[place + 1 :]


@dataclass(frozen=True)
class Change:
    """An edit at a place: how many characters it takes, and what it writes."""

    place: int
    taken: int
    written: str

    def apply(self, text: str) -> str:
        """Return the text with the edit."""
        return text[: self.place] + self.written + text[self.place + self.taken :]


def draw_change(text: str, random: Random) -> Change:
    """Return a random edit."""
    place = random.randrange(len(text))
    kind = random.randrange(4 if place + 1 < len(text) else 3)
    if kind == 3:
        return Change(place, 2, text[place + 1] + text[place])
    return Change(place, int(kind > 0), "" if kind == 1 else random.choice(LETTERS))


def is_seen(document: Document, change: Change) -> bool:
    """Return whether an edit makes the text wrong and loses no free character."""
    text = document.text
    if document.grammar.status(change.apply(text)) != "wrong":
        return False
    for place in range(change.place, change.place + (change.taken if change.taken == 1 else 0)):
        others = {"a": "bxqz", "0": "1357"}["0" if text[place].isdigit() else "a"]
        for other in others if text[place].isalnum() else "":
            kept = text[:place] + other + text[place + 1 :]
            if other != text[place] and document.grammar.status(kept) == "fits":
                return False
    return True


def change_once(document: Document, random: Random) -> str | None:
    """Return the text after a random edit."""
    return draw_change(document.text, random).apply(document.text)


def change_twice(document: Document, random: Random) -> str | None:
    """Return the text after two random edits at different places."""
    return _both(document, random, lambda _: True)


def change_seen(document: Document, random: Random) -> str | None:
    """Return the text after two random edits that are seen."""
    return _both(document, random, lambda change: is_seen(document, change))


def _both(document: Document, random: Random, fits: Callable[[Change], bool]) -> str | None:
    chosen: list[Change] = []
    for _ in range(TRIES):
        change = draw_change(document.text, random)
        if fits(change) and all(abs(change.place - each.place) > 2 for each in chosen):
            chosen.append(change)
        if len(chosen) == 2:
            last, first = sorted(chosen, key=lambda each: -each.place)
            return first.apply(last.apply(document.text))
    return None


def cut(document: Document, random: Random) -> str | None:
    """Return the beginning of the text."""
    return document.text[: random.randrange(len(document.text))]


DAMAGES: dict[str, Callable[[Document, Random], str | None]] = {
    "structural": lose_sign,
    "one": change_once,
    "two": change_twice,
    "seen": change_seen,
    "cut": cut,
}


@dataclass
class Score:
    """What became of the damaged texts."""

    texts: int = 0
    restored: int = 0
    valid: int = 0
    refused: int = 0
    milliseconds: list[float] = field(default_factory=list)

    def add(self, document: Document, found: str | None, seconds: float, size: int) -> None:
        """Count an answer; None is a refusal."""
        self.texts += 1
        self.milliseconds.append(seconds * 1e3 / max(size / 1024, 0.25))
        if found is None:
            self.refused += 1
            return
        self.restored += _same(found, document.text)
        self.valid += is_valid(document.schema, found)

    def line(self, name: str) -> str:
        """Return the line of the report."""
        answers = max(self.texts - self.refused, 1)
        times = sorted(self.milliseconds)
        return (
            f"{name:28} {self.texts:5} {self.restored / max(self.texts, 1):7.1%}"
            f" {self.valid / answers:8.1%} {self.refused:8}"
            f" {median(times):8.2f} {times[int(len(times) * 0.99)]:8.1f}"
        )


def _same(one: str, other: str) -> bool:
    try:
        return bool(json.loads(one) == json.loads(other))
    except (ValueError, RecursionError):
        return False


def ours(document: Document, text: str) -> str | None:
    """Return the nearest text, None for a refusal."""
    try:
        found = document.grammar.repair(text)
    except WorkLimitError:
        return None
    return found[0].text if found else None


def theirs(document: Document, text: str) -> str | None:
    """Return json_repair's answer."""
    from json_repair import repair_json

    del document
    try:
        return str(repair_json(text))
    except Exception:
        return None


def theirs_with_schema(document: Document, text: str) -> str | None:
    """Return json_repair's answer in its schema mode."""
    from json_repair import repair_json

    try:
        return str(repair_json(text, schema=document.schema))
    except Exception:
        return None


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), required=False)
@click.option("--seed", default=1, show_default=True)
@click.option("--peers/--no-peers", default=True, show_default=True, help="Ask json_repair.")
def run(folder: Path | None, seed: int, peers: bool) -> None:
    """Damage documents, and compare what repairs them."""
    drawn = documents(folder, seed)
    engines = {"kbnf": ours}
    if peers:
        engines |= {"json_repair": theirs, "json_repair with schema": theirs_with_schema}
    print(f"{len(drawn)} documents, seed {seed}, {sum(len(d.text) for d in drawn):,} characters")
    print(f"{'':28} texts restored  valid of   refused  ms a KB: p50, p99")
    for name, damage in DAMAGES.items():
        scores = {engine: Score() for engine in engines}
        random = Random(f"{seed} {name}")  # noqa: S311 - the same damages every time
        repaired = 0
        for document in drawn:
            text = damage(document, random)
            if text is None:
                continue
            for engine, repair in engines.items():
                begin = process_time()
                found = repair(document, text)
                scores[engine].add(document, found, process_time() - begin, len(text))
            if name == "cut" and text:
                edits = document.grammar.repair(text)[0].edits
                repaired += any(edit.kind != "complete" for edit in edits)
        for engine, score in scores.items():
            print(score.line(f"{name}: {engine}"))
        if name == "cut":
            print(f"cut texts that were repaired, not completed: {repaired}")


if __name__ == "__main__":
    run()
