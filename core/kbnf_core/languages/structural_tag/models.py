"""How models write tool calls: formats by name, filled in with tools (``call_texts``).

``formats.json`` has the formats of XGrammar's built-in structural tags, as ``from_xgrammar`` reads
them from the package (``python -m kbnf_testing.call_formats`` writes it anew); an XGrammar that is
installed may know more of them. ``call_texts.OWN`` has further ones, and ours of ``gemma_4``, which
XGrammar has otherwise. ``ALIASES`` are the names that vLLM and SGLang have for their parsers of the
same calls.

As JSON, a format is ``{"models", "templates", "shared"}``: ``{"shared": n}`` in a template is
for the n-th of the parts that several have.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import product
from typing import TYPE_CHECKING, Any

from kbnf_core.automata.regex.search import read_pattern
from kbnf_core.languages.structural_tag.call_texts import (
    CHOICES,
    NAME,
    NAMED,
    OWN,
    REASONING,
    SCHEMA,
    Format,
    format_of,
    key_of,
    shared_out,
)
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import ConfigError
from kbnf_core.text.limits import DEFAULT_LIMITS

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary

_MARKER = re.compile(r"<[^<>\s{}]+>|\[[A-Z_]+\]")
"""What models mostly have tokens for: `<tool_call>`, `[TOOL_CALLS]`."""

_MOST_DEPTH = 40


ALIASES: Mapping[str, str] = {
    alias: name
    for name, aliases in {
        "deepseek_r1": "deepseek_v3 deepseekv3",
        "deepseek_v3_1": "deepseek_v31 deepseekv31",
        "deepseek_v3_2": "deepseek_v32 deepseekv32",
        "deepseek_v4": "deepseek_v40 deepseekv4",
        "exaone": "exaone4",
        "gemma_4": "gemma4",
        "glm_4_5": "glm45",
        "glm_4_7": "glm glm47",
        "harmony": "openai gpt-oss gpt_oss",
        "kimi": "kimi_k2",
        "lfm2": "lfm2_5",
        "llama": "llama3 llama3_json llama4_json",
        "minimax": "minimax_m2 minimax-m2",
        "nemotron_3": "nemotron_v3 step3p5",
        "qwen_3": "hermes qwen qwen25 qwen3 granite4",
        "qwen_3_coder": "qwen3_coder qwen3_xml",
    }.items()
    for alias in aliases.split()
}
"""Other names of formats."""


@lru_cache(maxsize=1)
def table() -> Mapping[str, Format]:
    """Return the formats that come with the toolkit, by name: those of XGrammar first."""
    text = (files(__package__) / "formats.json").read_text("utf-8")
    found: dict[str, Format] = json.loads(text)["formats"]
    own = {
        name: format_of(calls, thoughts, models) for name, (models, calls, thoughts) in OWN.items()
    }
    return {**found, **own}


def format_named(name: str) -> Format:
    """Return a format by its name in the table or in ``ALIASES``, or as a text of JSON.

    Raises ``ConfigError`` for what is neither.
    """
    if not name.startswith("{"):
        found = table().get(ALIASES.get(name, name))
        if found is None:
            raise ConfigError(f"there is no format {name!r}"[:200] + f"; {_advice(name)}")
        return found
    given: Any = None
    try:
        given = json.loads(name)
        templates, shared = given["templates"], given["shared"]
    except (ValueError, KeyError, RecursionError):
        templates, shared = None, None
    if not isinstance(templates, dict) or not isinstance(shared, list):
        raise ConfigError("a format of tool calls in JSON has `templates` and `shared`")
    return dict(given)


def _advice(name: str) -> str:
    from kbnf_core.text.suggest import Suggestions

    close = Suggestions([*table(), *ALIASES]).closest(name)
    listed = f"there are {', '.join(table())}"
    return listed if close is None else f"did you mean `{close}`? ({listed})"


def filled(found: Format, key: str, functions: Sequence[Mapping[str, Any]]) -> Any:
    """Return a template of a format with these tools in it.

    Raises ``ConfigError`` where the format has no such template, or what is none.
    """
    if key not in found["templates"]:
        known = ", ".join(f"`{each}`" for each in found["templates"])
        raise ConfigError(f"this format has nothing for `{key}`, only for {known}"[:400])
    return _filled(_whole(found["templates"][key], found["shared"], 0), functions)


def _whole(value: Any, shared: Sequence[Any], depth: int) -> Any:
    """Return a template with the parts that it shares."""
    if depth > _MOST_DEPTH:
        raise ConfigError(f"a format of tool calls is nested more than {_MOST_DEPTH} deep")
    if isinstance(value, list):
        return [_whole(each, shared, depth + 1) for each in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"shared"}:
        number = value["shared"]
        if not isinstance(number, int) or not 0 <= number < len(shared):
            raise ConfigError(f"a format of tool calls has no shared part {number!r}"[:200])
        return _whole(shared[number], shared, depth + 1)
    return {name: _whole(each, shared, depth + 1) for name, each in value.items()}


def _filled(value: Any, functions: Sequence[Mapping[str, Any]]) -> Any:
    if isinstance(value, str):
        return _named(value, functions[0]["name"]) if functions else value
    if isinstance(value, list):
        return [_filled(each, functions) for each in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for name, each in value.items():
        if name == "json_schema" and each == SCHEMA:
            found[name] = parameters(functions[0])
            # By which calls are read back, and the places of a list of tools found.
            found["tool"] = functions[0]["name"]
        elif name == "tags" and isinstance(each, list):
            own = [tag for tag in each if _names_the_tool(tag)]
            found[name] = [_filled(tag, [tool]) for tool in functions for tag in own]
            found[name] += [_filled(tag, functions) for tag in each if tag not in own]
        else:
            found[name] = _filled(each, functions)
    return found


def _names_the_tool(value: Any) -> bool:
    """Tell whether a tag names the tool itself, and not only tags within it."""
    if isinstance(value, str):
        return NAME in value
    if isinstance(value, dict):
        return any(_names_the_tool(each) for name, each in value.items() if name != "tags")
    return isinstance(value, list) and any(map(_names_the_tool, value))


def parameters(function: Mapping[str, Any]) -> Any:
    """Return the schema of a tool's arguments: there are none unless it says so."""
    schema = function.get("parameters")
    return (
        {"type": "object", "properties": {}, "additionalProperties": False}
        if schema is None
        else schema
    )


_QUOTED = re.compile(r'"\w+"\s*:\s*"$')
"""What is before a string of JSON that is a value."""


def _named(text: str, name: str) -> str:
    """Return a text of a format with the name of a tool, escaped where it is a string of JSON."""
    before, found, after = text.partition(NAME)
    if not found:
        return text
    written = json.dumps(name, ensure_ascii=False)[1:-1] if _QUOTED.search(before) else name
    return f"{before}{written}{_named(after, name)}"


def unwritable(found: Format, names: Iterable[str]) -> dict[str, str]:
    """Return why a format cannot write the names of some tools.

    Outside of JSON nothing is escaped, so that a name ends at the delimiter that follows it. A
    marker of the format is one in a string of JSON, too.
    """
    marked = sorted(marker_texts(found))
    delimiters: dict[str, str] = {}
    for text in _texts(found):
        before, is_named, after = text.partition(NAME)
        if is_named and not _QUOTED.search(before):
            is_in_tag = before.rfind("<") > before.rfind(">")
            delimiters[text] = '"<>&' if is_in_tag else after[:1] or "<({"
    problems = {}
    for name in names:
        written = json.dumps(name, ensure_ascii=False)
        for marker in (each for each in marked if each in written):
            problems[name] = (
                f"the name of a tool contains `{marker}`, a marker of this format of calls"
            )
        if not _fits(name, found.get("names")):
            problems.setdefault(name, "what reads this format of calls cannot read this name")
        for text, ends in delimiters.items():
            for char in name:
                if char in ends or char.isspace() or not char.isprintable():
                    what = f"{char!r} in the name of a tool"
                    problems.setdefault(name, f"this format of calls cannot write {what}: `{text}`")
    return problems


def _fits(name: str, pattern: Any) -> bool:
    """Tell whether a name is one that the reader of a format reads, if its names have a pattern."""
    if not isinstance(pattern, str):
        return True
    read, _ = read_pattern(pattern, DEFAULT_LIMITS)
    return read is not None and read.match(name, Budget(DEFAULT_LIMITS.work)) is not None


def markers(found: Format, vocabulary: "Vocabulary") -> dict[str, bool]:
    """Return the markers in the fixed texts of a format, and whether each is a token."""
    return {
        each: each in vocabulary.special_tokens or bool(vocabulary.token_ids(each.encode()))
        for each in sorted(marker_texts(found))
    }


def marker_texts(found: Format) -> set[str]:
    """Return the markers in the fixed texts of a format."""
    return {each for text in _texts(found) for each in _MARKER.findall(text)}


def _texts(found: Format) -> Iterator[str]:
    """Yield the fixed texts of a format."""
    pending: list[Any] = [found["templates"], found["shared"]]
    for value in pending:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list):
            pending += value


def from_xgrammar(name: str, models: str = "") -> Format:
    """Return a format as the installed XGrammar has it.

    Raises ``ConfigError`` where it has none of that name, or is not installed.
    """
    try:
        from xgrammar import get_model_structural_tag
    except ImportError:
        raise ConfigError(f"the format {name!r} is read from xgrammar: not installed") from None
    function = {"name": NAME, "parameters": {"title": SCHEMA}}
    tools: Any = [{"type": "function", "function": function}]
    choices: Any = {"named": {"type": "function", "function": {"name": NAME}}}
    templates: dict[str, Any] = {}
    choice: Any
    reasoning: Any
    for choice, reasoning, single in product((*CHOICES, NAMED), REASONING, (False, True)):
        key = key_of(choice, reasoning, single=single)
        try:
            tag = get_model_structural_tag(
                name,
                tools,
                choices.get(choice, choice),
                reasoning,
                parallel_tool_calls=not single,
            )
        except ValueError as error:
            raise ConfigError(f"xgrammar: {error}"[:400]) from None
        templates[key] = _plain(tag.model_dump(mode="json"))["format"]
    return shared_out(models, templates)


def _plain(value: Any) -> Any:
    """Return a part of a tag without what holds by default."""
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if not isinstance(value, dict):
        return value
    if value == {"title": SCHEMA}:
        return SCHEMA
    kept = {name: _plain(each) for name, each in value.items() if each not in (None, False, [])}
    return {name: each for name, each in kept.items() if (name, each) != ("style", "json")}
