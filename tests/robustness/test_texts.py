"""Mutated grammars and schemas: checked and converted without a crash, a hang or a traceback.

Any text may be refused, but only with findings or one of the documented errors. What a
conversion accepts has been read again by the conversion itself.
"""

import json
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kbnf_core import Grammar, KbnfError
from kbnf_core.convert import (
    from_abnf,
    from_bnf,
    from_gbnf,
    from_json_schema,
    from_lark,
    from_structural_tag,
    to_gbnf,
    to_lark,
)
from kbnf_core.languages.json_schema import Options
from kbnf_core.lint.check import check
from kbnf_testing import forked, robustness
from kbnf_testing.samples import seeds

pytestmark = forked.needed

SURFACE = "texts"
PARTS = 3
"""Of the cases; the ordinary run has one of them."""
ROOT = Path(__file__).resolve().parents[2]
GRAMMARS = sorted((ROOT / "grammars").glob("*.kbnf"))

GBNF = (
    'root ::= item+ | "x"{2,5}\nitem ::= [a-z0-9]* "," | "\\x41\\u00e9" [^\\n] # comment\n',
    'root ::= "{" ws (pair ("," ws pair)*)? "}"\npair ::= str ":" ws str\n'
    'str ::= "\\"" [^"\\\\]* "\\""\nws ::= [ \\t\\n]*\n',
)
LARK = (
    'start: expr\n?expr: term (("+"|"-") term)*\nterm: NUMBER | "(" expr ")"\n'
    "%import common.NUMBER\n%ignore /\\s+/\n",
    'start: (WORD | _list{WORD, ","})~1..3\n_list{item, sep}: item (sep item)*\n'
    'WORD.2: /[a-z]+/i & ~"no"\n',
    'start: "a" x[lazy, max_tokens=5] %json {"type": "integer"} | @other\nx: /.*?;/\n'
    'other: %regex {"substring_words": "one two three"}\n',
)
BNF = (
    "<start>::='a'<middle>'b'|<any!>\n<middle>::=<except!([stop])>\n<stop>::='x'|'y'\n",
    "<start>::='{'<body>'}'\n<body>::='k' ':' <start>|''\n",
)
ABNF = (
    'start = item *("," item) ; list\nitem = 2*5%x30-39 / %s"x" [ ALPHA ]\n'
    "item =/ %d13.10 / <start>\n",
    "text = *( %x00-7F / utf8-2 )\nutf8-2 = %xC2-DF utf8-tail\nUTF8-tail = %b10000000-10111111\n",
)
SCHEMAS = (
    {
        "type": "object",
        "properties": {"a": {"type": "integer", "minimum": 3}, "b": {"enum": ["x", "y", 1.5]}},
        "patternProperties": {"^x-": {"type": "string", "pattern": "^[a-c]{2,4}$"}},
        "required": ["a"],
        "additionalProperties": False,
    },
    {
        "$defs": {"n": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/list"}]},
                  "list": {"type": "array", "items": {"$ref": "#/$defs/n"}, "maxItems": 4}},
        "oneOf": [{"$ref": "#/$defs/list"}, {"type": "string", "format": "date"}],
        "not": {"const": "2020-01-01"},
    },
    {
        "type": "array",
        "prefixItems": [{"multipleOf": 0.25}, {"minLength": 2, "maxLength": 9}],
        "contains": {"const": True},
        "uniqueItems": False,
        "if": {"minItems": 3}, "then": {"maxItems": 5},
    },
)  # fmt: skip

ARGUMENTS = {
    "type": "object",
    "properties": {
        "a": {"type": "string", "minLength": 2, "pattern": "[a-z]+"},
        "b": {"type": ["integer", "null"]},
        "c": {"enum": ["x", 1, None]},
        "d": {"$ref": "#/$defs/list"},
        "e": {"anyOf": [{"type": "boolean"}, {"const": 2}]},
    },
    "required": ["a", "d"],
    "additionalProperties": {"type": "number"},
    "$defs": {"list": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3}},
}
STYLES = (
    "json", "qwen_xml", "minimax_xml", "minimax_m3_xml", "deepseek_xml", "deepseek_v4_1_xml",
    "glm_xml", "cohere_xml", "kimi_k3_xml",
)  # fmt: skip
TAGS = (
    *(
        {
            "type": "tag",
            "begin": "<call>",
            "content": {"type": "json_schema", "json_schema": ARGUMENTS, "style": style},
            "end": ["</call>", "\n"],
        }
        for style in STYLES
    ),
    {
        "type": "triggered_tags",
        "triggers": ["<f"],
        "tags": [
            {"type": "tag", "begin": "<f=a>", "content": {"type": "any_text"}, "end": "</f>"},
            {"begin": "<f=b>", "content": {"type": "regex", "pattern": "[0-9]+"}, "end": "</f>"},
        ],
        "at_least_one": True,
    },
    {
        "type": "sequence",
        "elements": [
            {"type": "const_string", "value": "a"},
            {
                "type": "repeat",
                "min": 1,
                "max": 3,
                "content": {"type": "grammar", "grammar": GBNF[0]},
            },
            {"type": "or", "elements": [{"type": "token", "token": 3}, {"type": "any_text"}]},
            {"type": "qwen_xml_parameter", "json_schema": ARGUMENTS},
        ],
    },
)
CHOICES = (["yes", "no", "é"], ['a"\\b', "", "\n"])
REGEXES = (r"[a-z]+\d{2}(?:é|\u{1f600})?", r"(?i)a|b{2,5}[^\x00-\x1f]*", r"\p{Lu}{1,9}(?s:.)$")

PIECES = (
    "", "(", ")", "[", "]", "{", "}", "{0,65536}", "~9999", "*", "+", "?", "|", "::=", ":", ";",
    '"', "'", "#'", "\\", "\\u{110000}", "\\xff", "\0", "\u202e", "\U0001f600", "é", "\r", "\n\n",
    "#token[1]", "<[7]>", "except!(", "&", "~", "%import", "%ignore", "(* kbnf: finish=eos *)",
    "$ref", "allOf", "1e400", "-0", "null", "true", "[]", "{}", "start", "#ex'a*'", "#substrs'ab'",
    "\ud800", "\udc00", "\\ud800", "\\uDFFF", '"\\ud800"', '"\\\\udc00\\ud83d"', "\u2066", "\u2069",
    "\u200f", "[{}]", '{"a": {}}', "1.5", '"x"', "NaN",
)  # fmt: skip

VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**30, "", "x", "object", "\ud800", "\udc00x", "\u202ea", "\u2066",
    "(", "#/type", [], [[]], [{}], ["x"], [1, 1.0], {}, {"": {}}, {"\ud800": {}}, {"type": []},
    {"$ref": "#"}, {"const": []},
)  # fmt: skip
"""Values of JSON of all types: what a member may be given in the place of the right one."""

Subject = Callable[[str], object]


def languages() -> dict[str, tuple[tuple[str, ...], tuple[Subject, ...]]]:
    """Return, for each language, the texts to begin with and what is done with them."""
    return {
        "kbnf": (_kbnf(), (lambda text: check(text, "g.kbnf"), to_gbnf, to_lark)),
        "gbnf": (GBNF, (lambda text: check(text, "g.gbnf"), from_gbnf)),
        "lark": (
            LARK,
            (
                lambda text: check(text, "g.lark"),
                from_lark,
                lambda text: from_lark(text, lexing="lalr"),
            ),
        ),
        "abnf": (ABNF, (lambda text: check(text, "g.abnf"), from_abnf)),
        "bnf": (BNF, (lambda text: check(text, "g.bnf"), from_bnf)),
        "json": (
            tuple(map(json.dumps, SCHEMAS)),
            (from_json_schema, lambda text: from_json_schema(text, Options(lossy=True))),
        ),
        "tag": (
            tuple(json.dumps({"type": "structural_tag", "format": each}) for each in TAGS),
            (from_structural_tag,),
        ),
        "regex": (REGEXES, (Grammar.from_regex,)),
        "choice": (tuple(map(json.dumps, CHOICES)), (lambda text: Grammar.from_choice([text]),)),
    }


@cache
def _kbnf() -> tuple[str, ...]:
    return tuple(path.read_text(encoding="utf-8") for path in GRAMMARS)


def mutate(random: Random, text: str, others: Iterable[str]) -> str:
    """Return the text with pieces put in, taken out, doubled or exchanged."""
    donors = [text, *others]
    for _ in range(random.choice((1, 1, 2, 4, 8))):
        place = random.randrange(len(text) + 1)
        end = min(len(text), place + random.choice((0, 1, 1, 3, 20)))
        donor = random.choice(donors)
        start = random.randrange(len(donor) + 1)
        piece = random.choice(
            (
                random.choice(PIECES),
                text[place:end] * random.choice((2, 3, 40)),
                donor[start : start + random.choice((1, 5, 60))],
            )
        )
        text = text[:place] + piece + text[end:]
    return text


def mistyped(random: Random, text: str) -> str:
    """Return a JSON text in which some values are others, of any type."""
    root = [json.loads(text)]
    for _ in range(random.choice((1, 1, 2, 4))):
        places: list[tuple[Any, Any]] = [(root, 0)]
        for owner, key in places:
            value = owner[key]
            keys = (
                value
                if isinstance(value, dict)
                else range(len(value) if isinstance(value, list) else 0)
            )
            places += [(value, each) for each in keys]
        owner, key = random.choice(places[1:] or places)
        value = json.loads(json.dumps(random.choice(VALUES)))
        if isinstance(owner, dict) and random.random() < 0.2:
            owner[random.choice(("\ud800", "required", "type", "properties", "items", key))] = value
        else:
            owner[key] = value
    return json.dumps(root[0], ensure_ascii=random.random() < 0.5)


def use(language: str, text: str) -> None:
    """Do with the text what its language is for; documented errors are answers."""
    for subject in languages()[language][1]:
        try:
            subject(text)
        except KbnfError as error:
            assert str(error).strip()  # noqa: PT017 - the answer says something


def drawn(language: str, case: int) -> str:
    """Return the text of one case."""
    random = robustness.generator(f"{SURFACE} {language}", case)
    seeds = languages()[language][0]
    seed = random.choice(seeds)
    if language in ("json", "tag") and random.random() < 0.5:
        return mistyped(random, seed)
    return mutate(random, seed, seeds)


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("part", seeds(PARTS, ordinary=1))
def test_mutated_texts_end_with_an_answer(language: str, part: int) -> None:
    chosen = robustness.cases(60)[part::PARTS]
    outcomes = forked.run(lambda case: use(language, drawn(language, case)), chosen, seconds=30)
    for outcome in outcomes:
        if outcome.end is not forked.End.RETURNED:
            data = drawn(language, outcome.case).encode("utf-8", "surrogatepass")
            robustness.keep_sample(SURFACE, data, f".{language}")
    assert forked.failures(outcomes) == []


@pytest.mark.parametrize("path", robustness.samples(SURFACE), ids=lambda path: path.name)
def test_what_failed_once_ends_with_an_answer(path: Path) -> None:
    text = path.read_bytes().decode("utf-8", "surrogatepass")
    outcomes = forked.run(lambda case: use(case, text), [path.suffix[1:]], seconds=30)
    assert forked.failures(outcomes) == []
