"""Distances between names: those up to a bound are exact, those above it are only above it."""

from random import Random

from kbnf_core.text.suggest import edits


def by_definition(first: str, second: str) -> int:
    """Return the restricted distance of Damerau and Levenshtein, by its recurrence."""
    if not first or not second:
        return len(first) + len(second)
    ways = [
        by_definition(first[:-1], second) + 1,
        by_definition(first, second[:-1]) + 1,
        by_definition(first[:-1], second[:-1]) + (first[-1] != second[-1]),
    ]
    if len(first) > 1 and first[-2:] == second[:-3:-1]:
        ways.append(by_definition(first[:-2], second[:-2]) + 1)
    return min(ways)


def test_distances_up_to_a_bound() -> None:
    random = Random(3)
    for _ in range(400):
        first, second = ("".join(random.choices("abc", k=random.randrange(6))) for _ in range(2))
        distance = by_definition(first, second)
        for most in range(7):
            found = edits(first, second, most)
            assert found == distance if distance <= most else found > most, (first, second, most)
