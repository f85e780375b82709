"""The formats of tool calls that come with the toolkit, written from XGrammar, and a call in each.

``PYTHONPATH=tests/support python -m kbnf_testing.call_formats`` writes
``languages/structural_tag/formats.json``; a test compares it with what is installed. Where XGrammar
has it otherwise than the model, ``REPLACED`` and ``REWRITTEN`` have what is written, and why.
"""

import json
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kbnf_core.languages.structural_tag import models

FILE = Path(models.__file__).with_name("formats.json")

EXAMPLES: dict[str, str] = json.loads(
    Path(__file__).with_name("call_examples.json").read_text("utf-8")
)
"""A call of ``get_weather`` with ``city`` ``Paris`` in each format."""


def registry() -> dict[str, Any]:
    """Return what makes XGrammar's structural tags, by the names of formats that are not ours."""
    from xgrammar import builtin_structural_tag

    found: dict[str, Any] = builtin_structural_tag._structural_tag_registry
    return {name: made for name, made in found.items() if name not in models.OWN}


_SCHEMA = {"type": "json_schema", "json_schema": models.SCHEMA}
_HARMONY = "<|start|>assistant"


def _calls_of_gpt_oss() -> list[Any]:
    """Return a tag for each order of channel and recipient."""
    kinds = [" <|constrain|>json", "<|constrain|>json", " json", " ", ""]
    said = {"type": "or", "elements": [_const(each) for each in kinds]}
    content = {"type": "sequence", "elements": [said, _const("<|message|>"), _SCHEMA]}
    channels, named = ("commentary", "analysis"), f" to=functions.{models.NAME}"
    begins = [f"<|channel|>{each}{named}" for each in channels]
    begins += [f"{named}<|channel|>{each}" for each in channels]
    return [
        {"type": "tag", "begin": each, "content": content, "end": "<|call|>"} for each in begins
    ]


def _gpt_oss(found: dict[str, Any]) -> dict[str, Any]:
    """Return the format of gpt-oss: any way to write a call, one at least where one is required."""
    calls, ends = _calls_of_gpt_oss(), ["<|end|>", "<|return|>"]
    final, thought, preamble = (
        {"type": "tag", "begin": f"<|channel|>{each}<|message|>", "content": {"type": "any_text"},
         "end": ends}
        for each in ("final", "analysis", "commentary")
    )  # fmt: skip

    def messages(*tags: Any, least: bool = False, once: bool = False) -> dict[str, Any]:
        settings = {"at_least_one": least, "stop_after_first": once}
        kept = {name: True for name, wanted in settings.items() if wanted}
        return {"type": "tags_with_separator", "tags": [*tags], "separator": _HARMONY, **kept}

    one = messages(*calls, least=True, once=True)
    templates: dict[str, Any] = {}
    for key in found["templates"]:
        choice, reasoning, *single = key.split()
        before = [preamble, *([thought] if reasoning != "disabled" else [])]
        led = _sequence(messages(*before, least=True), _const(_HARMONY))
        if choice == "none":
            templates[key] = messages(final, *before)
        elif choice == "auto" and not single:
            templates[key] = messages(*calls, final, *before)
        elif choice == "auto":
            after = _sequence(messages(final, *before, least=True), _const(_HARMONY), one)
            templates[key] = {"type": "or", "elements": [messages(final, *before), one, after]}
        else:
            more = _sequence(_const(_HARMONY), messages(*calls, *before, least=True))
            rest = [] if single else [{"type": "optional", "content": more}]
            templates[key] = _sequence({"type": "optional", "content": led}, one, *rest)
    return models.shared_out(found["models"], templates)


def _const(value: str) -> dict[str, Any]:
    return {"type": "const_string", "value": value}


def _sequence(*elements: Any) -> Any:
    return elements[0] if len(elements) == 1 else {"type": "sequence", "elements": [*elements]}


Replacement = tuple[str, str, str]

_EMPTY: Replacement = (
    r'"\n</function>\n</tool_call>"',
    r'"</function>\n</tool_call>"',
    "a call without arguments is `<function=f>\\n</function>`: the line break after arguments is"
    " theirs, so that none is left before `</function>` where there are none",
)
_WORDS: Replacement = (
    '"style": "qwen_xml"}',
    '"style": "qwen_xml", "words": "python"}',
    "the template of Qwen 3.5 prints constants as Python does (`True`, `None`), that of Qwen3-Coder"
    " as JSON",
)
_NUMBER: Replacement = (r"\\d+", r"\\d{1,9}", "the number of a call has an end")
REPLACED: dict[str, tuple[Replacement, ...]] = {
    **dict.fromkeys(("qwen_3_coder", "qwen_3_5"), (_EMPTY, _WORDS)),
    **dict.fromkeys(("kimi", "kimi_k3", "cohere"), (_NUMBER,)),
}
"""What of XGrammar's formats is otherwise here, in the JSON of formats and tags: what, how, why."""

REWRITTEN = {
    "harmony": (
        _gpt_oss,
        "gpt-oss writes ` <|constrain|>json` with a blank, leaves it out, and calls tools in the"
        " channel `analysis`, too; text for the user precedes calls, in the channel `commentary`"
        " without a recipient; where a call is required, the empty text has none",
    ),
}
"""Formats of XGrammar that differ from the texts of their models, their replacements, and the
reasons.
"""


def replaced(name: str, value: Any) -> Any:
    """Return a format or a tag of XGrammar with our replacements."""
    text = _json(value)
    for theirs, ours, _ in REPLACED.get(name, ()):
        text = text.replace(theirs, ours)
    return json.loads(text)


def read() -> str:
    """Return the text of the file for the XGrammar that is installed."""
    begin = f"xgrammar {version('xgrammar')}"
    lines = [f'{{"from": {_json(begin)}, "formats": {{']
    for number, name in enumerate(registry()):
        found = replaced(name, models.from_xgrammar(name, _models(name)))
        found = REWRITTEN[name][0](found) if name in REWRITTEN else found
        comma, known = "," if number else "", _json(found["models"])
        lines += [f'{comma}{_json(name)}: {{"models": {known},']
        templates = [f"{_json(key)}: {_json(each)}" for key, each in found["templates"].items()]
        lines += [' "templates": {', ",\n".join(f"  {each}" for each in templates), " },"]
        shared = ",\n".join(f"  {_json(each)}" for each in found["shared"])
        lines += [' "shared": [', shared, " ]}"]
    return "\n".join([*lines, "}}", ""])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _models(name: str) -> str:
    documented = str(registry()[name].__doc__)
    _, _, rest = documented.partition("Supported models:")
    listed = re.match(r"(?:\s*- .+)+", rest)
    found = re.findall(r"- (.+)", listed[0]) if listed else []
    return ", ".join(each.strip().strip(".") for each in found) or name


def main() -> None:
    """Write the file."""
    FILE.write_text(read(), encoding="utf-8")


if __name__ == "__main__":
    main()
