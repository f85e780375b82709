"""Asks engines whether they accept a schema or a grammar, and what of it they do not enforce.

Engines are asked, not tabulated: what becomes of a keyword depends on the schema around it. Each
engine runs in a process of its own (``process``, ``engines``); the documents it is asked about are
made here (``values``, ``violations``) and judged by two others (``judges``). This file contains the
names of targets, for options and settings, and imports nothing for them.

Tests: tests/unit/targets/test_process.py
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

ENGINE_NAMES = ("xgrammar", "llguidance", "outlines-core", "llama.cpp")
"""The engines that can be asked."""

SERVICE_NAMES = ("openai", "anthropic", "gemini", "cohere", "mistral")
"""The hosted services, of which documents are known."""

ALL = "all"
"""All engines that are installed."""


class Host(NamedTuple):
    """A program that serves models: its version, and its engines with the versions that it has.

    The engines are in the order in which it tries them, by its defaults.
    """

    version: str
    engines: Mapping[str, str]

    def note(self, name: str, engine: str) -> str:
        """Return what the host has of an engine, in words."""
        title = f"{name}@{self.version}" if self.version else name
        others = list(self.engines)
        index = others.index(engine)
        after = f" and tries it after {others[index - 1]}" if index else ""
        return f"{title} has {self.engines[engine]}{after}"


HOSTS: Mapping[str, Host] = MappingProxyType(
    {
        # From the metadata and the defaults of their wheels, read on 2026-11-28. vLLM's backend
        # `auto` goes on where the one before refuses, or a keyword is known as not enforced.
        "vllm": Host("0.33", {"xgrammar": "0.2.8", "llguidance": "1.7", "outlines-core": "0.2.14"}),
        "sglang": Host("0.5", {"xgrammar": "0.2.7"}),
        # From its repository, read on 2026-11-28: `format` is "json" or a schema, which an object
        # must be; llama.cpp's converter makes the grammar, into a buffer of that size.
        "ollama": Host(
            "",
            {
                "llama.cpp": "a build of its own, which gets 32 KiB of the grammar, or four times"
                " the size of the schema if that is more"
            },
        ),
    }
)
"""Programs that serve models, by name."""

HOST_NAMES = (
    *HOSTS,
    *(f"{name}@{host.version}" for name, host in HOSTS.items() if host.version),
)
"""What hosts are called: with their version, or without."""


def engines_of(names: Iterable[str]) -> dict[str, str]:
    """Return names with hosts replaced by their engines, and what the hosts have of them."""
    result: dict[str, str] = {}
    for name in names:
        host = HOSTS.get(name.partition("@")[0])
        if host is None:
            result.setdefault(name, "")
            continue
        for engine in host.engines:
            notes = (result.get(engine, ""), host.note(name.partition("@")[0], engine))
            result[engine] = "; ".join(filter(None, notes))
    return result
