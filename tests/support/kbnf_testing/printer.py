"""From a grammar to KBNF text."""

from kbnf_testing import grammar as g

_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_REGEX_SPECIAL = frozenset("\\.+*?()|[]{}^$#&-~/ ")


def to_kbnf(grammar: g.Grammar) -> str:
    """Return the text of ``grammar``, one rule a line."""
    lines = [f"{name} ::= {_alternatives(body)};" for name, body in grammar.rules.items()]
    return "\n".join(lines)


def quote(text: str) -> str:
    """Return ``text`` as a KBNF string."""
    return "'" + "".join(_escape(character) for character in text) + "'"


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    return character if character.isprintable() else f"\\u{{{ord(character):x}}}"


def _alternatives(node: g.Expression) -> str:
    if isinstance(node, g.Choice):
        return " | ".join(_sequence(branch) for branch in node.branches)
    return _sequence(node)


def _sequence(node: g.Expression) -> str:
    if isinstance(node, g.Sequence) and node.parts:
        return " ".join(_primary(part) for part in node.parts)
    return _primary(node)


def _primary(node: g.Expression) -> str:
    match node:
        case g.Reference():
            return node.name
        case g.Repeat():
            return _repeat(node)
        case g.Sequence(parts=()):
            return "''"
        case g.Sequence() | g.Choice():
            return f"({_alternatives(node)})"
        case _:
            return _form(node)


def _form(node: g.Leaf | g.Regex) -> str:
    match node:
        case g.Literal():
            return _literal(node.data)
        case g.Regex():
            return "#" + quote(regex(node.body))
        case g.Early():
            return "#e" + quote(regex(node.body))
        case g.Never():
            return "#ex" + quote(regex(node.body))
        case g.Substrings():
            return "#substrs" + quote(node.data.decode("utf-8"))
        case g.Except():
            return _except(node)
        case g.Token():
            return _token(node)
        case g.Chars():
            return "#" + quote(regex(node))


def _literal(data: bytes) -> str:
    try:
        return quote(data.decode("utf-8"))
    except UnicodeDecodeError:
        return '#b"' + "".join(f"\\x{value:02x}" for value in data) + '"'


def _except(node: g.Except) -> str:
    what = node.via if node.via is not None else quote(node.excluded[0].decode("utf-8"))
    return f"except!({what})" if node.limit == 0 else f"except!({what},{node.limit})"


def _token(node: g.Token) -> str:
    if node.name is not None:
        return "#token" + quote(node.name)
    ids = ",".join(str(token_id) for token_id in sorted(node.ids))
    return f"#token[{'^' if node.negated else ''}{ids}]"


def _repeat(node: g.Repeat) -> str:
    # Both spellings of the same thing are used, so that both are tested.
    if isinstance(node.body, g.Choice) and (node.low, node.high) == (0, 1):
        return f"[{_alternatives(node.body)}]"
    if isinstance(node.body, g.Choice) and (node.low, node.high) == (0, None):
        return "{" + _alternatives(node.body) + "}"
    body = _primary(node.body)
    if isinstance(node.body, g.Repeat):
        body = f"({body})"
    return body + _operator(node.low, node.high)


def _operator(low: int, high: int | None) -> str:
    match low, high:
        case 0, 1:
            return "?"
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case _, None:
            return f"{{{low},}}"
        case _:
            return f"{{{low},{high}}}"


def regex(node: g.Expression) -> str:
    """Return ``node``, which contains no nonterminals, as a regular expression."""
    match node:
        case g.Choice():
            return "(?:" + "|".join(regex(branch) for branch in node.branches) + ")"
        case g.Sequence():
            return "".join(regex(part) for part in node.parts)
        case g.Repeat():
            return f"(?:{regex(node.body)}){_operator(node.low, node.high)}"
        case g.Literal():
            return "".join(_regex_escape(character) for character in node.data.decode("utf-8"))
        case g.Chars():
            return _class(node)
        case _:
            raise TypeError(node)


def _class(node: g.Chars) -> str:
    if node.negated and node.chars == {"\n"}:
        return "."
    members = "".join(_regex_escape(character) for character in sorted(node.chars))
    return f"[{'^' if node.negated else ''}{members}]"


def _regex_escape(character: str) -> str:
    if character in _REGEX_SPECIAL:
        return f"\\x{ord(character):02x}" if character in " /~&-#" else "\\" + character
    return character
