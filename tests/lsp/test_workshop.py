"""What becomes of texts beside a text that is slow, or that ends the process."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="needs the extra `lsp`")

from kbnf_cli.lsp import workshop
from kbnf_cli.lsp.analysis import AnalysisRequest, TextAnalysis
from kbnf_cli.lsp.findings import diagnostics
from kbnf_cli.lsp.workshop import OpenText, Workshop
from kbnf_cli.worker import KnownResult, Reason, Unknown
from kbnf_core.text.source import Source
from kbnf_testing.tasks import POISON, SLOW, analyse_with_faults, process

SUPPORT = Path(__file__).resolve().parents[1] / "support"
WRONG = "start ::= nope;"


class Desk:
    """A workshop over files of a folder, and what it published, by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.published: dict[str, list[str]] = {}
        self.workshop = Workshop(self._publish)
        self._news = asyncio.Event()

    async def _publish(self, uri: str, entry: OpenText) -> None:
        match entry.analysed:
            case KnownResult(analysis):
                found = "known: " + " ".join(each.code for each in analysis.findings)
            case Unknown(reason):
                found = reason.name
            case None:
                pytest.fail("nothing was looked at")
        self.published.setdefault(uri, []).append(found)
        self._news.set()

    def type(self, name: str, text: str) -> None:
        """Change a text."""
        self.workshop.change(
            name, AnalysisRequest(text, str(self.folder / name), (str(self.folder),))
        )

    async def until(self, name: str, count: int = 1) -> list[str]:
        """Return what was published of a text, once it was published so often."""
        async with asyncio.timeout(120):
            while len(self.published.get(name, ())) < count:
                self._news.clear()
                await self._news.wait()
        return self.published[name]

    def tries(self, name: str) -> int:
        """Return how often a text was looked at."""
        return len((self.folder / name).read_text().splitlines())


@pytest.fixture
def at_desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[Desk], Awaitable[None]]], None]:
    monkeypatch.setenv("PYTHONPATH", str(SUPPORT))
    monkeypatch.setattr(workshop, "analyse", analyse_with_faults)
    monkeypatch.setattr(workshop, "TURN", 1.0)

    def run(use: Callable[[Desk], Awaitable[None]]) -> None:
        async def main() -> None:
            desk = Desk(tmp_path)
            try:
                await use(desk)
            finally:
                desk.workshop.end()

        asyncio.run(main())

    return run


AtDesk = Callable[[Callable[[Desk], Awaitable[None]]], None]


def test_texts_beside_a_slow_one_are_known_and_it_is_given_up_once(at_desk: AtDesk) -> None:
    async def use(desk: Desk) -> None:
        desk.type("slow.kbnf", SLOW)
        await asyncio.sleep(0.2)
        for name in ("a.kbnf", "b.kbnf", "c.kbnf"):
            desk.type(name, WRONG)
        for name in ("a.kbnf", "b.kbnf", "c.kbnf"):
            assert await desk.until(name) == ["known: E101"]
        # It is tried again in peace, and stopped when others wait once more.
        desk.type("a.kbnf", WRONG + " ")
        assert await desk.until("a.kbnf", 2) == ["known: E101"] * 2
        assert await desk.until("slow.kbnf") == [Reason.STOPPED.name]
        assert desk.tries("slow.kbnf") == 2
        desk.type("slow.kbnf", WRONG)
        assert await desk.until("slow.kbnf", 2) == [Reason.STOPPED.name, "known: E101"]

    at_desk(use)


def test_versions_that_were_typed_over_are_never_looked_at(at_desk: AtDesk) -> None:
    async def use(desk: Desk) -> None:
        for index in range(50):
            desk.type("a.kbnf", WRONG + " " * index)
        desk.type("a.kbnf", "start ::= 'x';")
        assert await desk.until("a.kbnf") == ["known: "]
        assert desk.tries("a.kbnf") == 1

    at_desk(use)


def test_a_text_that_takes_too_long_by_itself_is_given_up(
    at_desk: AtDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workshop, "PATIENCE", 1.5)

    async def use(desk: Desk) -> None:
        desk.type("slow.kbnf", SLOW + "start ::= nope;")
        desk.type("slow.kbnf", SLOW)
        assert await desk.until("slow.kbnf") == [Reason.LATE.name]
        assert desk.tries("slow.kbnf") == 1
        entry = desk.workshop.entry("slow.kbnf")
        assert entry is not None
        assert isinstance(entry.analysed, Unknown)
        assert entry.analysed.so_far is not None

    at_desk(use)


@pytest.mark.parametrize(
    ("so_far", "said"),
    [(None, ["not analysed: it takes too long"]), ((), ["checked for errors only: it takes"])],
)
def test_what_is_not_known_is_said(so_far: tuple[()] | None, said: list[str]) -> None:
    request = AnalysisRequest("start ::= nope;", "a.kbnf", ())
    analysis = TextAnalysis(Source(request.text), so_far) if so_far is not None else None
    entry = OpenText(request, analysis, Unknown(Reason.LATE, analysis))
    found = diagnostics(entry, "utf-16", "untitled:a.kbnf")
    assert len(found) == len(said)
    assert all(words in each.message for words, each in zip(said, found, strict=True))
    entry.analysed = KnownResult(TextAnalysis(Source(request.text)))
    entry.tried = Unknown(Reason.ENDED)
    (notice,) = diagnostics(entry, "utf-16", "untitled:a.kbnf")
    assert notice.message.startswith("the examples of this text were not run")


def test_a_newer_version_does_not_wait_for_a_slow_one(at_desk: AtDesk) -> None:
    async def use(desk: Desk) -> None:
        desk.type("a.kbnf", SLOW)
        await asyncio.sleep(0.5)
        desk.type("a.kbnf", WRONG)
        assert await desk.until("a.kbnf") == ["known: E101"]

    at_desk(use)


def test_a_text_that_ends_its_process_twice_is_given_up_alone(at_desk: AtDesk) -> None:
    async def use(desk: Desk) -> None:
        for name, text in (("a.kbnf", WRONG), ("poison.kbnf", POISON), ("b.kbnf", WRONG)):
            desk.type(name, text)
        assert await desk.until("poison.kbnf") == [Reason.ENDED.name]
        assert await desk.until("a.kbnf") == ["known: E101"]
        assert await desk.until("b.kbnf") == ["known: E101"]
        assert desk.tries("poison.kbnf") == 2
        desk.type("poison.kbnf", WRONG)
        assert await desk.until("poison.kbnf", 2) == [Reason.ENDED.name, "known: E101"]

    at_desk(use)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs signals")
def test_a_text_whose_process_is_killed_is_looked_at_again(at_desk: AtDesk) -> None:
    async def use(desk: Desk) -> None:
        number = await desk.workshop.run(process, None)
        assert isinstance(number, KnownResult)
        os.kill(number.value, signal.SIGSTOP)
        desk.type("a.kbnf", WRONG)
        await asyncio.sleep(0.5)
        os.kill(number.value, signal.SIGKILL)
        assert await desk.until("a.kbnf") == ["known: E101"]

    at_desk(use)
