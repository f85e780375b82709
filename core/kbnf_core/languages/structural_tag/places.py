"""Puts rules at the place of the format that they are made of, for findings about them."""

from dataclasses import replace

from kbnf_core.source import Span
from kbnf_core.syntax import tree
from kbnf_core.traversal import fold


def placed(rule: tree.Definition, span: Span) -> tree.Definition:
    """Return ``rule`` with all its parts at ``span``."""
    body = fold(rule.body, tree.children, lambda node, parts: _moved(node, parts, span))
    return tree.Definition(tree.Name(rule.name.value, span), body, span)


def _moved(node: tree.Expression, parts: list[tree.Expression], span: Span) -> tree.Expression:
    match node:
        case tree.Bracket():
            return replace(node, body=parts[0], span=span)
        case tree.Repetition():
            return replace(node, body=parts[0], operator=span, span=span)
        case tree.Sequence():
            return tree.Sequence(tuple(parts), span)
        case tree.Alternation():
            return tree.Alternation(tuple(parts), span)
        case tree.Terminal() | tree.Pattern() | tree.TokenName():
            return replace(node, text=_text(node.text, span), span=span)
        case tree.Exception_(tree.Terminal() as excluded):
            moved = tree.Terminal(_text(excluded.text, span), span)
            return replace(node, excluded=moved, span=span)
        case tree.Exception_(tree.Name(name)):
            return replace(node, excluded=tree.Name(name, span), span=span)
        case tree.Reference(tree.Name(name)):
            return tree.Reference(tree.Name(name, span), span)
        case _:
            return replace(node, span=span)


def _text(text: tree.Text, span: Span) -> tree.Text:
    return tree.Text(text.value, span, (span.start,) * (len(text.value) + 1))
