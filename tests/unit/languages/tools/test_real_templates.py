"""Chat templates of real models: formats derived from them take all calls that they write.

The templates may not be kept here: they are read from ``KBNF_DATA``, its folder ``chat-templates``.
"""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from kbnf_core import ConfigError, Grammar
from kbnf_core.languages.tools.chat_template import derived_format
from kbnf_testing.data import OUTSIDE
from kbnf_testing.membership import Language

jinja2 = pytest.importorskip("jinja2")

FILES = sorted((OUTSIDE / "chat-templates").glob("*.jinja")) if OUTSIDE else []
pytestmark = [pytest.mark.data, pytest.mark.skipif(not FILES, reason="needs KBNF_DATA")]

TEXT = {"type": "string", "description": "d"}
WEATHER = {"location": TEXT, "days": {"type": "integer", "description": "d"}}
NESTED = {
    "type": "object",
    "description": "d",
    "properties": {
        "k": {"type": "array", "items": {"type": "number"}},
        "b": {"type": "boolean"},
    },
}
PROPERTIES: Mapping[str, Mapping[str, Any]] = {
    "get_weather": WEATHER,
    "save": {"text": TEXT, "o": NESTED},
    "noop": {},
}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": "d",
            "parameters": {"type": "object", "properties": properties},
        },
    }
    for name, properties in PROPERTIES.items()
]
WEATHER_CALL, SAVE_CALL = ("get_weather", {"location": "A"}), ("save", {"text": "b"})
PATTERNS: Mapping[str, list[tuple[str, dict[str, Any]]]] = {
    "one": [("get_weather", {"location": "Köln", "days": 3})],
    "strings": [("save", {"text": 'a "q" <b>\tx'})],
    "nested": [("save", {"text": "t", "o": {"k": [1, 2.5], "b": True}})],
    "none": [("noop", {})],
    "two": [WEATHER_CALL, SAVE_CALL],
    "three": [WEATHER_CALL, ("noop", {}), SAVE_CALL],
}
ANSWER = "qzplainqz"


def rendered(template: str, message: Mapping[str, Any]) -> str:
    def refuse(text: str) -> None:
        raise jinja2.TemplateError(text)

    environment = jinja2.Environment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = lambda value, ensure_ascii=False, **settings: json.dumps(
        value, ensure_ascii=ensure_ascii, **settings
    )
    environment.globals.update(raise_exception=refuse, strftime_now=lambda _: "2026-01-01")
    messages = [{"role": "user", "content": "u"}, {"role": "assistant", **message}]
    return str(environment.from_string(template).render(messages=messages, tools=TOOLS))


def calls_of(template: str, calls: list[tuple[str, dict[str, Any]]]) -> str | None:
    """Return calls as a template writes them; None where it refuses them."""
    head, _, tail = rendered(template, {"content": ANSWER}).partition(ANSWER)
    for as_text in (False, True):
        made = [
            {
                "type": "function",
                "id": f"abcdefgh{number}",
                "function": {"name": name, "arguments": json.dumps(each) if as_text else each},
            }
            for number, (name, each) in enumerate(calls)
        ]
        try:
            text = rendered(template, {"content": "", "tool_calls": made})
        except (jinja2.TemplateError, TypeError):
            continue
        size = next(
            (i for i, pair in enumerate(zip(head, text, strict=False)) if len({*pair}) > 1),
            len(head),
        )
        return text[size:].removesuffix(tail)
    return None


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_derived_format_takes_what_its_template_writes(file: Any) -> None:
    template = file.read_text("utf-8")
    try:
        made = derived_format(template)
    except ConfigError as error:
        pytest.skip(f"refused: {error}"[:200])
    found = Language(Grammar.from_tools(TOOLS, tool_calls=made).to_kbnf())
    taken = 0
    for name, calls in PATTERNS.items():
        text = calls_of(template, calls)
        if text is None:
            continue
        taken += 1
        assert found.has(text) or found.has(text.lstrip()), (name, text)
    assert taken >= 4
