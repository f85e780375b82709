"""Small languages with indentation, random grammars of them, and random texts, judged by Lark."""

from collections.abc import Callable, Sequence
from random import Random
from typing import ClassVar

from lark import Lark
from lark.exceptions import LarkError
from lark.indenter import Indenter, PythonIndenter


class TreeIndenter(Indenter):
    """The indenter of Lark's example: no brackets."""

    NL_type = "_NL"
    OPEN_PAREN_types: ClassVar[list[str]] = []
    CLOSE_PAREN_types: ClassVar[list[str]] = []
    INDENT_type = "_INDENT"
    DEDENT_type = "_DEDENT"
    tab_len = 8


class BracketIndenter(TreeIndenter):
    """Two kinds of brackets, and tabs of four columns."""

    OPEN_PAREN_types: ClassVar[list[str]] = ["LPAR", "LSQB"]
    CLOSE_PAREN_types: ClassVar[list[str]] = ["RPAR", "RSQB"]
    tab_len = 4


Language = tuple[type[Indenter], str, Sequence[str]]
"""An indenter, a grammar, and lines of which texts are made."""

LANGUAGES: dict[str, Language] = {
    "tree": (
        TreeIndenter,
        r"""
        ?start: _NL* tree
        tree: NAME _NL [_INDENT tree+ _DEDENT]
        %import common.CNAME -> NAME
        %import common.WS_INLINE
        %declare _INDENT _DEDENT
        %ignore WS_INLINE
        _NL: /(\r?\n[\t ]*)+/
        """,
        ("a", "b", "aa", " a", "a b"),
    ),
    # Nothing needs a newline at the end.
    "ended": (
        TreeIndenter,
        r"""
        start: (stmt | _NL)*
        stmt: NAME [":" _NL _INDENT stmt+ _DEDENT] ";" | "x" "{" [_NL _INDENT stmt+ _DEDENT] "}"
        NAME: /[ab]+/
        %declare _INDENT _DEDENT
        %ignore " "
        %ignore /#[^\n]*/
        _NL: /\n *(#[^\n]*\n *)*/
        """,
        ("a;", "b:", "a:", "a; #  x", "x {", "}", "# c", "a ;b;", "b }", "", "x{}"),
    ),
    "brackets": (
        BracketIndenter,
        r"""
        start: (simple | block)*
        block: "if" expr ":" suite ["else" ":" suite]
        suite: simple | _NL _INDENT (simple|block)+ _DEDENT
        simple: expr ("," expr)* _NL
        ?expr: NAME | "(" [expr ("," expr)*] ")" | "[" expr* "]"
        NAME: /(?!if|else)[a-c]+/
        %declare _INDENT _DEDENT
        %ignore /[ \t]+/
        %ignore /#[^\n]*/
        _NL: /(\r?\n[\t ]*)+/
        """,
        ("a", "a, b", "if a:", "else:", "(a", "b)", "[", "a]", "(a,", "# c", ")", "if (a", "):"),
    ),
    # What Lark's Python has: newlines with comments, whose blanks are counted.
    "comments": (
        PythonIndenter,
        r"""
        start: (_NEWLINE | stmt)*
        stmt: NAME _NEWLINE | NAME ":" suite
        suite: _NEWLINE _INDENT stmt+ _DEDENT | NAME _NEWLINE
        NAME: /[a-c]+/
        _NEWLINE: ( /\r?\n[\t ]*/ | COMMENT )+
        COMMENT: /#[^\n]*/
        %ignore /[\t \f]+/
        %ignore /\\[\t \f]*\r?\n/
        %ignore COMMENT
        %declare _INDENT _DEDENT
        """,
        ("a", "a:", "b", "# x  y", "a: b", "a # z", "", "#", "\fa", "\\", "a \\"),
    ),
}


def judge_of(grammar: str, indenter: type[Indenter]) -> Callable[[str], bool]:
    """Return whether Lark, with the indenter, parses a text."""
    parser = Lark(grammar, parser="lalr", postlex=indenter())

    def accepts(text: str) -> bool:
        try:
            parser.parse(text)
        except (LarkError, AssertionError, IndexError):
            # A newline without a line feed, or brackets that close too often.
            return False
        return True

    return accepts


def text_of(random: Random, lines: Sequence[str]) -> str:
    """Return a text of a few lines, mostly indented as blocks are."""
    columns, found = [0], []
    for _ in range(random.randint(1, 6)):
        roll = random.random()
        if roll < 0.3:
            columns.append(columns[-1] + random.choice([1, 2, 4]))
        elif roll < 0.55:
            del columns[random.randint(1, len(columns)) :]
        blanks = " " * (columns[-1] + (random.random() < 0.05))
        if random.random() < 0.3:
            blanks = blanks.replace(" " * random.choice([4, 8]), "\t")
        found.append(blanks + random.choice(lines))
    text = "\n".join(found)
    first = text if random.random() < 0.1 else text.lstrip(" \t")
    return first + random.choice(["\n"] * 3 + ["", "\n ", "\n  ", "\n\n", "\n    ", " ", "\n\t"])


_STATEMENTS = (
    "NAME _NL",
    'NAME "," NAME _NL',
    'NAME ":" suite',
    '"if" value ":" suite ("else" ":" suite)?',
    '"do" _NL _INDENT block _DEDENT "while" value _NL',
    '"do" ":" [_NL _INDENT _NL* block _DEDENT] ";" _NL?',
    '"case" value _NL (_INDENT line+ _DEDENT)?',
    '"(" value ")" _NL',
)
_SUITES = ("_NL _INDENT block _DEDENT", "line", "_NL _INDENT line _DEDENT", "_NL")
_VALUES = ("NAME", '"(" value ("," value)* ")"', '"[" value* "]"', '"(" ")"')
_NEWLINES = (r"/(\r?\n[\t ]*)+/", r"/\n */", r"/(\n[ ]*(#[^\n]*)?)+/", r"/\n[ \t]*/")
LINES = (
    *("a", "a,b", "a:", "if a:", "else:", "do", "do:", ";", "while a", "case a", "case (a"),
    *("b)", "(a)", "if [a", "b]:", "# c", "", "(", ")"),
)


def random_grammar(random: Random) -> str:
    """Return a grammar of statements with blocks; Lark may refuse it."""
    statements = random.sample(_STATEMENTS, random.randint(2, 4))
    suites = random.sample(_SUITES, random.randint(1, 2))
    values = ["NAME", *random.sample(_VALUES[1:], random.randint(0, 2))]
    rules = (
        f"start: {random.choice(['(_NL | line)*', 'line+', '_NL? line*'])}",
        f"line: {' | '.join(statements)}",
        f"block: {random.choice(['line+', 'line (_NL? line)*', 'line line?'])}",
        f"suite: {' | '.join(suites)}",
        f"value: {' | '.join(values)}",
        "NAME: /[ab]/",
        f"_NL: {random.choice(_NEWLINES)}",
        "%ignore / +/",
        random.choice(["", r"%ignore /#[^\n]*/"]),
        "%declare _INDENT _DEDENT",
    )
    return "\n".join(rules)
