"""The parser tables in the repository are those of the grammar in the repository."""

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import lark
import pytest

from kbnf_core.kbnf.statements import _reduction
from kbnf_testing.parser_tables import PACKAGE, tables

GRAMMARS = sorted(PACKAGE.rglob("grammar.lark"))


def test_a_list_that_grows_is_not_copied() -> None:
    # A rule without a callback, as those of repetitions are: the list, a sign and one more.
    _, callback, _ = _reduction(object(), "items", "items", 3, [-1, 1, 2], takes_one=False)
    grown: list[object] = ["a"]
    assert callback is not None
    assert callback([grown, ",", "b"]) is grown


def tables_of(grammar: Path) -> str:
    return grammar.with_suffix(".tables.json").read_text("utf-8")


def origin_of(grammar: Path) -> dict[str, str]:
    origin: dict[str, str] = json.loads(tables_of(grammar))["origin"]
    return origin


@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda path: path.parent.name)
def test_tables_belong_to_the_grammar(grammar: Path) -> None:
    assert origin_of(grammar)["grammar"] == sha256(grammar.read_bytes()).hexdigest()


@pytest.mark.parametrize("grammar", GRAMMARS, ids=lambda path: path.parent.name)
def test_tables_can_be_built_again(grammar: Path) -> None:
    if origin_of(grammar)["lark"] != lark.__version__:
        pytest.skip("built by another Lark")
    assert tables(grammar.read_text("utf-8")) == tables_of(grammar)


def test_reading_a_text_imports_no_lark() -> None:
    program = (
        "import sys\n"
        "from kbnf_core.text.source import Source\n"
        "from kbnf_core.kbnf.read import parse_kbnf\n"
        "assert parse_kbnf(Source('a ::= 1;')).diagnostics[0].code == 'E001'\n"
        "assert 'lark' not in sys.modules"
    )
    path = os.pathsep.join(entry for entry in sys.path if entry)
    subprocess.run([sys.executable, "-c", program], env={"PYTHONPATH": path}, check=True)
