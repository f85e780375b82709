"""Files in other grammar languages get one finding; KBNF with mistakes never gets that one."""

from pathlib import Path

import pytest

from kbnf_core import check
from kbnf_core.kbnf.read import parse_kbnf
from kbnf_core.languages import JSON_SCHEMA, detect, named
from kbnf_core.text.source import Source
from kbnf_testing.data import DATA

NOT_RECOGNISED = {
    # These are KBNF, too, but for the last `;`.
    "tcfg_balanced_parentheses.gbnf",
}

LANGUAGES = {".gbnf": "GBNF", ".lark": "Lark", ".bnf": "bnf_sampler's BNF"}

FOREIGN = [
    path
    for folder in ("gbnf/valid", "gbnf/dialect", "lark/plain", "lark/llguidance", "bnf")
    for path in sorted((DATA / folder).iterdir())
    if path.suffix in LANGUAGES and path.name not in NOT_RECOGNISED
]


@pytest.mark.parametrize("path", FOREIGN, ids=lambda path: path.name)
def test_file_of_another_language(path: Path) -> None:
    parsed = parse_kbnf(Source(path.read_bytes().decode(), str(path)))
    assert [finding.code for finding in parsed.diagnostics] == ["E008"]
    assert LANGUAGES[path.suffix] in parsed.diagnostics[0].message
    assert f"kbnf convert --from {path.suffix[1:]} {path}" in parsed.diagnostics[0].helps[1]
    assert parsed.document.definitions == ()


@pytest.mark.parametrize(
    "text",
    [
        "a : 'x';",
        "start: 'x';\nitem: 'y' | 2;",
        "root ::= 'x' | ;\nb ::= [a-z];",
        "root ::= ('x'\nb ::= 'y'",
        "a ::= [^a];",
        "<a> ::= 'x';",
        "# comment\na ::= 'x';",
        "foo-bar ::= 'x';",
    ],
)
def test_kbnf_with_mistakes(text: str) -> None:
    codes = {finding.code for finding in parse_kbnf(Source(text)).diagnostics}
    assert codes
    assert "E008" not in codes


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("<list> ::= SELECT [ ALL ] <item>\n<item> ::= NAME\n", "EBNF"),
        ("[1] document ::= prolog element\n[2] prolog ::= 'x'\n", "EBNF"),
        ('<a> ::= "x" <b>\n<b> ::= "y"\n', "bnf_sampler's BNF"),
    ],
)
def test_bnf_without_an_extension(text: str, language: str) -> None:
    (finding,) = check(text)
    option = {"EBNF": "ebnf"}.get(language, "bnf")
    assert finding.message == f"this looks like {language}, not KBNF"
    assert finding.helps[0] == (
        f"--from reads it in its language: `kbnf check --from {option} FILE`"
    )
    assert detect(text, "grammar").name == named(option).name  # type: ignore[union-attr]


def test_a_name_put_right_where_it_is_used_is_not_to_be_put_back() -> None:
    findings = check("start ::= key_value;\nkey-value ::= 'a';\n")
    assert [finding.code for finding in findings] == ["E001"]


UNREAD = {
    "peg": ("PEG", 'Sum <- Value (("+" / "-") Value)*\nValue <- [0-9]+\n'),
    "peg predicate": ("PEG", "Word <- !Key [a-z]+\nKey <- 'if'\n"),
}


@pytest.mark.parametrize("name", UNREAD)
def test_languages_that_are_not_read_are_named(name: str) -> None:
    language, text = UNREAD[name]
    for path in (None, "grammar.txt"):
        [finding] = check(text, path)
        assert (finding.code, finding.message) == (
            "E008",
            f"this looks like {language}, not KBNF",
        )
        assert finding.helps[0].startswith(
            f"{language} is not read here: write the grammar in KBNF"
        )


@pytest.mark.parametrize(
    "text",
    [
        "grammar Expr;\nexpr: expr '*' expr | INT ;\nINT: [0-9]+ ;\n",
        "// a\n/* b */\nlexer grammar L;\nINT: [0-9]+ ;\n",
    ],
)
def test_antlr_without_its_extension_is_named(text: str) -> None:
    [finding] = check(text)
    assert (finding.code, finding.message) == ("E008", "this looks like ANTLR, not KBNF")
    assert "kbnf check --from antlr FILE" in finding.helps[0]


def test_the_source_of_a_grammar_of_tree_sitter_is_named() -> None:
    [finding] = check("module.exports = grammar({\n  name: 'a',\n});\n", "grammar.js")
    assert finding.message == "this looks like tree-sitter's grammar.js, not KBNF"
    assert finding.helps == (
        "`tree-sitter generate` writes `src/grammar.json`, which is read here",
    )


@pytest.mark.parametrize("name", ["a.peg", "a.pegjs", "a.pest"])
def test_their_extensions_say_so(name: str) -> None:
    [finding] = check("a : b", name)
    assert finding.code == "E008"
    # What is KBNF is KBNF, by any name.
    assert [each.code for each in check('start ::= "a";\n', name)] == []


@pytest.mark.parametrize(
    "text",
    [
        "a <- 'x';",
        "a <- 'x'",
        "grammar ::= 'x';\nb ::= ;x",
        "(* grammar A; *) a ::= b",
    ],
)
def test_kbnf_with_mistakes_is_none_of_them(text: str) -> None:
    assert "E008" not in {finding.code for finding in check(text)}


def test_json_with_rules_may_be_a_schema() -> None:
    schema = '{"type": "object", "rules": {"a": {"type": "string"}}, "name": "x"}'
    assert detect(schema, "grammar.json") is JSON_SCHEMA
