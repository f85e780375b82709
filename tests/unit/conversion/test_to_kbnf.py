"""The layout of grammars that are written as KBNF: that of ``kbnf fmt``, with the comments."""

import json
import re
from pathlib import Path

import pytest

from kbnf_core import Grammar
from kbnf_core.convert import convert
from kbnf_core.frontend import KBNF
from kbnf_core.kbnf.format import format_kbnf
from kbnf_core.text.files import ANYWHERE
from kbnf_core.text.source import Source
from kbnf_testing.data import DATA

WORDS = " | ".join(f'"word number {number}"' for number in range(8))


def body_of(text: str, language: str) -> str:
    """Return the definitions in KBNF, without the comments in front of an empty line."""
    result = convert(text, language).text
    assert format_kbnf(Source(result)).text == result
    return result.partition("\n\n")[2]


def test_comments_stay_between_the_words_around_them() -> None:
    text = (
        "root ::= # zero\n  a # first\n  | b (\n   # own line\n   a | b # second\n   )* # last\n"
        "\n\n# before\na ::= [0-9] # after\nb ::= a\n# end\n"
    )
    assert body_of(text, "gbnf") == (
        "start ::= (* zero *)\n          a (* first *)\n        | b\n"
        "          (\n            (* own line *)\n            a\n          | b (* second *)\n"
        "          )*; (* last *)\n\n"
        "(* before *)\na ::= #'[0-9]'; (* after *)\nb ::= a;\n(* end *)\n"
    )


def test_line_breaks_of_alternatives_are_kept() -> None:
    text = 'start: a\n  | b\na: "a" | "b"\n\nb: "c"\n'
    assert body_of(text, "lark") == ("start ::= a\n        | b;\na ::= 'a' | 'b';\n\nb ::= 'c';\n")


def test_long_lists_of_words_are_filled() -> None:
    lines = body_of(f"root ::= {WORDS}\n", "gbnf").splitlines()
    assert [line.count("|") for line in lines] == [4, 3]


def test_what_ends_a_comment_is_broken_up() -> None:
    assert (
        "(* a * ) b ( * c *)"
        in convert("root ::= 'a' # a *) b (* c\n".replace("'", '"'), "gbnf").text
    )


@pytest.mark.parametrize("path", sorted((DATA / "gbnf/valid").glob("*.gbnf")), ids=lambda p: p.stem)
def test_fmt_leaves_real_grammars_as_they_are_written(path: Path) -> None:
    source = Source(path.read_text(encoding="utf-8"), str(path))
    result = convert(source.text, "gbnf", path=str(path), imports=ANYWHERE).text
    assert format_kbnf(Source(result)).text == result


PLACE = {
    "type": "object",
    "description": "A place. start ::= no definition;",
    "properties": {"city": {"type": "string"}, "zip": {"pattern": "^[0-9]{5}$"}},
    "patternProperties": {"^x-": {"type": "number"}},
}
TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": PLACE}}
    for name in ("weather", "map")
]


@pytest.mark.parametrize(
    "grammar",
    [
        Grammar.from_json_schema(PLACE),
        Grammar.from_json_schema(PLACE, syntax="yaml"),
        Grammar.read(json.dumps(TOOLS), "tool-list"),
    ],
    ids=["json", "yaml", "tools"],
)
def test_a_text_up_to_a_rule_begins_the_whole_text(grammar: Grammar) -> None:
    whole = grammar.to_kbnf()
    names = [definition.name.value for definition in grammar.reading.document.definitions]
    assert KBNF.text_to(grammar.reading, names[-1]) == whole
    for name in names:
        text = KBNF.text_to(grammar.reading, name)
        assert whole.startswith(text)
        assert text.endswith(";\n")
        assert re.findall(r"^(\w+) ::=", text, re.MULTILINE)[-1] == name
