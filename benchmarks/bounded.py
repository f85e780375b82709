"""Work that is given up after some time, so that one case does not hold up a thousand."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class TooLongError(BaseException):
    """The time is up; no ``Exception``, as work may catch all of those."""


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Raise ``TooLongError`` in the body after so many seconds, if there are timers."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
