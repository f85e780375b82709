"""Tasks for the worker process of servers, some of them hard on it."""

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from kbnf_cli.lsp.analysis import AnalysisRequest, TextAnalysis, analyse

POISON, SLOW = "(* poison *)", "(* slow *)"


def steps(pauses: Sequence[float]) -> Iterator[int]:
    """Yield how many pauses, in seconds, came before; the last one goes unnoticed."""
    for done, pause in enumerate(pauses):
        yield done
        time.sleep(pause)


def process(_: object) -> Iterator[int]:
    """Yield the number of the process."""
    yield os.getpid()


def exit_at_once(status: int) -> Iterator[None]:
    """End the process."""
    os._exit(status)
    yield


def fail(message: str) -> Iterator[None]:
    """Raise an error that nobody expects."""
    raise ValueError(message)
    yield


def analyse_with_faults(request: AnalysisRequest) -> Iterator[TextAnalysis]:
    """Do as ``analyse``, but for two texts; leaves a line in the text's file each time."""
    with Path(request.path).open("a", encoding="utf-8") as file:
        file.write("tried\n")
    if request.text == POISON:
        os._exit(1)
    for each in analyse(request):
        yield each
        if request.text == SLOW:
            time.sleep(3600)
