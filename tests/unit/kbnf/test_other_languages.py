"""Files in other grammar languages get one finding; KBNF with mistakes never gets that one."""

from pathlib import Path

import pytest

from kbnf_core import check
from kbnf_core.kbnf.read import parse_kbnf
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


def test_a_name_put_right_where_it_is_used_is_not_to_be_put_back() -> None:
    findings = check("start ::= key_value;\nkey-value ::= 'a';\n")
    assert [finding.code for finding in findings] == ["E001"]
