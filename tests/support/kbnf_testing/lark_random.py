"""Small Lark grammars at random, over an alphabet of three characters."""

from hypothesis import strategies as st

ALPHABET = "ab "
_NAMES = ("A", "B", "C")
_RULES = ("x", "y")

_WORDS = st.text("ab", min_size=1, max_size=3)


@st.composite
def _patterns(draw: st.DrawFn, depth: int = 2) -> str:
    """Return a regular expression over ``a`` and ``b`` that Python and Rust read alike."""
    kind = draw(st.integers(0, 5)) if depth else draw(st.integers(0, 1))
    if kind == 0:
        return draw(_WORDS)
    if kind == 1:
        return draw(st.sampled_from(("[ab]", "a", "b")))
    inner = _patterns(depth - 1)
    if kind == 2:
        return f"(?:{draw(inner)}|{draw(inner)})"
    if kind == 3:
        return f"{draw(inner)}{draw(inner)}"
    operator = draw(st.sampled_from(("?", "*", "+", "{1,2}")))
    return f"(?:{draw(inner)}){operator}"


@st.composite
def _expressions(draw: st.DrawFn, names: tuple[str, ...], depth: int = 2) -> str:
    """Return the body of a rule that uses ``names``."""
    kind = draw(st.integers(0, 6)) if depth else draw(st.integers(0, 1))
    if kind == 0:
        return f'"{draw(_WORDS)}"'
    if kind <= 2:
        return draw(st.sampled_from(names))
    inner = _expressions(names, depth - 1)
    if kind == 3:
        return f"({draw(inner)} | {draw(inner)})"
    if kind <= 5:
        return f"{draw(inner)} {draw(inner)}"
    return f"({draw(inner)}){draw(st.sampled_from(('?', '*', '+')))}"


@st.composite
def lark_grammars(draw: st.DrawFn) -> str:
    """Return a grammar with up to three terminals, up to three rules, and perhaps blanks."""
    terminals = _NAMES[: draw(st.integers(1, 3))]
    rules = _RULES[: draw(st.integers(0, 2))]
    names = (*terminals, *rules)
    lines = [f"{rule}: {draw(_expressions(names))}" for rule in ("start", *rules)]
    lines.extend(f"{name}: /{draw(_patterns())}/" for name in terminals)
    ignored = draw(st.sampled_from(("", "", "/ +/", '" "', "/ a?/")))
    if ignored:
        lines.append(f"%ignore {ignored}")
    return "\n".join(lines) + "\n"
