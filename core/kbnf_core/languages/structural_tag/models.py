"""How models write tool calls: formats by name, and from the texts around names and arguments.

A *format* has a template for each way to ask: whether tools are called, whether reasoning precedes
the calls, and whether there may be several. A template is a structural tag for a tool called
``{name}`` with the schema ``{schema}``; for several tools, the tags that name it are repeated. As
JSON, a format is ``{"models", "templates", "shared"}``: ``{"shared": n}`` in a template is for the
n-th of the parts that several have.

``formats.json`` has the formats of XGrammar's built-in structural tags, as ``from_xgrammar`` reads
them from the package (``python -m kbnf_testing.call_formats`` writes it anew); an XGrammar that is
installed may know more of them. ``OWN`` has further ones, and ours of ``gemma_4``, which XGrammar
has otherwise: they are made of the texts around a call, around all calls (``Calls``), and around
thoughts, as are those of a chat template (``languages/tools/chat_template.py``). ``ALIASES`` are
the names that vLLM and SGLang have for their parsers of the same calls.

Tests: tests/unit/languages/test_presets.py, tests/unit/languages/tools/test_token_markers.py
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.resources import files
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from kbnf_core.ir import TokenTerminal
from kbnf_core.text.errors import ConfigError
from kbnf_core.text.json_text import objects_in

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary

Format: TypeAlias = dict[str, Any]

CHOICES = ("auto", "required", "none")
REASONING = ("disabled", "enabled", "auto")
NAMED = "named"
"""The choice of one tool by its name, among the keys of templates."""

NAME, SCHEMA = "{name}", "{schema}"

_LEAST_SHARED = 60
"""Characters of a part that is worth sharing."""


ID, NUMBER, CALL_ID, JSON_ID, BLANK = "\ue000\ue001\ue002\ue003\ue004"
"""Placeholders for variable texts: the identifier of a call, its number, and texts that may be left
out (Mistral's identifiers, and the blank before its lists).
"""

ANY: Mapping[str, Format] = {
    ID: {"type": "regex", "pattern": "[a-zA-Z0-9_-]{1,64}"},
    NUMBER: {"type": "regex", "pattern": r"\d{1,9}"},
    CALL_ID: {"type": "regex", "pattern": r"(?:\[CALL_ID\][a-zA-Z0-9]{9})?"},
    JSON_ID: {"type": "regex", "pattern": '(?:, "id": "[a-zA-Z0-9]{9}")?'},
    BLANK: {"type": "optional", "content": {"type": "const_string", "value": " "}},
}


def key_of(choice: str, reasoning: str, *, single: bool) -> str:
    """Return the name of a template within a format."""
    return f"{choice} {reasoning}{' single' if single and choice != 'none' else ''}"


class Thoughts(NamedTuple):
    """The texts around thoughts, and whether prompts end with their beginning."""

    is_prompted: bool
    begin: str
    end: str


@dataclass(frozen=True, slots=True)
class Calls:
    """The texts of calls: within one, around its name and arguments, and around all of them.

    ``leads`` are the blanks that may occur before the first one; ``end_of_turn`` is what the
    template has after the last one in place of what ends an answer.
    """

    begin: str
    after_name: str
    end: str
    before: str = ""
    separator: str = ""
    after: str = ""
    style: str = "json"
    is_single: bool = False
    escapes: str = "canonical"
    words: str = "json"
    leads: tuple[str, ...] = ("",)
    end_of_turn: str = ""

    def texts(self, arguments: str, names: Iterable[str]) -> str:
        """Return calls of these tools as they are written."""
        calls = (f"{self.begin}{name}{self.after_name}{arguments}{self.end}" for name in names)
        return f"{self.before}{self.separator.join(calls)}{self.after}{self.end_of_turn}"


def format_of(calls: Calls, thoughts: Thoughts | None, models: str = "") -> Format:
    """Return the templates of a format, as XGrammar's of the same form are."""
    templates = {}
    for single in (False, True):
        for choice in (*CHOICES, NAMED):
            for reasoning, leads in _leads(thoughts):
                written = _written(calls, choice, once=single or calls.is_single)
                templates[key_of(choice, reasoning, single=single)] = _sequence([*leads, *written])
    return shared_out(models, templates)


def _tag(calls: Calls) -> Format:
    schema = {"type": "json_schema", "json_schema": SCHEMA}
    styled = schema if calls.style == "json" else {**schema, "style": calls.style}
    if calls.escapes != "canonical":
        styled = {**styled, "escapes": calls.escapes}
    if calls.words != "json":
        styled = {**styled, "words": calls.words}
    begun = f"{calls.begin}{NAME}{calls.after_name}"
    begin, *leads = _constants(begun if calls.before.strip() else begun.lstrip())
    *behind, end = _constants(calls.end)
    content = _sequence([*leads, styled, *behind])
    return {"type": "tag", "begin": begin["value"], "content": content, "end": end["value"]}


def _constants(text: str) -> list[Format]:
    """Return a text as formats, constants first and last: identifiers and numbers may be any."""
    texts = re.split(f"([{''.join(ANY)}])", text)
    return [ANY[text_] if text_ in ANY else _const(text_) for text_ in texts]


def _written(calls: Calls, choice: str, *, once: bool) -> list[Format]:
    """Return the formats that are written for such a choice of tools.

    Blanks after the last call may be left out: models end there, whatever a template adds.
    """
    is_section = bool(calls.before.strip())
    ended = calls.after if is_section else calls.end
    end = ended.rstrip()
    tag, before = _tag(calls if is_section else replace(calls, end=end)), calls.before
    opening = before if is_section else before + calls.begin
    lead, opening = opening[: len(opening) - len(opening.lstrip())], opening.lstrip()
    opening = re.split(f"[{''.join(ANY)}]", opening)[0]
    # A beginning that is text of its own, up to its first line or its first marker.
    marker = re.match(r"\[[A-Z_]+\]|[^>]*>", opening)
    trigger = marker[0] if marker else opening.split("\n")[0].rstrip()
    if choice == "none":
        return [{"type": "any_text", "excludes": [trigger]}]
    blanks = dict.fromkeys(spaced + more for spaced in calls.leads for more in ("", lead))
    leads = [] if choice == "auto" or len(blanks) < 2 else [_any_of(blanks)]
    if is_section:
        inner = {
            "type": "tags_with_separator",
            "tags": [tag],
            "separator": calls.separator,
            "at_least_one": True,
            "stop_after_first": once or choice == NAMED,
        }
        opened, *more = _constants(before.lstrip())
        content = _sequence([*more, inner])
        tag = {"type": "tag", "begin": opened["value"], "content": content, "end": end}
    # Where text may follow, they are text.
    blanks_after = [_any_of(["", ended[len(end) :]])] if ended != end else []
    if choice == NAMED:
        return [*leads, tag, *blanks_after]
    result: Format = {"type": "triggered_tags", "triggers": [trigger], "tags": [tag]}
    settings = {"at_least_one": choice == "required", "stop_after_first": once}
    return [*leads, {**result, **settings}, *(blanks_after if once else [])]


def _leads(thoughts: Thoughts | None) -> Iterator[tuple[str, list[Format]]]:
    """Yield the ways of reasoning, and the texts before the calls in each."""
    yield "disabled", []
    if thoughts is None:
        yield "auto", []
        return
    is_prompted, begin, end = thoughts
    mark = end.rstrip()
    for reasoning in ("enabled", "auto"):
        opened = "" if is_prompted and reasoning == "enabled" else begin
        text = {"type": "any_text", "excludes": [mark]}
        lead, rest = opened[: len(opened) - len(opened.lstrip())], end[len(mark) :]
        tag: Format = {"type": "tag", "begin": opened.lstrip(), "content": text, "end": mark}
        blanks = [_any_of(["", lead])] if lead else []
        led = _sequence([*blanks, tag, *([_const(rest)] if rest else [])])
        yield reasoning, [led if reasoning == "enabled" else {"type": "optional", "content": led}]


def _any_of(values: Iterable[str]) -> Format:
    return {"type": "or", "elements": [_const(value) for value in values]}


def _const(value: str) -> Format:
    return {"type": "const_string", "value": value}


def _sequence(elements: Sequence[Format]) -> Format:
    return elements[0] if len(elements) == 1 else {"type": "sequence", "elements": [*elements]}


def shared_out(models: str, templates: Mapping[str, Any]) -> Format:
    """Return a format of whole templates, in which their common parts occur once."""
    seen = Counter(map(_text_of, objects_in([*templates.values()])))
    numbers: dict[str, int] = {}
    shared: list[Any] = []

    def folded(value: Any, *, is_top: bool = False) -> Any:
        if isinstance(value, list):
            return [folded(item) for item in value]
        if not isinstance(value, dict):
            return value
        text = _text_of(value)
        if seen[text] < 2 or len(text) < _LEAST_SHARED or is_top:
            return {name: folded(item) for name, item in value.items()}
        if text not in numbers:
            inner = folded(value, is_top=True)
            numbers[text] = len(shared)
            shared.append(inner)
        return {"shared": numbers[text]}

    kept = {key: folded(value) for key, value in templates.items()}
    return {"models": models, "templates": kept, "shared": shared}


def _text_of(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


_IN_JSON = Calls('{"name": "', '", "arguments": ', "}", separator=", ", after="]")
_THINKS = Thoughts(False, "<think>\n", "\n</think>\n\n")

OWN: Mapping[str, tuple[str, Calls, Thoughts | None]] = {
    "mistral": (
        "Mistral Small 3.2, Ministral 3, Magistral",
        Calls("[TOOL_CALLS]", f"{CALL_ID}[ARGS]", ""),
        Thoughts(False, "[THINK]", "[/THINK]"),
    ),
    "mistral_v3": (
        "Mistral-7B-Instruct-v0.3, Mistral-Nemo",
        replace(_IN_JSON, before=f"[TOOL_CALLS]{BLANK}[", end=f"{JSON_ID}}}"),
        None,
    ),
    "gemma_4": (
        "Gemma 4",
        Calls("<|tool_call>call:", "", "<tool_call|>", style="gemma", words="python"),
        Thoughts(False, "<|channel>thought\n", "<channel|>"),
    ),
    "granite": ("Granite 3", replace(_IN_JSON, before="<|tool_call|>["), None),
    "nemotron_3": (
        "Nemotron 3, Step 3.5",
        Calls(
            "<tool_call>\n<function=", ">\n", "</function>\n</tool_call>", style="qwen_xml",
            words="python",
        ),
        Thoughts(True, "<think>", "</think>\n"),
    ),
    "glm_4_5": (
        "GLM 4.5, GLM 4.6",
        Calls("<tool_call>", "\n", "</tool_call>", style="glm_xml", leads=("", "\n")),
        Thoughts(False, "\n<think>", "</think>\n"),
    ),
    "nemotron": (
        "Llama-Nemotron, Nemotron Nano 2",
        replace(_IN_JSON, before="<TOOLCALL>[", after="]</TOOLCALL>"),
        _THINKS,
    ),
    "lfm2": (
        "LFM2, LFM2.5",
        Calls(
            "", "", "", before="<|tool_call_start|>[", separator=", ",
            after="]<|tool_call_end|>", style="python_json",
        ),
        None,
    ),
    "llama_4": (
        "Llama 4",
        Calls("", "", "", before="[", separator=", ", after="]", style="python_json"),
        None,
    ),
}  # fmt: skip
"""The formats that are given by their texts: models, texts of calls, and of thoughts."""

_TURNS = {
    "<|im_end|>": "kimi lfm2 mimo nemotron nemotron_3 qwen_3 qwen_3_5 qwen_3_coder",
    "<｜end▁of▁sentence｜>": "deepseek_r1 deepseek_v3_1 deepseek_v3_2 deepseek_v4 deepseek_v4_1",
    "<|END_OF_TURN_TOKEN|>": "cohere",
    "[|endofturn|]": "exaone",
    "<turn|>": "gemma_4",
    "<|user|>": "glm_4_5 glm_4_7",
    "<|observation|>": "glm_4_5 glm_4_7",
    "<|end_of_text|>": "granite",
    "<|eot_id|>": "llama",
    "<|eom_id|>": "llama",
    "<|eot|>": "llama_4",
    "[e~[": "minimax",
    "</s>": "mistral mistral_v3",
}
"""The ends of turns in the templates of models, and the formats of their calls."""

READ: Mapping[str, Mapping[str, Any]] = {
    "llama": {"around": [("<|python_tag|>", "")]},
    "llama_4": {"around": [("<|python_start|>", "<|python_end|>")]},
    "granite": {"spelled": [("<|tool_call|>", "<tool_call>")]},
    "mimo": {"is_verbatim": True},
}
"""What readers take that a format does not ask for: markers ``around`` calls, other markers that
are ``spelled`` in place of some (Granite 3.1), and values ``is_verbatim``: line breaks around them
are theirs."""


def turn_ends(name: str) -> list[str]:
    """Return the marks that end a turn of the models of a format."""
    return [mark for mark, names in _TURNS.items() if name in names.split()]


# Formats by name

_MARKER = re.compile(r"<[^<>\s{}]+>|\[[A-Z_]+\]")
"""Texts for which models mostly have tokens: `<tool_call>`, `[TOOL_CALLS]`."""

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
        "llama_4": "llama4 llama4_pythonic pythonic",
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
    formats: dict[str, Format] = json.loads(text)["formats"]
    own = {
        name: format_of(calls, thoughts, models) for name, (models, calls, thoughts) in OWN.items()
    }
    every = {**formats, **own}
    return {
        name: {**entry, **READ.get(name, {}), "turn_ends": turn_ends(name)}
        for name, entry in every.items()
    }


def format_named(name: str) -> Format:
    """Return a format by its name in the table or in ``ALIASES``, or as a text of JSON.

    Raises ``ConfigError`` for any other name.
    """
    if not name.startswith("{"):
        written = table().get(ALIASES.get(name, name))
        if written is None:
            raise ConfigError(f"there is no format {name!r}"[:200] + f"; {_advice(name)}")
        return written
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


def markers(format_: Format, vocabulary: "Vocabulary") -> dict[str, bool]:
    """Return the markers in the fixed texts of a format, and whether each is a token."""
    return {
        marker_text: marker_text in vocabulary.special_tokens
        or bool(vocabulary.token_ids(marker_text.encode()))
        for marker_text in sorted(marker_texts(format_))
    }


def marker_texts(format_: Format) -> set[str]:
    """Return the markers in the fixed texts of a format."""
    return {marker for text in fixed_texts(format_) for marker in _MARKER.findall(text)}


def token_markers(format_: Format, vocabulary: "Vocabulary") -> dict[str, TokenTerminal]:
    """Return the markers of a format that are one token, and which ones.

    They are special tokens, and ordinary ones that spell a marker in a fixed text of the format or
    of the style of its arguments.
    """
    from kbnf_core.languages.structural_tag.nested import style_texts

    special = vocabulary.special_tokens
    texts = [*fixed_texts(format_)]
    texts += {text for marker in _styles_in(format_) for text in style_texts(marker)}
    ids = {marker: {special[marker]} for marker in special if any(marker in text for text in texts)}
    for marker in {marker for text in texts for marker in _MARKER.findall(text)}:
        spelling = vocabulary.token_ids(marker.encode())
        if spelling:
            ids.setdefault(marker, set()).update(spelling)
    return {
        marker: TokenTerminal(None, tuple((one, one) for one in sorted(token_ids)))
        for marker, token_ids in ids.items()
    }


def _styles_in(styles: Format) -> set[str]:
    values = objects_in([*styles["templates"].values(), *styles["shared"]])
    return {str(value["style"]) for value in values if isinstance(value.get("style"), str)}


def fixed_texts(format_: Format) -> Iterator[str]:
    """Yield the fixed texts of a format."""
    pending: list[Any] = [format_["templates"], format_["shared"]]
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
    """Return a part of a tag without its default values."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value == {"title": SCHEMA}:
        return SCHEMA
    kept = {name: _plain(item) for name, item in value.items() if item not in (None, False, [])}
    return {name: item for name, item in kept.items() if (name, item) != ("style", "json")}
