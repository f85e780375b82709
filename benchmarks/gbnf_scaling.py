"""How the time to convert a GBNF file grows with it: sizes doubled, seconds per rule.

Run ``python benchmarks/gbnf_scaling.py [rules]``; linear time shows as equal numbers in the last
column. The file is generated: lists, alternatives, counts, classes and comments.
"""

import sys
import time

from kbnf_core.convert import from_gbnf, to_gbnf

LARGEST = 10_000


def generated(rules: int) -> str:
    """Return a GBNF text of so many rules, each used by the one before it."""
    lines = ["root ::= rule-0"]
    for number in range(rules - 1):
        following = f"rule-{number + 1}" if number + 2 < rules else '"end"'
        lines += [
            f"# rule {number}",
            f'rule-{number} ::= "key-{number}" [a-z_]{{1,8}} ("," {following})* | {following}',
        ]
    return "\n".join(lines) + "\n"


def seconds_for(rules: int) -> tuple[float, float]:
    """Return the seconds to KBNF and back."""
    text = generated(rules)
    start = time.perf_counter()
    kbnf = from_gbnf(text).text
    between = time.perf_counter()
    to_gbnf(kbnf)
    return between - start, time.perf_counter() - between


def main() -> None:
    """Print a line for every size up to the given one."""
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else LARGEST
    sizes = [largest >> shift for shift in range(3, -1, -1)]
    seconds_for(100)
    print(f"{'rules':>8} {'to KBNF':>9} {'us/rule':>8} {'to GBNF':>9} {'us/rule':>8}")
    for rules in sizes:
        there, back = seconds_for(rules)
        print(
            f"{rules:>8} {there:>8.2f}s {there / rules * 1e6:>8.0f}"
            f" {back:>8.2f}s {back / rules * 1e6:>8.0f}"
        )


if __name__ == "__main__":
    main()
