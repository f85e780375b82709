"""What each construct of the dialect matches: (pattern, words it matches, words it does not)."""

import pytest

from kbnf_core.automata.regex.compile import compile_regex

LITERALS = [
    ("", [""], ["a"]),
    ("a", ["a"], ["", "b", "aa", "A"]),
    ("abc", ["abc"], ["ab", "abcd"]),
    ("é", ["é"], ["e", "É"]),
    ("a|b|", ["a", "b", ""], ["ab"]),
    ("a]}", ["a]}"], ["a"]),
    ("&&--~~ #", ["&&--~~ #"], [""]),
    (".", ["a", "\r", "é", "你", "😀"], ["", "\n", "ab"]),
]
ESCAPES = [
    (r"\a\f\t\n\r\v", ["\x07\x0c\t\n\r\x0b"], ["a"]),
    (r"\.\+\*\?\(\)\|\[\]\{\}\^\$\\\#\&\-\~", [r".+*?()|[]{}^$\#&-~"], ["a"]),
    (r"\/\"\_\ \!\%\,\:\;\=\@\`\'", ["/\"_ !%,:;=@`'"], [""]),
    (r"\x41\x7f", ["A\x7f"], ["a"]),
    (r"\xe9", ["é"], ["e"]),
    (r"\x{e9}\x{1F600}\x{10FFFF}", ["é😀\U0010ffff"], [""]),
    (r"\u00e9\u{e9}\U000000e9\U{e9}", ["éééé"], ["é"]),
    (r"\d+", ["0", "42", "٣"], ["", "a", "½"]),
    (r"\D", ["a", "½", "\n"], ["0", "٣"]),
    (r"\s", [" ", "\t", "\x0b", "\x85", "\u2003"], ["a", "\x1c", "\u200b"]),
    (r"\S", ["a", "\x1c"], [" ", "\u2028"]),
    (r"\w", ["a", "_", "9", "é", "你", "\u0301", "\u200d"], ["-", " ", "½"]),
    (r"\W", ["-", "½"], ["a", "é"]),
]
PROPERTIES = [
    (r"\pL", ["a", "你"], ["1"]),
    (r"\PL", ["1"], ["a"]),
    (r"\p{L}\p{Letter}\p{gc=L}\p{General_Category:letter}", ["aaaa"], ["aaa1"]),
    (r"\p{Lu}", ["A", "É"], ["a"]),
    (r"\p{Greek}\p{sc=Grek}\p{Script=greek}\p{IsGreek}", ["αβγδ"], ["abcd"]),
    (r"\p{scx:Deva}", ["\u0951", "क"], ["a"]),
    (r"\p{sc=Deva}", ["क"], ["\u0951"]),
    (r"\p{gc!=L}", ["1"], ["a"]),
    (r"\P{gc!=L}", ["a"], ["1"]),
    (r"\p{Alphabetic}\p{alpha}", ["aa"], ["11"]),
    (r"\p{White_Space}\p{ white-space }", ["  "], ["aa"]),
    (r"\p{Emoji}", ["😀", "1"], ["a"]),
    (r"\p{any}", ["a", "\n", "\U0010ffff"], [""]),
    (r"\p{ascii}", ["a", "\x7f"], ["\x80"]),
    (r"\p{assigned}", ["a"], ["\u0378"]),
    (r"\p{Cn}", ["\u0378"], ["a"]),
    (r"\p{sc}", ["$"], ["a"]),
    (r"\p{cf}", ["\u200d"], ["a"]),
    (r"\p{LC}", ["a", "A"], ["你"]),
    (r"\p{gcb=LV}\p{wb=Katakana}\p{sb=Close}", ["가カ("], ["aaa"]),
    (r"(?i)\p{Lu}", ["A", "a"], ["1"]),
    (r"(?i)\P{Lu}", ["1"], ["A", "a"]),
]
CLASSES = [
    ("[abc]", ["a", "c"], ["d", "ab"]),
    ("[a-c]", ["b"], ["d", "-"]),
    ("[^a-c]", ["d", "\n", "é"], ["a", "b", ""]),
    ("[a-]", ["a", "-"], ["b"]),
    ("[-a]", ["a", "-"], ["b"]),
    ("[^-a]", ["b"], ["a", "-"]),
    ("[]a]", ["]", "a"], ["b"]),
    ("[^]a]", ["b"], ["]", "a"]),
    (r"[\]]", ["]"], ["\\"]),
    ("[---]", ["-"], [","]),
    ("[a-c-e]", ["b", "-", "e"], ["d"]),
    ("[.*+?(){}|$]", [".", "*", "$", "|"], ["a"]),
    (r"[\n-\r]", ["\n", "\x0b", "\r"], ["\t"]),
    (r"[\x61-\x{63}]", ["b"], ["d"]),
    (r"[\d_\pL]", ["1", "_", "é"], ["-"]),
    (r"[^\D]", ["1"], ["a"]),
    ("[[:alpha:]]", ["a", "Z"], ["1", "é"]),
    ("[[:^alpha:]]", ["1", "é"], ["a"]),
    ("[[:alnum:][:punct:]]", ["a", "9", "!", "~"], [" "]),
    ("[[:blank:][:cntrl:]]", ["\t", " ", "\x7f"], ["a"]),
    ("[[:graph:]]", ["!", "~"], [" "]),
    ("[[:print:]]", [" ", "~"], ["\x7f"]),
    ("[[:lower:][:digit:]]", ["a", "1"], ["A"]),
    ("[[:upper:][:xdigit:]]", ["Z", "f"], ["g"]),
    ("[[:space:][:word:]]", ["\x0b", "_"], ["-", "\x85"]),
    ("[[:ascii:]]", ["\x00", "\x7f"], ["\x80"]),
    ("[[:foo:]]", ["f", "o", ":"], ["a"]),
    ("[:alpha:]", [":", "a", "l"], ["b"]),
    ("[a[bc]]", ["a", "c"], ["d"]),
    ("[a[^b]]", ["a", "c"], ["b"]),
    ("[^[a-c]]", ["d"], ["a"]),
]
SET_OPERATORS = [
    ("[a-d&&b-z]", ["b", "d"], ["a", "e"]),
    ("[a-d--b]", ["a", "c"], ["b"]),
    ("[a-c~~b-d]", ["a", "d"], ["b", "c"]),
    ("[a-c&&b-d--b]", ["c"], ["a", "b", "d"]),
    ("[a-z--b-y&&a]", ["a"], ["z"]),
    ("[^a-d&&b-z]", ["a", "e"], ["b"]),
    (r"[\w&&[^\d_]]", ["a"], ["1", "_"]),
    (r"[\pN--5]", ["4"], ["5"]),
    ("[a&&b]", [], ["a", "b", ""]),
    ("[a-z&&]", [], ["a", "&"]),
    ("(?i)[a-c&&B]", ["b", "B"], ["a"]),
    ("(?i)[a-c--B]", ["a", "C"], ["b", "B"]),
]
GROUPS = [
    ("(a)(?:b)(?P<n>c)(?<m>d)", ["abcd"], ["abc"]),
    ("(?<a.b[0]>a)(?<é_1>b)", ["ab"], []),
    ("(a|b)c", ["ac", "bc"], ["abc"]),
    ("()", [""], ["a"]),
    ("(?:)", [""], ["a"]),
    ("(|a)b", ["b", "ab"], ["a"]),
]
FLAGS = [
    ("(?i)k", ["k", "K", "\u212a"], ["j"]),
    ("(?i)s", ["s", "S", "ſ"], ["z"]),
    ("(?i)ß", ["ß", "ẞ"], ["ss", "SS"]),
    ("(?i)i", ["i", "I"], ["ı", "İ"]),
    ("(?i)σ", ["σ", "ς", "Σ"], ["s"]),
    ("(?i)[^x]", ["y"], ["x", "X"]),
    ("(?i)[a-c]", ["B"], ["d"]),
    ("(?i-u)k", ["k", "K"], ["\u212a"]),
    ("a(?i)b|c", ["aB", "C"], ["A", "Ab"]),
    ("(a(?i)b)c", ["aBc"], ["aBC"]),
    ("(?i:a)b", ["Ab"], ["AB"]),
    ("(?i)a(?-i)b", ["Ab"], ["AB"]),
    ("(?i-s:A.)", ["ab"], ["a\n"]),
    ("(?s).", ["\n"], [""]),
    ("(?R).", ["a"], ["\n", "\r"]),
    ("(?sR).", ["\r"], [""]),
    ("(?U)a+?", ["a", "aa"], [""]),
    ("(?u)é", ["é"], []),
    ("(?-u)é", ["é"], ["\udce9"]),
    (r"(?-u:\w\d\s)", ["a1 "], ["é1 ", "a٣ "]),
    (r"(?-u:[\d[:alpha:]])", ["1", "a"], ["é"]),
    (r"(?-u:\x{e9})", ["é"], []),
    (r"(?-u)(?u:.)", ["é"], []),
]
VERBOSE = [
    ("(?x) a b # comment\n c", ["abc"], ["a b c"]),
    ("(?x) A # c", ["A"], []),
    (r"(?x) a\ b\#", ["a b#"], ["ab"]),
    ("(?x)[ a b ]", ["a", "b"], [" "]),
    ("(?x)[a #]\n b]", ["a", "b"], ["#"]),
    ("(?x)[a - c]", ["b"], ["-"]),
    ("(?x: a ) b", ["a b"], ["ab"]),
    ("(?x) a (?-x) b", ["a b"], ["ab"]),
    ("(?x) a {2 , 3} ?", ["aa"], ["a"]),
    (r"(?x)\x {6 1}\x 6 1\p {L }", ["aab"], ["a"]),
    ("(?x) ( ?i: a )", ["A"], []),
    ("(?x)a\u2003b\x85c", ["abc"], []),
]
REPETITIONS = [
    ("a*", ["", "a", "aaa"], ["b"]),
    ("a+", ["a", "aa"], [""]),
    ("a?", ["", "a"], ["aa"]),
    ("a*?b+?c??", ["b", "aabbc"], ["a"]),
    ("a{2}", ["aa"], ["a", "aaa"]),
    ("a{2,}", ["aa", "aaaa"], ["a"]),
    ("a{2,3}", ["aa", "aaa"], ["a", "aaaa"]),
    ("a{2,3}?", ["aa", "aaa"], ["a"]),
    ("a{0}", [""], ["a"]),
    ("a{0,0}b", ["b"], ["ab"]),
    ("a{0,2}", ["", "a", "aa"], ["aaa"]),
    ("a{ 2 , 3 }", ["aa"], ["a"]),
    ("a**", ["", "aa"], ["b"]),
    ("a++", ["a", "aa"], [""]),
    ("a{2}{3}", ["aaaaaa"], ["aaaaa"]),
    ("(a|b?){2}c", ["c", "abc", "bbc"], ["aaac"]),
    ("(ab)*", ["", "abab"], ["aba"]),
    ("()*a", ["a"], [""]),
    ("^*a", ["a"], []),
    ("[[:alpha:]]{2}", ["ab"], ["a"]),
    ("é{2}", ["éé"], ["é"]),
]
ASSERTIONS = [
    ("^a$", ["a"], []),
    (r"\Aa\z", ["a"], []),
    ("a^b", [], ["ab", "a^b"]),
    ("a$b", [], ["ab"]),
    ("^|a", ["", "a"], ["b"]),
    ("(?m)a$\n^b", ["a\nb"], ["ab", "a\n"]),
    ("(?m)a$.?b", [], ["ab", "a\nb"]),
    ("(?m)^(a|\n)*^b", ["b", "a\nb", "\nb"], ["ab"]),
    ("(?mR)a$\r\n^b", ["a\r\nb"], []),
    ("(?mR)a\r$\n", [], ["a\r\n"]),
    ("(?mR)a\r^b", ["a\rb"], []),
    ("(?mR)a\r^\nb", [], ["a\r\nb"]),
    (r"(?-u:\b)a(?-u:\b)", ["a"], []),
    (r"a(?-u:\b)b", [], ["ab"]),
    (r"a(?-u:\b).b", ["a b", "aéb"], ["axb"]),
    (r"a(?-u:\B)b", ["ab"], []),
    (r"a(?-u:\B).", ["ab"], ["a "]),
    (r"(?-u:\<)a(?-u:\>) ", ["a "], []),
    (r".(?-u:\b{start})a", [" a"], ["aa"]),
    (r"a(?-u:\b{end}).", ["a "], ["aa"]),
    (r".(?-u:\b{start-half}).", [" a", "  "], ["a ", "ab"]),
    (r".(?-u:\b{end-half}).", ["a ", "  "], [" a", "ab"]),
    (r"(?-u)a\b{2} ", ["a "], ["a"]),
    (r"(?-u:\B)a", [], ["a"]),
]
TABLE = [
    *LITERALS, *ESCAPES, *PROPERTIES, *CLASSES, *SET_OPERATORS, *GROUPS, *FLAGS, *VERBOSE,
    *REPETITIONS, *ASSERTIONS,
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "matched", "unmatched"), TABLE, ids=[row[0] for row in TABLE])
def test_language(pattern: str, matched: list[str], unmatched: list[str]) -> None:
    compiled = compile_regex(pattern)
    assert compiled.problems == ()
    assert compiled.dfa is not None
    for word in matched:
        assert compiled.dfa.accepts(word.encode()), word
    for word in unmatched:
        assert not compiled.dfa.accepts(word.encode("utf-8", "surrogateescape")), word


NOT_UTF8 = [
    b"\xff", b"\x80", b"\xc3", b"\xc0\x80", b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xf0\x80\x80\x80",
    b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80", b"\xc3\xa9\xa9",
]  # fmt: skip


@pytest.mark.parametrize("word", NOT_UTF8)
@pytest.mark.parametrize("pattern", ["(?s).", "[^a]", r"\W", r"\p{any}"])
def test_only_utf8_is_matched(pattern: str, word: bytes) -> None:
    dfa = compile_regex(pattern).dfa
    assert dfa is not None
    assert not dfa.accepts(word)


EDGES = [0, 0x7F, 0x80, 0x7FF, 0x800, 0xFFF, 0x1000, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x3FFFF,
         0x40000, 0xFFFFF, 0x100000, 0x10FFFF]  # fmt: skip


@pytest.mark.parametrize("low", EDGES)
def test_ranges_end_where_they_say(low: int) -> None:
    for high in (edge for edge in EDGES if edge >= low):
        dfa = compile_regex(rf"[\x{{{low:x}}}-\x{{{high:x}}}]").dfa
        assert dfa is not None
        for point in EDGES:
            assert dfa.accepts(chr(point).encode()) == (low <= point <= high)


def test_a_regex_is_compiled_once() -> None:
    assert compile_regex("(?:once)") is compile_regex("(?:once)")
