"""Numbers with thousands of digits, and exponents without end: read, or one finding, at once."""

from decimal import Decimal

import pytest

from kbnf_core.frontend import read_grammar
from kbnf_core.ir import Repeat
from kbnf_core.languages import detect
from kbnf_core.text.errors import GrammarError
from kbnf_core.text.json_text import MOST_DIGITS, NoJsonError, parse_json
from kbnf_core.text.source import Source

MANY = ("0" * 5_000 + "2", "9" * 5_000)
BEYOND = ("9" * 5_000, "1e999999999", "1e-999999999", "1e99999999999999999999")

LARK = (
    'start: "a"~{0}',
    'start: "a"~1..{0}',
    "start: /a{{{0}}}/",
    "start: <[{0}]>",
    "start: <[1-{0}]>",
    'start: A\nA.{0}: "a"',
    'start: a::set_bit({0})\na::_: "x"',
    'start: a::incr([{0}:3])\na::_: "x"',
)
TEXTS = {
    "kbnf": ("start ::= 'a'{{{0}}};", "start ::= #'a{{1,{0}}}';", "start ::= 'a'{0} 'b';"),
    "gbnf": ('root ::= "a"{{{0}}}', 'root ::= "a"{{1,{0}}}', "root ::= <[{0}]>"),
    "lark": LARK,
    "abnf": ('root = 1*{0}"a"\n', "root = %d{0}\n", "root = %x{0}\n"),
}
SCHEMAS = (
    *(f'{{{{"{keyword}":{{0}}}}}}' for keyword in ("maxLength", "minItems", "maximum", "const")),
    '{{"enum":[{0}]}}',
    '{{"type":"object","properties":{{"a":{{"multipleOf":{0}}}}}}}',
    '{{"anyOf":[{{"type":"object","properties":{{"a":{{"default":{0}}}}}}},{{"type":"object"}}]}}',
)
AROUND = {
    "schema": "{0}",
    "lark": "start: %json {0}",
    "grammars": '{{"grammars":[{{"json_schema":{0}}}]}}',
    "tag": '{{"type":"structural_tag","format":{{"type":"json_schema","json_schema":{0}}}}}',
    "tools": '[{{"type":"function","function":{{"name":"f","parameters":{0}}}}}]',
}


def is_read(text: str, path: str) -> bool:
    source = Source(text, path, is_json=path.endswith(".json"))
    try:
        reading = read_grammar(source, language=detect(text, path))
    except GrammarError:
        return False
    return not reading.errors


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("number", MANY, ids=("zeros", "nines"))
def test_digits_without_end(language: str, number: str) -> None:
    for text in TEXTS[language]:
        is_read(text.format(number), f"x.{language}")


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("number", BEYOND, ids=("nines", "large", "small", "out of range"))
def test_numbers_of_json(around: str, number: str) -> None:
    for schema in SCHEMAS:
        text = AROUND[around].format(schema.format(number))
        is_whole = is_read(text, "x.lark" if around == "lark" else "x.json")
        assert not (is_whole and "e" in number)


def test_leading_zeros_change_no_count() -> None:
    zeros = "0" * 30 + "2"
    for path, text in (("x.gbnf", 'root ::= "a"{{{0}}}'), ("x.lark", 'start: "a"~{0}')):
        source = Source(text.format(zeros), path)
        grammar = read_grammar(source, language=detect(source.text, path)).grammar
        assert grammar is not None
        (body,) = grammar.rules.values()
        assert isinstance(body, Repeat)
        assert (body.low, body.high) == (2, 2)


def test_exponents_end_where_digits_do() -> None:
    assert parse_json(f"1e{MOST_DIGITS}") == Decimal(10) ** MOST_DIGITS
    assert parse_json("9" * 5_000) == Decimal("9" * 5_000)
    with pytest.raises(NoJsonError, match="digits without its exponent"):
        parse_json(f"1e-{MOST_DIGITS + 1}")
