"""What older documents claim of grammars' forms, measured: one language, written in two ways.

``python -m benchmarks.reference_claims`` prints, for each form here and with llguidance, processor
milliseconds to the first mask, and microseconds a step (mask and accept) through a text that is
new, and once more. For a text that is forced, *skipped* asks ``forced_tokens`` and leaves out the
masks of what it foresees.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from time import process_time

from benchmarks.engines import LLGuidance, LLGuidanceMatcher, Matcher, OurMatcher
from benchmarks.vocabulary import Setting, read_setting
from kbnf_core import Config, Engine, Grammar

REPEATS = 5


@dataclass(frozen=True, slots=True)
class Form:
    """A way to write a language: ``kbnf``, and ``lark`` where llguidance has the same form."""

    claim: str
    name: str
    kbnf: str
    lark: str | None
    text: str


_WORDS = "one two three " * 60
_DATES = "2024-02-29;" * 60
_FREE = "Some text, 100 % free: é, 漢字 <b>bold</b> and more. " * 12 + "</end>"
_FIXED = '{"the quick brown fox": ["jumps over", "the lazy dog"], "number": 12345}' * 4

FORMS = (
    Form(
        "terminals or rules",
        "terminals",
        "start ::= (word ' ')+ '.'; word ::= 'one' | 'two' | 'three';",
        'start: (word " ")+ "."\nword: "one" | "two" | "three"',
        _WORDS + ".",
    ),
    Form(
        "terminals or rules",
        "a rule a character",
        "start ::= (word ' ')+ '.'; word ::= o n e | t w o | t h r e e; o ::= 'o'; n ::= 'n';"
        " e ::= 'e'; t ::= 't'; w ::= 'w'; h ::= 'h'; r ::= 'r';",
        'start: (word " ")+ "."\nword: o n e | t w o | t h r e e\no: "o"\nn: "n"\ne: "e"\n'
        't: "t"\nw: "w"\nh: "h"\nr: "r"',
        _WORDS + ".",
    ),
    Form(
        "regex or grammar",
        "regex",
        "start ::= #'([0-9]{4}-[0-9]{2}-[0-9]{2};)+' '.';",
        'start: DATES "."\nDATES: /([0-9]{4}-[0-9]{2}-[0-9]{2};)+/',
        _DATES + ".",
    ),
    Form(
        "regex or grammar",
        "grammar",
        "start ::= (d{4} '-' d d '-' d d ';')+ '.'; d ::= #'[0-9]';",
        'start: (d d d d "-" d d "-" d d ";")+ "."\nd: /[0-9]/',
        _DATES + ".",
    ),
    Form(
        "recursion",
        "left",
        "start ::= list '.'; list ::= item | list item; item ::= #'[a-z]+ ';",
        'start: list "."\nlist: item | list item\nitem: /[a-z]+ /',
        _WORDS + ".",
    ),
    Form(
        "recursion",
        "right",
        "start ::= list '.'; list ::= item | item list; item ::= #'[a-z]+ ';",
        'start: list "."\nlist: item | item list\nitem: /[a-z]+ /',
        _WORDS + ".",
    ),
    Form(
        "free text",
        "except!",
        "start ::= except!('</end>') '</end>';",
        'start: /(?s:.*)/ "</end>"',
        _FREE,
    ),
    Form("free text", "any", "start ::= #'(?s:.)*';", "start: /(?s:.*)/", _FREE),
    Form("forced text", "a mask for each", f"start ::= '{_FIXED}';", None, _FIXED),
    Form("forced text", "skipped", f"start ::= '{_FIXED}';", None, _FIXED),
)


def through(matcher: Matcher, tokens: Sequence[int]) -> float:
    """Return the microseconds of a step."""
    matcher.begin()
    began = process_time()
    for token in tokens:
        matcher.mask()
        matcher.accept(token)
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


def time_ours(form: Form, setting: Setting, tokens: Sequence[int]) -> list[float]:
    """Return the time to the first mask, and of a step in the first and the second pass."""
    began = process_time()
    engine = Engine(Grammar(form.kbnf), setting.vocabulary, Config(finish="eos"))
    matcher = OurMatcher(engine)
    matcher.mask()
    first = 1e3 * (process_time() - began)
    if form.name == "skipped":
        return [first, skipping(engine, tokens), skipping(engine, tokens)]
    return [first, through(matcher, tokens), through(matcher, tokens)]


def time_theirs(form: Form, engine: LLGuidance, size: int, tokens: Sequence[int]) -> list[float]:
    """Do what ``time_ours`` does, with llguidance."""
    began = process_time()
    grammar = import_module("llguidance").LLMatcher.grammar_from_lark(form.lark)
    matcher = LLGuidanceMatcher(engine.tokenizer, grammar, size)
    matcher.mask()
    first = 1e3 * (process_time() - began)
    return [first, through(matcher, tokens), through(matcher, tokens)]


def main() -> None:
    """Print the least of some repeats."""
    setting = read_setting()
    peer = LLGuidance(setting)
    setting.vocabulary.encode("")
    print("| claim | form | engine | first mask, ms | first pass, us | second pass, us |")
    print("|---|---|---|---|---|---|")
    for form in FORMS:
        tokens = setting.encode(form.text)
        ours = [time_ours(form, setting, tokens) for _ in range(REPEATS)]
        rows = {"kbnf-toolkit": ours}
        if form.lark is not None:
            size = setting.vocabulary.size
            rows["llguidance"] = [time_theirs(form, peer, size, tokens) for _ in range(REPEATS)]
        for name, times in rows.items():
            cells = " | ".join(f"{min(column):.2f}" for column in zip(*times, strict=True))
            print(f"| {form.claim} | {form.name} | {name} | {cells} |")


if __name__ == "__main__":
    main()
