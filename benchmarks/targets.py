"""How much of what engines do wrong with schemas is named by `kbnf check --target`.

``python -m benchmarks.targets FOLDER --seed N`` draws schemas of a maskbench folder: each file has
``schema`` and ``tests``, values that are ``valid`` or not. What an engine does with these shows its
faults: it refuses the schema, takes an invalid value, or rejects a valid one (in the order of the
schema's members; a value that our own engine rejects is left out, as is one of which ``jsonschema``
says otherwise than the file). A fault is *named* where there is a finding of its kind: for a value
that is taken, at the pointer of a keyword that it violates; for one that is rejected, at a place
that the value has, or that objects are closed. Every finding is asked about again. *Quiet* are the
schemas on which engine and ``jsonschema`` agree about random documents; *loud* those of them with a
finding that is no info.
"""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import click

from kbnf_core.languages.json_schema import Options
from kbnf_core.languages.json_schema.document import SchemaDocument
from kbnf_core.targets.engines import ENGINES
from kbnf_core.targets.exam import Exam, Examined, Fault, Finding, examine
from kbnf_core.targets.judges import Json, at, compact, pointer_to
from kbnf_core.targets.process import Asked, installed, version_of
from kbnf_core.targets.values import visits

LENGTHS = (8, 24, 60, 120)


@dataclass(slots=True)
class Count:
    """What was counted of one engine."""

    refused: int = 0
    refused_named: int = 0
    weak: int = 0
    weak_named: int = 0
    rejected: int = 0
    rejected_named: int = 0
    findings: int = 0
    replayed: int = 0
    quiet: int = 0
    loud: int = 0
    seconds: list[float] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)


def violated(judges: Any, value: Json) -> set[str]:
    """Return the pointers of the keywords that a value violates, those in branches included."""
    found: set[str] = set()
    pending = list(judges.validator.iter_errors(value))
    while pending:
        error = pending.pop()
        pending += error.context or ()
        found.add(_pointer(judges.schema, list(error.absolute_schema_path)))
    return found


def _pointer(schema: Json, path: list[str | int]) -> str:
    """Return the pointer of a path of ``jsonschema``, which leaves references out."""
    pointer, place = "", schema
    for step in path:
        while isinstance(place, dict) and step not in place:
            target = SchemaDocument(schema, Options()).target_in(place)
            if target is None:
                break
            pointer, place = target.pointer, target.value
        pointer += pointer_to(step)
        try:
            place = place[step]
        except (LookupError, TypeError):
            place = None
    return pointer


def judge(
    name: str, exam: Exam, tests: list[Any], asked: Asked, count: Count, random: Random
) -> None:
    """Ask an engine about the values of a file, and compare what is found."""
    began = time.process_time() + asked.spent()
    result = examine(exam, asked)
    count.seconds.append(time.process_time() + asked.spent() - began)
    count.findings += len(result.findings)
    if not result.answer.takes:
        count.refused += 1
        count.refused_named += result.verdict == Fault.REFUSES.value
        count.replayed += len(result.findings)
        return
    asked.compile(exam.text)
    count.replayed += sum(_replays(exam, asked, finding) for finding in result.findings)
    for test in tests:
        value, valid = test["data"], test["valid"]
        if exam.judges.fits(value) is not valid:
            continue
        is_taken = exam.takes(asked, value)
        if is_taken and not valid and exam.judges.we_take(compact(value)) is not True:
            count.weak += 1
            is_named = bool(_weak(result) & violated(exam.judges, value))
            count.weak_named += is_named
        elif not is_taken and valid and exam.judges.we_take(compact(value)):
            count.rejected += 1
            is_named = _explains(result, exam, value)
            count.rejected_named += is_named
        else:
            continue
        if not is_named:
            kind = "rejects" if valid else "takes"
            count.missed.append(f"{asked.name} {kind} in {name}: {compact(value)[:100]}")
    if _agrees(exam, asked, random):
        count.quiet += 1
        is_loud = any(each.fault is not Fault.COST for each in result.findings)
        count.loud += is_loud
        if is_loud:
            first = result.findings[0]
            count.missed.append(
                f"{asked.name} loud in {name}: {first.pointer} {first.witness}"[:160]
            )


def _replays(exam: Exam, asked: Asked, finding: Finding) -> bool:
    """Return whether a finding is true when it is asked about again."""
    if finding.witness is None:
        return True
    value, judges = json.loads(finding.witness), exam.judges
    if finding.fault is Fault.WEAK:
        named = at(judges.schema, finding.pointer)
        alone = finding.keyword == "format" and not judges.knows_format(named)
        return asked.accepts(finding.witness) and judges.are_against(
            value, finding.witness, ours_alone=alone
        )
    return not exam.takes(asked, value) and exam.judges.fits(value) is not False


def _weak(result: Examined) -> set[str]:
    return {each.pointer for each in result.findings if each.fault is Fault.WEAK}


def _explains(result: Examined, exam: Exam, value: Json) -> bool:
    """Return whether a finding about rejected documents is at a place that a value has."""
    rejects = [each for each in result.findings if each.fault is Fault.REJECTS]
    if any(each.keyword == "additionalProperties" for each in rejects):
        return True
    places = {visit.pointer for visit in visits(exam.judges, value)}
    return any(each.pointer.removesuffix(pointer_to(each.keyword)) in places for each in rejects)


def _agrees(exam: Exam, asked: Asked, random: Random, number: int = 200) -> bool:
    """Return whether engine and validator agree about random documents, valid and not."""
    return all(
        exam.takes(asked, value) == exam.judges.fits(value)
        for value in _documents(exam, random, number)
    )


def _documents(exam: Exam, random: Random, number: int) -> Iterator[Json]:
    if exam.judges.ours is None:
        return
    texts = exam.judges.ours.drawn((random.choice(LENGTHS) for _ in range(number // 2)), random)
    for text in texts:
        try:
            value = json.loads(text)
        except ValueError:
            continue
        yield value
        yield _changed(value, random)


def _changed(value: Json, random: Random) -> Json:
    """Return a value with one part changed at random."""
    others: list[Json] = [None, 0, "x", [], {}, True, -5, "", 1.5]
    if isinstance(value, dict) and value and random.random() < 0.9:
        name = random.choice(list(value))
        if random.random() < 0.3:
            return {key: held for key, held in value.items() if key != name}
        return {key: _changed(held, random) if key == name else held for key, held in value.items()}
    if isinstance(value, list) and value and random.random() < 0.9:
        place = random.randrange(len(value))
        return [*value[:place], _changed(value[place], random), *value[place + 1 :]]
    return random.choice(others)


def report(counts: dict[str, Count], schemas: int) -> None:
    """Print a row for each engine."""
    print(f"{schemas} schemas")
    print(
        "| engine | refused, named | invalid taken, named | valid rejected, named | findings,"
        " replayed | quiet, loud | p50 s | p99 s |\n|---|---|---|---|---|---|---|---|"
    )
    for name, each in counts.items():
        times = sorted(each.seconds)
        p50, p99 = (times[int(part * (len(times) - 1))] for part in (0.5, 0.99))
        print(
            f"| {name} {version_of(name)} | {each.refused}, {each.refused_named} | {each.weak},"
            f" {each.weak_named} | {each.rejected}, {each.rejected_named} | {each.findings},"
            f" {each.replayed} | {each.quiet}, {each.loud} | {p50:.2f} | {p99:.2f} |"
        )
    for each in counts.values():
        for line in each.missed:
            print(f"  not named: {line}")


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.option("--seed", default=1, help="Random seed of the draw.")
@click.option("--sample", default=300, help="Schemas to draw; 0 takes all.")
@click.option("--engine", "engines", multiple=True, type=click.Choice(list(ENGINES)))
def main(folder: Path, seed: int, sample: int, engines: tuple[str, ...]) -> None:
    """Draw schemas of FOLDER and compare what engines do with what is found."""
    random = Random(seed)  # noqa: S311 - the seed is said
    files = sorted(folder.glob("*.json"))
    if sample:
        files = sorted(random.sample(files, min(sample, len(files))))
    asked = {name: Asked(name) for name in engines or installed()}
    counts = {name: Count() for name in asked}
    for file in files:
        data = json.loads(file.read_text(encoding="utf-8"))
        exam = Exam(data["schema"])
        for name, engine in asked.items():
            judge(file.stem, exam, data["tests"], engine, counts[name], random)
    report(counts, len(files))
    for engine in asked.values():
        engine.close()


if __name__ == "__main__":
    main()
