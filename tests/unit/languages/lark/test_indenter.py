"""Lark's Indenter: the texts that Lark parses with it, and findings where rules cannot say it."""

import os
import subprocess
import sys
from random import Random
from typing import Any

import pytest
from lark.indenter import PythonIndenter

from kbnf_core import Grammar
from kbnf_core.convert import from_lark, to_gbnf
from kbnf_core.frontend import read_grammar
from kbnf_core.kbnf.parsed import Request
from kbnf_core.languages import LARK
from kbnf_core.languages.lark.indenter import attributes_of
from kbnf_core.text.errors import ConfigError, GrammarError
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source
from kbnf_testing.indented import LANGUAGES, TreeIndenter, judge_of, text_of

PYTHON = attributes_of(PythonIndenter)


@pytest.mark.parametrize("name", LANGUAGES)
def test_texts_are_those_that_lark_parses(name: str) -> None:
    indenter, text, lines = LANGUAGES[name]
    grammar = Grammar.from_lark(text, postlex=indenter, finish="eos")
    judge, random = judge_of(text, indenter), Random(1)
    texts = {text_of(random, lines) for _ in range(1_000)}
    assert {each for each in texts if (grammar.status(each) == "fits") != judge(each)} == set()
    assert sum(map(judge, texts)) > 5


def test_a_line_of_a_block_is_named_by_its_column() -> None:
    _, text, _ = LANGUAGES["tree"]
    grammar = Grammar.from_lark(text, postlex=TreeIndenter())
    names = {name for name in grammar.rules.rules if name.startswith("tree")}
    assert {"tree@0", "tree_block0@2"} <= names


def test_tabs_are_as_wide_as_the_indenter_says() -> None:
    indenter, text, _ = LANGUAGES["brackets"]
    grammar = Grammar.from_lark(text, postlex=indenter, finish="eos")
    assert grammar.status("if a:\n    b\n\tc\n") == "fits"
    wide = Grammar.from_lark(text.replace("_NL", "_NEWLINE"), postlex=PythonIndenter, finish="eos")
    assert wide.status("if a:\n    b\n\tc\n") == "wrong"
    assert wide.status("if a:\n        b\n\tc\n") == "fits"


def test_usual_names_need_no_indenter_and_a_note_says_which_one_it_is() -> None:
    _, text, _ = LANGUAGES["comments"]
    reading = read_grammar(Source(text, None), LARK, Request())
    assert {each.code for each in reading.diagnostics} == {"I421", "W424"}
    assert Grammar.from_lark(text).status("a:\n  b\n") == "fits"


def test_a_note_says_the_greatest_column_where_the_text_does_not() -> None:
    _, text, _ = LANGUAGES["tree"]
    request = Request(options={"indenter": attributes_of(TreeIndenter)})
    [found] = read_grammar(Source(text, None), LARK, request).diagnostics
    assert (found.code, found.message[:36]) == ("I421", "lines begin in the columns 0 to 64; ")
    bound = read_grammar(Source(f"// kbnf: columns=80\n{text}", None), LARK, request)
    assert not bound.diagnostics


def test_what_is_deeper_than_the_greatest_column_does_not_fit() -> None:
    _, text, _ = LANGUAGES["tree"]
    grammar = Grammar.from_lark("// kbnf: columns=4\n" + text, finish="eos")
    assert grammar.status("a\n    b\n") == "fits"
    assert grammar.status("a\n     b\n") == "wrong"


def test_families_are_written_in_kbnf_and_written_out_for_others() -> None:
    _, text, _ = LANGUAGES["tree"]
    kbnf = from_lark(text, postlex=TreeIndenter).text
    assert "tree@n ::=" in kbnf
    assert "tree_block0@>n" in kbnf
    again = Grammar(kbnf, finish="eos")
    assert again.status("a\n  b\n   c\n  d\n") == "fits"
    assert again.status("a\n  b\n   c\n d\n") == "wrong"
    assert "tree-block0-2" in to_gbnf("(* kbnf: columns=4 finish=eos *)\n" + kbnf).text


def _codes(text: str, **options: Any) -> set[str]:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_lark(text, **options)
    return {each.code for each in caught.value.diagnostics if each.code.startswith("E")}


BLOCK = '_NL: /\\n[ ]*/\n%declare _INDENT _DEDENT\nstart: "a" _NL '


@pytest.mark.parametrize(
    "body",
    [
        "open start+ close\nopen: _INDENT\nclose: _DEDENT",
        "[_INDENT] start _DEDENT",
        "(_INDENT start | _INDENT) _DEDENT",
        '_INDENT "(" start _DEDENT',
        '"(" | ")" "b"',
    ],
)
def test_marks_and_brackets_that_are_not_in_pairs_are_findings(body: str) -> None:
    assert _codes(BLOCK + body) == {"E423"}


def test_other_faults_are_findings() -> None:
    _, text, _ = LANGUAGES["tree"]
    assert _codes(text, postlex=PythonIndenter) == {"E421"}  # No `_NEWLINE`.
    assert _codes(text, lexing="earley") == {"E421"}
    assert _codes(text, limits=Limits(family_rules=50)) == {"E106"}
    with pytest.raises(ConfigError, match="NL_type"):
        Grammar.from_lark(text, postlex=object())
    with pytest.raises(ConfigError, match="tab_len"):
        Grammar.from_lark(text, indenter={**PYTHON, "tab_len": 0})
    with pytest.raises(ConfigError, match="attributes"):
        Grammar.from_lark(text, indenter={"NL_type": "_NL"})
    with pytest.raises(ConfigError, match="names of terminals"):
        Grammar.from_lark(text, indenter={**PYTHON, "NL_type": 1})


def test_any_cut_will_do_without_a_lexer() -> None:
    indenter, text, _ = LANGUAGES["brackets"]
    grammar = Grammar.from_lark(text, postlex=indenter, lexing="scannerless", finish="eos")
    assert grammar.status("if (a,\nb):\n  c\na\n") == "fits"
    assert grammar.status("if a:\nb\n") == "wrong"


_STATEMENTS = """
start: (_NL | stmt)*
?stmt: simple | if | try
simple: NAME _NL
if: "if" NAME ":" suite ("elif" NAME ":" suite)* ["else" ":" suite]
try: "try" ":" suite ("except" NAME ":" suite)+ ["finally" ":" suite]
suite: simple | _NL _INDENT stmt+ _DEDENT
NAME: /[a-z]+/
_NL: /(\\r?\\n[\\t ]*)+/
%ignore /[\\t ]+/
%declare _INDENT _DEDENT
"""


def test_processes_that_hash_otherwise_write_one_text() -> None:
    program = (
        "from kbnf_core.convert import from_lark;"
        f"print(from_lark({_STATEMENTS!r}, lexing='scannerless').text)"
    )
    written = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(written) == 1
