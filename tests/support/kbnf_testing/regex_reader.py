"""From a regular expression to a grammar: the common forms, ASCII classes, no flags."""

import string

from kbnf_testing import grammar as g
from kbnf_testing.scanner import Scanner, UnsupportedError

_OPERATORS: dict[str, tuple[int, int | None]] = {"?": (0, 1), "*": (0, None), "+": (1, None)}
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}
_DOT = g.Chars(frozenset("\n"), negated=True)


def read_regex(text: str) -> g.Expression:
    """Return the expression for ``text``; raise ``UnsupportedError`` for any rarer form."""
    scanner = Scanner(text)
    node = _alternatives(scanner)
    if scanner.rest:
        raise UnsupportedError(f"cannot read {scanner.rest!r}")
    return node


def _alternatives(scanner: Scanner) -> g.Expression:
    branches = [_sequence(scanner)]
    while scanner.take("|"):
        branches.append(_sequence(scanner))
    return branches[0] if len(branches) == 1 else g.Choice(tuple(branches))


def _sequence(scanner: Scanner) -> g.Expression:
    parts: list[g.Expression] = []
    while scanner.rest and scanner.rest[0] not in "|)":
        parts.append(_repeated(scanner))
    return parts[0] if len(parts) == 1 else g.Sequence(tuple(parts))


def _repeated(scanner: Scanner) -> g.Expression:
    node = _atom(scanner)
    while True:
        if scanner.take("{"):
            node = g.Repeat(node, *scanner.bounds())
        elif (operator := scanner.take_any("?*+")) is not None:
            node = g.Repeat(node, *_OPERATORS[operator])
        else:
            return node
        # Laziness changes which match is preferred, not which texts match.
        scanner.take("?")


def _atom(scanner: Scanner) -> g.Expression:
    if scanner.take("("):
        scanner.take("?:")
        if scanner.rest.startswith(("?", "*")):
            raise UnsupportedError("flags, names and look-around are not read")
        node = _alternatives(scanner)
        scanner.expect(")")
        return node
    if scanner.take("["):
        return _class(scanner)
    if scanner.take("."):
        return _DOT
    if scanner.rest.startswith(("^", "$", "*", "+", "?", "{")):
        raise UnsupportedError("anchors are not read")
    return g.Literal(_character(scanner).encode())


def _class(scanner: Scanner) -> g.Expression:
    negated = scanner.take("^")
    members: set[str] = set()
    while not scanner.take("]"):
        if scanner.rest.startswith(("[", "&&", "--", "~~")):
            raise UnsupportedError("set operators are not read")
        first = _character(scanner)
        if scanner.rest.startswith("-") and not scanner.rest.startswith("-]"):
            scanner.expect("-")
            last = _character(scanner)
            members.update(chr(code) for code in range(ord(first), ord(last) + 1))
        else:
            members.add(first)
    if not members or (negated and len(members) >= 64) or len(members) > 1000:
        raise UnsupportedError("such a class is not read")
    return g.Chars(frozenset(members), negated)


def _character(scanner: Scanner) -> str:
    character = scanner.character()
    if character != "\\":
        return character
    escaped = scanner.character()
    if escaped in string.ascii_letters + string.digits and escaped not in _CONTROLS:
        raise UnsupportedError(f"\\{escaped} is not read")
    return _CONTROLS.get(escaped, escaped)
