"""``kbnf rule``: explain a diagnostic, offline."""

import click

from kbnf_cli.console import Console
from kbnf_cli.exits import Exit
from kbnf_cli.options import common_options
from kbnf_core.diagnostics import CATALOGUE, Rule
from kbnf_core.diagnostics.catalogue import find_rule, nearest_rules, read_page
from kbnf_core.diagnostics.segments import Segment, Segments, severity_role


@click.command()
@click.argument("code", required=False)
@common_options
@click.pass_obj
def rule(console: Console, code: str | None) -> int:
    """Explain a diagnostic.

    CODE is a code such as E101 or a name such as undefined-nonterminal; without it, all are
    listed.
    """
    if code is None:
        console.data(listing())
        return Exit.CLEAN
    found = find_rule(code)
    if found is None:
        raise click.ClickException(_unknown(code))
    console.markdown(read_page(found))
    return Exit.CLEAN


def listing() -> Segments:
    """Return a line for each diagnostic."""
    width = max(len(each.name) for each in CATALOGUE.values())
    return [part for each in CATALOGUE.values() for part in _line(each, width)]


def _line(each: Rule, width: int) -> Segments:
    code = Segment(each.code, severity_role(each.severity))
    return [code, Segment(f"  {each.name:{width}}  {each.summary}\n")]


def _unknown(code: str) -> str:
    near = [f"{each.code} ({each.name})" for each in nearest_rules(code)]
    advice = f"did you mean {' or '.join(near)}?" if near else "`kbnf rule` lists all"
    return f"there is no rule {code!r}; {advice}"
