"""Every language is read once, and the command line opens the grammar that the library makes."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kbnf_cli.inputs import open_any_grammar
from kbnf_core import Grammar
from kbnf_core.languages import ABNF, BNF, GBNF, JSON_SCHEMA, KBNF, LARK, Language
from kbnf_core.lower import build, facts, translate
from kbnf_testing.pages import documentation

ROOT = Path(__file__).resolve().parents[2]

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "when": {"format": "date", "type": "string"}},
    "required": ["a"],
}

TEXTS: list[tuple[Language, str, Callable[[str], Grammar]]] = [
    (KBNF, "start ::= a+ '.'; a ::= #'[0-9]' | 'x';", Grammar),
    (GBNF, 'root ::= a+ "."\na ::= [0-9] | "x"\n', Grammar.from_gbnf),
    (BNF, "<start>::=<a>'.'\n<a>::='x'|'y'\n", Grammar.from_bnf),
    (LARK, 'start: A+ "."\nA: /[0-9]/ | "x"\n', Grammar.from_lark),
    (ABNF, 'start = 1*a "."\na = DIGIT / "x"\n', Grammar.from_abnf),
    (JSON_SCHEMA, json.dumps(SCHEMA), Grammar.from_json_schema),
]

each_language = pytest.mark.parametrize(
    ("language", "text", "make"), TEXTS, ids=[language.name for language, _, _ in TEXTS]
)


@each_language
def test_reading_translating_and_analysing_happen_once(
    language: Language,
    text: str,
    make: Callable[[str], Grammar],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: Counter[str] = Counter()

    def count(owner: object, name: str) -> None:
        run = getattr(owner, name)

        def call(*args: Any, **named: Any) -> Any:
            calls[name] += 1
            return run(*args, **named)

        monkeypatch.setattr(owner, name, call)

    count(Language, "parse")
    count(translate, "translate")
    count(facts, "analyse")
    count(build, "analyse")
    assert make(text).tables.state_count > 1
    has_rules = language is not JSON_SCHEMA
    assert calls["parse"] == calls["analyse"] == 1
    assert calls["translate"] == has_rules


@each_language
def test_the_command_line_opens_what_the_library_makes(
    language: Language, text: str, make: Callable[[str], Grammar], tmp_path: Path
) -> None:
    file = tmp_path / "grammar"
    file.write_text(text, encoding="utf-8")
    opened = open_any_grammar(file, "grammar", None, None, from_=language.name).tables
    made = make(text).tables
    assert opened.dump() == made.dump()
    assert np.array_equal(opened.classes, made.classes)


def test_no_output_names_a_converted_text() -> None:
    texts = [*(ROOT / "tests" / "golden").rglob("*"), *documentation()]
    texts += [*(ROOT / "man").glob("*.[157]"), *(ROOT / "kbnf_cli").rglob("*.py")]
    texts += (ROOT / "core" / "kbnf_core").rglob("*.py")
    files = [text for text in texts if text.is_file()]
    assert len(files) > 500
    assert [text for text in files if b"(converted)" in text.read_bytes()] == []
