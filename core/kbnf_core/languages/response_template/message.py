"""Messages: what transformers reads from a text by a response template, read without it.

The text is what a model wrote, the ``prefix`` the chat before it, whose end may have the beginning
of the message: what follows its last anchor. Outside of a region the first opening counts, or what
closes the implicit one: that which begins first, of those the longest, an opening before a closing.
Inside of one its closing alone counts. What is outside is the implicit field's.

A field that occurs again is replaced, unless it repeats. Arguments that are texts are cast as the
schemas of the tools say: a text that none of its types fits stays what it is.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any, NamedTuple

from kbnf_core.automata.regex.search import Match
from kbnf_core.languages.response_template.contents import UnreadError, value_of
from kbnf_core.languages.response_template.template import Anchor, Field, Template
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import MessageError
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits


def message_of(
    template: Template,
    text: str,
    *,
    prefix: str = "",
    tools: Iterable[Mapping[str, Any]] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> dict[str, Any]:
    """Return the message of a text.

    Raises ``MessageError`` for a content that cannot be read, or a field that is missing, and
    ``WorkLimitError`` where ``limits.work`` is not enough.
    """
    budget = Budget(limits.work, "the text of a message")
    if prefix:
        text = prefix[_after_last(template.anchor, prefix, budget) :] + text
    known = _properties(tools)
    message: dict[str, Any] = deepcopy({**template.defaults})
    try:
        for field, region in _regions(template, text, budget):
            value = value_of(field, region.body, region.groups, budget)
            _add(message, field, _cast(value, known) if known else value)
    except UnreadError as error:
        raise MessageError(str(error)) from None
    missing = [each.name for each in template.fields.values() if not each.is_optional]
    missing = [each for each in missing if each not in message]
    if missing:
        raise MessageError(f"the text has no `{missing[0]}`, which the template demands")
    return {
        name: value
        for name, value in message.items()
        if name in template.defaults or not (value is None or value in ("", [], {}))
    }


def _after_last(anchor: Anchor, text: str, budget: Budget) -> int:
    at = 0
    search = _Search(anchor, text, budget)
    while (found := search.after(at)) is not None:
        at = found.end
    return at


class _Region(NamedTuple):
    body: str
    groups: Mapping[str, str]


class _Search:
    """Looks for an anchor in one text, each part of which is looked at once."""

    def __init__(self, anchor: Anchor, text: str, budget: Budget) -> None:
        self._anchor, self._text, self._budget = anchor, text, budget
        self._found: Match | None = None
        self._is_over = False

    def after(self, at: int) -> Match | None:
        """Return the first occurrence from a place on, which is never before earlier ones."""
        if not self._is_over and (self._found is None or self._found.start < at):
            self._found = self._anchor.find(self._text, at, self._budget)
            self._is_over = self._found is None
        return self._found


def _regions(template: Template, text: str, budget: Budget) -> Iterator[tuple[Field, _Region]]:
    """Yield the regions of a text in order."""
    fields = sorted(template.fields.values(), key=lambda field: field.name)
    openings = [(each, _Search(each.open, text, budget)) for each in fields if each.open]
    closings = {each.name: _Search(each.close, text, budget) for each in fields if each.close}
    implicit = template.implicit
    start = 0
    closing = None if implicit is None else closings.get(implicit.name)
    while start < len(text):
        budget.spend(len(openings))
        # Of those that begin at one place the longest, openings ahead of what closes.
        found: list[tuple[tuple[int, ...], Match, Field | None]] = [
            ((match.start, -match.end, 0, number), match, field)
            for number, (field, search) in enumerate(openings)
            if (match := search.after(start)) is not None
        ]
        closed = None if closing is None else closing.after(start)
        if closed is not None:
            found.append(((closed.start, -closed.end, 1, 0), closed, None))
        nothing = Match(len(text), len(text), {})
        _, first, field = min(found, default=((), nothing, None), key=lambda each: each[0])
        if implicit is not None and first.start > start:
            groups = first.groups if field is None else {}
            yield implicit, _Region(text[start : first.start], groups)
        start = first.end
        if field is not None:
            end = closings[field.name].after(start) if field.close else None
            body = text[start:] if end is None else text[start : end.start]
            yield field, _Region(body, {**first.groups, **({} if end is None else end.groups)})
            start = len(text) if end is None else end.end


def _add(message: dict[str, Any], field: Field, value: Any) -> None:
    name = field.name
    if field.join is not None:
        if not isinstance(value, str):
            raise UnreadError(f"`{name}` is joined, and one of it is not text")
        before = message.get(name)
        message[name] = value if before is None else f"{before}{field.join}{value}"
    elif field.repeats:
        held = message.setdefault(name, [])
        if not isinstance(held, list):
            raise UnreadError(f"`{name}` repeats, and its default is not a list")
        held.append(value)
    else:
        message[name] = value


# Arguments as the schemas of tools have them


def _properties(tools: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for tool in tools:
        function = tool.get("function", tool)
        name = function.get("name") if isinstance(function, Mapping) else None
        if isinstance(name, str):
            parameters = function.get("parameters")
            held = parameters.get("properties") if isinstance(parameters, Mapping) else None
            found[name] = held if isinstance(held, Mapping) else {}
    return found


def _cast(value: Any, known: Mapping[str, Mapping[str, Any]]) -> Any:
    if isinstance(value, list):
        return [_cast(each, known) for each in value]
    function = value.get("function") if isinstance(value, dict) else None
    if not isinstance(function, dict):
        return value
    name, arguments = function.get("name"), function.get("arguments")
    properties = known.get(name) if isinstance(name, str) else None
    if not properties or not isinstance(arguments, dict):
        return value
    for key, held in arguments.items():
        types = _types(properties[key]) if key in properties else ()
        if isinstance(held, str):
            arguments[key] = _as(held, types)
        elif types and isinstance(held, list) and "array" not in types:
            arguments[key] = [_as(each, types) if isinstance(each, str) else each for each in held]
    return value


def _types(schema: Any) -> tuple[str, ...]:
    """Return the types that a schema speaks of, in their order."""
    found: list[str] = []
    pending = [schema]
    while pending:
        each = pending.pop()
        if not isinstance(each, Mapping):
            continue
        told = each.get("type")
        found += [told] if isinstance(told, str) else told if isinstance(told, list) else ()
        pending += [*(each.get("anyOf") or ()), *(each.get("oneOf") or ())][::-1]
        if each.get("nullable"):
            found.append("null")
    return tuple(each for each in found if isinstance(each, str))


def _as(text: str, types: Iterable[str]) -> Any:
    """Return a text as a value of the first of some types that it fits."""
    for each in types:
        try:
            match each:
                case "integer":
                    return _integer(text)
                case "number":
                    return _number(text)
                case "boolean" if text.strip().lower() in ("true", "1", "false", "0"):
                    return text.strip().lower() in ("true", "1")
                case "null" if text.strip() in ("null", "None"):
                    return None
                case "object" | "array":
                    value = json.loads(text)
                    if isinstance(value, dict if each == "object" else list):
                        return value
        except (ValueError, RecursionError):
            continue
    return text


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        number = float(text)
        if not number.is_integer():
            raise
        return int(number)


def _number(text: str) -> int | float:
    number = float(text)
    if number != number or number in (float("inf"), float("-inf")):
        raise ValueError(text)
    return int(number) if number.is_integer() and "." not in text else number
