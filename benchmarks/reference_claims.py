"""What older documents claim of grammars' forms, measured: one language, written in two ways.

``python -m benchmarks.reference_claims`` prints, for each claim, form and engine that can say it,
processor milliseconds to the first mask, and microseconds a step (mask and accept) through a text
that is new, and once more: the least of some repeats, engines taking turns. *Skipped* is forced
text for which this library is asked for ``forced_tokens``, without masks of what it foresees.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import process_time

import click

from benchmarks.engines import Maker, Matcher, OurMatcher, Ours, make_peers
from benchmarks.vocabulary import Setting, read_setting
from kbnf_core import Engine

REPEATS = 5
PATIENCE = 2.0
"""Processor seconds after which an engine is asked only once, and taken off a text."""


@dataclass(frozen=True, slots=True)
class Form:
    """A way to write a language, for each engine that has it; ``kbnf (Rust)`` takes ``kbnf``."""

    claim: str
    name: str
    text: str
    grammars: dict[str, str] = field(default_factory=dict)

    def grammar(self, form: str) -> str | None:
        """Return the grammar in a language, None if it has none."""
        return self.grammars.get(form)


_WORDS = "one two three " * 60 + "."
_DATES = "2024-02-29;" * 60 + "."
_SUM = "1+2+3+4+5+6+7+8" * 3 + "."
_FREE = "Some text, 100 % free: é, 漢字 <b>bold</b> and more. " * 12 + "</end>"
_FIXED = '{"the quick brown fox": ["jumps over", "the lazy dog"], "number": 12345}' * 4
_QUOTED = _FIXED.replace('"', '\\"')
_FORCED = {
    "kbnf": f"start ::= '{_FIXED}';",
    "lark": f'start: "{_QUOTED}"',
    "gbnf": f'root ::= "{_QUOTED}"',
}

FORMS = (
    Form(
        "terminals or rules",
        "terminals",
        _WORDS,
        {
            "kbnf": "start ::= (word ' ')+ '.'; word ::= 'one' | 'two' | 'three';",
            "lark": 'start: (word " ")+ "."\nword: "one" | "two" | "three"',
            "gbnf": 'root ::= (word " ")+ "."\nword ::= "one" | "two" | "three"',
        },
    ),
    Form(
        "terminals or rules",
        "a rule a character",
        _WORDS,
        {
            "kbnf": "start ::= (word ' ')+ '.'; word ::= o n e | t w o | t h r e e; o ::= 'o';"
            " n ::= 'n'; e ::= 'e'; t ::= 't'; w ::= 'w'; h ::= 'h'; r ::= 'r';",
            "lark": 'start: (word " ")+ "."\nword: o n e | t w o | t h r e e\no: "o"\nn: "n"\n'
            'e: "e"\nt: "t"\nw: "w"\nh: "h"\nr: "r"',
            "gbnf": 'root ::= (word " ")+ "."\nword ::= o n e | t w o | t h r e e\no ::= "o"\n'
            'n ::= "n"\ne ::= "e"\nt ::= "t"\nw ::= "w"\nh ::= "h"\nr ::= "r"',
        },
    ),
    Form(
        "regex or grammar",
        "regex",
        _DATES,
        {
            "kbnf": "start ::= #'([0-9]{4}-[0-9]{2}-[0-9]{2};)+' '.';",
            "lark": 'start: DATES "."\nDATES: /([0-9]{4}-[0-9]{2}-[0-9]{2};)+/',
            "regex": r"([0-9]{4}-[0-9]{2}-[0-9]{2};)+\.",
        },
    ),
    Form(
        "regex or grammar",
        "grammar",
        _DATES,
        {
            "kbnf": "start ::= (d d d d '-' d d '-' d d ';')+ '.'; d ::= #'[0-9]';",
            "lark": 'start: (d d d d "-" d d "-" d d ";")+ "."\nd: /[0-9]/',
            "gbnf": 'root ::= (d d d d "-" d d "-" d d ";")+ "."\nd ::= [0-9]',
        },
    ),
    Form(
        "recursion",
        "left",
        _WORDS,
        {
            "kbnf": "start ::= list '.'; list ::= item | list item; item ::= #'[a-z]+ ';",
            "lark": 'start: list "."\nlist: item | list item\nitem: /[a-z]+ /',
            "gbnf": 'root ::= list "."\nlist ::= item | list item\nitem ::= [a-z]+ " "',
        },
    ),
    Form(
        "recursion",
        "right",
        _WORDS,
        {
            "kbnf": "start ::= list '.'; list ::= item | item list; item ::= #'[a-z]+ ';",
            "lark": 'start: list "."\nlist: item | item list\nitem: /[a-z]+ /',
            "gbnf": 'root ::= list "."\nlist ::= item | item list\nitem ::= [a-z]+ " "',
        },
    ),
    Form(
        "ambiguity",
        "one derivation",
        _SUM,
        {
            "kbnf": "start ::= sum '.'; sum ::= n | sum n | sum '+' n; n ::= #'[0-9]';",
            "lark": 'start: sum "."\nsum: n | sum n | sum "+" n\nn: /[0-9]/',
            "gbnf": 'root ::= sum "."\nsum ::= n | sum n | sum "+" n\nn ::= [0-9]',
        },
    ),
    Form(
        "ambiguity",
        "many",
        _SUM,
        {
            "kbnf": "start ::= sum '.'; sum ::= n | sum sum | sum '+' sum; n ::= #'[0-9]';",
            "lark": 'start: sum "."\nsum: n | sum sum | sum "+" sum\nn: /[0-9]/',
            "gbnf": 'root ::= sum "."\nsum ::= n | sum sum | sum "+" sum\nn ::= [0-9]',
        },
    ),
    Form(
        "free text",
        "except!",
        _FREE,
        {
            "kbnf": "start ::= except!('</end>') '</end>';",
            "kbnf-rust": "start ::= #ex'</end>' '</end>';",
            "lark": "start: TEXT\nTEXT: /(?s:.)*<\\/end>/ & ~/(?s:.)*<\\/end>(?s:.)+/",
            "gbnf": 'root ::= [^<] root | "<" t1\nt1 ::= [^</] root | "<" t1 | "/" t2\n'
            't2 ::= [^<e] root | "<" t1 | "e" t3\nt3 ::= [^<n] root | "<" t1 | "n" t4\n'
            't4 ::= [^<d] root | "<" t1 | "d" t5\nt5 ::= [^<>] root | "<" t1 | ">"',
        },
    ),
    Form(
        "free text",
        "any",
        _FREE,
        {
            "kbnf": "start ::= #'(?s:.)*' '</end>';",
            "lark": 'start: /(?s:.)*/ "</end>"',
            "gbnf": 'root ::= ([^\\n] | "\\n")* "</end>"',
            "regex": "(?s:.)*</end>",
        },
    ),
    Form("forced text", "a mask for each", _FIXED, _FORCED),
    Form("forced text", "skipped", _FIXED, {"kbnf": _FORCED["kbnf"]}),
)


def through(matcher: Matcher, tokens: Sequence[int]) -> float:
    """Return the microseconds of a step."""
    matcher.begin()
    began = process_time()
    for place, token in enumerate(tokens, 1):
        matcher.mask()
        matcher.accept(token)
        if process_time() - began > PATIENCE:
            return 1e6 * (process_time() - began) / place
    return 1e6 * (process_time() - began) / len(tokens)


def skipping(engine: Engine, tokens: Sequence[int]) -> float:
    """Return the microseconds of a token where forced ones need no mask."""
    engine.reset()
    began = process_time()
    place = 0
    while place < len(tokens):
        forced = engine.forced_tokens()
        if not forced:
            engine.compute_allowed_token_ids()
        engine.accept_tokens(forced or tokens[place : place + 1])
        place += len(forced) or 1
    return 1e6 * (process_time() - began) / len(tokens)


def time_form(form: Form, maker: Maker, tokens: Sequence[int]) -> list[float] | None:
    """Return the time to the first mask, and of a step in the first and the second pass.

    None where the engine has no such form.
    """
    began = process_time()
    try:
        matcher = maker.make(form)
    except LookupError:
        return None
    if matcher is None:
        return None
    matcher.mask()
    first = 1e3 * (process_time() - began)
    if form.name != "skipped":
        return [first, through(matcher, tokens), through(matcher, tokens)]
    if not isinstance(matcher, OurMatcher):
        return None
    return [first, skipping(matcher.engine, tokens), skipping(matcher.engine, tokens)]


def measure(form: Form, makers: Sequence[Maker], setting: Setting) -> None:
    """Print the least of some repeats, a line for each engine."""
    tokens = setting.encode(form.text)
    found: dict[str, list[list[float]]] = {}
    failures: dict[str, str] = {}
    for _ in range(REPEATS):
        for maker in makers:
            before = found.setdefault(maker.name, [])
            if maker.name in failures or (before and before[0][0] > 1e3 * PATIENCE):
                continue
            try:
                times = time_form(form, maker, tokens)
            except BaseException as error:  # A panic of Rust is no Exception.
                if isinstance(error, KeyboardInterrupt):
                    raise
                failures[maker.name] = f"{type(error).__name__}: {error}".split("\n")[0][:90]
                continue
            if times is not None:
                before.append(times)
    for name, rows in found.items():
        if name in failures:
            print(f"| {form.claim} | {form.name} | {name} | {failures[name]} | | |")
        elif rows:
            cells = " | ".join(f"{min(column):.2f}" for column in zip(*rows, strict=True))
            print(f"| {form.claim} | {form.name} | {name} | {cells} |")


@click.command()
@click.option("--only", multiple=True, help="A claim; several are allowed.")
def main(only: tuple[str, ...]) -> None:
    """Measure what older documents claim of grammars' forms."""
    setting = read_setting()
    peers, missing = make_peers(setting)
    for name in missing:
        print(f"{name} is not installed: pip install -e '.[bench]'")
    setting.vocabulary.encode("")
    print("| claim | form | engine | first mask, ms | first pass, us | second pass, us |")
    print("|---|---|---|---|---|---|")
    for form in FORMS:
        if not only or form.claim in only:
            measure(form, [Ours(setting), *peers], setting)


if __name__ == "__main__":
    main()
