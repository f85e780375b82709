"""What of JSON Schema is kept: verdicts on schemas with values that are valid or not.

``python -m benchmarks.coverage maskbench FOLDER`` draws schemas of a maskbench folder;
``python -m benchmarks.coverage suite FOLDER`` runs the required tests of a checkout of
JSON-Schema-Test-Suite, all drafts; ``python -m benchmarks.coverage samples FOLDER`` draws texts of
schemas of a maskbench folder and gives them to two validators; ``python -m benchmarks.coverage
texts FOLDER`` checks the texts of converted schemas, which have no finding. A schema *passes* where
every valid value is accepted and every invalid one is not. A valid value that is accepted once its
members are put into the order in which the schema names them is one of *order*, which is counted
apart: members come in the declared order.
"""

import copy
import json
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any, TextIO

import click

from benchmarks.maskbench import Case, grammar_of, read_case
from benchmarks.measure import resident
from kbnf_core import Engine, Grammar, Vocabulary, check
from kbnf_core.languages.json_schema import VALIDATOR, Options, Order, SchemaLimits, Whitespace
from kbnf_core.text.errors import EmptyGrammarError, EngineError, KbnfError

PASS_BAR, TIME_BAR = 0.96, 5.0
MOST_ORDERS = 6
MOST_TRIES = 20_000
BYTES = Vocabulary.bytes()
DIALECTS = {
    "draft3": "http://json-schema.org/draft-03/schema#",
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
UNSATISFIABLE = "E803"
SAMPLE_LENGTHS = (8, 32, 96, 256)
VALID, INVALID, IN_DOUBT = "valid", "not valid", "valid to one validator only"
NUMBER = re.compile(r"-?[0-9][0-9.eE+-]*")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


@dataclass(slots=True)
class Outcome:
    """What became of the values of a case; ``refusal`` is the reason where it was refused."""

    refusal: str = ""
    code: str = ""
    seconds: float = 0.0
    states: int = 0
    passed: int = 0
    reordered: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def verdict(self) -> str:
        """The worst that happened, in one word."""
        if self.refusal:
            return "refused"
        found = ("wrong", self.wrong), ("left out", self.left_out), ("order", self.reordered)
        return next((word for word, values in found if values), "pass")


def judge(case: Case, options: Options) -> Outcome:
    """Convert a schema and try its values."""
    outcome = Outcome()
    began = time.process_time()
    grammar: Grammar | None = None
    try:
        grammar = grammar_of(json.dumps(case.schema), options)
        Engine(grammar, BYTES).get_allowed_token_ids_from_last_computation()
    except EmptyGrammarError:
        pass
    except KbnfError as error:
        found = getattr(error, "diagnostics", ())
        outcome.code = found[0].code if found else type(error).__name__
        if outcome.code != UNSATISFIABLE:
            outcome.refusal = " ".join(str(error).split())
    outcome.seconds = time.process_time() - began
    outcome.states = 0 if grammar is None else grammar.tables.state_count
    if outcome.refusal:
        return outcome
    orders = declared_orders(case.schema)
    for text, valid in case.values:
        accepted = grammar is not None and accepts(grammar, text)
        if accepted == valid:
            outcome.passed += 1
        elif accepted:
            outcome.wrong.append(text)
        elif grammar is not None and in_accepted_order(grammar, text, orders):
            outcome.reordered.append(text)
        else:
            outcome.left_out.append(text)
    return outcome


def accepts(grammar: Grammar, text: str) -> bool:
    """Return whether a grammar takes a whole text."""
    engine = Engine(grammar, BYTES)
    try:
        engine.try_accept_new_bytes(text.encode(errors="surrogatepass"))
    except EngineError:
        return False
    return engine.is_finished() or engine.can_finish()


def declared_orders(schema: Any) -> list[list[str]]:
    """Return the names of every ``properties`` of a schema, in their order."""
    found = []
    pending = [schema]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            if isinstance(value.get("properties"), dict):
                found.append(list(value["properties"]))
            pending += reversed(list(value.values()))
        elif isinstance(value, list):
            pending += reversed(value)
    return found


def in_accepted_order(grammar: Grammar, text: str, orders: Sequence[Sequence[str]]) -> str | None:
    """Return a value with the members of its objects in an order that is accepted; None for none.

    Tried first, for each object, is the order of the ``properties`` that have most of its names.
    """
    found = _Ordered(orders).written(_Text(Engine(grammar, BYTES)), json.loads(text))
    if found is None or not (found.engine.is_finished() or found.engine.can_finish()):
        return None
    return found.text


@dataclass(frozen=True, slots=True)
class _Text:
    """A text and the engine after it."""

    engine: Engine
    text: str = ""

    def read(self, more: str) -> "_Text | None":
        """Return the text with more of it; None where that is not accepted."""
        engine = copy.copy(self.engine)
        try:
            engine.try_accept_new_bytes(more.encode(errors="surrogatepass"))
        except EngineError:
            return None
        return _Text(engine, self.text + more)


class _Ordered:
    """Looks for an order of the members of a value, with ``MOST_TRIES`` members tried."""

    def __init__(self, orders: Sequence[Sequence[str]]) -> None:
        self._orders = orders
        self._tries = MOST_TRIES

    def written(self, before: _Text, value: Any) -> _Text | None:
        """Return the text with a value; None where no order that was tried is accepted."""
        if isinstance(value, dict):
            found = before.read("{")
            orders = self._in_orders(value)
            tried = (found and self._in_this_order(found, members) for members in orders)
            return next(filter(None, tried), None) or (
                found and self._members(found, orders[0], "")
            )
        if not isinstance(value, list):
            return before.read(json.dumps(value, ensure_ascii=False))
        found = before.read("[")
        for place, item in enumerate(value):
            found = found and found.read(", " if place else "")
            found = found and self.written(found, item)
        return found and found.read("]")

    def _in_this_order(self, before: _Text, members: list[tuple[str, Any]]) -> _Text | None:
        found: _Text | None = before
        for place, member in enumerate(members):
            found = found and self._member(found, member, ", " if place else "")
        return found and found.read("}")

    def _member(self, before: _Text, member: tuple[str, Any], comma: str) -> _Text | None:
        self._tries -= 1
        if self._tries < 0:
            return None
        found = before.read(f"{comma}{json.dumps(member[0], ensure_ascii=False)}: ")
        return found and self.written(found, member[1])

    def _members(self, before: _Text, members: list[tuple[str, Any]], comma: str) -> _Text | None:
        if not members:
            return before.read("}")
        for place, member in enumerate(members):
            found = self._member(before, member, comma)
            rest = [*members[:place], *members[place + 1 :]]
            found = found and self._members(found, rest, ", ")
            if found:
                return found
        return None

    def _in_orders(self, value: dict[str, Any]) -> list[list[tuple[str, Any]]]:
        """Return the members in some orders: each is of one ``properties``, and then of others."""
        near = sorted(self._orders, key=lambda order: -len(value.keys() & set(order)))[:MOST_ORDERS]
        found: dict[tuple[str, ...], None] = {}
        for order in [*near, []]:
            # What the order does not name comes as others have it, else as it was written.
            wanted = dict.fromkeys([*order, *chain.from_iterable(near), *value])
            found[tuple(name for name in wanted if name in value)] = None
        return [[(name, value[name]) for name in names] for names in found]


def report(cases: Sequence[Case], outcomes: Sequence[Outcome]) -> None:
    """Print counts, reasons, and what took long."""
    verdicts = Counter(outcome.verdict for outcome in outcomes)
    print(", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()))
    for case, outcome in zip(cases, outcomes, strict=True):
        texts = outcome.wrong or outcome.left_out or outcome.reordered
        if outcome.verdict != "pass":
            print(f"  {outcome.verdict}: {case.name}: {(outcome.refusal or texts[0])[:200]}")
    times = sorted(outcome.seconds for outcome in outcomes)
    slowest = max(zip((o.seconds for o in outcomes), (c.name for c in cases), strict=True))
    middle, late = times[len(times) // 2], times[len(times) * 99 // 100]
    print(f"p50 {middle:.3f} s, p99 {late:.2f} s, slowest {slowest[0]:.2f} s ({slowest[1]})")


@click.group()
def main() -> None:
    """Count what of JSON Schema is kept."""


@main.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.option("--sample", default=1_000, help="Schemas to draw; 0 takes all.")
@click.option("--seed", default=14, help="Where the draw begins.")
@click.option("--skip", type=click.Path(path_type=Path), help="A folder whose files are not drawn.")
@click.option("--only", type=click.File(encoding="utf-8"), help="Names of the schemas, one a line.")
@click.option("--order", type=click.Choice([order.value for order in Order]), default="declared")
@click.option("--orders", default=8, help="Properties that come in any order, with --order any.")
@click.option("--as-validator", is_flag=True, help="With the options of a validator.")
def maskbench(
    folder: Path,
    sample: int,
    seed: int,
    skip: Path | None,
    only: TextIO | None,
    order: str,
    orders: int,
    as_validator: bool,
) -> None:
    """Draw schemas of FOLDER; the status is 1 below the bars."""
    known = {path.name for path in skip.glob("*.json")} if skip else set()
    named = [f"{name.strip()}.json" for name in only] if only else None
    cases = [read_case(folder / each) for each in named or drawn_names(folder, sample, seed, known)]
    options = replace(
        VALIDATOR if as_validator else Options(),
        order=Order(order),
        limits=SchemaLimits(orders=orders),
    )
    outcomes = [judge(case, options) for case in cases]
    report(cases, outcomes)
    states = [outcome.states for outcome in outcomes]
    print(f"{sum(states):,} states, of one grammar {max(states):,} at most")
    print(f"{resident():,.0f} MB at the end, {resident('VmHWM'):,.0f} at most")
    verdicts = Counter(outcome.verdict for outcome in outcomes)
    slow = any(outcome.seconds > TIME_BAR for outcome in outcomes)
    print(
        f"{(verdicts['pass']) / len(cases):.1%} pass, "
        f"{(verdicts['pass'] + verdicts['order']) / len(cases):.1%} in any order"
    )
    kept = (verdicts["pass"] + verdicts["order"]) / len(cases)
    sys.exit(kept < PASS_BAR or verdicts["wrong"] > 0 or slow)


@main.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.option("--sample", default=1_000, help="Schemas to draw; 0 takes all.")
@click.option("--seed", default=14, help="Where the draw begins.")
def texts(folder: Path, sample: int, seed: int) -> None:
    """Check the texts of converted schemas of FOLDER; the status is 1 where one has a finding."""
    names = drawn_names(folder, sample, seed)
    counts: Counter[str] = Counter()
    for name in names:
        case = read_case(folder / name)
        try:
            text = grammar_of(json.dumps(case.schema)).to_kbnf()
        except KbnfError:
            counts["refused"] += 1
            continue
        codes = sorted({each.code for each in check(text, "schema.kbnf")})
        counts["with a finding" if codes else "without a finding"] += 1
        if codes:
            print(f"  {case.name}: {', '.join(codes)}")
    print(", ".join(f"{count:,} {what}" for what, count in sorted(counts.items())))
    sys.exit(counts["with a finding"] > 0)


def drawn_names(
    folder: Path, sample: int, seed: int, known: Collection[str] = frozenset()
) -> list[str]:
    """Return the names of schemas of a folder: ``sample`` of those not ``known``, or all."""
    names = sorted(path.name for path in folder.glob("*.json") if path.name not in known)
    if not sample:
        return names
    return sorted(Random(seed).sample(names, min(sample, len(names))))  # noqa: S311 - the seed is said


@main.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.option("--number", default=10_000, help="Texts to draw.")
@click.option("--seed", default=14, help="Where the draw begins.")
def samples(folder: Path, number: int, seed: int) -> None:
    """Draw texts of schemas of FOLDER; the status is 1 where both validators refuse one."""
    random = Random(seed)  # noqa: S311 - the seed is said
    names = sorted(path.name for path in folder.glob("*.json"))
    counts: Counter[str] = Counter()
    while counts["texts"] < number:
        case = read_case(folder / random.choice(names))
        try:
            grammar = grammar_of(json.dumps(case.schema))
            engine = Engine(grammar, BYTES)
        except KbnfError:
            counts["schemas refused"] += 1
            continue
        counts["schemas"] += 1
        judges = list(validators(case.schema))
        counts["judges that do not take a schema"] += 2 - len(judges)
        for length in SAMPLE_LENGTHS:
            verdict, text = judge_sample(engine, judges, random, length)
            counts["texts"] += 1
            counts[verdict] += 1
            if verdict in (INVALID, IN_DOUBT):
                print(f"  {verdict}: {case.name}: {text[:300]}")
    print(", ".join(f"{count:,} {what}" for what, count in sorted(counts.items())))
    sys.exit(counts[INVALID] > 0)


def validators(schema: Any) -> Iterator[Any]:
    """Yield those of jsonschema and jsonschema-rs, where they take the schema; without formats."""
    python, rust = import_module("jsonschema.validators"), import_module("jsonschema_rs")
    chosen: Callable[..., Any] = python.validator_for(schema, default=python.Draft202012Validator)
    for make in (chosen, partial(rust.validator_for, validate_formats=False)):
        with warnings.catch_warnings(action="ignore"):
            try:
                judge = make(schema)
                judge.is_valid(None)
            except Exception:  # noqa: S112 - whatever stops it, it is no judge
                continue
        yield judge


def judge_sample(
    engine: Engine, judges: Sequence[Any], random: Random, length: int
) -> tuple[str, str]:
    r"""Return what became of a text that is drawn, and the text.

    Numbers that doubles do not hold are others to a validator. Validators differ, too: to
    jsonschema regular expressions are Python's (`$` matches before a last line break, `\s` lacks
    U+FEFF), and an inner `$schema` counts.
    """
    drawn = engine.sample(random, length)
    tokens = [each for each in drawn.tokens if each not in BYTES.eos_token_ids]
    text = BYTES.decode(tokens).decode()
    if not drawn.is_complete:
        return "without an end", text
    value = json.loads(text)
    if not all(map(is_double, NUMBER.findall(STRING.sub("", text)))):
        return "with a number that no double is", text
    try:
        verdicts = {judge.is_valid(value) for judge in judges}
    except Exception as error:
        return f"not judged ({type(error).__name__})", text
    return {(True,): VALID, (False,): INVALID}.get(tuple(verdicts), IN_DOUBT), text


def is_double(literal: str) -> bool:
    """Return whether a double has just the value of a number."""
    try:
        return Decimal(repr(float(literal))) == Decimal(literal)
    except InvalidOperation:
        return False


@main.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.option("--lossy", is_flag=True, help="Drop what no grammar keeps.")
@click.option("--verbose", is_flag=True, help="Show each test that does not pass.")
def suite(folder: Path, lossy: bool, verbose: bool) -> None:
    """Run the required tests of all drafts; the status is 1 where an invalid value is accepted."""
    options = replace(VALIDATOR, lossy=lossy, whitespace=Whitespace.COMPACT)
    print("| draft | passed | refused | left out | wrong |\n|---|---|---|---|---|")
    any_wrong = False
    for draft, dialect in DIALECTS.items():
        counts: Counter[str] = Counter()
        for case in suite_cases(folder / "tests" / draft, dialect):
            outcome = judge(case, options)
            counts["refused"] += len(case.values) if outcome.refusal else 0
            counts["passed"] += outcome.passed
            counts["left out"] += len(outcome.left_out) + len(outcome.reordered)
            counts["wrong"] += len(outcome.wrong)
            if verbose and outcome.verdict != "pass":
                texts = outcome.wrong or outcome.left_out or outcome.reordered
                print(f"  {outcome.verdict}: {case.name}: {outcome.refusal or texts}")
        any_wrong = any_wrong or counts["wrong"] > 0
        words = ("passed", "refused", "left out", "wrong")
        print(f"| {draft} | " + " | ".join(f"{counts[word]:,}" for word in words) + " |")
    sys.exit(any_wrong)


def suite_cases(folder: Path, dialect: str) -> Iterator[Case]:
    """Yield the groups of tests in a folder; schemas without a dialect are of its draft."""
    for path in sorted(folder.glob("*.json")):
        for group in json.loads(path.read_text(encoding="utf-8")):
            schema = group["schema"]
            if isinstance(schema, dict) and "$schema" not in schema:
                schema = {"$schema": dialect, **schema}
            values = tuple(
                (json.dumps(test["data"], ensure_ascii=False, separators=(",", ":")), test["valid"])
                for test in group["tests"]
            )
            yield Case(f"{path.stem}: {group['description']}", schema, values)


if __name__ == "__main__":
    main()
