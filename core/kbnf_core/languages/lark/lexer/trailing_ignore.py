"""Trailing ``%ignore`` text that LLGuidance accepts because another Earley item is alive.

After the last lexeme it accepts ignored text if any of its parses could continue, and it keeps all
parses that match alike. A terminal that matches the empty text counts as a lexeme, so ignored text
may follow it, even at the very beginning.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from kbnf_core.automata import operations
from kbnf_core.languages.lark.lexer.co_expected import members
from kbnf_core.languages.lark.lexer.first_follow import Positions, analyse
from kbnf_core.languages.lark.reader.model import (
    Lexeme,
    LexicalGrammar,
    Node,
    Repeat,
    Sequence,
    Terminal,
    children,
    postorder,
    with_children,
)
from kbnf_core.languages.lark.reader.report import LEXING, Report

Confusable = Callable[[Terminal, Terminal], bool]


def open_ends(grammar: LexicalGrammar, confusable: Confusable, report: Report) -> LexicalGrammar:
    """Return ``grammar`` with ignored text after last lexemes where another parse stays alive.

    The grammar has its ignored text already. Reports where that is not certain.
    """
    ignored = grammar.ignored
    if ignored is None:
        return grammar
    positions = analyse(grammar, confusable)
    _check_start(grammar, positions, report)
    opened: dict[int, Node] = {}
    for number, leaf in enumerate(positions.leaves):
        if not (
            positions.last[number] and isinstance(leaf, Lexeme) and leaf.terminal is not ignored
        ):
            continue
        rivals = [*_going_on(number, leaf, positions, ignored, confusable)]
        if not rivals:
            continue
        certain = positions.must[number]
        if not any(certain >> rival & 1 and _covers(positions, rival, leaf) for rival in rivals):
            report.loss(
                LEXING,
                f"LLGuidance takes ignored text after this `{leaf.terminal.title}` only where the"
                " lexemes before it can also be read as a text that goes on; here it always may"
                " come",
                leaf.span,
            )
        skip = Repeat(Lexeme(ignored, leaf.span), 0, 1, leaf.span)
        opened[id(leaf)] = Sequence((leaf, skip), leaf.span)
    if not opened:
        return grammar
    rules = {name: _replaced(body, opened) for name, body in grammar.rules.items()}
    return replace(grammar, rules=rules)


def _going_on(
    number: int, leaf: Lexeme, positions: Positions, ignored: Terminal, confusable: Confusable
) -> Iterator[int]:
    """Yield the leaves that may match the same lexeme, and after which more may come."""
    if _goes_on(number, positions, ignored):
        return
    for other in members(positions.may[number] & ~(1 << number)):
        rival = positions.leaves[other]
        if not isinstance(rival, Lexeme) or rival.terminal is ignored:
            continue
        if confusable(leaf.terminal, rival.terminal) and _goes_on(other, positions, ignored):
            yield other


def _goes_on(number: int, positions: Positions, ignored: Terminal) -> bool:
    following = (positions.leaves[each] for each in members(positions.follow[number]))
    return any(not isinstance(n, Lexeme) or n.terminal is not ignored for n in following)


def _covers(positions: Positions, rival: int, leaf: Lexeme) -> bool:
    other = positions.leaves[rival]
    if not isinstance(other, Lexeme):
        return False
    if other.terminal is leaf.terminal:
        return True
    return operations.difference(leaf.terminal.dfa, other.terminal.dfa).is_empty


def _check_start(grammar: LexicalGrammar, positions: Positions, report: Report) -> None:
    """Report terminals at the start that are lexemes even without text."""
    for number in members(positions.first):
        leaf = positions.leaves[number]
        if isinstance(leaf, Lexeme) and leaf.terminal.is_nullable and not grammar.skips_first:
            report.loss(
                LEXING,
                f"`{leaf.terminal.title}` may be empty, and LLGuidance takes ignored text behind"
                " that too; here none may come before the first text",
                leaf.span,
            )


def _replaced(root: Node, new: dict[int, Node]) -> Node:
    """Return ``root`` with some of its parts replaced, those given by their identities."""
    values: list[Node] = []
    for node in postorder(root):
        first = len(values) - len(children(node))
        values[first:] = [new.get(id(node)) or with_children(node, tuple(values[first:]))]
    return values.pop()
