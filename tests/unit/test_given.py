"""The library answers what people pass: values, classes, paths and names in place of texts."""

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from kbnf_core import Engine, Grammar, GrammarError, Vocabulary, VocabularyError, load_vocabulary
from kbnf_core.frontend import KBNF
from kbnf_core.integrations.stepwise import Stepwise, vocabulary_of
from kbnf_core.languages import JSON_SCHEMA, STRUCTURAL_TAG
from kbnf_core.text.errors import ConfigError


class Model(BaseModel):
    """What a user passes."""

    ok: bool


TAG = {
    "type": "structural_tag",
    "format": {"type": "const_string", "value": "x"},
}


@pytest.mark.parametrize(
    ("source", "language"),
    [
        ({"type": "boolean"}, JSON_SCHEMA),
        (True, JSON_SCHEMA),
        (Model, JSON_SCHEMA),
        (list[int], JSON_SCHEMA),
        (TAG, STRUCTURAL_TAG),
        ("start ::= 'a';", KBNF),
        ("json", KBNF),
        ("builtin:json", KBNF),
    ],
)
def test_any_grammar(source: Any, language: object) -> None:
    assert Grammar.from_any(source).language is language
    assert Engine(source, Vocabulary.bytes()).grammar.language is language


def test_a_path_is_read_and_a_grammar_is_itself(tmp_path: Path) -> None:
    file = tmp_path / "g.gbnf"
    file.write_text('root ::= "a"\n', encoding="utf-8")
    grammar = Grammar.from_any(file)
    assert grammar.language.name == "GBNF"
    assert Grammar.from_any(grammar) is grammar


@pytest.mark.parametrize("text", ["g.kbnf", "some/where/g.lark", "schema.json", "a.kbnfc"])
def test_a_text_that_is_a_path_names_what_reads_it(text: str) -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar(text)
    named = "load_artifact" if text.endswith("c") else "Grammar.from_file"
    assert f"`{named}('{text}')` reads the file" in caught.value.report()


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (3, "pydantic class or a `Grammar`), got int"),
        ("builtin:jsno", "there is no grammar `builtin:jsno`; there are arithmetic"),
    ],
)
def test_what_is_no_grammar(source: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        Grammar.from_any(source)


def test_a_value_in_place_of_a_text_names_what_takes_it() -> None:
    with pytest.raises(ConfigError, match=r"Grammar\.from_any"):
        Grammar({"type": "object"})  # type: ignore[arg-type] # as people pass it


def test_the_name_of_a_vocabulary_names_what_reads_it(tmp_path: Path) -> None:
    with pytest.raises(VocabularyError, match=re.escape("load_vocabulary('gpt2')")):
        Vocabulary.of("gpt2")
    file = tmp_path / "v.json"
    file.write_text('{"0": "a"}', encoding="utf-8")
    assert vocabulary_of(str(file)).size == load_vocabulary(file).size == 1
    with pytest.raises(OSError, match="cannot read"):
        Stepwise("json", "no-such-model")


def test_an_error_is_one_line_and_reports_all() -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar("start ::= a b;\n", path="g.kbnf")
    error = caught.value
    assert str(error) == (
        "g.kbnf:1:11: error[E101]: the nonterminal `a` is not defined"
        " (and 1 more finding: `report()`)"
    )
    report = error.report()
    assert report.count("error[E101]") == 2
    assert "1 | start ::= a b;" in report
    assert "help: define it: `a ::= ... ;`" in report
    shown = "\n".join(error._render_traceback_())
    assert 'test_given.py", line' in shown
    assert report.rstrip() in shown
