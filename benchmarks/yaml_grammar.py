"""Compares the shipped grammar of YAML with yaml-test-suite, and with what PyYAML writes.

    python -m benchmarks.yaml_grammar SUITE [--dumps N] [--seed N]

SUITE is a checkout of yaml-test-suite in the form of its branch `data`: a folder for each case,
with `in.yaml`, `test.event` and, for a text that is not YAML, `error`. Counted are the valid cases
of one document that the grammar takes and the invalid ones that it refuses; each other case is
printed with its name, its tags and the place. Then random values are written by `yaml.safe_dump`
in random styles, and each text that the grammar refuses is printed. PyYAML writes YAML 1.1, where
U+0085, U+2028 and U+2029 are line breaks: block scalars with one of them are counted apart.
"""

import argparse
import random
import string
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

from benchmarks.python_grammar import Judge

OLD_BREAKS = frozenset("\x85\u2028\u2029")
_STRINGS = (
    "", "yes", "null", "~", "1e3", "0o7", "12:30", "2024-01-01", "=", "<<", "- x", "-", "--", "---",
    "... y", ".", "? y", ": z", "a:", "a: b", "a #b", "#c", "[1]", "{a}", "a,b", "|", ">", "%x",
    "@a", "`b`", "!t", "&a", "*a", '"q"', "'s'", "it's " * 30, "\\", "\t", "a\tb", "a\r\nb", "\x07",
    "\n", "one\ntwo", "  lead", "trail ", "a\n\n b\n", "a\n--- b", "é", "日本", "\U0001f600",
    "\ufeffa", "\u2028x", "\x85n", "x" * 200, "word " * 40, "word --- " * 20, '"x" \u00e9 ' * 30,
)  # fmt: skip
_CHARACTERS = string.printable + "é日\u2029\xa0\x85"
_OTHERS = (0, 1, -5, 1.5, 1e30, -0.0, float("inf"), float("nan"), True, False, None, 10**20)


class Case(NamedTuple):
    """A case of the suite."""

    tag: str
    title: str
    tags: str
    text: bytes
    is_valid: bool


def cases(suite: Path) -> Iterator[Case]:
    """Yield the cases with one document, and the invalid ones."""
    tagged: dict[str, list[str]] = {}
    for link in sorted(suite.glob("tags/*/*")):
        tagged.setdefault(link.name, []).append(link.parent.name)
    for file in sorted(suite.glob("[0-9A-Z][0-9A-Z][0-9A-Z][0-9A-Z]/**/in.yaml")):
        folder = file.parent
        is_valid = not (folder / "error").exists()
        if not is_valid or (folder / "test.event").read_text("utf-8").count("+DOC") == 1:
            tag = folder.relative_to(suite).as_posix()
            title = (folder / "===").read_text("utf-8").strip()
            tags = ", ".join(tagged.get(tag.partition("/")[0], []))
            yield Case(tag, title, tags, file.read_bytes(), is_valid)


def _string(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.5:
        return rng.choice(_STRINGS)
    if kind < 0.7:
        return rng.choice(_STRINGS) + rng.choice(("", " ", "\n", "\n\n")) + rng.choice(_STRINGS)
    length = rng.randrange(rng.choice((4, 12, 150)))
    return "".join(rng.choice(_CHARACTERS) for _ in range(length))


def _value(rng: random.Random, depth: int) -> object:
    kind = rng.random()
    if not depth or kind < 0.45:
        return _string(rng)
    if kind < 0.55:
        return rng.choice(_OTHERS)
    if kind < 0.77:
        return [_value(rng, depth - 1) for _ in range(rng.randrange(4))]
    keys = (rng.choice((_string(rng), _string(rng), rng.randrange(9), None, True)) for _ in "123")
    return {key: _value(rng, depth - 1) for key in keys if rng.random() < 0.6}


def dumps(count: int, rng: random.Random) -> Iterator[str]:
    """Yield random values as PyYAML writes them, in random styles."""
    for _ in range(count):
        yield yaml.safe_dump(
            _value(rng, rng.randrange(6)),
            default_flow_style=rng.choice((None, True, False)),
            default_style=rng.choice((None, None, '"', "'", "|", ">")),
            indent=rng.choice((None, 2, 4, 8)),
            width=rng.choice((None, 20, 80, 1_000)),
            allow_unicode=rng.random() < 0.5,
            explicit_start=rng.random() < 0.3,
            explicit_end=rng.random() < 0.3,
            version=rng.choice((None, None, (1, 2))),
            sort_keys=False,
        )


def _compare(judge: Judge, suite: Path) -> None:
    counts = {True: [0, 0], False: [0, 0]}
    for case in cases(suite):
        is_right = judge.takes(case.text) is case.is_valid
        counts[case.is_valid][not is_right] += 1
        if is_right:
            continue
        reason = "taken"
        if case.is_valid:
            at = judge.refused_at(case.text)
            reason = f"refused before {case.text[at : at + 20]!r}"
        print(f"{case.tag} {case.title} ({case.tags}): {reason}")
    for is_valid, (right, wrong) in counts.items():
        kind = "valid cases taken" if is_valid else "invalid cases refused"
        print(f"{right} of {right + wrong} {kind} ({right / (right + wrong):.1%})")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", type=Path)
    parser.add_argument("--dumps", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    judge = Judge.shipped("yaml")
    _compare(judge, options.suite)
    taken = old = 0
    for text in dumps(options.dumps, random.Random(options.seed)):  # noqa: S311 - no secrets
        if judge.takes(text.encode()):
            taken += 1
        elif OLD_BREAKS.intersection(text):
            old += 1
        else:
            print(f"refused {text!r}")
    print(f"{taken} of {options.dumps} dumps taken, {old} with line breaks of YAML 1.1 refused")


if __name__ == "__main__":
    main()
