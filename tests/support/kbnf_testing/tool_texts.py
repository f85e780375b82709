"""Texts with calls of tools, written and read without a grammar.

``write`` makes a text in a preset of parts that are known; ``read_directly`` is the slow and plain
way to read one: from place to place of the whole text, by the strings in the table of presets. They
share no code with what reads values.
"""

import json
import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from kbnf_testing.call_models import PRESETS, Preset

PLACE = {
    "type": "object",
    "properties": {"lat": {"type": "number"}, "note": {"type": "string"}},
    "required": ["lat", "note"],
    "additionalProperties": False,
}
ITEMS = {"type": "array", "items": {"type": "string"}}
WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "exact": {"type": "boolean"},
        "tags": ITEMS,
        "place": PLACE,
    },
    "required": ["city", "days", "exact", "tags", "place"],
    "additionalProperties": False,
}
CLOCK = {
    "type": "object",
    "properties": {
        "zone": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
        "unit": {"enum": ["h", "min"]},
    },
    "required": ["zone", "unit"],
    "additionalProperties": False,
}
PING: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
SCHEMAS: Mapping[str, dict[str, Any]] = {"get_weather": WEATHER, "clock": CLOCK, "ping": PING}
TOOLS = [{"name": name, "parameters": schema} for name, schema in SCHEMAS.items()]

_PIECES = [
    "Hello",
    " ",
    "\n",
    "<",
    "<tool",
    "{",
    '"name": ',
    "é",
    "😀",
    "5",
    "｜",
    "]<]",
    "</",
    "think",
]
_STRINGS = ["Paris", " a ", "", "<b>", "5", "null", '"q"', "a & b", "é😀", "x\ny", "</p", "]<]"]
_M3 = "]<]minimax[>["
_D = "｜DSML｜"


NAMES = (*PRESETS, "harmony", "kimi_k3")
"""The formats that are written here."""


def forbidden(preset: str) -> list[str]:
    """Return the strings that free text in a preset cannot contain."""
    if preset == "harmony":
        return ["<|end|>", "<|return|>"]
    if preset == "kimi_k3":
        return ["<|open|>", "<|close|>"]
    found = PRESETS[preset]
    trigger = found.section.trigger if found.section else found.trigger
    return [trigger, *found.excludes, *found.not_in_reasoning, *found.think]


def random_text(random: Random, preset: str) -> str:
    """Return free text, which is often almost what begins a call."""
    pieces = [*_PIECES, *(each[: random.randint(1, len(each))] for each in forbidden(preset))]
    while True:
        text = "".join(random.choice(pieces) for _ in range(random.randint(0, 6)))
        if not any(word in text for word in forbidden(preset)):
            return text


def random_arguments(random: Random, name: str) -> dict[str, Any]:
    """Return the arguments of a call."""
    text = random.choice(_STRINGS)
    if name == "ping":
        return {}
    if name == "clock":
        # Strings that read as another value are that.
        zones = ["CET", 7, -3, None]
        return {"zone": random.choice(zones), "unit": random.choice(["h", "min"])}
    return {
        "city": text,
        "days": random.randint(-5, 10**6),
        "exact": random.random() < 0.5,
        "tags": [random.choice(_STRINGS) for _ in range(random.randint(0, 3))],
        "place": {"lat": random.choice([1, 2.5, -1e30]), "note": random.choice(_STRINGS)},
    }


def random_parts(random: Random, preset: str) -> list[Any]:
    """Return free text and calls, in an order in which a model may write them."""
    section = PRESETS[preset].section if preset in PRESETS else None
    only_calls = preset == "kimi_k3" or (section is not None and section.ends)
    found: list[Any] = [random_text(random, preset)]
    for _ in range(random.randint(0, 3)):
        name = random.choice([*SCHEMAS])
        found.append({"name": name, "arguments": random_arguments(random, name)})
        if not only_calls and random.random() < 0.5:
            found.append(random_text(random, preset))
    return found


# Writing


def write(preset: str, parts: Sequence[Any], thoughts: str | None, random: Random) -> str:
    """Return parts as a model writes them in a preset, with ``reasoning`` set to ``auto``."""
    if preset == "harmony":
        return _harmony(parts, thoughts, random)
    if preset == "kimi_k3":
        return _kimi_k3(parts, thoughts, random)
    found = PRESETS[preset]
    text = ""
    if thoughts is not None and found.reasons:
        text = f"{found.think[0]}{thoughts}{found.think[1]}{found.after_reasoning}"
    index = 0
    while index < len(parts):
        if isinstance(parts[index], str):
            text += parts[index]
            index += 1
            continue
        calls: list[str] = []
        while index < len(parts) and not isinstance(parts[index], str):
            calls.append(_call(found, parts[index], len(calls), random))
            index += 1
        if found.section is None:
            text += "".join(calls)
        else:
            text += found.section.begin + found.section.separator.join(calls) + found.section.end
    return text


def _call(preset: Preset, part: Mapping[str, Any], number: int, random: Random) -> str:
    name = part["name"]
    lead = f"{number}{preset.numbered}" if preset.numbered else ""
    arguments = _arguments(preset.style, part["arguments"], random)
    return (preset.begin + lead).replace("{}", name) + arguments + preset.end


def _dump(value: Any, random: Random) -> str:
    ascii_ = random.random() < 0.5
    spaced = random.random() < 0.3
    return json.dumps(value, ensure_ascii=ascii_, indent=1 if spaced else None)


def _plain(value: Any, random: Random) -> str:
    return value if isinstance(value, str) else _dump(value, random)


def _arguments(style: str, values: Mapping[str, Any], random: Random) -> str:
    if style == "json":
        return _dump(values, random)
    if style in ("cohere_xml", "minimax_m3_xml"):
        write = _cohere if style == "cohere_xml" else _m3
        return "".join(write(name, value, random) for name, value in values.items())
    gap, last = random.choice(["", "\n"]), random.choice(["", "\n"])
    elements = (gap + _element(style, name, value, random) for name, value in values.items())
    return "".join(elements) + last


def _element(style: str, name: str, value: Any, random: Random) -> str:
    text = _plain(value, random)
    is_text = isinstance(value, str)
    kinds = {str: "string", bool: "boolean", int: "number", float: "number", list: "array"}
    match style:
        case "qwen_xml":
            return f"<parameter={name}>\n{text}\n</parameter>"
        case "mimo_xml":
            return f"<parameter={name}>{text}</parameter>"
        case "minimax_xml":
            return f'<parameter name="{name}">{text}</parameter>'
        case "glm_xml":
            return f"<arg_key>{name}</arg_key>\n<arg_value>{text}</arg_value>"
        case "kimi_k3_xml":
            kind = "null" if value is None else kinds.get(type(value), "object")
            head = f'<|open|>argument key="{name}" type="{kind}"<|sep|>'
            return f"{head}{text}<|close|>argument<|sep|>"
        case _:
            tag = f"{_D} parameter" if style == "deepseek_v4_1_xml" else f"{_D}parameter"
            flag = "true" if is_text else "false"
            return f'<{tag} name="{name}" string="{flag}">{text}</{tag}>'


def _cohere(name: str | None, value: Any, random: Random) -> str:
    key = "" if name is None else f' name="{name}"'
    if isinstance(value, dict):
        kind, text = "dict", "".join(_cohere(k, v, random) for k, v in value.items())
    elif isinstance(value, list):
        kind, text = "list", "".join(_cohere(None, v, random) for v in value)
    else:
        kind, text = "raw" if isinstance(value, str) else "json", _plain(value, random)
    return f'<cofl:value{key} type="{kind}">{text}</cofl:value>'


def _m3(name: str, value: Any, random: Random) -> str:
    if isinstance(value, dict):
        text = "".join(_m3(k, v, random) for k, v in value.items())
    elif isinstance(value, list):
        text = "".join(_m3("item", v, random) for v in value)
    else:
        text = _plain(value, random)
    return f"{_M3}<{name}>{text}{_M3}</{name}>"


_HARMONY = (
    "<|channel|>commentary to=functions.{} <|constrain|>json<|message|>",
    "<|channel|>commentary to=functions.{}<|constrain|>json<|message|>",
    "<|channel|>analysis to=functions.{} <|constrain|>json<|message|>",
    "<|channel|>analysis to=functions.{} <|message|>",
    "<|channel|>commentary to=functions.{}<|message|>",
    " to=functions.{}<|channel|>commentary <|constrain|>json<|message|>",
    " to=functions.{}<|channel|>commentary json<|message|>",
    " to=functions.{}<|channel|>analysis<|message|>",
)


def _harmony(parts: Sequence[Any], thoughts: str | None, random: Random) -> str:
    messages = [] if thoughts is None else [f"<|channel|>analysis<|message|>{thoughts}<|end|>"]
    for part in parts:
        if isinstance(part, str):
            messages.append(f"<|channel|>final<|message|>{part}<|end|>")
        else:
            head = random.choice(_HARMONY).replace("{}", part["name"])
            messages.append(f"{head}{_dump(part['arguments'], random)}<|call|>")
    return "<|start|>assistant".join(messages)


def _kimi_k3(parts: Sequence[Any], thoughts: str | None, random: Random) -> str:
    text = ""
    if thoughts is not None:
        text += f"<|open|>think<|sep|>{thoughts}<|close|>think<|sep|>"
    text += f"<|open|>response<|sep|>{parts[0]}<|close|>response<|sep|>"
    if len(parts) > 1:
        text += "<|open|>tools<|sep|>"
        for number, part in enumerate(parts[1:], 1):
            head = f'<|open|>call tool="{part["name"]}" index="{number}"<|sep|>'
            text += head + _arguments("kimi_k3_xml", part["arguments"], random)
            text += "<|close|>call<|sep|>"
        text += "<|close|>tools<|sep|>"
    return text + "<|close|>message<|sep|>"


def expected(preset: str, parts: Sequence[Any], thoughts: str | None) -> list[Any]:
    """Return the value of a text that was written of some parts."""
    found: list[Any] = []
    reasons = preset not in PRESETS or PRESETS[preset].reasons
    if thoughts and reasons:
        found.append({"reasoning": thoughts})
    for part in parts:
        if isinstance(part, str) and found and isinstance(found[-1], str):
            found[-1] += part
        elif part != "":
            found.append(part)
    return found


# Reading


def read_directly(preset: str, text: str) -> list[Any]:
    """Return the parts of a whole text in a preset of the table, place by place."""
    found = PRESETS[preset]
    parts: list[Any] = []
    at = 0
    if found.reasons and text.startswith(found.think[0]):
        at = text.index(found.think[1])
        parts.append({"reasoning": text[len(found.think[0]) : at]})
        at += len(found.think[1]) + len(found.after_reasoning)
    elif found.skipped and text.startswith(found.skipped):
        at = len(found.skipped)
    section = found.section
    is_inside = section is None
    free = ""
    while at < len(text):
        call = _call_at(found, text, at) if is_inside else None
        if call is not None:
            parts += [free, call[0]]
            free, at = "", call[1]
        elif section is not None and not is_inside and text.startswith(section.begin, at):
            is_inside, at = True, at + len(section.begin)
        elif section is not None and is_inside:
            is_end = text.startswith(section.end, at)
            is_inside, at = not is_end, at + len(section.end if is_end else section.separator)
        else:
            free, at = free + text[at], at + 1
    parts.append(free)
    return [part for part in parts if part not in ("", {"reasoning": ""})]


def _call_at(preset: Preset, text: str, at: int) -> tuple[dict[str, Any], int] | None:
    head = re.escape(preset.begin)
    if preset.numbered:
        head += rf"\d+{re.escape(preset.numbered)}"
    found = re.compile(head.replace(r"\{\}", r"(\w+)")).match(text, at)
    if found is None:
        return None
    name = found[1]
    at = found.end()
    if preset.style == "json":
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = json.JSONDecoder().raw_decode(text, at)
    else:
        value, at = _elements_at(preset.style, SCHEMAS[name], text, at)
    at = text.index(preset.end, at)
    return {"name": name, "arguments": value}, at + len(preset.end)


_BEGIN = {
    "qwen_xml": (r"<parameter=(\w+)>", "</parameter>"),
    "mimo_xml": (r"<parameter=(\w+)>", "</parameter>"),
    "minimax_xml": (r'<parameter name="(\w+)">', "</parameter>"),
    "glm_xml": (r"<arg_key>(\w+)</arg_key>\s*<arg_value>", "</arg_value>"),
    "deepseek_xml": (rf'<{_D}parameter name="(\w+)" string="(\w+)">', f"</{_D}parameter>"),
    "deepseek_v4_1_xml": (rf'<{_D} parameter name="(\w+)" string="(\w+)">', f"</{_D} parameter>"),
    "cohere_xml": (r'<cofl:value(?: name="(\w+)")? type="(\w+)">', "</cofl:value>"),
    "minimax_m3_xml": (re.escape(_M3) + r"<(\w+)>", ""),
}


_PYTHON_WORDS = {"True": True, "False": False, "None": None}


def _elements_at(style: str, schema: Any, text: str, at: int) -> tuple[Any, int]:
    """Return the value that elements make, and where they end."""
    is_array = schema.get("type") == "array"
    values: list[Any] = []
    names: list[str] = []
    while True:
        begin, end = _BEGIN[style]
        found = re.compile(rf"\s*{begin}").match(text, at)
        if found is None:
            return (values if is_array else dict(zip(names, values, strict=True))), at
        name = found[1]
        inside = schema["items"] if is_array else schema["properties"][name]
        end = end or f"{_M3}</{name}>"
        kinds = [each.get("type") for each in inside.get("anyOf", [inside])]
        is_nested = style in ("cohere_xml", "minimax_m3_xml")
        if is_nested and kinds[0] in ("object", "array"):
            value, at = _elements_at(style, inside, text, found.end())
            at = text.index(end, at) + len(end)
        else:
            value, at = _leaf(style, text, found.end(), end, kinds, found)
        names.append(name)
        values.append(value)


def _leaf(
    style: str, text: str, at: int, end: str, kinds: Sequence[Any], found: re.Match[str]
) -> tuple[Any, int]:
    told = found[2] if found.re.groups > 1 else ""
    is_text = told in ("true", "raw") or (not told and not set(kinds) - {"string", None})
    if not is_text and kinds[0] in ("object", "array"):
        body = text[at:].lstrip()
        value, size = json.JSONDecoder().raw_decode(body)
        at = len(text) - len(body) + size
        return value, text.index(end, at) + len(end)
    stop = text.index(end, at)
    body, after = text[at:stop], stop + len(end)
    if not is_text:
        words = _PYTHON_WORDS if style == "qwen_xml" else {}
        try:
            word = body.strip()
            return (words[word] if word in words else json.loads(body)), after
        except ValueError:
            pass
    if kinds == [None] and style != "minimax_m3_xml":
        body = body.strip()
    elif style == "qwen_xml":
        body = body.removeprefix("\n").removesuffix("\n")
    return body, after
