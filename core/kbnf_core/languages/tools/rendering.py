"""Chat templates as transformers renders them, and the texts that one writes for calls.

A template is Jinja in the environment of ``transformers.utils.chat_template_utils``: the sandbox
whose values are immutable, ``break`` and ``continue``, ``{% generation %}``, ``tojson`` that
escapes nothing, ``raise_exception``, ``strftime_now``, and the special tokens of the tokenizer as
variables. ``strftime_now`` has one day, so that a template is rendered alike each time.

A special token that no configuration names is its name in angle brackets. Those around a message
make no difference; a format that needs one is refused (``chat_template``).

*Messages* are the texts that a template writes for calls, without those around every message, which
a plain answer or a prompt has, too. Texts are compared by markers (``<...>``, ``[...]``) and
characters, so that no marker is cut.

Tests: tests/unit/languages/tools/test_chat_templates.py,
tests/unit/languages/tools/test_own_tools.py
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from itertools import takewhile
from typing import Any, NamedTuple

from kbnf_core.languages.structural_tag.models import ID, Format
from kbnf_core.processes import Process, ProcessError, StartError
from kbnf_core.text.errors import ConfigError, KbnfError

TOKENS = tuple(f"{name}_token" for name in ("bos", "eos", "unk", "sep", "pad", "cls", "mask"))

SECONDS = 10.0
"""The time for all renderings of one request together."""

MEMORY = 512 << 20
"""Bytes that this may take."""

_MOST_TEXT = 1 << 20
"""Characters that a template may write."""

_DAY = date(2026, 1, 1)

Message = dict[str, Any]
Render = Callable[..., str]
"""Returns the text of a template for messages, under further variables."""


class OtherwiseError(Exception):
    """A template writes calls as no format does; the message says which part is missing."""


class UnrenderedError(OtherwiseError):
    """A template does not take a conversation."""


def placeholder(name: str) -> str:
    """Return a placeholder for a special token that is not known."""
    return f"<{name}>"


def template_in(text: str, config: str | None = None) -> tuple[str, dict[str, Any]]:
    """Return the template of a text and the special tokens that it may write.

    The text is the template, or the JSON of ``tokenizer_config.json``; ``config`` is that file's,
    where the template has one of its own. Raises ``ConfigError`` where there is no template.
    """
    settings_read = _object_in(text)
    settings = settings_read or _object_in(config or "") or {}
    tokens = {name: placeholder(name) for name in TOKENS}
    for name in TOKENS:
        token = settings.get(name)
        token = token.get("content") if isinstance(token, dict) else token
        if isinstance(token, str):
            tokens[name] = token
    if settings_read is None:
        return text, tokens
    template = settings_read.get("chat_template")
    if isinstance(template, list):
        # Several by name: that for tools is called so.
        named = {
            entry.get("name"): entry.get("template")
            for entry in template
            if isinstance(entry, dict)
        }
        template = named.get("tool_use", named.get("default"))
    if not isinstance(template, str):
        raise ConfigError("there is no `chat_template` in this configuration of a tokenizer")
    return template, tokens


def _object_in(text: str) -> dict[str, Any] | None:
    """Return the JSON object that a text is; None for a template, which may begin with a brace."""
    try:
        result = json.loads(text) if text.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return None
    return result if isinstance(result, dict) else None


def _compiled(template: str) -> Any:
    """Return a template of Jinja. Raises ``ConfigError``."""
    try:
        from jinja2 import Environment, TemplateError, nodes
        from jinja2.ext import Extension, loopcontrols
        from jinja2.parser import Parser
        from jinja2.sandbox import ImmutableSandboxedEnvironment
    except ImportError:
        raise ConfigError("chat templates are rendered by jinja2, which is not installed") from None

    class Generation(Extension):
        """The text between ``{% generation %}`` and ``{% endgeneration %}``, as it is."""

        def __init__(self, environment: Environment) -> None:
            super().__init__(environment)
            self.tags = {"generation"}

        def parse(self, parser: Parser) -> nodes.Node:
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return nodes.Scope(body, lineno=line)

    def refuse(message: str) -> None:
        raise TemplateError(message)

    def dump(
        value: Any,
        ensure_ascii: bool = False,
        indent: Any = None,
        separators: Any = None,
        sort_keys: bool = False,
    ) -> str:
        return json.dumps(
            value,
            ensure_ascii=ensure_ascii,
            indent=indent,
            separators=separators,
            sort_keys=sort_keys,
        )

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols]
    )
    environment.filters["tojson"] = dump
    environment.globals.update(raise_exception=refuse, strftime_now=_DAY.strftime)
    try:
        return environment.from_string(template)
    except MemoryError:
        raise
    # Jinja makes a module of Python, which has limits of its own.
    except Exception as error:
        raise ConfigError(f"the chat template cannot be read: {error}"[:300]) from None


def renderer(
    template: str, tokens: Mapping[str, Any], tools: Sequence[Mapping[str, Any]]
) -> Render:
    """Return a renderer of conversations by a template. Raises ``ConfigError``."""
    compiled = _compiled(template)

    def render(messages: Sequence[Message], **more: Any) -> str:
        written: list[str] = []
        size = 0
        settings = {"add_generation_prompt": False, **tokens, **more}
        try:
            for chunk in compiled.generate(messages=[*messages], tools=[*tools], **settings):
                written.append(chunk)
                size += len(chunk)
                if size > _MOST_TEXT:
                    break
        except MemoryError:
            raise
        # Code of others: it may raise whatever Python does.
        except Exception as error:
            raise UnrenderedError(f"{error}"[:200] or type(error).__name__) from None
        text = "".join(written)
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            raise OtherwiseError("it writes half of a surrogate pair, which is not a character")
        return text

    return render


def asked() -> Message:
    """Return the message of a user."""
    return {"role": "user", "content": "u"}


_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
"""The names that templates have for the thoughts of a message."""


def answer(text: str, thought: str | None = None) -> list[Message]:
    """Return a conversation that ends with an answer, after thoughts where there are some."""
    thoughts = {} if thought is None else dict.fromkeys(_THOUGHTS, thought)
    return [asked(), {"role": "assistant", "content": text, **thoughts}]


def calling(
    calls: Sequence[tuple[str, str, Mapping[str, Any]]],
    content: str | None,
    *,
    as_text: bool = False,
    thought: str | None = None,
) -> list[Message]:
    """Return a conversation that ends with calls: of each the name, identifier and arguments."""
    made = [
        {
            "type": "function",
            "id": call_id,
            "function": {
                "name": name,
                "arguments": json.dumps(arguments, ensure_ascii=False) if as_text else arguments,
            },
        }
        for name, call_id, arguments in calls
    ]
    first, last = answer("", thought)
    return [first, {**last, "content": content, "tool_calls": made}]


def in_process(function: Callable[..., Any], *arguments: object) -> Any:
    """Return the result of a function that renders a template, in a process with limits.

    Raises ``ConfigError`` where it takes more, and what the function raises of this package.
    """
    process = Process(memory=MEMORY)
    try:
        return process.call(function, *arguments, seconds=SECONDS)
    except StartError as error:
        raise ConfigError(f"no process for the chat template can be started: {error}") from None
    except ProcessError as error:
        if error.is_late:
            raise ConfigError(
                f"the chat template takes too long: it is rendered for at most {SECONDS:g} s"
            ) from None
        raise ConfigError(f"the chat template cannot be rendered: {error}") from None
    except KbnfError:
        raise
    except Exception as error:
        raise ConfigError(f"the chat template cannot be rendered: {error}"[:300]) from error
    finally:
        process.close()


# Messages

TEXT, THOUGHT = "qzplainqz", "qzthoughtqz"
NAMES = ("qz-first", "qz.second", "qz:third")
IDS = ("qzidaaaaa", "qzidbbbbb", "qzidccccc")

MARKER = re.compile(r"<[^<>\s{}]+>|\[[A-Z_/]+\]")
"""Markers, which are never cut."""

_BEGUN = re.compile(r"(?:<[^<>\s{}]*|\[[A-Z_/]*)\Z")
"""The beginning of a marker at the end of a text."""


def _prefix(one: str, other: str) -> str:
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return "".join(pair[0] for pair in pairs)


def shared(one: str, other: str) -> str:
    """Return the beginning that two texts share, without a part of a marker."""
    result = _prefix(one, other)
    begun = _BEGUN.search(result)
    if begun is None:
        return result
    at = begun.start()
    ends = [chunk.end() for text in (one, other) if (chunk := MARKER.match(text, at))]
    return result[:at] if any(end > len(result) for end in ends) else result


def shared_end(one: str, other: str) -> str:
    """Return the end that two texts share, without a part of a marker."""
    result = _prefix(one[::-1], other[::-1])[::-1]
    for text in (one, other):
        cut = len(text) - len(result)
        begun = _BEGUN.search(text[:cut])
        marker = None if begun is None else MARKER.match(text, begun.start())
        if marker is not None and marker.end() > cut:
            result = result[marker.end() - cut :]
    return result


class Messages:
    """The texts of a template for a message with calls, without those around every message.

    ``leads`` are the blanks that follow prompts before a message, ``is_cut`` says whether calls are
    followed by the text that follows an answer. The texts are kept in ``written``.
    """

    def __init__(
        self, render: Render, content: str | None, written: list[str], *, as_text: bool
    ) -> None:
        self.render = render
        self._content = content
        self._as_text = as_text
        plain = render(answer(TEXT))
        self._head, separator, self._tail = plain.partition(TEXT)
        if not separator:
            raise OtherwiseError("it writes no answer of the assistant")
        self.prompts = []
        for settings in ({}, {"enable_thinking": False}, {"enable_thinking": True}):
            with suppress(OtherwiseError):
                prompt = render([asked()], add_generation_prompt=True, **settings)
                self.prompts.append(prompt)
        self.leads = {""}
        self.is_cut = True
        self.tail = ""
        self._written = written

    @property
    def turn_ends(self) -> list[str]:
        """The mark that follows an answer, if it is one."""
        mark = self._tail.strip()
        return [mark] if MARKER.fullmatch(mark) else []

    def whole(self, *calls: Mapping[str, Any], thought: str | None = None) -> str:
        """Render a conversation that ends with a call for each of some arguments."""
        made = list(zip(NAMES, IDS, calls, strict=False))
        messages = calling(made, self._content, as_text=self._as_text, thought=thought)
        return self.render(messages)

    def body(self, *calls: Mapping[str, Any]) -> str:
        """Return the text of calls, with any identifiers."""
        return self._without_ids(self.plain_body(*calls))

    def plain_body(self, *calls: Mapping[str, Any]) -> str:
        """Return the text of calls."""
        text = self.whole(*calls)
        start = self._start(text)
        for prompt in self.prompts:
            lead = text[len(prompt) : start]
            if text.startswith(prompt) and lead.isspace():
                self.leads.add(lead)
        rest = text[start:]
        tail = shared_end(self._tail, rest)
        self.is_cut = tail == self._tail
        result = rest[: len(rest) - len(tail)]
        # Where what ends an answer follows the last call, the turn of the model ends there.
        if MARKER.match(self._tail.strip()):
            over = result.find(self._tail.strip(), max(0, *map(result.rfind, NAMES)))
            result = result[:over] if over >= 0 else result
        self.tail = rest[len(result) :]
        self._written.append(result)
        return result

    def _start(self, text: str) -> int:
        """Return where a text goes on otherwise than a plain answer and the prompts."""
        return max(len(shared(prompt, text)) for prompt in (self._head, *self.prompts))

    def call_of(self, name: str, arguments: Mapping[str, Any]) -> list[str]:
        """Return the possible texts of a call of any tool, up to an end of the turn."""
        made = [(name, IDS[0], arguments)]
        text = self.render(calling(made, self._content, as_text=self._as_text))
        rest = text[self._start(text) :]
        result = rest[: len(rest) - len(shared_end(self._tail, rest))]
        marker = self._tail.strip()
        if not MARKER.match(marker):
            return [result]
        ends = (match.start() for match in re.finditer(re.escape(marker), result))
        return [result, *(result[:end] for end in ends)]

    def after_prompts(self, arguments: Mapping[str, Any]) -> Iterator[str]:
        """Yield a call after thoughts, without each prompt that the conversation begins with."""
        with suppress(OtherwiseError):
            self.plain_body(arguments)
            text = self.whole(arguments, thought=THOUGHT).removesuffix(self.tail)
            for prompt in self.prompts:
                if THOUGHT in text and text.startswith(prompt):
                    yield text[len(prompt) :]

    @staticmethod
    def _without_ids(text: str) -> str:
        for call in IDS:
            text = text.replace(call, ID)
        return text


class MadeOf(NamedTuple):
    """The template that a format was derived from, its form of calls, and the end of the turn."""

    text: str
    tokens: Mapping[str, Any]
    as_text: bool
    content: str | None
    end_of_turn: str

    @classmethod
    def of(cls, format_: Format) -> "MadeOf | None":
        """Return that of a format, None for one by itself. Raises ``ConfigError``."""
        value = format_.get("chat_template")
        if value is None:
            return None
        kinds = (str, dict, bool, str | None, str)
        if isinstance(value, dict) and value.keys() == {*cls._fields}:
            read = cls(**value)
            if all(map(isinstance, read, kinds)):
                return read
        raise ConfigError(f"the `chat_template` of a format has {', '.join(cls._fields)}")

    def written(
        self, tools: Sequence[Mapping[str, Any]], calls: Sequence[tuple[str, Mapping[str, Any]]]
    ) -> list[list[str]]:
        """Return the possible texts of each call; none where the template refuses it."""
        result: list[list[str]] = [[] for _ in calls]
        with suppress(OtherwiseError):
            render = renderer(self.text, self.tokens, tools)
            messages = Messages(render, self.content, [], as_text=self.as_text)
            for texts, call in zip(result, calls, strict=True):
                with suppress(OtherwiseError):
                    entry = messages.call_of(*call)
                    texts += [text.removesuffix(self.end_of_turn) for text in entry]
        return result
