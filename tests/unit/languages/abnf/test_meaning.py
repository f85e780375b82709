"""What ABNF means: each form of RFC 5234 and RFC 7405, and random grammars by enumeration."""

import random
from dataclasses import dataclass
from itertools import product

import pytest

from kbnf_core.convert import from_abnf
from kbnf_testing.membership import Language

FORMS = [
    ('a = "aBc"', ["abc", "ABC", "aBc"], ["ab", "abcd"]),
    ('a = %i"aBc"', ["abc", "ABC"], ["b"]),
    ('a = %s"aBc"', ["aBc"], ["abc", "ABC"]),
    ('a = %S"k" / %I"s"', ["k", "s", "S"], ["K", "\u212a", "\u017f"]),
    ('a = "ks"', ["ks", "KS", "Ks"], ["\u212as", "k\u017f"]),
    ('a = "a.b+(c)|\\d"', ["a.b+(c)|\\d", "A.B+(C)|\\D"], ["aXb+(c)|\\d"]),
    ('a = "" "x"', ["x", "X"], [""]),
    ("a = %d97", ["a"], ["A", "b"]),
    ("a = %x61.62.63", ["abc"], ["ABC", "ab"]),
    ("a = %d13.10", ["\r\n"], ["\r", "\n"]),
    ("a = %b1000001 / %B1000010-1000011", ["A", "B", "C"], ["D", "a"]),
    ("a = %x30-39", ["0", "5", "9"], ["a", "/", ":"]),
    ("a = %X5D-10ffff", ["]", "é", "\U0010ffff"], ["\\", "["]),
    ("a = %x0000000000000000000000000000000000000000000000000041", ["A"], ["B"]),
    ("a = %x5B-5E", ["[", "\\", "]", "^"], ["Z", "_"]),
    ("a = %xD7FF-E000", ["\ud7ff", "\ue000"], ["\uf000"]),
    ('a = 2*3"x"', ["xx", "xxx"], ["x", "xxxx"]),
    ('a = 1*"x"', ["x", "xxxxx"], [""]),
    ('a = "y" *"x"', ["y", "yxxx"], ["x"]),
    ('a = "y" *2"x"', ["y", "yx", "yxx"], ["yxxx"]),
    ('a = 3"x"', ["xxx"], ["xx", "xxxx"]),
    ('a = "y" 0"x"', ["y"], ["yx"]),
    ('a = 2( "x" / "y" ) [ "z" ]', ["xy", "yyz"], ["x", "xyzz"]),
    ('a = "x" / "y" "z"', ["x", "yz"], ["xz"]),
    ('a = "x"\na =/ "y"\nA =/ "z"', ["x", "y", "z"], ["xy"]),
    ('a = B-c <b-C>\nb-c = "x"', ["xx"], ["x"]),
    ("a = b-c b_c\n".replace("b_c", "bc") + 'b-c = "x"\nbc = "y"', ["xy"], ["xx"]),
    ('a = "x" ; one\n   "y" ; two\n', ["xy"], ["x"]),
    ('\ufeff  a = "x"\r\n    "y"\r\n  b = a\r\n', ["xy"], ["x"]),
    ("a = 1*digit hexdig", ["1f", "22F"], ["f"]),
    ("a = CRLF LWSP DQUOTE", ['\r\n \r\n\t"', '\r\n"'], ['\r\n\r\n"']),
    (
        "a = BIT ALPHA CHAR CTL HTAB SP VCHAR WSP CR LF",
        ["1z~\x7f\t !\t\r\n"],
        ["2"],
    ),
    ('a = DIGIT\nDIGIT = "x"', ["x"], ["1"]),
    ("a = %x80-FF", [b"\x80", b"\xff"], [b"\x7f", "é"]),
    ("a = %x7E-81 %xF0", [b"\x81\xf0", b"~\xf0"], [b"\x82\xf0"]),
    ("a = %x81-81", [b"\x81"], [b"\x82"]),
    ("a = %xE9 / OCTET %x41", [b"\xe9", b"\x00A", b"\xffA"], ["é"]),
    ("a = %xE9 / %x100", ["é", "Ā"], [b"\xe9"]),
]


@pytest.mark.parametrize(("text", "accepted", "refused"), FORMS, ids=[form[0] for form in FORMS])
def test_form(text: str, accepted: list[str | bytes], refused: list[str | bytes]) -> None:
    conversion = from_abnf(text)
    assert conversion.exact
    language = Language(conversion.text)
    assert [each for each in accepted if not language.has(each)] == []
    assert [each for each in refused if language.has(each)] == []


def test_start_is_the_first_rule_or_the_one_that_is_asked_for() -> None:
    text = 'one = "1"\nTwo = "2"\n'
    assert Language(from_abnf(text).text).has("1")
    assert Language(from_abnf(text, start="tWO").text).has("2")
    assert Language(from_abnf(f"; kbnf: start=Two\n{text}").text).has("2")


def test_octets_are_written_once_however_often_they_are_used() -> None:
    # A long rule is written in several lines: of no account here.
    texts = (from_abnf("a = " + "%x80-FF " * count).text for count in (1, 200))
    once, often = ("".join(text.split()) for text in texts)
    assert len(often) < len(once) + 200 * len("x80_FF")


@pytest.mark.parametrize(
    ("pragma", "kept"),
    [
        ("kbnf: start=b-c", ""),
        ("kbnf: start=b-c finish=token", "(* kbnf: finish=token *)"),
        ("kbnf: finish=token, start=b-c", "(* kbnf: finish=token, *)"),
        ("start=b-c is", "(* start=b-c is *)"),
    ],
)
def test_a_pragma_of_the_start_is_not_carried_over(pragma: str, kept: str) -> None:
    text = from_abnf(f'; {pragma}\nb-c = "x"\n').text
    assert "start=" in kept or "start=" not in text
    assert kept in text


@dataclass(frozen=True)
class Written:
    """An expression as it is written, and its texts of at most `LONGEST` characters."""

    text: str
    texts: frozenset[str]


LONGEST = 4
LETTERS = "aAbB"


def _joined(left: frozenset[str], right: frozenset[str]) -> frozenset[str]:
    return frozenset(a + b for a in left for b in right if len(a + b) <= LONGEST)


def _repeated(texts: frozenset[str], low: int, high: int) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    power = frozenset([""])
    for count in range(high + 1):
        if count >= low:
            found |= power
        power = _joined(power, texts)
    return found


def _random(chance: random.Random, depth: int) -> Written:
    kind = chance.randrange(4 if depth == 0 else 9)
    letter = chance.choice(LETTERS)
    match kind:
        case 0:
            return Written(f'"{letter}"', frozenset([letter.lower(), letter.upper()]))
        case 1:
            return Written(f'%s"{letter}"', frozenset([letter]))
        case 2:
            return Written(f"%d{ord(letter)}", frozenset([letter]))
        case 3:
            return Written("%x41-42", frozenset("AB"))
    left, right = _random(chance, depth - 1), _random(chance, depth - 1)
    low, more = chance.randrange(3), chance.randrange(3)
    match kind:
        case 4:
            return Written(f"({left.text} / {right.text})", left.texts | right.texts)
        case 5:
            return Written(f"[{left.text}]", left.texts | {""})
        case 6:
            both = _repeated(left.texts, low, low + more)
            return Written(f"{low}*{low + more}({left.text})", both)
        case 7:
            return Written(f"{low}*({left.text})", _repeated(left.texts, low, LONGEST))
        case _:
            return Written(f"({left.text} {right.text})", _joined(left.texts, right.texts))


@pytest.mark.parametrize("seed", range(60))
def test_random_grammar_has_the_texts_of_its_enumeration(seed: int) -> None:
    chance = random.Random(seed)
    head, tail = _random(chance, 3), _random(chance, 2)
    text = f'start-rule = "a" {head.text}\n  Tail\nTAIL = {tail.text} / "b"\n'
    wanted = _joined(_joined(frozenset("aA"), head.texts), tail.texts | {"b", "B"})
    language = Language(from_abnf(text).text)
    every = (
        "".join(t) for length in range(1, LONGEST + 1) for t in product(LETTERS, repeat=length)
    )
    assert {each for each in every if language.has(each)} == wanted
