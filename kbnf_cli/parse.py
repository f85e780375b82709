"""``kbnf parse``: which rules matched which parts of a text.

Tests: tests/cli/test_parse.py
"""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from kbnf_cli.console import Console, Exit
from kbnf_cli.inputs import GRAMMAR, UNNAMED, Inputs, read_vocabulary
from kbnf_cli.match import (
    MatchedText,
    MatchVerdict,
    Split,
    all_texts,
    lines_of,
    lines_options,
    tree_lines,
    value_of_verdict,
    without_break,
)
from kbnf_cli.options import (
    as_value,
    common_options,
    examples,
    format_option,
    input_options,
    stdin_option,
)
from kbnf_core.ir.families import family_of
from kbnf_core.text.diagnostics.segments import Role, Segment
from kbnf_core.text.errors import (
    ConfigError,
    EngineError,
    MessageError,
    NoValueError,
    ParseError,
)

if TYPE_CHECKING:
    from kbnf_core import Grammar, Tree
    from kbnf_core.parse.messages import MessageReader

T = TypeVar("T")


@click.command(
    epilog=examples(
        "kbnf parse json answer.json",
        "kbnf parse json --text '[1, {\"a\": 2}]' --rules array,object,member",
        "kbnf parse g.kbnf --lines --format json < answers.txt",
    )
)
@click.argument("grammar", metavar="GRAMMAR", type=GRAMMAR)
@click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--text", "given", metavar="TEXT", help="The text to parse, in place of files.")
@lines_options
@format_option(["tree", "json", "sexp", "events"], "Output format.", "tree")
@click.option(
    "--rules",
    metavar="NAME,...",
    help="Keep only nodes of these rules, and the start; other nodes are replaced by their "
    "children.",
)
@click.option(
    "--depth", metavar="N", type=click.IntRange(min=0), help="Keep N levels below the start."
)
@click.option("--partial", is_flag=True, help="Show the certain part of an incomplete text.")
@click.option(
    "--value", is_flag=True, help="Print the JSON value of a text, or its tool calls, instead."
)
@click.option(
    "--message", is_flag=True, help="Print the message that a response template reads, instead."
)
@click.option("--prefix", metavar="TEXT", default="", help="The chat before the text of a message.")
@click.option(
    "--exact", is_flag=True, help="With --value: refuse calls that the grammar does not allow."
)
@click.option(
    "--any-name", is_flag=True, help="With --value: read calls of tools that are not listed, too."
)
@click.option(
    "--ambiguity", is_flag=True, help="Count derivations, and show the first difference of two."
)
@input_options
@stdin_option
@common_options
@click.pass_obj
@as_value(Inputs)
def parse(
    console: Console,
    inputs: Inputs,
    grammar: Path,
    files: tuple[Path, ...],
    given: str | None,
    split: Split | None,
    format_: str,
    rules: str | None,
    depth: int | None,
    partial: bool,
    value: bool,
    message: bool,
    prefix: str,
    exact: bool,
    any_name: bool,
    ambiguity: bool,
) -> int:
    """Show which rules matched which parts of a text.

    Each FILE is one text; the default, and `-`, is stdin. A line break at the end counts only if
    the grammar requires it. A text fits if the start rule derives it, in any finish mode. Of
    several trees, the one with the first alternatives and the longest loops is shown. If a text
    does not fit, its position is shown, and the exit status is 1.
    """
    if given is not None and files:
        raise click.UsageError("--text takes the place of files")
    if partial and ambiguity:
        raise click.UsageError("--ambiguity needs a whole text")
    if (exact or any_name) and not value:
        raise click.UsageError("--exact and --any-name are for --value")
    texts = all_texts(console, grammar, files, () if given is None else (given,), split)
    opened = _open(console, inputs, grammar)
    wanted = [name.strip() for name in (rules or "").split(",")]
    kept = [existing_rule(opened, name) for name in wanted if name]
    wanted_value = _Wanted(partial, exact, any_name) if value else None
    read = _value_reader(opened, wanted_value, prefix if message else None)
    status = Exit.CLEAN
    for text in texts:
        try:
            if read is not None:
                outcome = _read(read, text, partial)
                console.text(json.dumps(_shown(text, outcome, format_), ensure_ascii=False) + "\n")
                status = max(status, _note_forgiven(console, text, outcome, format_))
                _note_cut(console, opened, text, value and partial)
                continue
            tree: Tree | None = (
                _read(opened.parser.partial, text, partial)
                if partial
                else _read(opened.parser.parse, text, partial)
            )
        except (ParseError, MessageError) as error:
            status = Exit.FINDINGS
            _report(console, text, error, format_)
            continue
        count, other = 0, None
        if ambiguity and tree is not None:
            count, other = opened.parser.derivations(tree.data)
        if tree is not None and (rules is not None or depth is not None):
            tree = tree.kept(None if rules is None else kept, depth)
        _show(console, text, tree, format_, len(files) > 1 or split is not None)
        if count:
            _show_count(console, tree, count, other)
    return status


def _open(console: Console, inputs: Inputs, grammar: Path) -> "Grammar":
    if inputs.finish is not None:
        console.note("--finish changes nothing: a text has a tree if the start derives it")
    settings = inputs.settings_source()(inputs.name_of(grammar))
    opened = inputs.grammar(grammar, read_vocabulary(console, *inputs.vocabulary(settings)))
    console.diagnostics(opened.losses)
    return opened.of_texts


class _Wanted(NamedTuple):
    """How values are read."""

    partial: bool
    exact: bool
    any_name: bool


class _Value(NamedTuple):
    """The value printed in place of a tree, of calls with their reader; ``end`` completes a cut."""

    value: Any
    reader: "MessageReader | None" = None
    end: str | None = None


def _value_reader(
    grammar: "Grammar", wanted: _Wanted | None, prefix: str | None
) -> Callable[[bytes], _Value] | None:
    """Return the reader of the value printed in place of a tree: a message or a JSON value."""
    from kbnf_core.parse.messages import MessageReader

    if prefix is not None:
        return lambda data: _Value(grammar.read_message(data, prefix=prefix))
    if wanted is None:
        return None

    def read(data: bytes) -> _Value:
        reader = grammar.value_reader(any_name=wanted.any_name)
        if not isinstance(reader, MessageReader):
            return _Value(grammar.read_value(data, partial=wanted.partial))
        if wanted.exact:
            grammar.require(data, partial=wanted.partial)
        reader.feed(data)
        if not wanted.partial:
            reader.finish()
        end = None if reader.cut is None else _end_of(grammar, data)
        return _Value(reader.value, reader, end)

    return read


def _end_of(grammar: "Grammar", data: bytes) -> str | None:
    """Return the text that completes a cut one; None where the grammar does not allow its start."""
    with suppress(ParseError, EngineError):
        end = grammar.complete(data).data
        return None if end is None else end.decode("utf-8", "replace")
    return None


def _shown(text: MatchedText, outcome: _Value, format_: str) -> Any:
    """Return the output for a value: of calls, in JSON, also the accepted deviations."""
    if outcome.reader is None or format_ != "json":
        return outcome.value
    forgiven = [change._asdict() for change in outcome.reader.tolerated]
    fields = {"value": outcome.value, "tolerated": forgiven, "cut": outcome.reader.cut}
    return {**_head(text), **fields, **({} if outcome.end is None else {"completion": outcome.end})}


def _note_forgiven(console: Console, text: MatchedText, outcome: _Value, format_: str) -> Exit:
    """Report deviations from the grammar that were accepted; return the exit status."""
    if outcome.reader is None:
        return Exit.CLEAN
    cut = outcome.reader.cut
    if format_ != "json":
        for change in outcome.reader.tolerated:
            console.note(f"{text.path}: at character {change.start}: {change.what}")
        if cut is not None:
            added = "" if outcome.end is None else f"; {json.dumps(outcome.end)} would complete it"
            console.note(f"{text.path}: at character {cut}: a call is cut; it is left out{added}")
    return Exit.CLEAN if cut is None else Exit.FINDINGS


def existing_rule(grammar: "Grammar", name: str) -> str:
    """Return the name of a rule; raise ``ConfigError`` for one that makes no nodes."""
    from kbnf_core.text.suggest import Suggestions

    names = grammar.parser.names
    if name not in names and name not in map(family_of, names):
        close = Suggestions(names).closest(name)
        guess = f"; did you mean `{close}`?" if close else ""
        raise ConfigError(f"the grammar has no rule `{name}`{guess}")
    return name


def _read(read: Callable[[bytes], T], text: MatchedText, partial: bool) -> T:
    """Read a text without the line break at its end, then with it; a part of one with it first."""
    bare = without_break(text)
    first, second = (text.data, bare) if partial else (bare, text.data)
    try:
        return read(first)
    except ParseError as error:
        if first != second and (partial or error.is_unfinished):
            with suppress(ParseError):
                return read(second)
        raise


def _note_cut(console: Console, grammar: "Grammar", text: MatchedText, is_partial: bool) -> None:
    """Report that a value is only the certain part of a text that was cut."""
    if is_partial and grammar.status(without_break(text)) == "cut":
        console.note(f"{text.path}: the text is cut; this is the certain part")


def _report(
    console: Console, text: MatchedText, error: ParseError | MessageError, format_: str
) -> None:
    if isinstance(error, NoValueError | MessageError):
        console.error(f"{text.path}: {error}")
        return
    path = (" > ".join(error.rules),) if error.rules else ()
    message = "the text ends too early"
    if not error.is_unfinished:
        from kbnf_core.mask.why import unexpected

        message = unexpected(error.data, error.offset, error.expected)
    verdict = MatchVerdict(text, message, error.offset, error.expected, path)
    if format_ in ("tree", "sexp"):
        console.data(lines_of(verdict, console.width()))
        return
    value = {
        "status": error.status,
        "message": message,
        **value_of_verdict(verdict),
        "rules": list(error.rules),
    }
    console.text(json.dumps({**_head(text), "error": value}) + "\n")


def _head(text: MatchedText) -> dict[str, Any]:
    from kbnf_core.parse.tree import SCHEMA

    return {"schema": SCHEMA, "path": text.path, "line": text.line}


def _show(
    console: Console, text: MatchedText, tree: "Tree | None", format_: str, is_one_of_many: bool
) -> None:
    if format_ == "json":
        head = json.dumps(_head(text))
        rest = "}" if tree is None else f", {tree.to_json()[1:]}"
        console.text(f"{head[:-1]}{rest}\n")
    elif tree is None:
        console.note("nothing is certain yet")
    elif format_ == "events":
        console.text("".join(json.dumps(event.to_dict()) + "\n" for event in tree.events()))
    elif format_ == "sexp":
        console.text(_s_expression(tree) + "\n")
    else:
        if is_one_of_many:
            name = UNNAMED if text.path == UNNAMED else text.path
            where = name if text.line is None else f"{name}:{text.line}"
            console.data([Segment(f"{where}:\n", Role.TITLE)])
        for segments in tree_lines(tree, console.width()):
            console.data(segments)


def _s_expression(tree: "Tree") -> str:
    texts: list[str] = []
    opened = 0
    for depth, node in tree.walk():
        texts.append(")" * (opened - depth) + (" " if depth else ""))
        name = node.rule if node.token is None else f"token:{node.token}"
        leaf = f" {json.dumps(node.text, ensure_ascii=False)}" if len(node) == 1 else ""
        texts.append(f"({name}{leaf}")
        opened = depth + 1
    return "".join([*texts, ")" * opened])


def _show_count(console: Console, tree: "Tree | None", count: int, other: "Tree | None") -> None:
    from kbnf_core.parse.parser import MOST_DERIVATIONS

    if other is None or tree is None:
        least = "endlessly many derivations" if count > 1 else "one derivation"
        console.text(f"{least}\n")
        return
    console.text(f"{count}{' or more' if count == MOST_DERIVATIONS else ''} derivations\n")
    one, two = _first_difference(tree, other)
    if one is None or two is None:
        console.text("their trees are the same: they differ inside a rule\n")
        return
    console.text(f"they first differ in `{one.rule}` at byte {one.start}; another one is\n")
    for segments in tree_lines(two, console.width()):
        console.data([Segment("  "), *segments])


def _first_difference(one: "Tree", two: "Tree") -> "tuple[Tree | None, Tree | None]":
    """Return the innermost nodes in which two trees first differ, None where they are the same."""
    path: list[tuple[Tree, Tree]] = []
    for (depth, left), (other_depth, right) in zip(one.walk(), two.walk(), strict=False):
        del path[depth:]
        same = (depth, left.rule, left.start, left.end, left.token) == (
            other_depth,
            right.rule,
            right.start,
            right.end,
            right.token,
        )
        if not same:
            return path[-1] if path else (left, right)
        path.append((left, right))
    return (None, None) if len(one) == len(two) else path[-1]
