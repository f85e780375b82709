"""Formats of tool calls, held against the chat templates of a folder.

    python -m benchmarks.chat_templates FOLDER [TEMPLATE...]

For each template (``*.jinja``, ``tokenizer_config.json`` in a folder of its own): whether a format
is derived from it, and how many of the calls that it writes are texts of the format; or why none
is, and the formats by name that take all of them. Wrong calls (another name, another argument, one
too few, a value of another kind, a text that ends early) are refused by a format that is right.

Templates are rendered by transformers' own environment, where it is installed; tools and calls are
others than those that formats are derived with. What a model itself writes is that without what
the template adds: after the prompt, up to the end of the turn, with the last line break or without,
with thoughts and text before the calls and text after them. It must read back as these calls.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from kbnf_core import ConfigError, Engine, Grammar, Vocabulary
from kbnf_core.languages.structural_tag.models import table
from kbnf_core.languages.tools.chat_template import derived_format
from kbnf_core.languages.tools.rendering import template_in
from kbnf_core.text.errors import EngineError, KbnfError

TEXT = {"type": "string", "description": "d"}
NESTED = {
    "type": "object",
    "description": "d",
    "properties": {
        "k": {"type": "array", "items": {"type": "number"}},
        "b": {"type": "boolean"},
    },
}
PROPERTIES: Mapping[str, Mapping[str, Any]] = {
    "get_weather": {"location": TEXT, "days": {"type": "integer", "description": "d"}},
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
Called = tuple[str, dict[str, Any]]
WEATHER: Called = ("get_weather", {"location": "A"})
SAVE: Called = ("save", {"text": "b"})
NOOP: Called = ("noop", {})
PATTERNS: Mapping[str, Sequence[Called]] = {
    "one": [("get_weather", {"location": "Köln", "days": 3})],
    "strings": [("save", {"text": 'a "q" <b>\tx'})],
    "nested": [("save", {"text": "t", "o": {"k": [1, 2.5], "b": True}})],
    "none": [NOOP],
    "two": [WEATHER, SAVE],
    "three": [WEATHER, NOOP, SAVE],
}
WRONG: Mapping[str, Sequence[Called]] = {
    "another name": [("get_water", {"location": "A"})],
    "another argument": [("get_weather", {"place": "A"})],
    "another kind": [("get_weather", {"location": "A", "days": {"n": 1}})],
    "an argument of none": [("noop", {"location": "A"})],
    "a nested kind": [("save", {"text": "t", "o": {"k": [True]}})],
    "a second one": [WEATHER, ("get_water", {"location": "A"})],
}
ANSWER = "qzplainqz"
THOUGHT, BEFORE = "Hm.\nSo.", "Let me look."
PRESET = "preset"
BYTES = Vocabulary.bytes()


class Template:
    """A template of a model, rendered as transformers does."""

    def __init__(self, text: str) -> None:
        from transformers.utils import chat_template_utils

        template, self._tokens = template_in(text)
        self._compiled = chat_template_utils._compile_jinja_template(template)
        answer = {"role": "assistant", "content": ANSWER}
        self._head, _, self._tail = self._render(answer).partition(ANSWER)
        self._prompts = [
            self._render(add_generation_prompt=True, enable_thinking=each) for each in (False, True)
        ]

    def _render(self, *messages: Mapping[str, Any], **more: Any) -> str:
        user = {"role": "user", "content": "u"}
        settings = {"add_generation_prompt": False, **self._tokens, **more}
        return str(self._compiled.render(messages=[user, *messages], tools=TOOLS, **settings))

    def written(self, calls: Sequence[Called], text: str = "", **more: Any) -> str | None:
        """Return what is written for calls after a text; None where the template takes none such.

        ``more`` is what the message has besides.
        """
        for as_text in (False, True):
            made = [
                {
                    "type": "function",
                    "id": f"abcdefgh{number}",
                    "function": {"name": name, "arguments": json.dumps(each) if as_text else each},
                }
                for number, (name, each) in enumerate(calls)
            ]
            for content in (text, text or None):
                message = {"role": "assistant", "content": content, "tool_calls": made, **more}
                # Code of others: it may raise whatever Python does.
                with suppress(Exception):
                    return self._render(message)
        return None

    def raw(self, calls: Sequence[Called]) -> Iterator[str]:
        """Yield what a model writes for calls."""
        thoughts = dict.fromkeys(("reasoning_content", "reasoning", "thinking"), THOUGHT)
        for text, more in product(("", BEFORE), ({}, thoughts)):
            whole = self.written(calls, text, **more) or ""
            if not all(name in whole[len(self._head) :] for name, _ in calls):
                continue
            starts = {len(each) for each in self._prompts if whole.startswith(each)}
            shared = whole[: commonprefix_size(self._head, whole)]
            # A marker that two texts share in part is of neither.
            shared = shared if shared.endswith(">") else shared[: max(shared.rfind("<"), 0)]
            end = "<" + self._tail.strip().rpartition("<")[2] if "<" in self._tail else "\0"
            for start in starts or {len(shared)}:
                body = whole[start:]
                over = body.rfind(end)
                body = body[:over] if over >= 0 else body.removesuffix(self._tail)
                yield from {body, body.rstrip("\n"), body.strip("\n")}

    def bodies(self, text: str) -> Iterator[str]:
        """Yield what may be the calls in a text: after a prompt, up to what ends the turn."""
        starts = {commonprefix_size(each, text) for each in (self._head, *self._prompts)}
        # A marker that two texts share in part is of neither.
        starts |= {max(text.rfind("<", 0, start), 0) for start in starts}
        last = text.rfind("<")
        ends = {len(text), last, text.rfind("<", 0, last)}
        if text.endswith(self._tail):
            ends.add(len(text) - len(self._tail))
        for start in sorted(starts, reverse=True):
            over = text.find(self._tail.strip() or "\0", start)
            ends |= {over} if over > 0 else set()
            for end in sorted(ends, reverse=True):
                body = text[start:end]
                yield from {body, body.strip()}

    def has_calls(self) -> bool:
        """Return whether calls are written at all."""
        text = self.written(PATTERNS["one"]) or ""
        return "get_weather" in text[commonprefix_size(self._head, text) :]


def commonprefix_size(one: str, other: str) -> int:
    """Return how many characters two texts begin with that are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, pair in pairs if len({*pair}) > 1), min(len(one), len(other)))


class Judge:
    """Tells which texts of a template are calls in a format."""

    def __init__(self, made: str, template: Template) -> None:
        grammar = Grammar.from_tools(TOOLS, tool_calls=made, tool_choice="required")
        self._engine = Engine(grammar, BYTES, finish="eos")
        self._template = template

    def takes(self, text: str) -> bool:
        """Return whether the calls in a text are some of the grammar."""
        return any(self._has(body) for body in self._template.bodies(text) if body)

    def _has(self, body: str) -> bool:
        self._engine.reset()
        try:
            self._engine.try_accept_new_bytes(body.encode())
        except EngineError:
            return False
        return self._engine.can_finish()


class Reader:
    """Reads what a model writes in a format, however it reasons."""

    def __init__(self, made: str) -> None:
        self._grammars = []
        for reasoning in ("enabled", "auto", "disabled"):
            with suppress(ConfigError):
                self._grammars.append(
                    Grammar.from_tools(TOOLS, tool_calls=made, reasoning=reasoning)
                )

    def reads(self, text: str, calls: Sequence[Called]) -> bool:
        """Return whether a text is read as these calls."""
        return any(self._calls(each, text) == [*calls] for each in self._grammars)

    @staticmethod
    def _calls(grammar: Grammar, text: str) -> list[Called] | None:
        try:
            value = grammar.read_value(text)
        except KbnfError:
            return None
        calls = [each for each in value if isinstance(each, dict) and "name" in each]
        return [(each["name"], each["arguments"]) for each in calls]


class Row(NamedTuple):
    """What is known of a template: its calls that are taken, of how many, and wrong ones."""

    verdict: str
    reason: str = ""
    taken: int = 0
    written: int = 0
    refused: int = 0
    wrong: int = 0
    read: int = 0
    raw: int = 0


def row_of(text: str) -> Row:
    """Return what is known of a template."""
    try:
        template = Template(text)
    # Code of others.
    except Exception as error:
        return Row("not rendered", f"transformers: {error}")
    first = template.written([WEATHER])
    texts = [each for each in map(template.written, PATTERNS.values()) if each is not None]
    # A template that writes the first call alone writes no wrong second one.
    wrong = [each for each in map(template.written, WRONG.values()) if each not in (None, first)]
    if not template.has_calls():
        return Row("no calls", reason_of(text))
    reason = reason_of(text)
    names = [*table()] if reason else [derived_format(text)]
    best = Row("refused", reason, 0, len(texts))
    for name in names:
        try:
            judge = Judge(name, template)
        except KbnfError:
            continue
        taken, refused = sum(map(judge.takes, texts)), sum(not judge.takes(each) for each in wrong)
        verdict = f"{PRESET} {name}" if reason else "derived"
        reader = Reader(name)
        raw = [(each, calls) for calls in PATTERNS.values() for each in template.raw(calls)]
        read = sum(reader.reads(*each) for each in raw)
        row = Row(verdict, reason, taken, len(texts), refused, len(wrong), read, len(raw))
        if not reason or (taken == len(texts) and best.verdict == "refused"):
            best = row
    return best


def reason_of(text: str) -> str:
    """Return why no format is derived from a template, nothing where one is."""
    try:
        derived_format(text)
    except ConfigError as error:
        return str(error).removeprefix("no format of tool calls follows from this ")
    return ""


def files_in(folder: Path) -> list[Path]:
    """Return the templates of a folder, also those in models' folders."""
    return sorted([*folder.rglob("*.jinja"), *folder.rglob("tokenizer_config.json")])


def main(arguments: Sequence[str]) -> None:
    """Print a line for each template, and sums."""
    folder, *names = arguments
    rows = []
    for path in files_in(Path(folder)):
        if names and not any(each in str(path) for each in names):
            continue
        row = row_of(path.read_text("utf-8"))
        rows.append(row)
        name = path.stem if path.suffix == ".jinja" else path.parent.name
        counts = (
            f"{row.taken}/{row.written} taken, {row.refused}/{row.wrong} wrong refused, "
            f"{row.read}/{row.raw} raw read"
        )
        about = counts if row.written else ""
        print(f"{name[:44]:<44}  {row.verdict:<12}  {about:<50}  {row.reason[:160]}", flush=True)
    known = [row for row in rows if row.verdict == "derived" or row.verdict.startswith(PRESET)]
    calling = [row for row in rows if row.written]
    print(
        f"{len(rows)} templates, {len(calling)} of them write calls: "
        f"{sum(row.verdict == 'derived' for row in rows)} derived, "
        f"{sum(row.verdict.startswith(PRESET) for row in rows)} with a format by name; of their "
        f"calls {sum(row.taken for row in known)} of {sum(row.written for row in known)} taken, "
        f"of wrong ones {sum(row.refused for row in known)} of {sum(row.wrong for row in known)} "
        f"refused, of raw ones {sum(row.read for row in known)} of {sum(row.raw for row in known)} "
        f"read"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
