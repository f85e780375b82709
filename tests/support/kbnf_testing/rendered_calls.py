"""Calls of tools as models' templates write them: accepted, and read back as equal values.

``PYTHONPATH=tests/support python -m kbnf_testing.rendered_calls NUMBER [FOLDER]`` checks so many
calls and prints how many are right, by format. Each format by name has a writer here, which knows
nothing of the toolkit: the example of the format (``call_examples.json``) has the texts around the
arguments, a function the notation of these. With a FOLDER of chat templates (``*.jinja``) calls are
rendered by the templates, too, and checked in the format that is derived from each, and in the one
that has a name (``NAMED``).

Values are of all types, of unions with strings, listed, nested, with quotes, markup, letters beyond
ASCII and line breaks inside. Left out is what has no text of its own: strings that spell another
value of their schema, blanks around a string, and in LFM2.5, whose template escapes nothing,
apostrophes and backslashes. Where a template escapes letters beyond ASCII (Reka), schemas list
none: the format has one spelling of what is listed, and a list of such tools is refused.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from kbnf_core import Grammar
from kbnf_core.languages.structural_tag.models import table
from kbnf_core.text.errors import KbnfError
from kbnf_testing.call_formats import EXAMPLES

Arguments = Mapping[str, Any]

NAME, PLACE = "get_weather", "\0"

NAMED = {
    "meta-llama-Llama-3.2-3B-Instruct": "llama",
    "meta-llama-Llama-3.3-70B-Instruct": "llama",
    "Qwen-Qwen2.5-7B-Instruct": "qwen_3",
    "Qwen-Qwen3-0.6B": "qwen_3",
    "NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use": "hermes",
    "NousResearch-Hermes-3-Llama-3.1-8B-tool_use": "hermes",
    "Qwen3.5-4B": "qwen_3_5",
    "ollama-qwen38_chat_template": "qwen3_coder",
    "ollama-nemotron3nano_chat_template": "nemotron_v3",
    "stepfun-ai-Step-3.5-Flash": "step3p5",
    "GLM-4.6": "glm_4_5",
    "GLM-5.2": "glm_4_7",
    "ollama-laguna_v8_chat_template": "glm_4_7",
    "deepseek-ai-DeepSeek-R1-Distill-Qwen-32B": "deepseek_v3",
    "deepseek-ai-DeepSeek-V3.2": "deepseek_v3_2",
    "deepseek-ai-DeepSeek-V4": "deepseek_v4",
    "Mistral-Small-3.2-24B-Instruct-2506": "mistral",
    "mistralai-Ministral-3-14B-Reasoning-2512": "mistral",
    "mistralai-Mistral-Nemo-Instruct-2407": "mistral_v3",
    "google-gemma-4-31B-it-interleaved": "gemma_4",
    "ollama-gemma4_31b_chat_template": "gemma4",
    "ollama-gemma4_e2b_chat_template": "gemma4",
}
"""The formats by name of some templates, by the names of their files."""


# Notations

_DSML = "｜DSML｜"
_M3 = "]<]minimax[>["


def in_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def as_text(value: Any) -> str:
    """Return a string as it is, another value as JSON."""
    return value if isinstance(value, str) else in_json(value)


def as_python(value: Any) -> str:
    """Return objects and lists as JSON, other values as Python prints them."""
    return in_json(value) if isinstance(value, dict | list) else str(value)


def each(form: str, spell: Callable[[Any], str] = as_text) -> Callable[[Arguments], str]:
    """Return the notation whose arguments have a form with ``KEY``, ``VALUE`` and ``TEXT``."""

    def write(arguments: Arguments) -> str:
        pieces = []
        for key, value in arguments.items():
            whole = form.replace("KEY", key).replace("TEXT", in_json(isinstance(value, str)))
            pieces.append(whole.replace("TYPE", type_of(value)).replace("VALUE", spell(value)))
        return "".join(pieces)

    return write


def type_of(value: Any) -> str:
    kinds = {bool: "boolean", str: "string", dict: "object", list: "array", type(None): "null"}
    return kinds.get(type(value), "number")


def gemma(value: Any) -> str:
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda each: each[0].lower())
        return "{" + ",".join(f"{name}:{gemma(inner)}" for name, inner in members) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(gemma, value)) + "]"
    if isinstance(value, bool):
        return in_json(value)
    return f'<|"|>{value}<|"|>' if isinstance(value, str) else str(value)


def lfm(arguments: Arguments) -> str:
    def spelt(value: Any) -> str:
        if isinstance(value, str):
            return f"'{value}'"
        return in_json(value) if isinstance(value, dict) else str(value)

    return "(" + ", ".join(f"{name}={spelt(value)}" for name, value in arguments.items()) + ")"


def python(arguments: Arguments) -> str:
    values = (
        (name, in_json(one) if isinstance(one, str) else repr(one))
        for name, one in arguments.items()
    )
    return "(" + ", ".join(f"{name}={one}" for name, one in values) + ")"


def cohere(arguments: Arguments) -> str:
    def element(value: Any, key: str = "") -> str:
        name = f' name="{key}"' if key else ""
        if isinstance(value, dict):
            kind, text = "dict", "".join(element(inner, key) for key, inner in value.items())
        elif isinstance(value, list):
            kind, text = "list", "".join(map(element, value))
        else:
            kind, text = ("raw" if isinstance(value, str) else "json"), as_text(value)
        return f'<cofl:value{name} type="{kind}">{text}</cofl:value>'

    return "".join(element(value, name) for name, value in arguments.items())


def minimax_m3(value: Any) -> str:
    if isinstance(value, dict | list):
        members = value.items() if isinstance(value, dict) else (("item", one) for one in value)
        return "".join(f"{_M3}<{key}>{minimax_m3(one)}{_M3}</{key}>" for key, one in members)
    return as_text(value)


_QWEN = "<parameter=KEY>\nVALUE\n</parameter>\n"
_KIMI = '<|open|>argument key="KEY" type="TYPE"<|sep|>VALUE<|close|>argument<|sep|>'
_GLM = "<arg_key>KEY</arg_key>\n<arg_value>VALUE</arg_value>\n"
NOTATIONS: Mapping[str, Callable[[Arguments], str]] = {
    **dict.fromkeys(("qwen_3_5", "nemotron_3"), each(_QWEN, as_python)),
    "qwen_3_coder": each(_QWEN),
    "mimo": each("<parameter=KEY>VALUE</parameter>"),
    **dict.fromkeys(("glm_4_5", "glm_4_7"), each(_GLM)),
    "minimax": each('<parameter name="KEY">VALUE</parameter>\n'),
    **dict.fromkeys(
        ("deepseek_v3_2", "deepseek_v4"),
        each(f'<{_DSML}parameter name="KEY" string="TEXT">VALUE</{_DSML}parameter>\n'),
    ),
    "deepseek_v4_1": each(
        f'<{_DSML} parameter name="KEY" string="TEXT">VALUE</{_DSML} parameter>\n'
    ),
    "kimi_k3": each(_KIMI),
    "cohere": cohere,
    "minimax_m3": minimax_m3,
    "gemma_4": gemma,
    "lfm2": lfm,
    "llama_4": python,
}
"""The notations of formats for arguments other than JSON."""


def written(preset: str, arguments: Arguments) -> str:
    """Return a call of ``NAME`` as the models of a format write it."""
    notation: Callable[[Arguments], str] = NOTATIONS.get(preset, in_json)
    frame = EXAMPLES[preset]
    example = notation({"city": "Paris"})
    assert frame.count(example) == 1, preset
    return frame.replace(example, notation(arguments))


# Tools and values

_LETTERS = "abcxyz  ,;:.!?-_/()[]{}<>&\"'\\\n\täöß€漢字🙂"
_WORDS = (
    "Köln",
    "a < b & c",
    'say "hi"',
    "it's",
    "x</parameter1>",
    "C:\\temp",
    "{'a': 1}",
    "naïve",
)
_PLAIN = str.maketrans("", "", "'\\")


def text(random: Random) -> str:
    """Return a string that spells no other value, without blanks around it."""
    if random.random() < 0.3:
        return random.choice(_WORDS)
    found = "".join(random.choices(_LETTERS, k=random.randint(0, 12))).strip()
    return f"t{found}" if random.random() < 0.8 else ""


def scalar(random: Random, kind: str) -> Any:
    match kind:
        case "integer":
            return random.randint(-(10**6), 10**6)
        case "number":
            return random.choice((0.5, -2.25, 1e-7, 12345.678, random.randint(-9, 9)))
        case "boolean":
            return random.random() < 0.5
        case "null":
            return None
    return text(random)


_SCALARS = ("string", "integer", "number", "boolean", "null")


_LISTED = "größer"


def schema(random: Random, depth: int = 0) -> Any:
    """Return the schema of an argument, or of a value inside of one."""
    kind = random.choice((*_SCALARS, "union", "enum", "array", "object", "array", "object"))
    if depth > 2 and kind in ("array", "object"):
        kind = "string"
    if kind == "union":
        first, second = random.sample(_SCALARS, 2)
        parts = [{"type": first}, {"type": second}]
        return {"anyOf": parts} if random.random() < 0.5 else {"type": [first, second]}
    if kind == "enum":
        return {"enum": random.sample(["metric", _LISTED, 3, True, None, "a b"], 3)}
    if kind == "array":
        return {"type": "array", "items": schema(random, depth + 1)}
    if kind == "object":
        names = random.sample(("k", "name", "Größe", "b_2", "x"), random.randint(1, 3))
        names = [each for each in names if each.isascii()] or ["k"]
        inner = {each: schema(random, depth + 1) for each in names}
        return {"type": "object", "properties": inner, "required": names}
    return {"type": kind}


def value(random: Random, wanted: Any) -> Any:
    if "enum" in wanted:
        return random.choice(wanted["enum"])
    if "anyOf" in wanted:
        return value(random, random.choice(wanted["anyOf"]))
    kind = wanted["type"]
    kind = random.choice(kind) if isinstance(kind, list) else kind
    if kind == "array":
        return [value(random, wanted["items"]) for _ in range(random.randint(0, 3))]
    if kind == "object":
        return {name: value(random, inner) for name, inner in wanted["properties"].items()}
    return scalar(random, kind)


def tool(random: Random) -> dict[str, Any]:
    names = random.sample(("city", "days", "opts", "flag", "note", "tags"), random.randint(1, 4))
    properties = {each: schema(random) for each in sorted(names)}
    parameters = {"type": "object", "properties": properties, "required": [*properties]}
    return {"name": NAME, "parameters": parameters}


def drawn(random: Random, made: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments of a tool."""
    properties = made["parameters"]["properties"]
    return {name: value(random, each) for name, each in properties.items()}


def plain(arguments: Any) -> Any:
    """Return arguments without apostrophes and backslashes."""
    return json.loads(in_json(arguments).replace("'", "").replace("\\\\", ""))


# Reading


def calls_in(grammar: Grammar, text: str) -> list[Any]:
    """Return the calls that a text is read as."""
    try:
        found = grammar.read_value(text)
    except KbnfError:
        return []
    return [each for each in found if isinstance(each, dict) and "name" in each]


def canonical(value: Any) -> Any:
    """Return a value in which equal numbers are one."""
    if isinstance(value, dict):
        return {name: canonical(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [*map(canonical, value)]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def is_same(one: Any, other: Any) -> bool:
    """Return whether two values are equal; truth values are not numbers."""
    first, second = (json.dumps(canonical(each), sort_keys=True) for each in (one, other))
    return first == second


CALLS = 6
"""Calls of each tool."""


def check_preset(preset: str, number: int) -> Iterator[str]:
    """Yield the calls that a format by name writes and that are read otherwise."""
    random = Random(preset)
    mode = "disabled" if preset == "kimi_k3" else "auto"
    for grammar, arguments in calls_of(random, preset, mode, number):
        kept = plain(arguments) if preset in ("lfm2", "llama_4") else arguments
        yield from misread(grammar, [written(preset, kept)], kept)


def calls_of(
    random: Random, made_in: str, mode: str, number: int
) -> Iterator[tuple[Grammar, dict[str, Any]]]:
    """Yield arguments of so many calls, with the grammar of their tool."""
    for done in range(0, number, CALLS):
        made = tool(random)
        if '"escapes": "unicode"' in made_in:
            made = json.loads(in_json(made).replace(_LISTED, "large"))
        grammar = Grammar.from_tools([made], tool_calls=made_in, reasoning=mode)
        for _ in range(min(CALLS, number - done)):
            yield grammar, drawn(random, made)


def misread(grammar: Grammar, texts: list[str], arguments: Arguments) -> Iterator[str]:
    """Yield a text, empty where it is one of the grammar and read as a call with these arguments.

    The call is in one of ``texts``.
    """
    wanted = [{"name": NAME, "arguments": arguments}]
    found = [calls_in(grammar, each) for each in texts]
    right = [each for each, read in zip(texts, found, strict=True) if is_same(read, wanted)]
    if not right:
        yield f"{texts[0]!r} is read as {found[0]}, not {arguments}"
    elif not any(grammar.status(each) == "fits" for each in right):
        yield f"{right[0]!r} is not accepted"
    else:
        yield ""


def check_template(path: Path, made_in: str, number: int) -> Iterator[str]:
    """Yield the calls that a template renders and that are read otherwise, in a format."""
    from benchmarks.chat_templates import Template

    template = Template(path.read_text("utf-8"))
    for grammar, arguments in calls_of(Random(path.stem), made_in, "auto", number):
        text = template.written([(NAME, arguments)])
        if text is not None:
            bodies = dict.fromkeys(each for each in template.bodies(text) if NAME in each)
            yield from misread(grammar, [*bodies], arguments)


def runs(files: Iterable[Path]) -> Iterator[tuple[str, Callable[[int], Iterator[str]]]]:
    """Yield the checks: every format by name, and every template whose format is derived."""
    from kbnf_core.languages.tools.chat_template import derived_format

    for name in table():
        yield name, partial(check_preset, name)
    for file in files:
        try:
            made = derived_format(file.read_text("utf-8"))
        except KbnfError:
            continue
        yield f"{file.stem}: derived", partial(check_template, file, made)
        if file.stem in NAMED:
            named = NAMED[file.stem]
            yield f"{file.stem}: {named}", partial(check_template, file, named)


def main(arguments: list[str]) -> None:
    """Print the calls that are read as they were written, by format."""
    number, *folders = arguments
    every = [*runs(each for folder in folders for each in sorted(Path(folder).glob("*.jinja")))]
    calls = wrong = 0
    for title, run in every:
        found = [*run(-(-int(number) // len(every)))]
        others = [each for each in found if each]
        calls, wrong = calls + len(found), wrong + len(others)
        lines = [f"{title}: {len(found) - len(others)} of {len(found)} equal", *others[:3]]
        sys.stdout.write("\n  ".join(lines) + "\n")
        sys.stdout.flush()
    sys.stdout.write(f"{calls - wrong} of {calls} calls are read as they were written\n")


if __name__ == "__main__":
    main(sys.argv[1:])
