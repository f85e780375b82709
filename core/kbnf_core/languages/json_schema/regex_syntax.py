r"""The syntax of regular expressions, as the format ``regex`` has it: a part that all readers take.

ECMA-262's expressions are not a regular language, since groups nest. What is allowed here is what
Python, JavaScript, Go and Rust read alike: literals, escapes of punctuation and of the usual
classes, brackets with ranges of letters and digits, groups ``DEPTH`` deep, alternatives, anchors,
and counts of up to three digits that do not run backwards. Look-around, references back and named
groups are left out.
"""

DEPTH = 3
"""How deep groups may nest."""

LEFT_OUT = (
    "of `regex`, look-around, references back, named groups, groups nested more than"
    f" {DEPTH} deep and ranges but of letters or digits are left out"
)

META = r"\\^$.|?*+()\[\]{}"
LITERAL = rf"[^{META}\x00-\x1f\x7f]"
PUNCTUATION = r"[!-/:;=?@\[-`{-~]"
"""What a backslash makes a literal."""

MEMBER = r"[^\\\]\[^\-&~\x00-\x1f\x7f]"
"""A character that stands for itself in brackets."""

CLASSES = "[dDwWsStnrfv]"
"""What a backslash makes a class, or a control character."""

RANGES = tuple(
    f"{first}-[{first}-{letters[-1]}]"
    for letters in ("abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789")
    for first in letters
)


def _counts() -> tuple[str, ...]:
    """Return the counts in braces: one, a least one, or two of which the first is not larger."""
    pairs = [f"{a},(?:[{a}-9]|[1-9][0-9]{{1,2}})" for a in range(10)]
    for tens in range(1, 10):
        more = f"|[{tens + 1}-9][0-9]" if tens < 9 else ""
        pairs += [f"{tens}{a},(?:{tens}[{a}-9]{more}|[1-9][0-9]{{2}})" for a in range(10)]
    return (r"(?:0|[1-9][0-9]{0,2}),?", *pairs)


COUNTS = _counts()


def _whole() -> str:
    escape = rf"\\(?:{CLASSES}|{PUNCTUATION}|x[0-9A-Fa-f]{{2}}|u[0-9A-Fa-f]{{4}})"
    bracket = rf"\[\^?(?:-?(?:{'|'.join(RANGES)}|{MEMBER}|{escape})+-?|-)\]"
    atom = rf"{LITERAL}|\.|{escape}|{bracket}"
    anchor = r"[\^$|]|\\[bB]"
    quantifier = rf"(?:[*+?]|\{{(?:{'|'.join(COUNTS)})\}})\??"
    found = rf"(?:(?:{atom})(?:{quantifier})?|{anchor})*"
    for _ in range(DEPTH):
        found = rf"(?:(?:{atom}|\((?:\?:)?{found}\))(?:{quantifier})?|{anchor})*"
    return found


REGEX = _whole()


def _listed(patterns: tuple[str, ...]) -> str:
    return " | ".join(f"#'{each}'" for each in patterns)


_NESTED = "\n".join(
    f"regex_{depth} ::= ((regex_atom | '(' '?:'? regex_{depth - 1} ')') regex_quantifier?"
    " | regex_mark)*;"
    for depth in range(DEPTH, 0, -1)
)

RULES = rf"""
regex_string ::= '"' regex_{DEPTH} '"';
{_NESTED}
regex_0 ::= (regex_atom regex_quantifier? | regex_mark)*;
regex_mark ::= #r'[\^$|]|\\\\[bB]';
regex_atom ::= #r'[^"{META}\x00-\x1f\x7f]|\\"' | '.' | regex_escape | regex_bracket;
regex_escape ::=
    #r'\\\\(?:{CLASSES}|[!#-/:;=?@\[\]-`{{-~]|\\["\\]|x[0-9A-Fa-f]{{2}}|u[0-9A-Fa-f]{{4}})';
regex_bracket ::= '[' '^'? ('-'? regex_member+ '-'? | '-') ']';
regex_member ::= regex_range | #r'[^"\\\]\[^\-&~\x00-\x1f\x7f]|\\"' | regex_escape;
regex_range ::= {_listed(RANGES)};
regex_quantifier ::= (#'[*+?]' | '{{' regex_count '}}') '?'?;
regex_count ::= {_listed(COUNTS)};
"""
"""The same texts, spelt as JSON strings, as rules for people to read."""
