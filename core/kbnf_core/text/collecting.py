"""Holding the collector of cyclic garbage back while a grammar is made.

Making one allocates containers by the ten thousand, nearly all of which live to the end or die by
their count. The collector looks through them again and again, a tenth of the time of large schemas,
and finds nothing. What a grammar can allocate is bounded by its limits of work.

Held back, the collector would make up for it with the first allocation afterwards, and when it is
due, by looking through the whole heap of the program, which takes tens of milliseconds. So the new
objects, and only these, are looked through at the end: older ones wait for the program's own turn.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collecting() -> Iterator[None]:
    """Turn the collector off, and on again where it was on; other threads do without it, too."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if gc.get_count()[0] > gc.get_threshold()[0] > 0:
                gc.collect(0)
            gc.enable()
