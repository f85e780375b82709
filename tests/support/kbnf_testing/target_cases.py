"""Constructs that not every engine takes: a small grammar for each, by language and name."""

KBNF = {
    "except!": "start ::= except!('a', 5) 'a';",
    "except! of a nonterminal": "start ::= except!(w) 'end'; w ::= 'end' | 'fin';",
    "except! of what expands to texts": "start ::= except!(w) 'end'; w ::= v; v ::= 'end' | 'fin';",
    "except! of a bracket": "start ::= except!(w) 'end'; w ::= ('end' | 'fin');",
    "#e": "start ::= #e'a+b' 'c';",
    "#ex": "start ::= #ex'ab' 'ab';",
    "#substrs": "start ::= #substrs'abc' ';';",
    "count": "start ::= 'a'{2,4} ';';",
    "count above 2,000": "start ::= 'a'{3000} ';';",
    "count of a rule above 2,000": "start ::= x{3000} ';'; x ::= 'a' | '(' x ')';",
    "bytes that are not text": "start ::= #b'\\xff' ';';",
    "bytes that are text": "start ::= #b'\\xc3\\xa9' ';';",
    "token by id": "start ::= #token[1] ';';",
    "comment in a rule": "start ::= 'a' (* c *) 'b';",
    "bracket in quotes": "start ::= ('(' | 'd') ';';",
    "no last semicolon": "start ::= 'a'",
    "byte order mark": "\ufeffstart ::= 'a';",
    "same right side as the start": "start ::= 'a' other | 'b'; other ::= 'a' other | 'b';",
    "left recursion": "start ::= list ';'; list ::= list 'a' | 'b';",
    "loop around what may be empty": "start ::= ('a'? 'b'?)* ';';",
    "loop around a rule that may be empty": "start ::= x* ';'; x ::= 'a' | '(' x ')' | '';",
    "regular expression": "start ::= #'a[b-d]*é' ';';",
    "class of Unicode": "start ::= #'\\\\p{L}+' ';';",
}

GBNF = {
    "empty alternative": 'root ::= "a" | | "b"\n',
    "empty text": 'root ::= "a" | ""\n',
    "any character": "root ::= .\n",
    "negated class": "root ::= [^a]\n",
    "token by id": "root ::= <[1]>\n",
    "negated token": "root ::= !<[1]>\n",
    "second definition": 'root ::= "a"\nroot ::= "b"\n',
    "count above 2,000": 'root ::= "a"{3000}\n',
    "upper bound above 2,000": 'root ::= "a"{0,3000}\n',
    "count without its lower bound": 'root ::= "a"{,3}\n',
    "left recursion": 'root ::= root "a" | "b"\n',
    "hidden left recursion": 'root ::= ("b"?) root "c" | "d"\n',
    "loop around what may be empty": 'root ::= ("a" | "")* "c"\n',
    "loop around optional parts": 'root ::= ("a"? "b"?)* "c"\n',
    "underscore in a name": 'root ::= a_b\na_b ::= "b"\n',
    "rule over two lines": 'root ::= "a"\n  "b"\n',
}

LARK = {
    "template": 'start: two{"a"}\ntwo{x}: x x\n',
    "priority of a rule": 'start: r\nr.2: "a"\n',
    "priority of a terminal": 'start: R\nR.2: "a"\n',
    "look ahead": 'start: /a(?=b)/ "b"\n',
    "look behind": 'start: "b" /(?<=b)a/\n',
    "lazy operator": "start: /a+?b/\n",
    "brackets in a class": "start: /[(?=]+\\(/\n",
    "back reference": "start: /(a)\\1/\n",
    "word boundary": "start: /a\\b/\n",
    "import of common": "start: INT\n%import common.INT\n",
    "other import": "start: A\n%import python.NAME -> A\n",
    "%override": 'start: x\nx: "a"\n%override x: "b"\n',
    "alias": 'start: "a" -> b\n',
    "flags": "start: /a/imsx\n",
    "left recursion": 'start: start "a" | "b"\n',
    "repetition": 'start: "a"~2..3\n',
}

CASES: dict[str, dict[str, str]] = {".kbnf": KBNF, ".gbnf": GBNF, ".lark": LARK}
"""By extension."""
