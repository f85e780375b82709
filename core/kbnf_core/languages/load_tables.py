"""Loads parsers from their tables, which ``build_tables`` wrote."""

import json
from functools import cache
from pathlib import Path
from typing import cast

from lark import Lark

from kbnf_core.languages.kbnf.build import Builder


@cache
def kbnf_parser() -> Lark:
    """Return the parser of KBNF."""
    return load_parser("kbnf", Builder())


def load_parser(name: str, callbacks: object) -> Lark:
    """Return the parser of ``NAME/grammar.lark``; starts are ``definition`` and ``aside``.

    ``callbacks`` has a method for every rule. Loading takes milliseconds.
    """
    # Not through importlib.resources: importing that takes longer than all of this.
    text = (Path(__file__).parent / name / "grammar.tables.json").read_text("utf-8")
    tables = json.loads(text, object_hook=_with_number_keys)
    # Lark.load reads the same two dictionaries, but only out of a pickle.
    parser = Lark._load_from_dict(  # type: ignore[no-untyped-call]
        tables["data"], tables["memo"], transformer=callbacks
    )
    return cast(Lark, parser)


def _with_number_keys(mapping: dict[str, object]) -> dict[object, object]:
    """Turn the keys that are numbers back into numbers: JSON has no such keys."""
    return {int(key) if key.isdigit() else key: value for key, value in mapping.items()}
