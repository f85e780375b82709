"""What a toy server takes: ``python -m benchmarks.serving [FOLDER]``.

Sixteen requests at once, each for a schema that nobody has seen, each a random text of sixty
tokens; one ``Compiler`` within a bound, with work ahead. Printed are the resident memory that was
added, what the compiler counts, and its metrics. The bar is twice the bound.
"""

from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import click
import numpy as np

from benchmarks.drawn import distinct_schemas
from benchmarks.measure import resident
from benchmarks.vocabulary import read_setting
from kbnf_core import Compiler, Engine, GrammarError, Vocabulary, allocate_bitmask
from kbnf_core.text.errors import ConfigError

AT_ONCE = 16
TOKENS = 60
MARKS = (50, 100, 200, 300, 500)


class Request:
    """One text of a schema."""

    def __init__(self, engine: Engine, random: Random) -> None:
        self._engine, self._random, self._left = engine, random, TOKENS

    def step(self, row: Any) -> bool:
        """Write a mask and take a token of it; tell whether the text goes on."""
        self._engine.fill_bitmask(row)
        ids = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little"))
        self._left -= 1
        if not len(ids) or not self._left:
            return False
        token = int(self._random.choice(ids))
        if token in self._engine.vocabulary.eos_token_ids:
            return False
        self._engine.try_accept_new_token(token)
        return not self._engine.is_finished()


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path, exists=True))
@click.option("--number", default=500, help="Schemas.")
@click.option("--memory", default=256, help="The compiler's bound, in MiB.")
@click.option("--budget", type=int, help="Tokens in which a text is over.")
def main(folder: Path | None, number: int, memory: int, budget: int | None) -> None:
    """Serve random texts, and print what memory that took."""
    vocabulary: Vocabulary = read_setting().vocabulary
    compiler, random = Compiler(vocabulary, memory * 2**20), Random(1)  # noqa: S311 - any texts
    row = allocate_bitmask(1, vocabulary.size)[0]
    schemas = islice(distinct_schemas(folder), number)
    Engine(compiler.json_schema(True), vocabulary, budget=budget).fill_bitmask(row)
    before, taken, refused, at_once = resident(), 0, 0, list[Request]()
    print("schemas | refused | MB added | MB counted | kept")
    while at_once or taken < number:
        while len(at_once) < AT_ONCE and taken < number:
            taken += 1
            try:
                grammar = compiler.json_schema(next(schemas))
                at_once.append(Request(Engine(grammar, vocabulary, budget=budget), random))
            except (GrammarError, ConfigError):
                refused += 1
            if taken in MARKS or taken == number:
                added, counted = resident() - before, compiler.bytes / 2**20
                kept = compiler.metrics().kept
                print(f"{taken} | {refused} | {added:.0f} | {counted:.0f} | {kept}")
        at_once = [each for each in at_once if each.step(row)]
    print(compiler.metrics())
    added = resident() - before
    print(f"{added:.0f} MB added; {added / memory:.2f} of the bound, at most 2")


if __name__ == "__main__":
    main()
