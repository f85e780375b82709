"""XGrammar's structural tags as one of the grammar languages."""

import json
from collections.abc import Mapping
from typing import Any

from kbnf_core.config import Finish
from kbnf_core.frontend import Language
from kbnf_core.kbnf.parsed import Parsed, Request
from kbnf_core.languages.json_schema.language import JSON_SCHEMA
from kbnf_core.text.errors import ConfigError
from kbnf_core.text.source import Source


def _read(source: Source, request: Request) -> Parsed:
    from kbnf_core.languages.structural_tag.parse import parse_structural_tag

    return parse_structural_tag(source, request)


def _dump(tag: Any) -> str:
    if isinstance(tag, str):
        return tag
    dump = getattr(tag, "model_dump_json", None)
    try:
        return str(dump()) if callable(dump) else json.dumps(tag)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"a structural tag is JSON: {error}"[:200]) from None


def _complete(source: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    del source
    complete = JSON_SCHEMA.complete
    return dict(options) if complete is None else complete("", options)


STRUCTURAL_TAG = Language(
    "Structural tag",
    ".structural_tag",
    "start",
    Finish.EOS,
    _read,
    options=JSON_SCHEMA.options,
    is_converted=True,
    takes_fixes=False,
    is_json=True,
    dump=_dump,
    complete=_complete,
    check=JSON_SCHEMA.check,
)
