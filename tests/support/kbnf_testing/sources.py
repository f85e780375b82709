"""Random sources of every language, with the names and forms that its writers must cope with."""

import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, NamedTuple

from kbnf_core.languages import (
    ABNF,
    ANTLR,
    BNF,
    CHOICE,
    EBNF,
    GBNF,
    JSON_SCHEMA,
    KBNF,
    LARK,
    REGEX,
    RESPONSE_TEMPLATE,
    STRUCTURAL_TAG,
    TOOL_LIST,
    TREE_SITTER,
    Language,
)
from kbnf_testing.generate import Features, GrammarMaker
from kbnf_testing.printer import to_kbnf


class Syntax(NamedTuple):
    """How a language writes rules.

    ``names`` are some that only it has, that differ in what others leave out, or that writers make
    themselves. ``leaves`` are terminals, ``choice`` is between alternatives. A repetition is
    ``counted``, of a part in brackets; without, a rule calls itself.
    """

    names: tuple[str, ...]
    leaves: tuple[str, ...]
    rule: Callable[[str, str], str]
    choice: str
    counted: Callable[[str, int, int | None], str] | None
    use: Callable[[str], str] = str


def _counts(low: int, high: int | None) -> str:
    return f"{{{low},{'' if high is None else high}}}"


def _operator(low: int, high: int | None) -> str:
    """Return the nearest of the operators ``?``, ``*`` and ``+``."""
    return "+" if low else "?" if high == 1 else "*"


SYNTAXES: Mapping[Language, Syntax] = {
    KBNF: Syntax(
        ("start", "a_b", "_a", "root", "true", "X", "x", "start_2", "a__b"),
        (
            *("'a'", '"b\\n"', "#'[a-c]+'", "#e'.*b'", "except!('ab')", "#ex'a.c'", "'é'", "''"),
            *(
                "#substrs'abc'",
                "#b'\\xff'",
                "#b'\\xc3' #b'\\xa9'",
                "'\"\\\\]'",
                "#'(?i)k'",
                "#'a$|^b'",
            ),
        ),
        lambda name, body: f"{name} ::= {body};",
        " | ",
        lambda part, low, high: f"({part}){_counts(low, high)}",
    ),
    GBNF: Syntax(
        ("root", "a-b", "a-b-nonempty", "root-inner", "1", "-", "true", "a-item1", "start", "A-b"),
        (
            '"a"',
            '"b\\n"',
            "[a-c]",
            "[^a\\]-]",
            "[]",
            '"\\u00e9"',
            ".",
            '"\\"\\\\"',
            '""',
            "[b\\x2D]",
        ),
        lambda name, body: f"{name} ::= {body}",
        " | ",
        lambda part, low, high: f"({part}){_counts(low, high)}",
    ),
    ABNF: Syntax(
        ("start", "a-b", "Item1", "a-b-nonempty", "root", "A-B-2", "nothing", "a-b-after-root"),
        ('"a"', '%s"b"', "%x61-63", "DIGIT", "%d97.98", '""', "[CRLF]", "<a-b>"),
        lambda name, body: f"{name} = {body}",
        " / ",
        lambda part, low, high: f"{low}*{'' if high is None else high}({part})",
    ),
    EBNF: Syntax(
        ("start", "a_b", "Item-1", "root", "a.b", "A_b", "true"),
        ('"a"', "'b'", "[a-c]", "#x61", "[^a#x5d]", "('ab' - 'a')", "''", "'é'", "([a-c] - 'b')"),
        lambda name, body: f"{name} ::= {body}",
        " | ",
        lambda part, low, high: f"({part}){_operator(low, high)}",
    ),
    ANTLR: Syntax(
        ("start", "a_b", "item1", "root", "aB", "true"),
        ("'a'", "'b\\n'", "'\\u00e9'", "LETTERS", "DIGIT", "~LETTERS", "'ab'", "SIGN"),
        lambda name, body: f"{name} : {body} ;",
        " | ",
        lambda part, low, high: f"({part}){_operator(low, high)}",
    ),
    BNF: Syntax(
        ("start", "my rule", "", "é", "a-b", "a_b", "1", "x;y", "root", 'say "x"', "a b", "a'b"),
        (
            *("'a'", '"b\\n"', "'\\xc3\\xa9'", "'\\xff'", "<any!>", "<except!('ab')>"),
            *("'\\u00e9'", "<except!([my rule])>"),
        ),
        lambda name, body: f"<{name}>::={body}",
        "|",
        None,
        lambda name: f"<{name}>",
    ),
}


def _rules(random: Random, syntax: Syntax) -> str:
    # The first is the start; BNF's `except!([my rule])` wants the second.
    names = [*syntax.names[:2], *random.sample(syntax.names[2:], random.randint(0, 4))]

    def body(depth: int) -> str:
        kind = random.random()
        if depth == 0 or kind < 0.2:
            return random.choice(
                [random.choice(syntax.leaves)] * 2 + [syntax.use(random.choice(names))]
            )
        if kind < 0.6 or syntax.counted is None:
            return " ".join(body(depth - 1) for _ in range(random.randint(2, 3)))
        if kind < 0.8:
            return f"({body(depth - 1)}{syntax.choice}{body(depth - 1)})"
        low = random.choice((0, 0, 1, 2))
        return syntax.counted(body(depth - 1), low, random.choice((None, low + 1, low + 3)))

    def branches() -> str:
        # A leaf among the alternatives lets most grammars end.
        parts = [body(random.randint(0, 2)) for _ in range(random.randint(0, 2))]
        return syntax.choice.join([*parts, random.choice(syntax.leaves)])

    return "\n".join(syntax.rule(name, branches()) for name in names) + "\n"


def _kbnf(random: Random) -> str:
    finish = random.choice(("eager", "token", "eos"))
    head = f"(* kbnf: finish={finish} *)\n"
    if random.random() < 0.5:
        return head + _rules(random, SYNTAXES[KBNF])
    return head + to_kbnf(GrammarMaker(random, Features(tokens=False)).grammar())


_WORDS = ("a", "ab", "b", "é", '"', "\\", "", "x y", "<a>", "a\nb")


def _schema(random: Random, depth: int = 2) -> dict[str, Any]:
    kind = random.randrange(4 if depth == 0 else 8)
    match kind:
        case 0:
            return {"enum": random.sample([*_WORDS, 1, None, True], random.randint(1, 3))}
        case 1:
            return {"type": "string", "maxLength": random.randint(0, 5)}
        case 2:
            low = random.randint(-20, 20)
            return {"type": "integer", "minimum": low, "maximum": low + random.randint(0, 300)}
        case 3:
            return {"type": "string", "pattern": random.choice(("^a+$", "^[ab]{2}c?$", "b"))}
        case 4:
            return {"type": "array", "items": _schema(random, depth - 1), "maxItems": 3}
        case 5:
            return {"anyOf": [_schema(random, depth - 1), _schema(random, depth - 1)]}
        case _:
            names = random.sample(("a", "b c", 'q"', "é"), random.randint(1, 3))
            return {
                "type": "object",
                "properties": {name: _schema(random, depth - 1) for name in names},
                "required": names[: random.randint(0, len(names))],
                "additionalProperties": False,
            }


def _format(random: Random, depth: int = 2) -> dict[str, Any]:
    kind = random.randrange(3 if depth == 0 else 6)
    match kind:
        case 0:
            return {"type": "const_string", "value": random.choice(_WORDS[:5])}
        case 1:
            return {"type": "json_schema", "json_schema": _schema(random, 1)}
        case 2:
            return {"type": "regex", "pattern": random.choice(("a+b", "[^<]*", "x|yz"))}
        case 3:
            content = _format(random, depth - 1)
            return {"type": "tag", "begin": "<t>", "content": content, "end": "</t>"}
        case 4:
            parts = [_format(random, depth - 1) for _ in range(2)]
            return {"type": "sequence", "elements": parts}
        case _:
            return {"type": "or", "elements": [_format(random, depth - 1) for _ in range(2)]}


def _tools(random: Random) -> str:
    names = random.sample(("get", "get_all", "a-b", "send"), random.randint(1, 3))
    functions = (
        {
            "name": name,
            "parameters": {
                "type": "object",
                "properties": {"x": _schema(random, 1)},
                "required": ["x"],
            },
        }
        for name in names
    )
    return json.dumps([{"type": "function", "function": each} for each in functions])


def _regex(random: Random, depth: int = 2) -> str:
    kind = random.random()
    if depth == 0 or kind < 0.2:
        return random.choice(
            ("a", "[a-c]", "[^b]", "é", "\\d", '"', "/", "\\\\", " ", "(?i:k)", ".")
        )
    if kind < 0.6:
        return "".join(_regex(random, depth - 1) for _ in range(2))
    if kind < 0.8:
        return f"(?:{_regex(random, depth - 1)}|{_regex(random, depth - 1)})"
    if depth == 1:
        return f"{_regex(random, 0)}{{0,70}}"
    return f"(?:{_regex(random, depth - 1)}){random.choice(('?', '*', '+', '{2,3}'))}"


def _lark(random: Random) -> str:
    words = ('"a"', '"b"i', "/[ab]+c/", "/a?b/", "A", "B", "x", "y", '"a".."c"')

    def body(depth: int) -> str:
        kind = random.random()
        if depth == 0 or kind < 0.3:
            return random.choice(words)
        if kind < 0.6:
            return f"{body(depth - 1)} {body(depth - 1)}"
        if kind < 0.8:
            return f"({body(depth - 1)} | {body(depth - 1)})"
        return f"({body(depth - 1)}){random.choice(('?', '*', '+'))}"

    rules = [
        f"{name}: {body(2)} | {end}" for name, end in (("start", '"a"'), ("x", "A"), ("y", "B"))
    ]
    ignored = random.choice(("", "", '%ignore " "'))
    return "\n".join([*rules, "A: /a+/", 'B: "b" | "ab"', ignored]) + "\n"


def _response_template(random: Random) -> str:
    words = random.sample(("<a>", "</a>", "<b>", "</b>", "\n\n", "ab"), 4)
    fields = {
        "first": {"open": words[0], "close": words[1], "repeats": random.random() < 0.5},
        "second": {"open_pattern": "<x+>|y", "close": words[2:4]},
        "content": {"close": "<end>"} if random.random() < 0.5 else {},
    }
    names = random.sample([*fields], random.randint(1, 3))
    chosen = {name: fields[name] for name in {*names, "content"}}
    return json.dumps({"start_anchor": "<bot>", "fields": chosen}, sort_keys=True)


_TOKENS = """
LETTERS : [a-c]+ ;
DIGIT : [0-9] ;
SIGN : '+' | '//' .*? ('\\n' | EOF) ;
fragment UNUSED : 'x' ;
BLANK : [ \\t]+ -> skip ;
"""


def _antlr(random: Random) -> str:
    return f"grammar G;\n{_rules(random, SYNTAXES[ANTLR])}{_TOKENS}"


def _tree_sitter(random: Random) -> str:
    def rule(depth: int) -> dict[str, Any]:
        kind = random.choice(("STRING", "PATTERN", "SYMBOL", "SEQ", "CHOICE", "REPEAT", "TOKEN"))
        match kind if depth else random.choice(("STRING", "PATTERN", "SYMBOL")):
            case "STRING":
                return {"type": "STRING", "value": random.choice(("a", "ab", "+", "é"))}
            case "PATTERN":
                return {"type": "PATTERN", "value": random.choice(("[a-c]+", "\\d", "a|b", "//.*"))}
            case "SYMBOL":
                return {"type": "SYMBOL", "name": random.choice(("word", "other"))}
            case "REPEAT":
                return {"type": "REPEAT", "content": rule(depth - 1)}
            case "TOKEN":
                return {"type": "TOKEN", "content": {"type": "PATTERN", "value": "x[0-9]*"}}
            case many:
                return {"type": many, "members": [rule(depth - 1), rule(depth - 1)]}

    word = {"type": "PATTERN", "value": "[a-z]+"}
    rules = {"source": rule(3), "word": word, "other": rule(1), "end": {"type": "BLANK"}}
    blank = {"type": "PATTERN", "value": "\\s"}
    return json.dumps({"name": "g", "word": "word", "rules": rules, "extras": [blank]})


SOURCES: Mapping[Language, Callable[[Random], str]] = {
    KBNF: _kbnf,
    GBNF: lambda random: _rules(random, SYNTAXES[GBNF]),
    BNF: lambda random: _rules(random, SYNTAXES[BNF]),
    LARK: _lark,
    ABNF: lambda random: _rules(random, SYNTAXES[ABNF]),
    ANTLR: _antlr,
    EBNF: lambda random: _rules(random, SYNTAXES[EBNF]),
    TREE_SITTER: _tree_sitter,
    STRUCTURAL_TAG: lambda random: json.dumps(
        {"type": "structural_tag", "format": _format(random)}
    ),
    RESPONSE_TEMPLATE: _response_template,
    JSON_SCHEMA: lambda random: json.dumps(_schema(random)),
    TOOL_LIST: _tools,
    REGEX: lambda random: _regex(random, 3),
    CHOICE: lambda random: json.dumps(random.sample(_WORDS, random.randint(1, 5))),
}
"""Makes a text of each language."""
