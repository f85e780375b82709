"""Variants of a rule that say the same become one."""

from random import Random

import pytest

from kbnf_core.conversion import rewrite
from kbnf_core.conversion.rewrite import merge_variants
from kbnf_core.frontend import KBNF, read_grammar
from kbnf_core.kbnf.parsed import Request
from kbnf_core.kbnf.printer import print_expression
from kbnf_core.languages import language_of
from kbnf_core.text.source import Source


def merged(text: str, *families: str) -> str:
    """Return the rules that are left; a family is the names of its variants."""
    document = KBNF.parse(Source(text), Request()).document
    owners = {name: names.split()[0] for names in families for name in names.split()}
    left = merge_variants(document.definitions, owners)
    return " ".join(f"{each.name.value} ::= {print_expression(each.body)};" for each in left)


@pytest.mark.parametrize(
    ("text", "families", "expected"),
    [
        (
            "s ::= a a_2; a ::= 'x'; a_2 ::= 'x';",
            ["a a_2"],
            "s ::= a a; a ::= 'x';",
        ),
        # Alike by what they call, which is alike.
        (
            "s ::= a | a_2; a ::= 'x' b; a_2 ::= 'x' b_2; b ::= 'y'; b_2 ::= 'y';",
            ["a a_2", "b b_2"],
            "s ::= a; a ::= 'x' b; b ::= 'y';",
        ),
        # They call each other.
        (
            "s ::= a; a ::= 'x' a_2 | 'y'; a_2 ::= 'x' a | 'y';",
            ["a a_2"],
            "s ::= a; a ::= 'x' a | 'y';",
        ),
        (
            "s ::= a | b; a ::= 'x' a_2; a_2 ::= 'z'; b ::= 'x' b_2; b_2 ::= 'y';",
            ["a b", "a_2 b_2"],
            None,
        ),
        # Rules of two names, and such as were not made, stay.
        ("s ::= a | b; a ::= 'x'; b ::= 'x';", ["a", "b"], None),
        ("s ::= a | b; a ::= 'x'; b ::= 'x';", [], None),
        ("s ::= a a_2 c; a ::= 'x'; a_2 ::= 'x';", ["a a_2"], "s ::= a a c; a ::= 'x';"),
    ],
)
def test_variants_that_are_alike_are_one(
    text: str, families: list[str], expected: str | None
) -> None:
    assert merged(text, *families) == (text if expected is None else expected)


@pytest.mark.parametrize("seed", range(40))
def test_classes_are_those_of_the_definition(seed: int) -> None:
    """The judge tells names apart until nothing changes: by shape, then by what they call."""
    random = Random(seed)
    names = [f"n{number}" for number in range(random.choice((3, 12, 40)))]
    bodies = {
        name: " ".join(
            random.choice(("'x'", "'y'", random.choice(names), random.choice(names), "outside"))
            for _ in range(random.randrange(1, 4))
        )
        for name in names
    }
    text = " ".join(f"{name} ::= {body};" for name, body in bodies.items())
    classes = rewrite._classes(KBNF.parse(Source(text), Request()).document.definitions)
    judged = dict.fromkeys(names, 0)
    for _ in names:
        keys = {
            name: tuple(judged.get(word, word) for word in bodies[name].split()) for name in names
        }
        numbers = {key: number for number, key in enumerate(sorted(set(keys.values()), key=str))}
        judged = {name: numbers[keys[name]] for name in names}
    for one in names:
        for other in names:
            assert (classes[one] == classes[other]) == (judged[one] == judged[other]), text


def test_a_sequence_with_two_ways_at_each_item_is_given_up_at_once() -> None:
    text = "start: " + "a '  ' ".replace("'", '"') * 60 + "\na: B*\nB: /[a-z]+/\n"
    reading = read_grammar(
        Source(text + 'WS: (" "|/\\t/)+\n%ignore WS\n', "x.lark"), language=language_of("x.lark")
    )
    assert not reading.errors
    assert [loss.code for loss in reading.losses] == ["W421"]
