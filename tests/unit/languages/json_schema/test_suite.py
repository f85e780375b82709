"""The JSON Schema test suite, draft 2020-12: every schema that converts judges rightly.

Groups whose schema is refused (E801, E804, E805: beyond a grammar, or a remote document) are
counted by keyword file in ``refused.json``; tests on which we differ on purpose are listed in
``differences.json`` under the reason, those on which we differ by default, but not with the options
of a validator, in ``differences_by_default.json``. Those are valid values that are left out; no
invalid one is allowed. A schema that allows nothing must be refused as such.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.languages.json_schema import VALIDATOR, Options
from kbnf_core.text.errors import EmptyGrammarError, EngineError, GrammarError
from kbnf_testing.data import DATA
from kbnf_testing.schemas import json_schema_grammar

SUITE = DATA / "json-schema-test-suite" / "draft2020-12"
HERE = Path(__file__).resolve().parent
FILES = sorted(str(path.relative_to(SUITE)) for path in SUITE.rglob("*.json"))
REFUSED: dict[str, int] = json.loads((HERE / "refused.json").read_text(encoding="utf-8"))
DIFFERENCES: dict[str, list[str]] = json.loads(
    (HERE / "differences.json").read_text(encoding="utf-8")
)
BY_DEFAULT: dict[str, list[str]] = json.loads(
    (HERE / "differences_by_default.json").read_text(encoding="utf-8")
)
KNOWN = {test for tests in DIFFERENCES.values() for test in tests}
LEFT_OUT = {test for tests in BY_DEFAULT.values() for test in tests}


def convert(schema: Any, options: Options | None) -> Grammar | str | None:
    """Return the grammar, None where no value is allowed, the code where it is refused."""
    try:
        return json_schema_grammar(json.dumps(schema), options)
    except EmptyGrammarError:
        return None
    except GrammarError as error:
        code = error.diagnostics[0].code
        return None if code == "E803" else code


def allows(grammar: Grammar, text: str) -> bool:
    engine = Engine(grammar, Vocabulary.bytes())
    try:
        engine.try_accept_new_bytes(text.encode())
    except EngineError:
        return False
    return engine.is_finished() or engine.can_finish()


def is_beyond(value: Any) -> bool:
    """Tell whether a value's text is one that the canonical spelling leaves out."""
    text = json.dumps(value, ensure_ascii=False)
    return any("\ud800" <= char <= "\udfff" for char in text)


@pytest.mark.parametrize("options", [None, VALIDATOR], ids=["default", "validator"])
@pytest.mark.parametrize("name", FILES)
def test_file_of_the_suite(name: str, options: Options | None) -> None:
    groups = json.loads((SUITE / name).read_text(encoding="utf-8"))
    refused = 0
    wrong: list[str] = []
    left_out: set[str] = set()
    for group in groups:
        grammar = convert(group["schema"], options)
        if isinstance(grammar, str):
            assert grammar in {"E801", "E804", "E805"}, group["description"]
            refused += 1
            continue
        for test in group["tests"]:
            text = json.dumps(test["data"], ensure_ascii=False)
            if is_beyond(test["data"]):
                continue
            found = grammar is not None and allows(grammar, text)
            key = f"{name}: {group['description']}: {test['description']}"
            if found != test["valid"] and key not in KNOWN:
                (left_out.add if test["valid"] and options is None else wrong.append)(key)
    assert wrong == []
    assert left_out == {
        each for each in LEFT_OUT if options is None and each.startswith(f"{name}:")
    }
    assert refused == REFUSED.get(name, 0)
