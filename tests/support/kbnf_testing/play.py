"""The grammar and the vocabulary that the console's tests play with."""

GRAMMAR = """\
(* kbnf: finish=eos *)
start ::= "say " word { ", " word } ["!"];
word  ::= "hello" | "hé" | "#1" | ":x" | #token"<|x|>";
"""

TOKENS = {
    0: b"say",
    1: b" ",
    2: b"say ",
    3: b"hello",
    4: b"he",
    5: b"llo",
    6: b", ",
    7: b"!",
    8: b"h\xc3",
    9: b"\xa9",
    10: b"#1",
    11: b":x",
    12: b"unused",
    13: b"he",
}
