"""The outline of a Lark file, from the file's own tree: conversion leaves no names as written."""

from kbnf_core.languages.lark.reader.parse import parse_lark
from kbnf_core.languages.lark.reader.tree import (
    Declare,
    Definition,
    Expression,
    Ignore,
    Import,
    Name,
    Regexp,
    TemplateUse,
    postorder,
)
from kbnf_core.languages.lark.reader.tree import Use as NameUse
from kbnf_core.limits import Limits
from kbnf_core.source import Source, Span
from kbnf_core.syntax.outline import Outline, Symbol, Use


def outline_lark(source: Source, limits: Limits) -> Outline:
    """Return where rules and terminals are defined and used; never raises."""
    definitions: list[tuple[Name, Span]] = []
    bodies: list[Expression] = []
    for statement in parse_lark(source, limits).document.statements:
        match statement:
            case Definition():
                definitions.append((statement.name, statement.span))
                bodies.append(statement.body)
            case Declare():
                definitions.extend((name, statement.span) for name in statement.names)
            case Import():
                definitions.extend((name, statement.span) for _, name in statement.names)
            case Ignore():
                bodies.append(statement.body)
    nodes = [node for body in bodies for node in postorder(body)]
    names = (node.name for node in nodes if isinstance(node, NameUse | TemplateUse))
    patterns = ((node.span, node.raw) for node in nodes if isinstance(node, Regexp))
    return Outline(
        tuple(Symbol(name.value, name.span, whole) for name, whole in definitions),
        tuple(Use(name.value, name.span) for name in names),
        tuple(patterns),
    )
