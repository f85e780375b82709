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
    """Return a grammar with up to three terminals, up to three rules, and optional blanks."""
    terminals = _NAMES[: draw(st.integers(1, 3))]
    rules = _RULES[: draw(st.integers(0, 2))]
    names = (*terminals, *rules)
    lines = [f"{rule}: {draw(_expressions(names))}" for rule in ("start", *rules)]
    lines.extend(f"{name}: /{draw(_patterns())}/" for name in terminals)
    ignored = draw(st.sampled_from(("", "", "/ +/", '" "', "/ a?/")))
    if ignored:
        lines.append(f"%ignore {ignored}")
    return "\n".join(lines) + "\n"


SCANNED = "abAB "
"""The alphabet of ``scanned_grammars``."""

_KEYWORDS = ("a", "b", "ab", "Ab", "AB", " ", "a ", "abA")
_CLASSES = ("[a-z]", "[ab]", "[bA]", "[A-Z]", "[a-zA-Z]", r"\w", "[a-z ]", ".", "a", "A", "(?i:b)")
_COUNTS = ("", "", "+", "*", "{2}", "{1,2}", "?", "+?")
_AHEAD = ("", "", "", "", "(?=b)", "(?!b)", "(?! )")


@st.composite
def _scanned_patterns(draw: st.DrawFn) -> str:
    """Return a pattern between slashes, with flags, as names and keywords have them."""
    parts = st.builds(str.__add__, st.sampled_from(_CLASSES), st.sampled_from(_COUNTS))
    branches = draw(st.lists(st.lists(parts, min_size=1, max_size=2), min_size=1, max_size=2))
    body = "|".join("".join(branch) for branch in branches)
    body = body if len(branches) == 1 else f"(?:{body})"
    return f"/{body}{draw(st.sampled_from(_AHEAD))}/{draw(st.sampled_from(('', '', 'i')))}"


_KEYWORD = st.builds('"{}"{}'.format, st.sampled_from(_KEYWORDS), st.sampled_from(("", "i")))


@st.composite
def scanned_grammars(draw: st.DrawFn) -> str:
    """Return a grammar whose terminals compete: keywords, names, flags, priorities, ignores."""
    names = _NAMES[: draw(st.integers(1, 3))]
    leaves = st.one_of(_KEYWORD, st.sampled_from(names), _scanned_patterns(), st.just("x"))
    placed = st.builds(str.format, st.sampled_from(("{}", "{}", "({})", "[{}]", "{}?")), leaves)
    rows = draw(st.lists(st.lists(placed, min_size=1, max_size=3), min_size=1, max_size=3))
    again = draw(st.sampled_from(("", "+")))
    lines = [
        f"start: ({' | '.join(' '.join(row) for row in rows)}){again}",
        f"x: {draw(_KEYWORD)} | {draw(_scanned_patterns())}",
    ]
    for name in names:
        priority = draw(st.sampled_from(("", "", "", ".1", ".-1")))
        body = draw(st.one_of(_KEYWORD, _scanned_patterns(), _scanned_patterns()))
        lines.append(f"{name}{priority}: {body}")
    ignored = draw(st.sampled_from(("", '" "', '" "', "/ +/", names[0], '"A"i', "/[a ]/")))
    if ignored:
        lines.append(f"%ignore {ignored}")
    return "\n".join(draw(st.permutations(lines))) + "\n"
