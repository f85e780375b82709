"""``kbnf explain``: what a rule of a grammar matches."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kbnf_cli.console import Console
from kbnf_cli.escaped import byte_ranges, describe_bytes, escaped
from kbnf_cli.exits import Exit
from kbnf_cli.files import STDIN
from kbnf_cli.grammars import GRAMMAR, UNNAMED, Readable, open_text
from kbnf_cli.options import common_options, examples, stdin_option
from kbnf_cli.shipped import shown_path
from kbnf_core.diagnostics.catalogue import find_rule, read_page
from kbnf_core.diagnostics.segments import Role, Segment, Segments, visible
from kbnf_core.diagnostics.text import render_text
from kbnf_core.errors import GrammarError, KbnfError

if TYPE_CHECKING:
    from kbnf_core.frontend import Reading
    from kbnf_core.source import Span
    from kbnf_core.syntax.tree import Definition

SCHEMA = "kbnf.explain/1"

_TEXTS = 5
"""Shortest texts that are shown."""

_OTHERS = 24
"""Other rules that are named."""

Ranges = tuple[tuple[int, int], ...]
"""Inclusive ranges of bytes."""


@dataclass(frozen=True, slots=True)
class Explained:
    """What is known of a rule.

    ``words`` say what it matches, ``regexes`` are its regular expressions as their engine sees
    them. ``texts`` are shortest ones, None where they are not known, ``first`` the bytes that
    its texts begin with, ``follow`` those that can come behind it, if ``may_end`` not only
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


class _Subject(click.ParamType[str | Path]):
    """The path of a grammar, a pattern such as ``#"[0-9]+"``, or the code of a finding."""

    name = "GRAMMAR"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | Path:
        text = str(value)
        is_file = text == str(STDIN) or Path(text).exists()
        if not is_file and (text.startswith("#") or find_rule(text) is not None):
            return text
        return Path(str(GRAMMAR.convert(text, param, ctx)))

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[click.shell_completion.CompletionItem]:
        return GRAMMAR.shell_complete(ctx, param, incomplete)


@click.command(
    epilog=examples(
        "kbnf explain json value",
        "kbnf explain g.gbnf",
        """kbnf explain '#"\\\\d{3}"'""",
        "kbnf explain W301",
    )
)
@click.argument("subject", metavar="GRAMMAR", type=_Subject())
@click.argument("rule", metavar="[RULE]", required=False)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to show it.",
)
@stdin_option
@common_options
@click.pass_obj
def explain(
    console: Console,
    subject: str | Path,
    rule: str | None,
    format_: str,
    stdin_filename: Path | None,
) -> int:
    """Explain what a rule matches.

    In words, with its regular expressions as the regex engine sees them, its shortest texts, what
    they begin with and what may follow. GRAMMAR is a file in any language that is read, the name
    of a grammar that is shipped, a pattern such as #r"[0-9]+", or `-` for stdin; without RULE
    it is the start rule. The code or name of a finding is explained, too.
    """
    if isinstance(subject, str) and not subject.startswith("#"):
        return _explain_code(console, subject)
    found = _readable(subject, stdin_filename)
    for loss in found.losses:
        console.findings(render_text(loss))
    reading = _read(found, None)
    name = rule or reading.start
    if name not in reading.document.first_names:
        raise click.ClickException(_unknown(name, reading))
    explained = _explain(found, reading, name)
    if format_ == "json":
        console.text(json.dumps(_value(explained, reading)) + "\n")
        return Exit.CLEAN
    console.data(_text(explained, reading))
    if rule is None and len(reading.document.first_names) > 1:
        console.note(f"other rules: {_others(reading, name)}")
    return Exit.CLEAN


def _others(reading: "Reading", name: str) -> str:
    names = dict.fromkeys(each.name.value for each in reading.document.definitions)
    others = [each for each in names if each != name]
    more = [f"and {len(others) - _OTHERS:,} more"] if len(others) > _OTHERS else []
    return ", ".join((*others[:_OTHERS], *more))


def _explain_code(console: Console, text: str) -> int:
    rule = find_rule(text)
    if rule is None:
        raise click.ClickException(f"there is no rule {text!r}")
    console.markdown(read_page(rule))
    return Exit.CLEAN


def _readable(subject: str | Path, stdin_filename: Path | None) -> Readable:
    if isinstance(subject, Path):
        name = stdin_filename or Path(UNNAMED) if subject == STDIN else shown_path(subject)
        return open_text(subject, name.as_posix(), None)
    from kbnf_core.languages import KBNF
    from kbnf_core.source import Source

    return Readable(Source(f"start ::= {subject};\n", "<pattern>"), KBNF)


def _read(found: Readable, start: str | None) -> "Reading":
    """Read a grammar; raise ``GrammarError`` for one with errors."""
    from kbnf_core.frontend import read_grammar
    from kbnf_core.imports import ANYWHERE

    reading = read_grammar(found.source, start, language=found.language, imports=ANYWHERE)
    if reading.errors:
        raise GrammarError(reading.errors)
    return reading


def _unknown(name: str, reading: "Reading") -> str:
    from kbnf_core.syntax.suggest import Suggestions

    close = Suggestions(reading.document.first_names).closest(name)
    advice = f"did you mean `{close}`?" if close else "`kbnf explain GRAMMAR` lists them"
    return f"the grammar has no rule `{name}`; {advice}"


def _explain(found: Readable, reading: "Reading", name: str) -> Explained:
    from kbnf_cli.words import outline

    definitions = [d for d in reading.document.definitions if d.name.value == name]
    first, follow, may_end = _borders(reading, name)
    return Explained(
        name,
        tuple(definitions),
        tuple(line for each in definitions for line in outline(each.body)),
        tuple(part for each in definitions for part in _regexes(each)),
        _shortest(found, name),
        first,
        follow,
        may_end,
        tuple(_users(reading, name)),
    )


def _regexes(definition: "Definition") -> "list[tuple[str, Span]]":
    from kbnf_core.syntax.tree import Pattern, PatternKind, postorder

    return [
        (node.text.value, node.span)
        for node in postorder(definition.body)
        if isinstance(node, Pattern) and node.kind is not PatternKind.SUBSTRINGS
    ]


def _users(reading: "Reading", name: str) -> "list[str]":
    from kbnf_core.syntax.tree import Exception_, Name, Reference, postorder

    found: dict[str, None] = {}
    for definition in reading.document.definitions:
        for node in postorder(definition.body):
            match node:
                case Reference(called) | Exception_(Name() as called) if called.value == name:
                    found[definition.name.value] = None
                case _:
                    pass
    return list(found)


def _shortest(found: Readable, name: str) -> tuple[bytes, ...] | None:
    """Return shortest texts of a rule; None where it cannot be used by itself."""
    from kbnf_core import Engine, Grammar, Vocabulary
    from kbnf_core.config import Finish

    try:
        reading = _read(found, name)
        if reading.grammar is None or reading.analysis is None or reading.is_endless:
            return None
        text = found.source.text
        rules = reading.grammar
        grammar = Grammar.of_rules(rules, reading.analysis, Finish.EOS, lambda: text)
        # Without any, each has a token that is named.
        return Engine(grammar, Vocabulary.bytes()).shortest_texts(_TEXTS).texts or None
    except KbnfError:
        return None


def _borders(reading: "Reading", name: str) -> tuple[Ranges, Ranges, bool]:
    """Return what texts of a rule begin with, what can follow, and whether that may be nothing."""
    from kbnf_core.lower.first_follow import END, Firsts, follow_sets

    rules, analysis = reading.grammar, reading.analysis
    if rules is None or analysis is None or name not in rules.rules:
        return (), (), False
    firsts = Firsts(rules, analysis)
    body = rules.rules[name]
    follow = follow_sets(rules, analysis, firsts)[name]
    first = firsts.within(body)[id(body)]
    return tuple(byte_ranges(first)), tuple(byte_ranges(follow - {END})), END in follow


def _text(explained: Explained, reading: "Reading") -> Segments:
    source = reading.document.source
    out: Segments = []
    for definition in explained.definitions:
        _, line, column = source.position(definition.span.start)
        text = visible(source.slice(definition.span)).rstrip("\n")
        place = f"{visible(source.name)}:{line}:{column}\n"
        out += [Segment(place, Role.PLACE), Segment(f"{text}\n", Role.TITLE), Segment("\n")]
    out += [Segment(f"{visible(line)}\n") for line in explained.words]
    out.append(Segment("\n"))
    for key, value in _rows(explained):
        out += [Segment(f"{key:<10}", Role.PLACE), Segment(f"{value}\n")]
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


def _texts(texts: Sequence[bytes] | None) -> str:
    if texts is None:
        return "not known: no text of bytes alone, or none that ends"
    return "  ".join(map(escaped, texts))


def _followed(explained: Explained) -> str:
    ways = [describe_bytes(explained.follow)] if explained.follow else []
    if explained.may_end:
        ways.append("the end of the text")
    return ", ".join(ways) or "nothing: the start does not lead to it"


def _value(explained: Explained, reading: "Reading") -> dict[str, Any]:
    """Return the object that ``schemas/explain.schema.json`` describes."""
    from kbnf_core.diagnostics.formats import span_value

    source = reading.document.source
    texts = explained.texts
    return {
        "schema": SCHEMA,
        "path": source.name,
        "rule": explained.name,
        "spans": [span_value(source, each.span) for each in explained.definitions],
        "words": list(explained.words),
        "regexes": [
            {"regex": regex, "span": span_value(source, span)} for regex, span in explained.regexes
        ],
        "shortest": None
        if texts is None
        else [{"text": each.decode("utf-8", "replace"), "hex": each.hex()} for each in texts],
        "begins": [list(bounds) for bounds in explained.first],
        "followed": {
            "bytes": [list(bounds) for bounds in explained.follow],
            "end": explained.may_end,
        },
        "used_by": list(explained.users),
    }
