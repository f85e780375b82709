"""``kbnf help``: the manual, the language and the findings, from the package."""

import re

import click
from click.shell_completion import CompletionItem

from kbnf_cli.console import Console
from kbnf_cli.exits import Exit
from kbnf_cli.manual import page_title, render_page
from kbnf_cli.options import common_options, examples
from kbnf_cli.rule import listing
from kbnf_cli.shipped import grammar_file, grammar_names, manual_page
from kbnf_core.diagnostics import CATALOGUE
from kbnf_core.diagnostics.catalogue import find_rule, nearest_rules, read_page
from kbnf_core.diagnostics.segments import Role, Segment, Segments

_PAGES = {"language": "kbnf.5", "limits": "kbnf-limits.7", "kbnf": "kbnf.1"}
"""Pages that are not those of commands."""

_WIDEST = 100


class _Topic(click.ParamType[str]):
    """A topic: a page, a command, or a finding."""

    name = "TOPIC"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Complete topics."""
        del param
        names = (*_PAGES, "grammars", "codes", *_commands(ctx), *CATALOGUE)
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


@click.command("help", epilog=examples("kbnf help language", "kbnf help convert", "kbnf help W301"))
@click.argument("topic", metavar="[TOPIC]", required=False, type=_Topic())
@common_options
@click.pass_context
def help_(context: click.Context, topic: str | None) -> int:
    """Show the manual.

    TOPIC is `language`, which tells all about KBNF, `limits`, `grammars`, which lists those that
    are shipped, `codes`, the name of a command, or the code or name of a finding. Without it,
    the topics are listed.
    """
    console = context.ensure_object(Console)
    width = min(console.width() or 80, _WIDEST)
    if topic is None:
        console.paged(_topics(context))
        return Exit.CLEAN
    page = _page(context, topic)
    if page is not None:
        console.paged(render_page(page, width))
    elif topic == "grammars":
        console.paged(_grammars())
    elif topic == "codes":
        console.paged(listing())
    else:
        console.markdown(_finding(context, topic))
    return Exit.CLEAN


def _page(context: click.Context, topic: str) -> str | None:
    """Return the roff of a topic's page, None if it has none."""
    name = _PAGES.get(topic)
    if name is None and topic in _commands(context):
        name = f"kbnf-{topic}.1"
    file = None if name is None else manual_page(name)
    return None if file is None else file.read_text(encoding="utf-8")


def _commands(context: click.Context) -> list[str]:
    top = context.find_root()
    return top.command.list_commands(top) if isinstance(top.command, click.Group) else []


def _finding(context: click.Context, topic: str) -> str:
    found = find_rule(topic)
    if found is not None:
        return read_page(found)
    from kbnf_core.syntax.suggest import Suggestions

    names = [*_PAGES, "grammars", "codes", *_commands(context)]
    near = Suggestions(names).closest(topic)
    codes = [each.code for each in nearest_rules(topic)]
    close = [near] if near else codes
    advice = f"did you mean {' or '.join(close)}?" if close else "`kbnf help` lists the topics"
    raise click.ClickException(f"there is no topic {topic!r}; {advice}")


def _topics(context: click.Context) -> Segments:
    rows = []
    for name in _PAGES:
        page = _page(context, name)
        rows.append((name, page_title(page) if page else ""))
    rows += [("grammars", "the grammars that are shipped"), ("codes", "all findings")]
    commands = [(name, page_title(_page(context, name) or "")) for name in _commands(context)]
    width = max(len(name) for name, _ in (*rows, *commands)) + 2
    return [
        Segment("Topics of `kbnf help TOPIC`, and codes such as W301\n", Role.TITLE),
        *_table(rows, width),
        Segment("\nCommands\n", Role.TITLE),
        *_table(commands, width),
    ]


def _table(rows: list[tuple[str, str]], width: int) -> Segments:
    return [
        part
        for name, text in rows
        for part in (Segment(f"  {name:<{width}}", Role.SECONDARY), Segment(f"{text}\n"))
    ]


def _grammars() -> Segments:
    rows = [(name, _about(name)) for name in grammar_names()]
    width = max((len(name) for name, _ in rows), default=0) + 2
    return [
        Segment("Grammars that every command takes by name, or as builtin:NAME\n", Role.TITLE),
        *_table(rows, width),
    ]


def _about(name: str) -> str:
    """Return the first sentence of the comment that a shipped grammar begins with."""
    file = grammar_file(name)
    text = "" if file is None else file.read_text(encoding="utf-8")
    comment = text.partition("(*")[2].partition("*)")[0]
    return re.split(r"\n\s*\n|(?<=[.:;])\s", " ".join(comment.split()))[0].rstrip(".:;")
