"""Lists of tools as one of the grammar languages: the calls that a model may write."""

import json
from collections.abc import Mapping
from typing import Any

from kbnf_core.config import Finish
from kbnf_core.frontend import Language
from kbnf_core.kbnf.parsed import Parsed, Request
from kbnf_core.languages.json_schema.language import JSON_SCHEMA
from kbnf_core.languages.tools.options import CALLS, calls_of
from kbnf_core.text.errors import ConfigError
from kbnf_core.text.source import Source


def _read(source: Source, request: Request) -> Parsed:
    from kbnf_core.languages.tools.parse import parse_tool_list

    return parse_tool_list(source, request)


def _dump(tools: Any) -> str:
    if isinstance(tools, str):
        return tools
    dump = getattr(tools, "model_dump_json", None)
    try:
        return str(dump(exclude_none=True)) if callable(dump) else json.dumps(tools)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"a list of tools is JSON: {error}"[:200]) from None


def _check(options: Mapping[str, Any]) -> None:
    if options:
        calls_of(options)


def _complete(source: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    del source
    complete = JSON_SCHEMA.complete
    return dict(options) if complete is None else complete("", options)


TOOL_LIST = Language(
    "Tool list",
    "",
    "start",
    Finish.EOS,
    _read,
    options=(*CALLS, *JSON_SCHEMA.options),
    is_converted=True,
    dump=_dump,
    complete=_complete,
    check=_check,
    is_json=True,
)
