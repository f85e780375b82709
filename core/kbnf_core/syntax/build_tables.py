"""Writes the parser tables: ``python -m kbnf_core.syntax.build_tables``.

Building the tables of a grammar takes Lark many times as long as loading them, so they are
built here, once, and kept beside the grammar file. A test compares the two.
"""

import json
import os
import sys
from hashlib import sha256
from pathlib import Path

import lark
from lark.grammar import Rule
from lark.lexer import TerminalDef

HERE = Path(__file__).parent


def tables(grammar: str) -> str:
    """Return the parser tables of a Lark grammar with starts ``definition`` and ``aside``.

    They name the grammar by its hash, and the Lark that made them. Lark numbers its states in
    the order of a set, so equal grammars give equal tables under equal ``PYTHONHASHSEED`` only.
    """
    parser = lark.Lark(grammar, parser="lalr", lexer="basic", start=["definition", "aside"])
    data, memo = parser.memo_serialize([TerminalDef, Rule])
    origin = {"grammar": sha256(grammar.encode()).hexdigest(), "lark": lark.__version__}
    everything = {"origin": origin, "data": data, "memo": memo}
    return json.dumps(everything, sort_keys=True, default=sorted) + "\n"


def main() -> None:
    """Rewrite ``kbnf.tables.json``, in a process whose hashes are not random."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        command = [sys.executable, "-m", "kbnf_core.syntax.build_tables"]
        os.execve(sys.executable, command, {**os.environ, "PYTHONHASHSEED": "0"})  # noqa: S606
    grammar = (HERE / "kbnf.lark").read_text("utf-8")
    (HERE / "kbnf.tables.json").write_text(tables(grammar), "utf-8")


if __name__ == "__main__":
    main()
