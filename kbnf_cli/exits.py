"""Exit statuses; scripts rely on them."""

from enum import IntEnum


class Exit(IntEnum):
    """What the process ends with."""

    CLEAN = 0
    FINDINGS = 1
    """Findings that count, or a prefix that was rejected."""
    TROUBLE = 2
    """Wrong usage, an unreadable file, bad configuration, internal failure."""
    INTERRUPTED = 130
    """128 + SIGINT, as shells report it."""
