"""Writes the parser tables: ``python -m kbnf_core.languages.build_tables``.

Every ``grammar.lark`` of the package has a start ``definition``, which is parsed, and a start
``aside`` with the words that belong to none. Building the tables of a grammar takes Lark many
times as long as loading them, so they are built here, once, and kept beside the grammar file.
A test compares the two.
"""

import json
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import lark
from lark.grammar import Rule
from lark.lexer import TerminalDef

PACKAGE = Path(__file__).parents[1]

OPTIONS: dict[str, Any] = {"parser": "lalr", "lexer": "basic", "start": ["definition", "aside"]}

Json: TypeAlias = Any
"""What Lark saves: dictionaries (some keys are numbers), lists, sets, strings and numbers."""


def tables(grammar: str) -> str:
    """Return the parser tables of a Lark grammar with starts ``definition`` and ``aside``.

    They name the grammar by its hash, and the Lark that made them; the same two give the same
    tables, to the byte.
    """
    parser = lark.Lark(grammar, **OPTIONS)
    data, memo = parser.memo_serialize([TerminalDef, Rule])
    # All other options have their defaults, and some exist in newer Larks only.
    data["options"] = OPTIONS
    _number_states(data["parser"]["parser"])
    data, memo = _number_memo(data, memo)
    origin = {"grammar": sha256(grammar.encode()).hexdigest(), "lark": lark.__version__}
    everything = {"origin": origin, "data": data, "memo": memo}
    return json.dumps(everything, sort_keys=True, default=sorted) + "\n"


def _number_states(table: Json) -> None:
    """Give states new numbers, breadth first: Lark numbers them in the order of a set."""
    names = table["tokens"]
    words = {key: number for number, key in enumerate(sorted(names, key=names.__getitem__))}
    states: dict[int, int] = {}
    pending = [state for _, state in sorted(table["start_states"].items())]
    for state in pending:
        if state not in states:
            states[state] = len(states)
            row = table["states"][state]
            shifts = [row[key] for key in sorted(row, key=words.__getitem__) if row[key][0] == 0]
            pending.extend(target for _, target in shifts)
    table["tokens"] = {words[key]: name for key, name in names.items()}
    table["states"] = {
        states[state]: {
            words[key]: (action, states[target] if action == 0 else target)
            for key, (action, target) in row.items()
        }
        for state, row in table["states"].items()
    }
    for kind in ("start_states", "end_states"):
        table[kind] = {start: states[state] for start, state in table[kind].items()}


def _number_memo(data: Json, memo: Json) -> tuple[Json, Json]:
    """Give rules and terminals, which the tables point to, numbers in the order of their text."""
    texts = {key: json.dumps(value, sort_keys=True, default=sorted) for key, value in memo.items()}
    numbers = {key: number for number, key in enumerate(sorted(memo, key=texts.__getitem__))}
    return _pointed(data, numbers), {numbers[key]: value for key, value in memo.items()}


def _pointed(value: Json, numbers: dict[int, int]) -> Json:
    """Return ``value`` with its pointers ``{"@": n}`` put right."""
    if isinstance(value, dict):
        if "@" in value:
            return {"@": numbers[value["@"]]}
        return {key: _pointed(part, numbers) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_pointed(part, numbers) for part in value]
    return value


def main() -> None:
    """Rewrite the tables of all grammar files."""
    for file in sorted(PACKAGE.rglob("grammar.lark")):
        file.with_suffix(".tables.json").write_text(tables(file.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
