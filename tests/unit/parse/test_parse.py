"""Parsing whole and unfinished texts, and the trees."""

import json

import pytest

from kbnf_core import Grammar, ParseError, Tree
from kbnf_core.text.errors import WorkLimitError
from kbnf_core.text.limits import Limits

LIST = Grammar(
    'start ::= "[" item { "," item } "]"; item ::= name | start; name ::= #"[a-zé]+";'
    "(* kbnf: finish=eos *)"
)


def rules(tree: Tree) -> list[tuple[str, int, int]]:
    return [(node.rule, node.start, node.end) for node in tree]


def text_in(tree: Tree, rule: str) -> str:
    node = tree.find(rule)
    assert node is not None
    return node.text


def test_a_tree_has_rules_with_their_places() -> None:
    tree = LIST.parse("[a,[bc]]")
    assert rules(tree) == [
        ("start", 0, 8),
        ("item", 1, 2),
        ("name", 1, 2),
        ("item", 3, 7),
        ("start", 3, 7),
        ("item", 4, 6),
        ("name", 4, 6),
    ]
    assert [child.text for child in tree.children] == ["a", "[bc]"]
    assert text_in(tree, "name") == "a"
    assert [node.text for node in tree.find_all("name")] == ["a", "bc"]
    assert tree.find("nothing") is None
    assert [node.rule for node in tree.at(4)] == ["start", "item", "start", "item", "name"]
    assert len(tree) == 7


def test_offsets_are_bytes() -> None:
    tree = LIST.parse("[é,a]")
    assert [(node.start, node.end, node.text) for node in tree.find_all("name")] == [
        (1, 3, "é"),
        (4, 5, "a"),
    ]


def test_a_tree_is_json() -> None:
    grammar = Grammar('start ::= "<" byte ">" empty; byte ::= #b"\\xff" | "a"; empty ::= "";')
    assert grammar.parse(b"<\xff>").to_dict() == {
        "rule": "start",
        "start": 0,
        "end": 3,
        "children": [
            {"rule": "byte", "start": 1, "end": 2, "children": [], "hex": "ff"},
            {"rule": "empty", "start": 3, "end": 3, "children": [], "text": ""},
        ],
    }


def test_rules_that_are_left_out_pass_their_children_up() -> None:
    tree = LIST.parse("[a,[bc]]")
    assert rules(tree.kept(["name"])) == [("start", 0, 8), ("name", 1, 2), ("name", 4, 6)]
    assert [node.rule for node in tree.kept(["name"]).children] == ["name", "name"]
    assert rules(tree.kept(depth=1)) == [("start", 0, 8), ("item", 1, 2), ("item", 3, 7)]
    assert [len(each) for each in tree.kept(["item"]).children] == [1, 2]
    assert tree.kept(depth=0) == tree.kept([])


@pytest.mark.parametrize(
    ("text", "offset", "rules_", "expected"),
    [
        ("[a", 2, ("start", "item", "name"), ((0x2C, 0x2C), (0x5D, 0x5D), (0x61, 0x7A))),
        ("[a,1]", 3, ("start", "item"), None),
        ("", 0, ("start",), ((0x5B, 0x5B),)),
        ("[a]x", 3, (), ()),
    ],
)
def test_an_error_has_the_place_and_what_was_expected(
    text: str, offset: int, rules_: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    with pytest.raises(ParseError) as raised:
        LIST.parse(text)
    error = raised.value
    assert error.offset == offset
    assert error.rules == rules_
    assert error.is_unfinished == (offset == len(text))
    if expected is not None:
        assert set(expected) <= set(error.expected)


def test_alternatives_are_in_written_order_and_loops_long() -> None:
    either = Grammar('start ::= one | two; one ::= "a"; two ::= "a";')
    assert either.parse("a").children[0].rule == "one"
    loop = Grammar('start ::= ws ws "a"; ws ::= #" *";')
    assert [child.text for child in loop.parse("  a").children] == ["  ", ""]
    short = Grammar('start ::= ws ws "a"; ws ::= "" | " " ws;')
    assert [child.text for child in short.parse(" a").children] == ["", " "]
    left = Grammar('start ::= start "+" start | "n";')
    assert [child.text for child in left.parse("n+n+n").children] == ["n+n", "n"]


def test_a_rule_that_derives_itself_comes_to_an_end() -> None:
    grammar = Grammar('start ::= one; one ::= two | "a"; two ::= one | "b";')
    assert rules(grammar.parse("b")) == [("start", 0, 1), ("one", 0, 1), ("two", 0, 1)]
    assert text_in(grammar.parse("a"), "one") == "a"
    assert grammar.parser.derivations(b"a")[0] > 1


def test_derivations_are_counted() -> None:
    grammar = Grammar('start ::= start start | "a";')
    assert [grammar.parser.derivations(b"a" * size)[0] for size in range(1, 7)] == [
        *(1, 1, 2, 5, 14, 42)
    ]
    _, other = grammar.parser.derivations(b"aaa")
    assert [child.text for child in grammar.parse("aaa").children] == ["aa", "a"]
    assert other is not None
    assert [child.text for child in other.children] == ["a", "aa"]
    assert grammar.parser.derivations(b"a" * 30, 10)[0] == 10
    assert LIST.parser.derivations(b"[a]") == (1, None)


def test_too_many_derivations_are_refused() -> None:
    grammar = Grammar('start ::= start start | "a";', limits=Limits(work=20_000))
    with pytest.raises(WorkLimitError):
        grammar.parse("a" * 60)


@pytest.mark.parametrize(
    ("text", "open_rules", "closed"),
    [
        ("[a,", ["start", "item"], ["item", "name"]),
        ("[a", ["start", "item", "name"], []),
        ("[a,[b]", ["start"], ["item", "name", "item", "start", "item", "name"]),
    ],
)
def test_what_is_certain_of_an_unfinished_text(
    text: str, open_rules: list[str], closed: list[str]
) -> None:
    tree = LIST.parser.partial(text.encode())
    assert tree is not None
    assert [node.rule for node in tree if not node.is_closed] == open_rules
    assert [node.rule for node in tree if node.is_closed] == closed
    assert all(node.end == len(text) for node in tree if not node.is_closed)


@pytest.mark.parametrize(
    "grammar",
    [
        'start ::= item | start "," item; item ::= #"[a-z]+";',
        'start ::= item | item "," start; item ::= #"[a-z]+";',
        'start ::= item { "," item }; item ::= #"[a-z]+";',
    ],
    ids=["left", "right", "loop"],
)
def test_long_lists_are_read_in_linear_time(grammar: str) -> None:
    size = 30_000
    tree = Grammar(grammar).parse(",".join(["ab"] * size))
    assert sum(1 for _ in tree.find_all("item")) == size


def test_depth_costs_no_recursion() -> None:
    grammar = Grammar('start ::= "[" [start] "]";')
    depth = 20_000
    tree = grammar.parse("[" * depth + "]" * depth)
    assert len(tree) == depth
    assert max(level for level, _ in tree.walk()) == depth - 1
    assert sum(1 for _ in tree.events()) == 2 * depth


def test_json_is_read() -> None:
    grammar = Grammar.from_file("grammars/json.kbnf")
    value = {"a": [1, 2.5e3, {"b": None}], "c": "x\n", "": [[]]}
    tree = grammar.parse(json.dumps(value))
    assert [json.loads(node.text) for node in tree.find_all("number")] == [1, 2500.0]
    assert json.loads(text_in(tree, "value")) == value


def test_an_empty_text_has_a_tree() -> None:
    grammar = Grammar('start ::= one "a" | one two; one ::= two ""; two ::= "";')
    assert rules(grammar.parse("")) == [
        ("start", 0, 0),
        ("one", 0, 0),
        ("two", 0, 0),
        ("two", 0, 0),
    ]
