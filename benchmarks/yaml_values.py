"""JSON Schemas as YAML: texts, samples and tokens, judged by the same schema as JSON.

    python -m benchmarks.yaml_values FOLDER [--schemas N] [--seed N] [--samples N]

FOLDER is that of maskbench. Each value of a schema, and some changed ones, are written in the
printed form of the YAML and as JSON; the grammar for YAML must take exactly those of which the one
for JSON takes the JSON text. Samples of the grammar must be read by PyYAML as a value that
`jsonschema` accepts, and by `read_value` as the same. Printed are the counts, each text on which
they disagree, and the tokens of the valid values in both forms, by tekken's
tokenizer. `--samples 0` leaves samples out.
"""

import argparse
import json
import random
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import yaml

from benchmarks.drawn import default_cases
from benchmarks.maskbench import Case
from benchmarks.python_grammar import Judge
from benchmarks.vocabulary import read_setting
from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.examples.sampling import sample_texts
from kbnf_core.text.errors import KbnfError

_QUOTED = re.compile(r"[-?:+.~=<0-9].*|[yYnN]")
"""What PyYAML may read as a string and the printed form has in quotes."""
_SPECIAL = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_OTHERS: tuple[Any, ...] = (None, True, -1, 1.5, "", "x", "yes", "1", [], {}, [1], {"a": 1})


def is_plain(value: str) -> bool:
    """Return whether a string may be plain, by what PyYAML reads."""
    if _SPECIAL.search(value) or _QUOTED.fullmatch(value) or set(value) & set("\t\r\n"):
        return False
    try:
        tokens = [type(each).__name__ for each in yaml.scan(value)]
        return len(tokens) == 3 and bool(yaml.safe_load(value) == value)
    except (yaml.YAMLError, ValueError):
        return False


def _scalar(value: object) -> str:
    if isinstance(value, str) and is_plain(value):
        return value
    if isinstance(value, float) and "e" in repr(value):
        written = repr(value)
        return written if "." in written else written.replace("e", ".0e")
    written = json.dumps(value, ensure_ascii=False)
    return _SPECIAL.sub(lambda char: f"\\u{ord(char[0]):04x}", written)


def printed(value: Any, column: int = 0) -> str:
    """Return a value as block YAML; lines after the first are in ``column`` or deeper."""
    if not isinstance(value, dict | list) or not value:
        return _scalar(value)
    line = "\n" + " " * column
    inner = column + 2
    if isinstance(value, list):
        return line.join(f"- {printed(each, inner)}" for each in value)
    members = []
    for name, each in value.items():
        is_nested = isinstance(each, dict | list) and bool(each)
        before = "\n" + " " * inner if is_nested else " "
        members.append(f"{_scalar(name)}:{before}{printed(each, inner)}")
    return line.join(members)


def changed(value: Any, rng: random.Random) -> Any:
    """Return a value with one change: a part is another one, is missing, or is there twice."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        name = rng.choice(list(value))
        kind = rng.random()
        if kind < 0.15:
            return {key: each for key, each in value.items() if key != name}
        if kind < 0.25:
            return {**value, rng.choice(("new", "yes", "a: b", "1", "é")): rng.choice(_OTHERS)}
        return {**value, name: changed(value[name], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        at, kind = rng.randrange(len(value)), rng.random()
        if kind < 0.15:
            return value[:at] + value[at + 1 :]
        if kind < 0.3:
            return [*value, value[at]]
        return [*value[:at], changed(value[at], rng), *value[at + 1 :]]
    if isinstance(value, str) and rng.random() < 0.5:
        return value + rng.choice((" ", ":", "#", " #", ": ", "1", "\n", "é", '"', "x" * 40))
    return rng.choice(_OTHERS)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _grammars(schema: Any) -> tuple[Grammar, Grammar] | None:
    try:
        as_json = Grammar.from_json_schema(schema)
        return as_json, Grammar.from_json_schema(schema, syntax="yaml")
    except KbnfError as error:
        print(f"refused: {str(error)[:150]}")
        return None


def _values(values: list[Any], rng: random.Random) -> Iterator[tuple[str, Any]]:
    for value in values:
        yield "of the file", value
        for _ in range(4):
            yield "changed", changed(value, rng)


class Comparison:
    """Counts of what the grammars of schemas as JSON and as YAML take, and of tokens."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._rng = random.Random(options.seed)  # noqa: S311 - no secrets
        self._encode = read_setting().encode
        self.counts = Counter[str]()
        self.tokens = Counter[str]()

    def add(self, case: Case) -> None:
        """Compare the texts of one schema."""
        self.counts["schemas"] += 1
        grammars = _grammars(case.schema)
        if grammars is None:
            self.counts["refused schemas"] += 1
            return
        as_json, as_yaml = map(Judge, grammars)
        for kind, value in _values([json.loads(text) for text, _ in case.values], self._rng):
            wanted = as_json.takes(_bytes(json.dumps(value, ensure_ascii=False)))
            text = f"{printed(value)}\n"
            if yaml.safe_load(text) != value:
                print(f"{case.name}: the printed form is not the value: {text!r}")
            self.counts[f"{kind}, {'taken' if wanted else 'refused'} as JSON"] += 1
            if as_yaml.takes(_bytes(text)) is not wanted:
                self.counts[f"{kind}, otherwise as YAML"] += 1
                print(f"{case.name}: {'refused' if wanted else 'taken'} as YAML only: {text!r}")
        for text, is_valid in case.values:
            if is_valid:
                self._count_tokens(json.loads(text))
        self._compare_samples(case, grammars[1])

    def _count_tokens(self, value: Any) -> None:
        compact = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        texts = {
            "YAML": f"{printed(value)}\n",
            "JSON without blanks": compact,
            "JSON with a blank after a comma and a colon": json.dumps(value, ensure_ascii=False),
            "JSON in lines, indented by two": json.dumps(value, ensure_ascii=False, indent=2),
        }
        for kind, text in texts.items():
            self.tokens[kind] += len(self._encode(text))

    def _compare_samples(self, case: Case, grammar: Grammar) -> None:
        engine, count = Engine(grammar, Vocabulary.bytes()), self._options.samples
        for sample in sample_texts(engine, count, self._options.seed, 40).texts if count else ():
            self.counts["samples"] += 1
            value = yaml.safe_load(sample.decode())
            if grammar.read_value(sample) != value:
                self.counts["samples read otherwise"] += 1
                print(f"{case.name}: `read_value` has another value: {sample!r}")
            if jsonschema.validators.validator_for(case.schema)(case.schema).is_valid(value):
                continue
            kind = "invalid samples"
            if jsonschema_rs.is_valid(case.schema, value):
                kind = "samples with a pattern that Python reads otherwise"
            self.counts[kind] += 1
            print(f"{case.name}: {kind}: {sample!r}")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--schemas", type=int, default=300)
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = Comparison(options)
    for case in islice(default_cases(options.folder, options.seed), options.schemas):
        found.add(case)
    for kind, count in found.counts.items():
        print(f"{kind}: {count:,}")
    for kind, count in found.tokens.items():
        print(f"tokens of the valid values as {kind}: {count:,}")


if __name__ == "__main__":
    main()
