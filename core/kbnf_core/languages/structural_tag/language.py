"""XGrammar's structural tags as one of the grammar languages."""

import json
from typing import Any

from kbnf_core.config import Finish
from kbnf_core.frontend import Language
from kbnf_core.source import Source
from kbnf_core.syntax.parsed import Parsed, Request


def _read(source: Source, request: Request) -> Parsed:
    from kbnf_core.languages.structural_tag.parse import parse_structural_tag

    return parse_structural_tag(source, request.limits, request.vocabulary)


def _dump(tag: Any) -> str:
    dump = getattr(tag, "model_dump_json", None)
    return str(dump()) if callable(dump) else json.dumps(tag)


STRUCTURAL_TAG = Language(
    "Structural tag",
    ".structural_tag",
    "start",
    Finish.EOS,
    _read,
    is_converted=True,
    takes_fixes=False,
    is_json=True,
    dump=_dump,
)
