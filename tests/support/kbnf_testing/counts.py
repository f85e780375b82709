"""Random grammars of repetitions with bounds, and vocabularies with tokens of several of them."""

from random import Random

from kbnf_core import Vocabulary

_UNITS = (
    "#'[ab]'",
    "#'[abé漢]'",
    "'a'",
    "('b' | 'ca')",
    "(#'[ab]' 'd')",
    "('c' #'[ab]'{1,3})",
    "(',' w #'[ab]')",
    "(w 'c')",
    "(',' item)",
    "(',' list)",
    "('a' | 'aa')",
    "('a'?)",
)
_BEHIND = ("'z'", "w 'z'", "'a'", "'ab'", "#'[bz]'", "''", "#'z?'", "list")
_BETWEEN = ("'x'", "w", "''")
_PIECES = ("a", "b", "é", "漢", "c", "d", ",", " ", "z", "[", "]", "x")


def counted_grammar(random: Random, most: int) -> str:
    """Return a grammar of KBNF with repetitions of at most ``most``."""

    def times() -> str:
        low = random.choice((0, 0, 1, random.randrange(most)))
        high = random.choice((str(max(low, 1) + random.randrange(most)), ""))
        return f"{{{low},{high}}}"

    def part() -> str:
        whole = f"{random.choice(_UNITS)}{times()}"
        if random.random() < 0.2:
            whole = f"({whole} {random.choice(_BETWEEN)}){times()}"
        return f"{whole} {random.choice(_BEHIND)}"

    def body() -> str:
        return " | ".join(part() for _ in range(random.choice((1, 1, 2))))

    start = random.choice(("'x' ({})", "{}", "({}) ({})", "'[' ({}) ']'"))
    count = start.count("{}")
    return "\n".join(
        (
            f"start ::= {start.format(*(body() for _ in range(count)))};",
            "w ::= #' ?';",
            f"item ::= 'a' | 'b' ({body()}) ']';",
            f"list ::= '[' (item (',' w item){times()})? ']';",
        )
    )


def counting_vocabulary(random: Random, longest: int) -> Vocabulary:
    """Return all single pieces, and longer tokens, some of them the same piece again and again."""
    tokens = {piece.encode() for piece in _PIECES} | {bytes((byte,)) for byte in "é漢".encode()}
    for _ in range(40):
        few = random.sample(_PIECES, random.choice((1, 2, 4)))
        token = "".join(random.choice(few) for _ in range(random.randrange(2, longest + 1)))
        tokens.add(token.encode()[:longest])
    return Vocabulary(dict(enumerate(sorted(tokens))), eos_token_id=len(tokens))
