"""The parser tables in the repository are those of the grammar in the repository."""

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import lark
import pytest

import kbnf_core.syntax.build_tables
from kbnf_core.syntax.build_tables import tables

SYNTAX = Path(kbnf_core.syntax.build_tables.__file__).parent
TABLES = (SYNTAX / "kbnf.tables.json").read_text("utf-8")
ORIGIN = json.loads(TABLES)["origin"]


def test_tables_belong_to_the_grammar() -> None:
    assert ORIGIN["grammar"] == sha256((SYNTAX / "kbnf.lark").read_bytes()).hexdigest()


@pytest.mark.skipif(ORIGIN["lark"] != lark.__version__, reason="built by another Lark")
def test_tables_can_be_built_again() -> None:
    assert tables((SYNTAX / "kbnf.lark").read_text("utf-8")) == TABLES


def test_nothing_is_built_at_start() -> None:
    program = (
        "import lark; lark.Lark.__init__ = None\n"
        "from kbnf_core.source import Source; from kbnf_core.syntax.parse import parse_kbnf\n"
        "assert parse_kbnf(Source('a ::= 1;')).diagnostics[0].code == 'E001'"
    )
    path = os.pathsep.join(entry for entry in sys.path if entry)
    subprocess.run([sys.executable, "-c", program], env={"PYTHONPATH": path}, check=True)
