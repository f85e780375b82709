"""Mutated grammars and schemas: checked and converted without a crash, a hang or a traceback.

Any text may be refused, but only with findings or one of the documented errors. What a
conversion accepts has been read again by the conversion itself.
"""

import json
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from random import Random

import pytest

from kbnf_core import KbnfError
from kbnf_core.convert import (
    from_abnf,
    from_bnf,
    from_gbnf,
    from_json_schema,
    from_lark,
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

PIECES = (
    "", "(", ")", "[", "]", "{", "}", "{0,65536}", "~9999", "*", "+", "?", "|", "::=", ":", ";",
    '"', "'", "#'", "\\", "\\u{110000}", "\\xff", "\0", "\u202e", "\U0001f600", "é", "\r", "\n\n",
    "#token[1]", "<[7]>", "except!(", "&", "~", "%import", "%ignore", "(* kbnf: finish=eos *)",
    "$ref", "allOf", "1e400", "-0", "null", "true", "[]", "{}", "start", "#ex'a*'", "#substrs'ab'",
)  # fmt: skip

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
    return mutate(random, random.choice(seeds), seeds)


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
