"""Prints rules and terminals of LLGuidance's Lark."""

import json
import re
from collections.abc import Callable, Iterable

from kbnf_core import ir
from kbnf_core.automata.codepoints import CodePoints
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.expression import print_characters
from kbnf_core.automata.to_regex import to_regex
from kbnf_core.languages.lark.build_tree import is_written
from kbnf_core.traversal import fold

EMPTY = '""'
"""An expression of the empty text."""

_WIDTH = 88
"""Columns of a definition on one line; longer ones have a line for each alternative."""

_CHOICE, _SEQUENCE, _ATOM = range(3)

Leaf = Callable[[ir.Node], str]
"""Prints what has no parts; the text needs no brackets."""


def print_definition(name: str, body: ir.Node, leaf: Leaf) -> str:
    """Return ``name: body``, with a line for each alternative where one is too long."""
    branches = body.branches if isinstance(body, ir.Choice) and body.branches else (body,)
    texts = [print_expression(branch, leaf, _SEQUENCE) for branch in branches]
    return lay_out(name, texts)


def lay_out(name: str, branches: Iterable[str]) -> str:
    """Return a definition of alternatives, on lines of their own if there is no room for all."""
    texts = [*branches]
    line = f"{name}: {' | '.join(texts)}"
    return line if len(line) <= _WIDTH else f"{name}: " + "\n    | ".join(texts)


def print_expression(root: ir.Node, leaf: Leaf, room: int = _CHOICE) -> str:
    """Return ``root``, in brackets where it binds looser than ``room``."""
    return _within(fold(root, ir.children, lambda node, parts: _printed(node, parts, leaf)), room)


def _printed(node: ir.Node, parts: list[tuple[str, int]], leaf: Leaf) -> tuple[str, int]:
    match node:
        case ir.Sequence() if len(parts) > 1:
            return " ".join(_within(part, _ATOM) for part in parts), _SEQUENCE
        case ir.Choice() if len(parts) > 1:
            return " | ".join(_within(part, _SEQUENCE) for part in parts), _CHOICE
        case ir.Sequence() | ir.Choice() if parts:
            return parts[0]
        case ir.Sequence():
            return EMPTY, _ATOM
        case ir.Repeat(_, low, high):
            if high == 0:
                return EMPTY, _ATOM
            # An operator takes no second one, so what is an atom only by one gets brackets.
            return f"{_within(parts[0], _ATOM + 1)}{_operator(low, high)}", _ATOM
        case _:
            return leaf(node), _ATOM + 1


def _within(part: tuple[str, int], room: int) -> str:
    text, level = part
    return text if level >= room else f"({text})"


def _operator(low: int, high: int | None) -> str:
    bounds = {(0, 1): "?", (0, None): "*", (1, None): "+"}
    if low == high:
        return f"{{{low}}}"
    return bounds.get((low, high)) or f"{{{low},{'' if high is None else high}}}"


def print_text(text: str) -> str:
    """Return a string; in brackets if it needs more than one."""
    if not text:
        return EMPTY
    if "\x7f" in text:
        return f"/{''.join(_one(char) for char in text)}/"
    return json.dumps(text, ensure_ascii=False)


def _one(char: str) -> str:
    return print_class(((ord(char), ord(char)),))


def print_class(points: CodePoints) -> str:
    """Return a set of characters as a regular expression without its slashes."""
    return _between_slashes(print_characters(points))


def print_regex(dfa: Dfa, written: str | None) -> str:
    """Return a regular expression; the one that was ``written``, if it has these words.

    Raises LimitError where there is no expression of a sensible size.
    """
    plain = written and written.isprintable() and written[0] != "^" and written[-1] != "$"
    if written and plain and is_written(written, dfa):
        return f"/{_between_slashes(written)}/"
    return f"/{_between_slashes(to_regex(dfa))}/"


_ESCAPE_OR_SLASH = re.compile(r"\\.|/", re.DOTALL)


def _between_slashes(regex: str) -> str:
    """Return ``regex`` with its slashes escaped, as they would end it."""
    return _ESCAPE_OR_SLASH.sub(lambda found: "\\/" if found[0] == "/" else found[0], regex)
