"""Chat templates as transformers renders them: the environment, and the conversations of probes.

A template is Jinja in the environment of ``transformers.utils.chat_template_utils``: the sandbox
whose values are immutable, ``break`` and ``continue``, ``{% generation %}``, ``tojson`` that
escapes nothing, ``raise_exception``, ``strftime_now``, and the special tokens of the tokenizer as
variables. ``strftime_now`` has one day, so that a template is rendered alike each time.

A special token that no configuration names is its name in angle brackets. Those around a message
make no difference; a format that needs one is refused (``chat_template``).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

from kbnf_core.processes import Process, ProcessError, StartError
from kbnf_core.text.errors import ConfigError, KbnfError

TOKENS = tuple(f"{each}_token" for each in ("bos", "eos", "unk", "sep", "pad", "cls", "mask"))

SECONDS = 10.0
"""The time for what is asked of a template at once, all renderings together."""

MEMORY = 512 << 20
"""Bytes that this may take."""

_MOST_TEXT = 1 << 20
"""Characters that a template may write."""

_DAY = date(2026, 1, 1)

Message = dict[str, Any]
Render = Callable[..., str]
"""Returns what a template writes for messages, under further variables."""


class OtherwiseError(Exception):
    """A template writes calls in a way that is no format; the message says what is missing."""


class RefusedError(OtherwiseError):
    """A template does not take a conversation."""


def placeholder(name: str) -> str:
    """Return what stands for a special token that is not known."""
    return f"<{name}>"


def template_in(text: str, config: str | None = None) -> tuple[str, dict[str, Any]]:
    """Return the template of a text and the special tokens that it may write.

    The text is the template, or the JSON of ``tokenizer_config.json``; ``config`` is that file's,
    where the template has one of its own. Raises ``ConfigError`` where there is no template.
    """
    known = _object_in(text)
    settings = known or _object_in(config or "") or {}
    tokens = {name: placeholder(name) for name in TOKENS}
    for name in TOKENS:
        token = settings.get(name)
        token = token.get("content") if isinstance(token, dict) else token
        if isinstance(token, str):
            tokens[name] = token
    if known is None:
        return text, tokens
    found = known.get("chat_template")
    if isinstance(found, list):
        # Several by name: that for tools is called so.
        named = {each.get("name"): each.get("template") for each in found if isinstance(each, dict)}
        found = named.get("tool_use", named.get("default"))
    if not isinstance(found, str):
        raise ConfigError("there is no `chat_template` in this configuration of a tokenizer")
    return found, tokens


def _object_in(text: str) -> dict[str, Any] | None:
    """Return the JSON object that a text is; None for a template, which may begin with a brace."""
    try:
        found = json.loads(text) if text.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


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
        """What is between ``{% generation %}`` and ``{% endgeneration %}``, as it is."""

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
    """Return what renders conversations by a template. Raises ``ConfigError``."""
    compiled = _compiled(template)

    def render(messages: Sequence[Message], **more: Any) -> str:
        written: list[str] = []
        size = 0
        settings = {"add_generation_prompt": False, **tokens, **more}
        try:
            for piece in compiled.generate(messages=[*messages], tools=[*tools], **settings):
                written.append(piece)
                size += len(piece)
                if size > _MOST_TEXT:
                    break
        except MemoryError:
            raise
        # Code of others: it may raise whatever Python does.
        except Exception as error:
            raise RefusedError(f"{error}"[:200] or type(error).__name__) from None
        text = "".join(written)
        if not text.isascii() and any("\ud800" <= each <= "\udfff" for each in text):
            raise OtherwiseError("it writes half of a surrogate pair, which is not a character")
        return text

    return render


def asked() -> Message:
    """Return the message of a user."""
    return {"role": "user", "content": "u"}


def answer(text: str, thought: str | None = None) -> list[Message]:
    """Return a conversation that ends with an answer, after thoughts where there are some."""
    known = {} if thought is None else dict.fromkeys(("reasoning_content", "reasoning"), thought)
    return [asked(), {"role": "assistant", "content": text, **known}]


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
                "arguments": json.dumps(each, ensure_ascii=False) if as_text else each,
            },
        }
        for name, call_id, each in calls
    ]
    first, last = answer("", thought)
    return [first, {**last, "content": content, "tool_calls": made}]


def in_process(function: Callable[..., Any], *arguments: object) -> Any:
    """Return what a function returns that renders a template, in a process with limits.

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
