"""The two derivations that I109 shows: the parts in which they differ."""

import pytest

from kbnf_core.lint.rules.ambiguity import differing


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        # One part in common at an end stays, more of them go.
        (["'if '", "s['x']"], ["'if '", "s['y']", "'z'"], ("'if ' s['x']", "'if ' s['y'] 'z'")),
        (["a", "b", "c"], ["d", "b", "c"], ("a …", "d …")),
        (["a", "b", "c", "d"], ["a", "b", "e", "d"], ("… c d", "… e d")),
        # Empty texts go where the rest differs, and stay where they are the difference.
        (["n['A ']", "'='", "''", "e"], ["n['A']", "EQ[' =']", "''", "e"],
         ("n['A '] '=' …", "n['A'] EQ[' ='] …")),
        (["'x'", "''"], ["''", "'x'"], ("'x' ''", "'' 'x'")),
        (["''", "''"], ["a"], ("'' ''", "a")),
    ],
)  # fmt: skip
def test_the_shown_parts(first: list[str], second: list[str], shown: tuple[str, str]) -> None:
    found = differing(tuple(first), tuple(second))
    assert (" ".join(found[0]), " ".join(found[1])) == shown
