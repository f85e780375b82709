"""``kbnf match``: whether texts are in a language, and where they leave it.

Tests: tests/cli/test_match.py
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Literal

import click

from kbnf_cli.console import Console, Exit
from kbnf_cli.escaped import TypingError, describe_bytes, read_typed, shown, write_typed
from kbnf_cli.files import STDIN, read_bytes
from kbnf_cli.inputs import GRAMMAR, UNNAMED, Inputs, open_engine
from kbnf_cli.mask_report import MOST_SITES, describe_site, more_sites, sites_of
from kbnf_cli.options import (
    as_value,
    common_options,
    examples,
    format_option,
    input_options,
    stdin_option,
    together,
)
from kbnf_core.text.diagnostics.segments import Role, Segment, Segments, visible
from kbnf_core.text.errors import ConfigError, RejectedError

if TYPE_CHECKING:
    from kbnf_core import Engine, Explanation, Tree
    from kbnf_core.text.errors import Status

SCHEMA = "kbnf.match/1"

_KEY = 12
"""Cells in front of the expected terminals, and of a place."""

_NARROWEST = 8
"""Cells that the text of a node has on a terminal, however deep it is."""

_DEEPEST = 40
"""Levels of a tree that are indented."""

_BEFORE, _BEHIND = 40, 24
"""Bytes of a text that are shown before the place where it stops fitting, and after it."""


Split = Literal["lines", "escaped"]
"""How a file is split into texts: lines as they are, or in the spelling of ``write_typed``."""

lines_options = together(
    click.option("--lines", "split", flag_value="lines", help="Each line is a text."),
    click.option(
        "--escaped",
        "split",
        flag_value="escaped",
        help="Each line is a text with escapes, as `kbnf sample` prints it; so are those printed.",
    ),
)


def as_printed(data: bytes, split: Split | None) -> bytes:
    """Return a text as it is printed, without the line break after it."""
    return write_typed(data).encode("utf-8", "surrogateescape") if split == "escaped" else data


@dataclass(frozen=True, slots=True)
class MatchedText:
    """A text, where it is from, and its line there, None where it is all of it."""

    path: str
    data: bytes
    line: int | None = None


@dataclass(frozen=True, slots=True)
class MatchVerdict:
    """The outcome of a text: ``message`` says why it does not fit, at ``offset``.

    ``expected`` are inclusive ranges of bytes, ``sites`` those of the grammar that expect them.
    ``with_break``: its last line break is part of it.
    """

    text: MatchedText
    message: str | None
    offset: int
    expected: tuple[tuple[int, int], ...] = ()
    sites: tuple[str, ...] = ()
    with_break: bool = False

    @property
    def matches(self) -> bool:
        """Whether the text is in the language."""
        return self.message is None

    @property
    def status(self) -> "Status":
        """Whether the text ``fits``, was ``cut``, or is ``wrong``."""
        if self.matches:
            return "fits"
        return "cut" if self.offset == len(self.data) else "wrong"

    @property
    def data(self) -> bytes:
        """The text that was judged: with the line break at its end where that is part of it."""
        return self.text.data if self.with_break else without_break(self.text)


@click.command(
    epilog=examples(
        "kbnf match json answer.json",
        """kbnf match json --text '{"a": 1}'""",
        """kbnf match json --text '{"a": x}' --tree""",
        "kbnf match g.kbnf --lines < answers.txt",
        "kbnf sample g.kbnf | kbnf match g.kbnf --escaped",
    )
)
@click.argument("grammar", metavar="GRAMMAR", type=GRAMMAR)
@click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--text", "given", metavar="TEXT", multiple=True, help="A text to test; repeatable.")
@lines_options
@click.option(
    "--tree",
    "with_tree",
    is_flag=True,
    help="Show the tree of the text before the position where it does not fit.",
)
@format_option(["text", "json"], "Output format.")
@input_options
@stdin_option
@common_options
@click.pass_obj
@as_value(Inputs)
def match(
    console: Console,
    inputs: Inputs,
    grammar: Path,
    files: tuple[Path, ...],
    given: tuple[str, ...],
    split: Split | None,
    with_tree: bool,
    format_: str,
) -> int:
    """Test whether texts fit a grammar.

    Each FILE and each --text is one text; the default, and `-`, is stdin. A line break at the
    end of a text counts only where the grammar requires it. A text fits if it can be generated with
    the grammar's finish, or with --finish. Exits with status 1 if a text does not fit, and shows
    where.
    """
    texts = all_texts(console, grammar, files, given, split)
    engine = open_engine(console, inputs, grammar, of_texts=True)
    verdicts = []
    values = []
    for text in texts:
        verdict = judge(engine, text)
        verdicts.append(verdict)
        tree = _read_before(engine, verdict) if with_tree else None
        if format_ == "json":
            values.append(_value(verdict, tree))
            continue
        console.data(lines_of(verdict, console.width()))
        if tree is not None:
            for segments in tree_lines(tree, console.width()):
                console.data([Segment("  "), *segments])
    if format_ == "json":
        console.text(f'{{"schema": "{SCHEMA}", "texts": [{", ".join(values)}]}}\n')
    elif split == "lines" and any(_has_escapes(engine, verdict) for verdict in verdicts):
        console.note("with --escaped a line that does not fit would: it is read with its escapes")
    return Exit.CLEAN if all(verdict.matches for verdict in verdicts) else Exit.FINDINGS


def _has_escapes(engine: "Engine", verdict: MatchVerdict) -> bool:
    """Return whether a line does not fit as it is, but does with its escapes decoded."""
    if verdict.matches or b"\\" not in verdict.data:
        return False
    with suppress(TypingError):
        return judge(engine, replace(verdict.text, data=_unescaped(verdict.data))).matches
    return False


def _read_before(engine: "Engine", verdict: MatchVerdict) -> "Tree | None":
    """Return the certain part of the tree before the place where a text does not fit."""
    if verdict.matches:
        return None
    return engine.grammar.parser.partial(verdict.text.data[: verdict.offset])


def all_texts(
    console: Console,
    grammar: Path,
    files: tuple[Path, ...],
    given: tuple[str, ...],
    split: Split | None,
) -> Iterator[MatchedText]:
    """Return the texts that the options name, or stdin; files are read one by one."""
    files = files if files or given else (STDIN,)
    if grammar == STDIN and STDIN in files:
        raise click.UsageError("the grammar and a text cannot both be read from stdin")
    # Those of the command line are the bytes that the shell passed.
    named = (MatchedText("<text>", text.encode("utf-8", "surrogateescape")) for text in given)
    return chain(named, _read_texts(console, files, split))


def _read_texts(
    console: Console, files: tuple[Path, ...], split: Split | None
) -> Iterator[MatchedText]:
    """Yield the texts; report a file that cannot be read, and go on."""
    for file in files:
        try:
            data = read_bytes(file)
        except OSError as error:
            console.problem(
                error, *([] if file.exists() else ["--text TEXT gives a text directly"])
            )
            continue
        name = UNNAMED if file == STDIN else file.as_posix()
        if split is None:
            yield MatchedText(name, data)
            continue
        lines = data.split(b"\n")
        if not lines[-1]:
            lines.pop()
        for number, line in enumerate((line.removesuffix(b"\r") for line in lines), 1):
            try:
                yield MatchedText(name, _unescaped(line) if split == "escaped" else line, number)
            except TypingError as error:
                console.problem(ConfigError(f"{name}:{number}: {error}"))


def _unescaped(line: bytes) -> bytes:
    return read_typed(line.decode("utf-8", "surrogateescape"))


def without_break(text: MatchedText) -> bytes:
    """Return a text without the line break at its end; a line has none."""
    return text.data.removesuffix(b"\n").removesuffix(b"\r") if text.line is None else text.data


def judge(engine: "Engine", text: MatchedText) -> MatchVerdict:
    """Try a text without the line break at its end, then with it."""
    bare = without_break(text)
    verdict = _try(engine, text, bare)
    if verdict.matches or bare == text.data:
        return verdict
    whole = _try(engine, text, text.data)
    if whole.matches:
        return MatchVerdict(text, None, len(text.data), with_break=True)
    return verdict


def _try(engine: "Engine", text: MatchedText, data: bytes) -> MatchVerdict:
    engine.reset()
    try:
        if data:
            engine.try_accept_new_bytes(data)
    except RejectedError as error:
        why = engine.why(data)
        return MatchVerdict(text, why.reason, error.byte_offset, why.expected, _sites(engine, why))
    if engine.can_finish():
        return MatchVerdict(text, None, len(data))
    why = engine.why(b"")
    message = "the text ends too early"
    return MatchVerdict(text, message, len(data), why.expected, _sites(engine, why))


def _sites(engine: "Engine", why: "Explanation") -> tuple[str, ...]:
    source = engine.grammar.source
    sites = sites_of(why)
    shown = [describe_site(site, source) for site in sites[:MOST_SITES]]
    return (*shown, *([more_sites(len(sites))] if len(sites) > MOST_SITES else []))


def lines_of(verdict: MatchVerdict, columns: int | None) -> Segments:
    """Return the lines that show a verdict, cut to ``columns`` cells."""
    text = verdict.text
    where = visible(text.path) if text.line is None else f"{visible(text.path)}:{text.line}"
    if verdict.matches:
        message = "fits, with the line break at its end" if verdict.with_break else "fits"
        return [Segment(f"{where}: ", Role.LOCATION), Segment(f"{message}\n", Role.HELP)]
    line, column = position_of(verdict)
    before, behind = _excerpt(verdict)
    return [
        Segment(f"{visible(text.path)}:{line}:{column}: ", Role.LOCATION),
        Segment("does not fit", Role.ERROR),
        Segment(f": {visible(verdict.message or '')}\n"),
        Segment(f"  {before}{behind}\n"),
        Segment(f"  {' ' * len(before)}^\n", Role.ERROR),
        Segment("  expected  ", Role.LOCATION),
        Segment(f"{_wrapped(describe_bytes(verdict.expected), columns)}\n"),
        *(
            segment
            for site in verdict.sites
            for segment in (
                Segment("  in        ", Role.LOCATION),
                Segment(f"{_wrapped(site, columns)}\n"),
            )
        ),
    ]


def tree_lines(tree: "Tree", columns: int | None) -> Iterator[Segments]:
    """Yield the lines of a tree: rule, span, and the text of leaves, cut to ``columns`` cells.

    Beyond ``_DEEPEST`` levels the level is written, so that lines do not grow with the depth.
    """
    for depth, node in tree.walk():
        indent = "  " * min(depth, _DEEPEST) + (f"{depth}: " if depth > _DEEPEST else "")
        end = str(node.end) if node.is_closed else "..."
        name = node.rule if node.token is None else f"token {node.token}"
        span = f" {node.start}-{end}"
        line = [Segment(indent), Segment(name, Role.RULE), Segment(span, Role.SECONDARY)]
        if len(node) == 1:
            text = shown(node.data)
            if columns is not None:
                room = max(_NARROWEST, columns - len(indent) - len(name) - len(span) - 4)
                text = text if len(text) <= room else text[: room - 3] + "..."
            line.append(Segment(f' "{text}"'))
        yield [*line, Segment("\n")]


def _wrapped(text: str, columns: int | None) -> str:
    """Return a text on as many lines as a terminal of ``columns`` cells needs, None for one."""
    if columns is None:
        return text
    lines = wrap(text, columns - _KEY, break_on_hyphens=False)
    return ("\n" + " " * _KEY).join(lines)


def _excerpt(verdict: MatchVerdict) -> tuple[str, str]:
    """Return a piece of the text before the place and after it, on one line."""
    data, at = verdict.text.data, verdict.offset
    begin = max(data.rfind(b"\n", 0, at) + 1, at - _BEFORE)
    end = data.find(b"\n", at)
    end = min(len(data) if end < 0 else end, at + _BEHIND)
    before = shown(data[begin:at])
    behind = shown(data[at:end]) if end > at else shown(data[at : at + 1])
    return before, behind


def position_of(verdict: MatchVerdict) -> tuple[int, int]:
    """Return line and column of the place, from 1, the column in code points."""
    before = verdict.text.data[: verdict.offset]
    first = verdict.text.line or 1
    last = before.rpartition(b"\n")[2].decode("utf-8", "replace")
    return first + before.count(b"\n"), len(last) + 1


def value_of_verdict(verdict: MatchVerdict) -> dict[str, object]:
    """Return where a text stops fitting, and the expected terminals there."""
    line, column = position_of(verdict)
    return {
        "position": {"offset": verdict.offset, "line": line, "column": column},
        "expected": {
            "bytes": [list(bounds) for bounds in verdict.expected],
            "text": describe_bytes(verdict.expected),
        },
    }


def _value(verdict: MatchVerdict, tree: "Tree | None") -> str:
    """Return an entry of the object that ``schemas/match.schema.json`` describes, as JSON."""
    value = {
        "path": verdict.text.path,
        "line": verdict.text.line,
        "matches": verdict.matches,
        "status": verdict.status,
        "message": verdict.message,
        **value_of_verdict(verdict),
        "with_line_break": verdict.with_break,
    }
    written = json.dumps(value)
    # A tree writes itself, whatever its depth.
    return written if tree is None else f'{written[:-1]}, "tree": {tree.to_json()}}}'
