"""Analyses of open texts: made one after the other in a process, the newest version only.

A version that another follows before its turn is never looked at. A text that ends the process, or
takes too long, stays without findings until it changes.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from kbnf_cli.executors import Process
from kbnf_cli.lsp.analysis import Analysis, Request, Result, analyse, run_examples
from kbnf_core.source import Source

PATIENCE = 60.0
"""Seconds after which a task is given up; ``Limits.work`` ends most before."""

_PAUSE = 0.05
"""Seconds without typing after which a text is looked at."""

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


@dataclass(slots=True)
class Entry:
    """An open text: its newest version, and the newest that was looked at, with its examples."""

    wanted: Request
    analysis: Analysis
    results: tuple[Result, ...] = ()
    work: asyncio.Task[None] | None = None

    @property
    def is_current(self) -> bool:
        """Whether the newest version was looked at."""
        return self.analysis.source.text == self.wanted.text


class Workshop:
    """The open texts by their URIs; ``publish`` is called with each new analysis."""

    def __init__(self, publish: Callable[[str, Entry], Awaitable[None]]) -> None:
        self._publish = publish
        self._process = Process(PATIENCE)
        self._entries: dict[str, Entry] = {}

    def change(self, uri: str, request: Request) -> None:
        """Take over a new version of a text."""
        entry = self._entries.get(uri)
        if entry is None:
            nothing = Analysis(Source("", request.path))
            entry = self._entries[uri] = Entry(request, nothing)
        entry.wanted = request
        if entry.work is None or entry.work.done():
            entry.work = asyncio.create_task(self._catch_up(uri, entry))

    def close(self, uri: str) -> None:
        """Forget a text."""
        self._entries.pop(uri, None)

    def entry(self, uri: str) -> Entry | None:
        """Return what is known of an open text."""
        return self._entries.get(uri)

    async def current(self, uri: str) -> Entry | None:
        """Return what is known of the newest version of an open text, once it is known."""
        entry = self._entries.get(uri)
        if entry is not None and entry.work is not None:
            await asyncio.shield(entry.work)
        return entry if entry is not None and entry.is_current else None

    async def run(self, task: Callable[[_Given], _Made], given: _Given) -> _Made | None:
        """Return the result of another task, after those that wait."""
        return await self._process.run(task, given)

    def end(self) -> None:
        """End what is under way."""
        self._process.end()

    async def _catch_up(self, uri: str, entry: Entry) -> None:
        done: Request | None = None
        while done is not entry.wanted and self._entries.get(uri) is entry:
            await asyncio.sleep(_PAUSE)
            done = entry.wanted
            made = await self._process.run(analyse, done)
            entry.analysis = made or Analysis(Source(done.text, done.path))
            if done is entry.wanted:
                await self._publish(uri, entry)
                await self._try_examples(uri, entry)

    async def _try_examples(self, uri: str, entry: Entry) -> None:
        asked = entry.wanted
        if not entry.analysis.has_examples:
            entry.results = ()
            return
        results = await self._process.run(run_examples, asked) or ()
        if asked is entry.wanted and results != entry.results:
            entry.results = results
            await self._publish(uri, entry)
