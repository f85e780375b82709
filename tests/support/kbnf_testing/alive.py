"""Which processes there are: by /proc, where there is one."""

import os
from pathlib import Path


def descendants(pid: int) -> set[int]:
    """Return the processes that a process has started, and those that they have."""
    found, left = set[int](), [pid]
    while left:
        # A process is the child of the thread that started it.
        tasks = Path(f"/proc/{left.pop()}/task").glob("*/children")
        new = {int(child) for task in tasks for child in task.read_text().split()} - found
        found |= new
        left += new
    return found


def is_alive(pid: int) -> bool:
    """Return whether a process has not ended; one that nobody has waited for has."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return not Path("/proc").is_dir()
    return "\nState:\tZ" not in status
