"""Which tools a request allows: its ``tool_choice``, in the form of each service.

OpenAI's two APIs name a mode, one tool, or a mode with the tools that are allowed; Anthropic a mode
or one tool; Gemini a mode with names, in ``toolConfig``. Whether there may be several calls is
``parallel_tool_calls``, or Anthropic's ``disable_parallel_tool_use``.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kbnf_core.text.json_text import Json

AUTO, REQUIRED, NONE = "auto", "required", "none"


class Choice(NamedTuple):
    """The mode, and the tools that are allowed, by name and pointer, None for all of them.

    A choice that ``is_named`` is one call of the only tool that it allows. ``error`` says why what
    is at ``pointer`` is no choice.
    """

    mode: str = AUTO
    names: tuple[tuple[str, str], ...] | None = None
    is_named: bool = False
    is_single: bool = False
    pointer: str = ""
    error: str = ""


ANY_CHOICE = Choice()
"""The choice of what says nothing."""

_MODES = {
    "auto": AUTO, "required": REQUIRED, "none": NONE,
    "any": REQUIRED,
    "AUTO": AUTO, "ANY": REQUIRED, "NONE": NONE, "VALIDATED": AUTO, "MODE_UNSPECIFIED": AUTO,
}  # fmt: skip
"""The words of the services for modes; ``any`` is Anthropic's and Mistral's, capitals Gemini's."""


def choice_of(value: Json) -> Choice:
    """Return what a request says of the tools to call."""
    if not isinstance(value, Mapping):
        return ANY_CHOICE
    is_single = value.get("parallel_tool_calls") is False
    chosen, pointer = value.get("tool_choice"), "/tool_choice"
    if isinstance(chosen, Mapping):
        is_single = is_single or chosen.get("disable_parallel_tool_use") is True
        return _of_object(chosen, pointer)._replace(is_single=is_single)
    if chosen is not None:
        return _of_mode(value, "tool_choice", None, "")._replace(is_single=is_single)
    path, found = "", value
    for names in _GEMINI:
        name = next((each for each in names if isinstance(found.get(each), Mapping)), None)
        if name is None:
            return Choice(is_single=is_single)
        path, found = f"{path}/{name}", found[name]
    allowed = next((each for each in _ALLOWED if isinstance(found.get(each), list)), None)
    listed = [(each, f"{path}/{allowed}/{i}") for i, each in enumerate(found.get(allowed, ()))]
    for name, where in listed:
        if not isinstance(name, str):
            return _invalid("an allowed function is a name", where)
    return _of_mode({"mode": "AUTO", **found}, "mode", listed or None, path)


_GEMINI = (("toolConfig", "tool_config"), ("functionCallingConfig", "function_calling_config"))
_ALLOWED = ("allowedFunctionNames", "allowed_function_names")


def _of_object(chosen: Mapping[str, Any], pointer: str) -> Choice:
    kind = chosen.get("type")
    if kind == "allowed_tools":
        if isinstance(chosen.get(kind), Mapping):
            chosen, pointer = chosen[kind], f"{pointer}/{kind}"
        tools = chosen.get("tools")
        named = [
            _named(each, f"{pointer}/tools/{number}")
            for number, each in enumerate(tools if isinstance(tools, list) else ())
        ]
        # A tool of the service has no name, and no calls that are written.
        return _of_mode(chosen, "mode", [each for each in named if each], pointer)
    if kind in ("function", "custom", "tool"):
        named_one = _named(chosen, pointer)
        if named_one is None:
            return _invalid("the choice of a tool has its `name`", pointer)
        return Choice(REQUIRED, (named_one,), is_named=True, pointer=pointer)
    return _of_mode(chosen, "type", None, pointer)


def _named(entry: Any, pointer: str) -> tuple[str, str] | None:
    """Return the name of the tool that an object is about, with its pointer."""
    kind = entry.get("type") if isinstance(entry, Mapping) else None
    if isinstance(kind, str) and isinstance(entry.get(kind), Mapping):
        entry, pointer = entry[kind], f"{pointer}/{kind}"
    name = entry.get("name") if kind in ("function", "custom", "tool") else None
    return (name, f"{pointer}/name") if isinstance(name, str) else None


def _of_mode(
    chosen: Mapping[str, Any], key: str, names: Sequence[tuple[Any, str]] | None, pointer: str
) -> Choice:
    word = chosen.get(key)
    mode = _MODES.get(word) if isinstance(word, str) else None
    where = f"{pointer}/{key}" if key in chosen else pointer
    if mode is None:
        return _invalid("a choice is `auto`, `required`, `none`, or names tools of the list", where)
    if names is not None and not names:
        if mode == REQUIRED:
            return _invalid("a call is required, and no tool of the list is allowed", where)
        return Choice(NONE, pointer=where)
    return Choice(mode, None if names is None else tuple(names), pointer=where)


def _invalid(message: str, pointer: str) -> Choice:
    return Choice(pointer=pointer, error=message)
