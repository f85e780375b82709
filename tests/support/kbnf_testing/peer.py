"""A reference engine in a process of its own, which may hang or die at any time."""

import json
import os
import select
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

_TESTS = Path(__file__).resolve().parents[2]
_DRIVER = _TESTS / "differential" / "driver.py"


@dataclass(frozen=True, slots=True)
class PeerStep:
    """What a peer said to one offer: a word of ``Outcome`` (or a panic), and the ids after it."""

    result: str
    allowed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a peer said; ``error`` is empty if it could make an engine."""

    error: str = ""
    initial: tuple[int, ...] = ()
    steps: tuple[PeerStep, ...] = ()

    @property
    def crashed(self) -> bool:
        """Whether the peer hung, died or panicked instead of answering."""
        results = (self.error, *(step.result for step in self.steps))
        return any(text.startswith(("PanicException", "hang", "death")) for text in results)


class Peer:
    """Runs ``driver.py`` under ``python``; a process that does not answer is replaced."""

    def __init__(self, python: Path, version: str) -> None:
        self.version = version
        self._python = python
        self._process = self._start()

    def run(
        self,
        grammar: str,
        tokens: Mapping[int, bytes],
        offers: Sequence[int | bytes],
        timeout: float = 3,
    ) -> Answer:
        """Return the answer; ``error`` is ``hang`` or ``death`` where there was none."""
        request = {
            "grammar": grammar,
            "tokens": {token_id: data.hex() for token_id, data in tokens.items()},
            "offers": [offer.hex() if isinstance(offer, bytes) else offer for offer in offers],
        }
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._read(timeout)

    def _read(self, timeout: float) -> Answer:
        output = self._process.stdout
        assert output is not None
        ready, _, _ = select.select([output], [], [], timeout)
        line = output.readline() if ready else ""
        if line:
            return _parse(json.loads(line))
        self.close()
        self._process = self._start()
        return Answer(error="death" if ready else "hang")

    def _start(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [str(self._python), str(_DRIVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, "RUST_BACKTRACE": "0"},
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", "the driver did not start"
        return process

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _parse(message: dict[str, Any]) -> Answer:
    if "error" in message:
        return Answer(error=message["error"])
    steps = tuple(PeerStep(step["result"], tuple(step["allowed"])) for step in message["steps"])
    return Answer(initial=tuple(message["initial"]), steps=steps)
