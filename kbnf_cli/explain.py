"""``kbnf explain``: the texts that a rule of a grammar matches, in words and by examples.

Tests: tests/cli/test_explain.py
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kbnf_cli.console import Console, Exit
from kbnf_cli.escaped import byte_ranges, describe_bytes, escaped
from kbnf_cli.files import STDIN
from kbnf_cli.inputs import (
    BUILT_IN,
    GrammarOr,
    Inputs,
    ReadableText,
    as_kbnf,
    complete_rule,
    has_rules,
    is_artifact,
    kbnf_name,
    lacks_vocabulary,
    note_vocabulary,
    read_vocabulary,
    read_whole,
)
from kbnf_cli.options import (
    as_value,
    common_options,
    examples,
    format_option,
    from_option,
    outside_option,
    schema_options,
    stdin_option,
    vocabulary_options,
)
from kbnf_core.ir.families import family_of
from kbnf_core.kbnf.describe import describe
from kbnf_core.kbnf.tree import Pattern, PatternKind, postorder, uses_in
from kbnf_core.text.diagnostics.catalogue import find_rule, read_page
from kbnf_core.text.diagnostics.segments import Role, Segment, Segments, visible
from kbnf_core.text.diagnostics.text import location_of
from kbnf_core.text.errors import KbnfError
from kbnf_core.text.source import NOWHERE

if TYPE_CHECKING:
    from kbnf_core import Grammar, Vocabulary, ir
    from kbnf_core.frontend import Reading
    from kbnf_core.kbnf.tree import Definition, Document
    from kbnf_core.text.source import Source, Span


SCHEMA = "kbnf.explain/1"

_TEXTS = 5
"""Shortest texts that are shown."""

_OTHERS = 24
"""Other rules that are named."""

Ranges = tuple[tuple[int, int], ...]
"""Inclusive ranges of bytes."""


@dataclass(frozen=True, slots=True)
class Explained:
    """The facts of a rule.

    ``words`` say what it matches, ``regexes`` are its regular expressions as their engine sees
    them. ``texts`` are shortest ones, None where they are not known, ``first`` the bytes that
    its texts begin with, ``follow`` those that can occur after it, if ``may_end`` not only
    those. ``users`` are the rules that use it.
    """

    name: str
    definitions: "tuple[Definition, ...]"
    words: tuple[str, ...]
    regexes: "tuple[tuple[str, Span], ...]"
    texts: tuple[bytes, ...] | None
    first: Ranges
    follow: Ranges
    may_end: bool
    users: tuple[str, ...]


def _is_no_grammar(text: str) -> bool:
    """Return whether it is a pattern such as ``#"[0-9]+"``, or the code of a finding."""
    is_file = text == str(STDIN) or Path(text).exists()
    return not is_file and (text.startswith("#") or find_rule(text) is not None)


@click.command(
    epilog=examples(
        "kbnf explain json value",
        "kbnf explain g.gbnf",
        """kbnf explain '#"\\\\d{3}"'""",
        "kbnf explain W301",
    )
)
@click.argument("subject", metavar="GRAMMAR", type=GrammarOr("GRAMMAR", _is_no_grammar))
@click.argument("rule", metavar="[RULE]", required=False, shell_complete=complete_rule)
@format_option(["text", "json"], "Output format.")
@vocabulary_options
@from_option
@outside_option
@schema_options
@stdin_option
@common_options
@click.pass_obj
@as_value(Inputs)
def explain(
    console: Console,
    inputs: Inputs,
    subject: str | Path,
    rule: str | None,
    format_: str,
) -> int:
    """Explain what a rule matches.

    Describes the rule in words, with its regular expressions as the regex engine sees them, its
    shortest texts, their first bytes, and the bytes that may follow. GRAMMAR is a file in any
    supported language, the name of a shipped grammar, a pattern such as #r"[0-9]+", or `-` for
    stdin. The default RULE is the start rule. GRAMMAR can also be the code or name of a finding.
    """
    if isinstance(subject, str) and not subject.startswith("#"):
        return _explain_code(console, subject)
    readable, schema = _opened(subject, inputs)
    console.diagnostics(readable.losses if schema is None else schema.losses)
    reading = read_whole(readable, None) if schema is None else schema.reading
    document = reading.document
    name = rule or reading.start
    if name not in document.first_names and not _members(reading.named, name):
        raise click.ClickException(_unknown(name, document))
    vocabulary, whole = None, reading
    if lacks_vocabulary(reading):
        vocabulary = read_vocabulary(console, inputs.vocab or BUILT_IN, inputs.eos)
        if inputs.vocab is None:
            note_vocabulary(console, reading)
        whole = read_whole(readable if schema is None else as_kbnf(schema), None, vocabulary)
    written = document if schema is None else _written_up_to(reading, name)
    explained = _explain(whole, document, written, name, vocabulary)
    if format_ == "json":
        console.text(json.dumps(_value(explained, written.source)) + "\n")
        return Exit.CLEAN
    console.data(_text(explained, written.source))
    if rule is None and len(document.first_names) > 1:
        console.note(f"other rules: {_others(document, name)}")
    return Exit.CLEAN


def _opened(subject: str | Path, inputs: Inputs) -> "tuple[ReadableText, Grammar | None]":
    """Return the text to explain, and of a schema, which has no rules, its grammar."""
    from kbnf_core.languages import KBNF
    from kbnf_core.text.source import Source

    if not isinstance(subject, Path):
        return ReadableText(Source(f"start ::= {subject};\n", "<pattern>"), KBNF), None
    written = inputs.written(subject)
    if has_rules(written):
        return written, None
    if is_artifact(subject):
        return inputs.text(subject), None
    return written, inputs.grammar(subject, None, written=written)


def _written_up_to(reading: "Reading", name: str) -> "Document":
    """Return the text of a schema as KBNF up to a rule, which is parsed for its spans only."""
    from kbnf_core.kbnf.read import parse_kbnf
    from kbnf_core.languages import KBNF
    from kbnf_core.text.source import Source

    text = KBNF.text_to(reading, name) if name in reading.document.first_names else ""
    return parse_kbnf(Source(text, kbnf_name(reading.parsed.source.name))).document


def _others(document: "Document", name: str) -> str:
    origins = document.origins
    names = (rule.name.value for rule in document.definitions)
    written = dict.fromkeys(origins.get(rule, rule) for rule in names)
    others = [rule for rule in written if rule and rule != origins.get(name, name)]
    more = [f"and {len(others) - _OTHERS:,} more"] if len(others) > _OTHERS else []
    return ", ".join((*others[:_OTHERS], *more))


def _explain_code(console: Console, text: str) -> int:
    rule = find_rule(text)
    if rule is None:
        raise click.ClickException(f"there is no rule {text!r}")
    console.markdown(read_page(rule))
    return Exit.CLEAN


def _rules(reading: "Reading", name: str) -> "ir.GrammarRules | None":
    """Return a grammar with a rule.

    The rules with names exist already, and have all rules with a place in a schema. Rules of JSON,
    such as those of numbers, and of formats are used otherwise in the text, so that these are
    translated from its tree, which takes several times as long as to read a schema.
    """
    named = reading.named
    if named is None or any(named.rules[rule].span != NOWHERE for rule in _members(named, name)):
        return named
    from kbnf_core.lower.translate import translate

    return translate(reading.document, reading.start, reading.limits).grammar or named


def _members(grammar: "ir.GrammarRules | None", name: str) -> list[str]:
    """Return the rule, or all rules of a family."""
    rules = () if grammar is None else grammar.rules
    return [rule for rule in rules if name in (rule, family_of(rule))]


def _unknown(name: str, document: "Document") -> str:
    from kbnf_core.text.suggest import Suggestions

    close = Suggestions(document.first_names).closest(name)
    advice = f"did you mean `{close}`?" if close else "`kbnf explain GRAMMAR` lists them"
    return f"the grammar has no rule `{name}`; {advice}"


def _explain(
    reading: "Reading",
    document: "Document",
    written: "Document",
    name: str,
    vocabulary: "Vocabulary | None",
) -> Explained:
    """Return the facts of a rule, whose definitions and spans are in ``written``."""
    definitions = [d for d in written.definitions if d.name.value == name] or [
        d for d in reading.without_families().definitions if d.name.value == name
    ]
    rules = _rules(reading, name)
    first, follow, may_end = _borders(rules, name)
    return Explained(
        name,
        tuple(definitions),
        tuple(
            str(line)
            for definition in definitions
            for line in describe(definition.body, document.origins)
        ),
        tuple(expression for definition in definitions for expression in _regexes(definition)),
        _shortest(reading, rules, next(iter(_members(rules, name)), name), vocabulary),
        first,
        follow,
        may_end and not reading.is_endless,
        tuple(_users(document, name)),
    )


def _regexes(definition: "Definition") -> "list[tuple[str, Span]]":
    return [
        (node.text.value, node.span)
        for node in postorder(definition.body)
        if isinstance(node, Pattern) and node.kind is not PatternKind.SUBSTRINGS
    ]


def _users(document: "Document", name: str) -> "list[str]":
    definitions = document.definitions
    family = family_of(name)
    users = (d.name.value for d in definitions if any(n.value == family for n in uses_in(d.body)))
    origins = document.origins
    return [rule for rule in dict.fromkeys(origins.get(u, u) for u in users) if rule]


def _shortest(
    reading: "Reading", rules: "ir.GrammarRules | None", name: str, vocabulary: "Vocabulary | None"
) -> tuple[bytes, ...] | None:
    """Return shortest texts of a rule; None where it has none that is finite and of bytes alone."""
    from kbnf_core import Engine, Grammar, Vocabulary, ir
    from kbnf_core.config import Finish
    from kbnf_core.lower.facts import analyse

    if rules is None or reading.is_endless:
        return None
    of_rule = ir.GrammarRules(name, rules.rules)
    analysis = analyse(of_rule)
    if not analysis.facts[name].filled:
        return None
    try:
        grammar = Grammar.of(
            replace(reading, start=name, grammar=of_rule, analysis=analysis, finish=Finish.EOS)
        )
        engine = Engine(grammar, vocabulary or Vocabulary.bytes())
        return engine.shortest_texts(_TEXTS).texts or None
    except KbnfError:
        return None


def _borders(rules: "ir.GrammarRules | None", name: str) -> tuple[Ranges, Ranges, bool]:
    """Return the first bytes of a rule's texts, those that can follow, and whether none need to."""
    from kbnf_core.lower.facts import END, Firsts, analyse, follow_sets

    if rules is None:
        return (), (), False
    analysis = analyse(rules)
    members = _members(rules, name)
    firsts = Firsts(rules, analysis)
    follows = follow_sets(rules, analysis, firsts)
    first, follow = set[int](), set[int]()
    for member in members:
        body = rules.rules[member]
        first |= firsts.within(body)[id(body)]
        follow |= follows[member]
    return tuple(byte_ranges(first)), tuple(byte_ranges(follow - {END})), END in follow


def _text(explained: Explained, source: "Source") -> Segments:
    out: Segments = []
    for definition in explained.definitions:
        text = visible(source.slice(definition.span)).rstrip("\n")
        where = f"{location_of(source, definition.span)}\n"
        out += [Segment(where, Role.LOCATION), Segment(f"{text}\n", Role.TITLE), Segment("\n")]
    out += [Segment(f"{visible(line)}\n") for line in explained.words]
    out.append(Segment("\n"))
    for key, value in _rows(explained):
        out += [Segment(f"{key:<10}", Role.LOCATION), Segment(f"{value}\n")]
    return out


def _rows(explained: Explained) -> list[tuple[str, str]]:
    regexes = [("regex" if not i else "", visible(r)) for i, (r, _) in enumerate(explained.regexes)]
    return [
        *regexes,
        ("shortest", _texts(explained.texts)),
        ("begins", describe_bytes(explained.first)),
        ("followed", _followed(explained)),
        ("used by", ", ".join(explained.users) or "no rule"),
    ]


def _texts(texts: tuple[bytes, ...] | None) -> str:
    if texts is None:
        return "not known: no text of bytes alone, or none that ends"
    return "  ".join(map(escaped, texts))


def _followed(explained: Explained) -> str:
    ways = [describe_bytes(explained.follow)] if explained.follow else []
    if explained.may_end:
        ways.append("the end of the text")
    return ", ".join(ways) or "nothing: no text ends after it, or the start does not lead to it"


def _value(explained: Explained, source: "Source") -> dict[str, Any]:
    """Return the object that ``schemas/explain.schema.json`` describes."""
    from kbnf_core.text.diagnostics.formats import span_value

    texts = explained.texts
    return {
        "schema": SCHEMA,
        "path": source.name,
        "rule": explained.name,
        "spans": [span_value(source, definition.span) for definition in explained.definitions],
        "words": list(explained.words),
        "regexes": [
            {"regex": regex, "span": span_value(source, span)} for regex, span in explained.regexes
        ],
        "shortest": None
        if texts is None
        else [{"text": text.decode("utf-8", "replace"), "hex": text.hex()} for text in texts],
        "begins": [list(bounds) for bounds in explained.first],
        "followed": {
            "bytes": [list(bounds) for bounds in explained.follow],
            "end": explained.may_end,
        },
        "used_by": list(explained.users),
    }
