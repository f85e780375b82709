"""What a tree costs: nanoseconds of a processor a byte, beside ``json.loads`` and Lark's parsers.

Run ``python -m benchmarks.parse [largest]``, ``largest`` in bytes (10,000,000 without it). The
grammar is the shipped ``json``; Lark has the same rules, with its own lexer for LALR. Each number
is the best of three runs; Lark's are taken on texts up to the size that takes it some seconds.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from lark import Lark

from kbnf_core import Engine, Grammar, Vocabulary

LARGEST = 10_000_000
RUNS = 3

LARK = r"""
start: value
?value: object | array | string | number | "true" | "false" | "null"
object: "{" [member ("," member)*] "}"
member: string ":" value
array: "[" [value ("," value)*] "]"
string: STRING
number: NUMBER
STRING: /"([^"\\]|\\.)*"/
NUMBER: /-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?/
%ignore /[ \t\r\n]+/
"""

LARGEST_OF = {"lalr": 1_000_000, "earley": 1_000}
"""Bytes up to which Lark's parsers are timed."""


def document(size: int) -> str:
    """Return a JSON text of about so many bytes: records with texts, numbers and lists."""
    random = Random(0)  # noqa: S311 - no secret
    words = ["lorem", "ipsum", "dolor", "sit", "amet", "consectetur", "elit"]
    records: list[dict[str, object]] = []
    length = 0
    while length < size:
        record: dict[str, object] = {
            "id": len(records),
            "name": " ".join(random.choices(words, k=random.randint(1, 12))),
            "score": round(random.random(), 4),
            "tags": random.choices(words, k=random.randint(0, 4)),
            "place": {"x": random.randint(-1000, 1000), "known": random.random() < 0.5},
        }
        records.append(record)
        length += len(json.dumps(record)) + 2
    return json.dumps(records)


def nanoseconds(work: Callable[[], object], size: int) -> float:
    """Return the nanoseconds a byte of the best of some runs."""
    best = float("inf")
    for _ in range(RUNS):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best * 1e9 / size


def main() -> None:
    """Print a table, a row for each size."""
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else LARGEST
    grammar = Grammar.from_file(Path(__file__).parents[1] / "grammars" / "json.kbnf")
    lark = {
        "lalr": Lark(LARK, parser="lalr"),
        "earley": Lark(LARK, parser="earley"),
    }
    print(f"{'bytes':>12} {'accept':>8} {'parse':>8} {'json.loads':>10} {'lalr':>8} {'earley':>8}")
    size = 1_000
    while size <= largest:
        text = document(size)
        data = text.encode()
        engine = Engine(grammar, Vocabulary.bytes(), finish="eos")

        def accept(engine: Engine = engine, data: bytes = data) -> None:
            engine.reset()
            engine.try_accept_new_bytes(data)

        row = [
            nanoseconds(accept, len(data)),
            nanoseconds(lambda data=data: grammar.parse(data), len(data)),  # type: ignore[misc]
            nanoseconds(lambda text=text: json.loads(text), len(data)),  # type: ignore[misc]
        ]
        for name, parser in lark.items():
            if size > LARGEST_OF[name]:
                row.append(float("nan"))
            else:
                row.append(nanoseconds(lambda p=parser, t=text: p.parse(t), len(data)))  # type: ignore[misc]
        cells = [f"{each:.1f}" if each == each else "-" for each in row]
        print(
            f"{len(data):>12,} {cells[0]:>8} {cells[1]:>8} {cells[2]:>10} {cells[3]:>8}"
            f" {cells[4]:>8}",
            flush=True,
        )
        size *= 10


if __name__ == "__main__":
    main()
