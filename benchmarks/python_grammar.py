"""Compares the shipped grammar of Python with `ast.parse` of the Python that runs this.

    python -m benchmarks.python_grammar FOLDER... [--limit N] [--mutants N] [--seed N]

Files below each FOLDER that `ast.parse` reads, that are UTF-8 and have no tab in their indentation
are matched as a whole; each refused one is printed with the place. Then files of at most 20,000
bytes are changed at random, in four kinds: `indentation` (blanks in front of a line), `brackets`,
`keywords` (one is dropped or is another one) and `characters`. Printed are the counts of each kind,
and the changes on which the two disagree: *narrow* are those that only `ast.parse` takes, but for
tabs in the indentation, *wide* those that only the grammar takes, by the words of `ast.parse`.
"""

import argparse
import ast
import keyword
import random
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from kbnf_core import Engine, Grammar, RejectedError, Vocabulary
from kbnf_core.shipped import grammar_file

_LONGEST = 20_000
"""Bytes of a file that is changed."""

_TAB = re.compile(rb"^ *\t", re.MULTILINE)
_KEYWORD = re.compile(rf"\b(?:{'|'.join(keyword.kwlist)})\b")
_BRACKET = re.compile(r"[()\[\]{}]")
_CHARACTERS = "ax0_ .,:;=+-*/%@&|^~<>!?$'\"\\#()[]{}\n\té"


class Mutant(NamedTuple):
    """A changed text: its kind, and what is around the change."""

    kind: str
    text: str
    around: str


def reads(text: bytes) -> str | None:
    """Return why `ast.parse` refuses a text, None if it takes it."""
    try:
        ast.parse(text)
    except (SyntaxError, ValueError) as error:
        return error.msg if isinstance(error, SyntaxError) else str(error)
    except (RecursionError, MemoryError):
        return "nested too deeply"
    return None


def shipped_text(name: str) -> str:
    """Return the text of a shipped grammar."""
    path = grammar_file(name)
    if path is None:
        raise SystemExit(f"the grammar {name} is not shipped")
    return path.read_text(encoding="utf-8")


class Judge:
    """A grammar as a predicate."""

    def __init__(self, grammar: Grammar) -> None:
        self._engine = Engine(grammar, Vocabulary.bytes())

    @classmethod
    def shipped(cls, name: str) -> "Judge":
        """Return the shipped grammar of this name."""
        return cls(Grammar(shipped_text(name)))

    def takes(self, text: bytes) -> bool:
        """Return whether a text is in the language."""
        return self._is_prefix(text) and self._engine.can_finish()

    def refused_at(self, text: bytes) -> int:
        """Return the length of the longest beginning that some text has."""
        low, high = 0, len(text)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._is_prefix(text[:middle]) else (low, middle - 1)
        return low

    def _is_prefix(self, text: bytes) -> bool:
        self._engine.reset()
        try:
            self._engine.try_accept_new_bytes(text)
        except RejectedError:
            return False
        return True


def corpus(folders: list[Path], limit: int, rng: random.Random) -> Iterator[tuple[Path, bytes]]:
    """Yield files that Python reads, in random order."""
    files = sorted(file for folder in folders for file in folder.rglob("*.py") if file.is_file())
    rng.shuffle(files)
    taken = 0
    for file in files:
        data = file.read_bytes()
        try:
            data.decode()
        except UnicodeDecodeError:
            continue
        if not _TAB.search(data) and reads(data) is None:
            yield file, data
            taken += 1
            if taken == limit:
                return


def _indentation(text: str, rng: random.Random) -> tuple[int, int, str]:
    starts = list(re.finditer(r"^( *)(?=\S)", text, re.MULTILINE))
    line = rng.choice(starts)
    wish = max(0, len(line[1]) + rng.choice((-8, -4, -2, -1, 1, 2, 4, 8)))
    return *line.span(), " " * wish


def _of_pattern(
    pattern: re.Pattern[str], others: Sequence[str]
) -> Callable[[str, random.Random], tuple[int, int, str]]:
    def change(text: str, rng: random.Random) -> tuple[int, int, str]:
        places = list(pattern.finditer(text))
        if not places:
            return 0, 0, rng.choice(others)
        place = rng.choice(places)
        return *place.span(), rng.choice(("", place[0] * 2, rng.choice(others)))

    return change


def _characters(text: str, rng: random.Random) -> tuple[int, int, str]:
    at = rng.randrange(len(text))
    return at, at + rng.randint(0, 1), rng.choice(("", rng.choice(_CHARACTERS)))


KINDS: dict[str, Callable[[str, random.Random], tuple[int, int, str]]] = {
    "indentation": _indentation,
    "brackets": _of_pattern(_BRACKET, list("()[]{}")),
    "keywords": _of_pattern(_KEYWORD, keyword.kwlist),
    "characters": _characters,
}


def mutants(texts: list[str], count: int, rng: random.Random) -> Iterator[Mutant]:
    """Yield ``count`` changed texts, as many of each kind."""
    for number in range(count):
        kind = list(KINDS)[number % len(KINDS)]
        text = rng.choice(texts)
        start, end, new = KINDS[kind](text, rng)
        before = text[max(0, start - 25) : start]
        around = f"{before}[{text[start:end]} -> {new}]{text[end : end + 25]}"
        yield Mutant(kind, text[:start] + new + text[end:], around)


def _compare(judge: Judge, texts: list[str], count: int, rng: random.Random) -> None:
    seen, valid = Counter[str](), Counter[str]()
    wide, narrow = Counter[str](), Counter[str]()
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    for mutant in mutants(texts, count, rng):
        data = mutant.text.encode()
        seen[mutant.kind] += 1
        refusal, taken = reads(data), judge.takes(data)
        valid[mutant.kind] += refusal is None
        if taken and refusal is not None:
            wide[mutant.kind] += 1
            reasons[f"wide: {refusal}"].append(mutant.around)
        elif not taken and refusal is None and _TAB.search(data):
            reasons["left out, a tab in its indentation"].append(mutant.around)
        elif not taken and refusal is None:
            narrow[mutant.kind] += 1
            reasons["narrow"].append(mutant.around)
    for kind, total in seen.items():
        differ = f"{narrow[kind]} narrow, {wide[kind]} wide"
        print(f"{kind}: {total} changed, {valid[kind]} valid, {differ}")
    print(
        f"all: {count}, {narrow.total()} narrow, {wide.total()} wide ({wide.total() / count:.2%})"
    )
    for reason, places in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"  {len(places):4} {reason}: {places[0]!r}")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--limit", type=int, default=0, help="files, 0 for all")
    parser.add_argument("--mutants", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    judge, rng = Judge.shipped("python"), random.Random(options.seed)  # noqa: S311 - no secrets
    texts: list[str] = []
    count = size = 0
    for file, data in corpus(options.folders, options.limit, rng):
        if len(data) <= _LONGEST and data.strip():
            texts.append(data.decode())
        if judge.takes(data):
            count, size = count + 1, size + len(data)
            continue
        at = judge.refused_at(data)
        line = data.count(b"\n", 0, at) + 1
        print(
            f"refused {file}:{line}: {data[max(0, at - 40) : at]!r} before {data[at : at + 20]!r}"
        )
    print(f"{count} files taken, {size:,} bytes")
    if options.mutants:
        _compare(judge, texts, options.mutants, rng)


if __name__ == "__main__":
    main()
