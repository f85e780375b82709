"""The priority of terminals in Lark's contextual lexer: the first that matches wins."""

from kbnf_core.languages.lark.reader.model import Terminal


def precedes(one: Terminal, other: Terminal) -> bool:
    """Tell whether Lark's scanner tries ``one`` before ``other``."""
    if one.order is None or other.order is None:
        return False
    return one.order.key < other.order.key


def reserves(keyword: Terminal, pattern: Terminal) -> bool:
    """Tell whether Lark finds the string ``keyword`` by a pattern, as it does with keywords."""
    if pattern.order is None or keyword.order is None:
        return False
    text = keyword.order.keyword
    if text is None or pattern.order.keyword is not None:
        return False
    same = pattern.order.key[0] == keyword.order.key[0]
    return same and keyword.order.flags <= pattern.order.flags and pattern.dfa.accepts(text)
