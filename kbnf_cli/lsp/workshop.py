"""Analyses of open texts: made one after the other in a process, the newest version only.

A version that another one follows before its turn is never analysed. An analysis that is stopped
for the sake of others, or whose process ends, is tried again once, after the waiting ones; then,
and where it takes too long by itself, the text is given up until it changes. Published are the
findings in the newest version, with the reason if these are not all.

Tests: tests/lsp/test_workshop.py
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from kbnf_cli.lsp.analysis import (
    AnalysisRequest,
    ExampleResult,
    TextAnalysis,
    analyse,
    run_examples,
)
from kbnf_cli.worker import KnownResult, Reason, Unknown, Worker

PATIENCE = 30.0
"""Seconds after which a task is given up; ``Limits.work`` ends most before."""

TURN = 3.0
"""Seconds after which a task is stopped while others wait."""

_TRIES = 2
"""How often a task is begun that may not be the cause of its end."""

_PAUSE = 0.05
"""Seconds without typing after which a text is looked at."""

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")

_MAY_BE_INNOCENT = (Reason.STOPPED, Reason.ENDED)


@dataclass(slots=True)
class OpenText:
    """An open text: its newest version, and the results of the newest analysed one.

    ``analysis`` is the newest that there is, possibly of an earlier version; ``tried`` has the
    outcomes of the examples, None before they were run, and where there are none.
    """

    wanted: AnalysisRequest
    analysis: TextAnalysis | None = None
    analysed: KnownResult[TextAnalysis] | Unknown[TextAnalysis] | None = None
    tried: KnownResult[tuple[ExampleResult, ...]] | Unknown[tuple[ExampleResult, ...]] | None = None
    work: asyncio.Task[None] | None = None

    @property
    def is_current(self) -> bool:
        """Whether the newest analysis is of the newest version."""
        return self.analysis is not None and self.analysis.source.text == self.wanted.text


class Workshop:
    """The open texts by their URIs; ``publish`` is called with each that was looked at."""

    def __init__(self, publish: Callable[[str, OpenText], Awaitable[None]]) -> None:
        self._publish = publish
        self._worker = Worker(PATIENCE, TURN)
        self._entries: dict[str, OpenText] = {}

    def change(self, uri: str, request: AnalysisRequest) -> None:
        """Take over a new version of a text."""
        entry = self._entries.setdefault(uri, OpenText(request))
        entry.wanted = request
        if entry.work is None or entry.work.done():
            entry.work = asyncio.create_task(self._catch_up(uri, entry))
        else:
            self._worker.hurry()

    def close(self, uri: str) -> None:
        """Forget a text."""
        self._entries.pop(uri, None)

    def entry(self, uri: str) -> OpenText | None:
        """Return an open text with its analysis."""
        return self._entries.get(uri)

    async def current(self, uri: str) -> OpenText | None:
        """Return an open text once its newest version was looked at, or given up."""
        entry = self._entries.get(uri)
        if entry is not None and entry.work is not None and not entry.work.done():
            self._worker.hurry()
            await asyncio.shield(entry.work)
        return entry

    async def run(
        self, task: Callable[[_Given], Iterable[_Made]], given: _Given
    ) -> KnownResult[_Made] | Unknown[_Made]:
        """Return the result of another task, after those that wait."""
        return await self._worker.run(task, given)

    def end(self) -> None:
        """End the tasks under way."""
        for entry in self._entries.values():
            if entry.work is not None:
                entry.work.cancel()
        self._worker.end()

    async def _catch_up(self, uri: str, entry: OpenText) -> None:
        done: AnalysisRequest | None = None
        while done is not entry.wanted and self._entries.get(uri) is entry:
            await asyncio.sleep(_PAUSE)
            done = entry.wanted
            entry.analysed = await self._try(analyse, entry)
            if isinstance(entry.analysed, KnownResult):
                entry.analysis = entry.analysed.value
            else:
                entry.analysis = entry.analysed.so_far or entry.analysis
            entry.tried = None
            if done is not entry.wanted:
                continue
            await self._publish(uri, entry)
            if isinstance(entry.analysed, KnownResult) and entry.analysed.value.has_examples:
                tried = await self._try(run_examples, entry)
                if done is entry.wanted:
                    entry.tried = tried
                    await self._publish(uri, entry)

    async def _try(
        self, task: Callable[[AnalysisRequest], Iterable[_Made]], entry: OpenText
    ) -> KnownResult[_Made] | Unknown[_Made]:
        """Return the result of a task over the newest version, which may have to be repeated."""
        request = entry.wanted
        for _ in range(_TRIES):
            outcome = await self._worker.run(task, request)
            if isinstance(outcome, KnownResult) or outcome.reason not in _MAY_BE_INNOCENT:
                break
            if request is not entry.wanted:
                break
        return outcome
