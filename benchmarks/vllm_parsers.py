"""Texts of the tests of vLLM's parsers of calls, read by these parsers and by ``ToolCalls``.

    python -m benchmarks.vllm_parsers FOLDER

``FOLDER`` is the unpacked source of vLLM (``pip download --no-deps --no-clean --no-binary :all:
vllm==0.33.0`` leaves it). Its tests run in this process with a tokenizer of markers and characters;
the packages that vLLM imports are needed, its compiled modules are not. Calls are compared by name
and arguments, content without the blanks around it; text after calls counts where vLLM has it.
Calls have any name where a test gives no tools of these names. Thoughts are taken off as vLLM took
them off. Tests that ask for calls otherwise than by ``auto`` are left out.

``vllm_parsers.json`` has the formats by the names of parsers, the names of tests whose texts are
malformed, which are counted apart, and for those that are read otherwise the reason.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from importlib import import_module
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from kbnf_core.integrations.tool_calls import ToolCalls

DATA: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
METHODS = {"parse": 1, "extract_tool_calls": 1, "extract_tool_calls_streaming": 6}
"""The methods that read calls, and the place of the request among their arguments."""

_MARKER = r"<[^<>\s]{1,60}>|\[[A-Z_/]{3,20}\]"


class Text(NamedTuple):
    """A text, and vLLM's reading of it: content, and names and arguments of calls."""

    test: str
    parser: str
    text: str
    tools: dict[str, Any]
    content: str
    calls: list[tuple[str, Any]]


class Tokenizer(dict[str, int]):
    """A tokenizer of markers and characters; Mistral's before version 11 have no ``[ARGS]``."""

    all_special_tokens: tuple[str, ...] = ()
    all_special_ids: tuple[int, ...] = ()

    def __init__(self, model: str = "", **named: Any) -> None:
        self._is_old = named.get("tokenizer_name", model).endswith("7B-Instruct-v0.3")

    def __missing__(self, token: str) -> int:
        return self.setdefault(token, len(self))

    def __contains__(self, token: object) -> bool:
        is_known = not self._is_old or token != "[ARGS]"
        return is_known and bool(re.fullmatch(f"{_MARKER}|.", str(token), re.DOTALL))

    def get(self, token: str, default: Any = None) -> Any:
        """Return the number of a token that this tokenizer may have."""
        is_known = token in self
        return self[token] if is_known else default

    def get_vocab(self) -> dict[str, int]:
        """Return the numbers of all tokens."""
        return self

    def tokenize(self, text: str, **_: Any) -> list[str]:
        """Return the tokens of a text."""
        return re.findall(f"{_MARKER}|.", text, re.DOTALL)

    def encode(self, text: str, **_: Any) -> list[int]:
        """Return the numbers of the tokens of a text."""
        return [self[each] for each in self.tokenize(text)]

    def decode(self, ids: Any, **_: Any) -> str:
        """Return the text of tokens."""
        known = [*self]
        return "".join(known[each] for each in ([ids] if isinstance(ids, int) else ids))


class Recorder:
    """A plugin of pytest that records what the parsers are given, and return."""

    def __init__(self) -> None:
        self.texts: list[Text] = []
        self._test, self._depth = "", 0
        self._streams: dict[int, tuple[Any, str, Any]] = {}

    def pytest_collection_finish(self) -> None:
        """Wrap what reads calls in all parsers."""
        from vllm.parser.abstract_parser import Parser
        from vllm.tool_parsers import ToolParser

        pending: list[type[Any]] = [ToolParser, Parser]
        for each in pending:
            pending += [kind for kind in each.__subclasses__() if kind not in pending]
            for name in (*METHODS, "parse_delta"):
                method = each.__dict__.get(name)
                if callable(method) and not hasattr(method, "__wrapped__"):
                    setattr(each, name, self._recorded(name, method))

    def pytest_runtest_setup(self, item: Any) -> None:
        """Begin a test."""
        self._test = item.nodeid
        self._streams.clear()

    def pytest_runtest_teardown(self) -> None:
        """Let the parsers of streams read the same texts as a whole."""
        for parser, text, request in [*self._streams.values()]:
            parser.extract_tool_calls(text, request)

    def _recorded(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        place = METHODS.get(name)

        @wraps(method)
        def call(parser: Any, *given: Any, **named: Any) -> Any:
            self._depth += 1
            try:
                found = method(parser, *given, **named)
            finally:
                self._depth -= 1
            if not self._depth and place is not None:
                request: Any = named.get("request", given[place] if len(given) > place else None)
                choice = getattr(request, "tool_choice", None) or "auto"
                if choice == "auto" or (choice == "none" and not request.tools):
                    self._note(name, parser, (*given, *named.values()), request, found)
            return found

        return call

    def _note(self, name: str, parser: Any, given: Any, request: Any, found: Any) -> None:
        if name == "extract_tool_calls_streaming":
            self._streams[id(parser)] = (parser, given[1], request)
            return
        text, reasoning = given[0], None
        if name == "parse":
            reasoning, content, calls = found
        else:
            content, calls = found.content, found.tool_calls
            self._depth += 1
            with suppress(Exception):
                reasoning = None if content else parser.parse(text, request)[0]
            self._depth -= 1
        if reasoning and reasoning in text:
            text = text[text.index(reasoning) + len(reasoning) :].lstrip()
            marker = re.match(r"</\w+>|<\w+\|>", text)
            text = text[marker.end() if marker else 0 :]
        holders = [request, parser, getattr(parser, "_tool_parser", None)]
        holders += [getattr(each, "_parser_engine", None) for each in holders[1:]]
        tools: dict[str, Any] = {}
        for given in (getattr(h, name, None) for h in holders for name in ("tools", "_tools")):
            tools.update(map(_tool, given if isinstance(given, list) else ()))
        functions = [getattr(each, "function", each) for each in calls or ()]
        read = [(str(each.name), _value(each.arguments)) for each in functions]
        name = _name([each for each in holders[1:] if each is not None][-1])
        self.texts.append(Text(self._test, name, text, tools, content or "", read))


def _name(parser: Any) -> str:
    """Return the name of a parser: its configuration's or that of its class."""
    name = getattr(getattr(parser, "parser_engine_config", None), "name", type(parser).__name__)
    return f"{name}{'_pre' if getattr(parser, '_is_pre_v11', False) else ''}".lower()


def _tool(tool: Any) -> tuple[str, Any]:
    """Return the name of a tool and the schema of its arguments."""
    given = tool if isinstance(tool, dict) else tool.model_dump(exclude_none=True)
    given = given.get("function", given)
    return str(given.get("name")), given.get("parameters") or True


def _value(arguments: str | None) -> Any:
    with suppress(ValueError):
        return json.loads(arguments or "{}")
    return {"not JSON": arguments}


def record(folder: Path) -> list[Text]:
    """Return the readings of vLLM's parsers in its tests, each text once."""
    for name in DATA["absent"]:
        sys.modules[name] = ModuleType(name)
        sys.modules[name].__spec__ = ModuleSpec(name, None)
    sys.path.insert(0, str(folder))
    transformers: Any = import_module("transformers")
    tokenizers: Any = import_module("vllm.tokenizers")
    transformers.AutoTokenizer.from_pretrained = Tokenizer
    tokenizers.get_tokenizer = Tokenizer
    recorder = Recorder()
    for part in ("tool_parsers", "parser"):
        tests = folder / "tests" / part
        options = ["-c", "/dev/null", f"--rootdir={folder}", f"--confcutdir={tests}", str(tests)]
        options += ["-p", "no:terminal", "-p", "no:warnings", "-p", "no:cacheprovider"]
        pytest.main([*options, "--continue-on-collection-errors"], plugins=[recorder])
    no_texts = re.compile(DATA["no_texts"], re.IGNORECASE)
    texts = [one for one in reversed(recorder.texts) if not no_texts.search(one.test)]
    return [*reversed({repr((one.parser, one.text, one.tools)): one for one in texts}.values())]


def difference(one: Text, name: str) -> str | None:
    """Return how our reading of a text differs from vLLM's, None where it is alike."""
    tools = [{"name": each, "parameters": schema} for each, schema in one.tools.items()]
    is_known = bool(tools) and {called for called, _ in one.calls} <= one.tools.keys()
    reader = ToolCalls(name, tools, any_name=not is_known)
    deltas = [*reader.feed(one.text), *reader.finish()]
    ours = [(each["name"], _value(each["arguments"])) for each in reader.calls]
    if ours != one.calls:
        return f"calls {ours}, vLLM's {one.calls}"
    first = next((n for n, each in enumerate(deltas) if each.kind == "name"), len(deltas))
    whole, ahead = (
        "".join(each.text for each in some if each.kind == "text").strip()
        for some in (deltas, deltas[:first])
    )
    is_alike = one.content.strip() in (whole, ahead)
    return None if is_alike else f"content {whole!r}, vLLM's {one.content!r}"


def _first(patterns: dict[str, str], text: str) -> str:
    """Return the value of the first pattern that occurs in a text, nothing for none."""
    return next((value for pattern, value in patterns.items() if re.search(pattern, text)), "")


def main() -> None:
    """Print how many texts are read alike, and each that is not, with the reason."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.vllm_parsers")
    parser.add_argument("folder", type=Path, help="the unpacked source of vLLM")
    counts = Counter[tuple[str, str]]()
    for one in record(parser.parse_args().folder.resolve()):
        name = _first(DATA["formats"], one.parser)
        group = "malformed" if re.search(DATA["malformed"], one.test.lower()) else "well-formed"
        different = difference(one, name) if name else None
        result = "different" if different else "alike"
        counts[(group, result) if name else ("no format", one.parser)] += 1
        if different:
            why = "" if group == "malformed" else f"{_first(DATA['reasons'], one.test) or '?'}: "
            sys.stdout.write(f"{group}: {why}{one.test}: {name}: {one.text!r} {different}\n")
    for (group, what), count in sorted(counts.items()):
        sys.stdout.write(f"{group}: {what}: {count}\n")


if __name__ == "__main__":
    main()
