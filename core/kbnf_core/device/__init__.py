"""The whole constraint as a table on the device that samples: no mask is filled or copied per step.

A grammar whose states are finitely many is a deterministic automaton over tokens, and tokens that
behave alike in every state are one class, some hundreds for a real vocabulary. So the constraint
is a table of states by classes, some tens of kilobytes, and one class a token:

- ``table.TokenTable`` builds, saves and loads it (NumPy only);
- ``constraint.DeviceGrammars`` masks logits and advances states of a batch, in torch operations;
- ``constraint.NearestEnds`` masks so that texts are over within a number of tokens;
- ``constraint.RowTable`` serves grammars that do not close: mask rows on the device, by number;
- ``constraint.DeviceConstraint`` picks between the two for each sequence, after one loop.

torch is imported with all but the first; without it that raises ``MissingExtraError``.

Tests: tests/unit/device/test_group.py, tests/unit/device/test_build.py
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbnf_core.device.build import TableTooLargeError
    from kbnf_core.device.constraint import (
        DeviceBatch,
        DeviceConstraint,
        DeviceGrammars,
        NearestEnds,
        RowTable,
    )
    from kbnf_core.device.table import TokenTable

SUFFIX = ".kbnfd"
"""The suffix of the files of tables."""

_HOMES = {
    "DeviceBatch": "constraint",
    "DeviceConstraint": "constraint",
    "DeviceGrammars": "constraint",
    "NearestEnds": "constraint",
    "RowTable": "constraint",
    "TableTooLargeError": "build",
    "TokenTable": "table",
}

__all__ = [
    "SUFFIX",
    "DeviceBatch",
    "DeviceConstraint",
    "DeviceGrammars",
    "NearestEnds",
    "RowTable",
    "TableTooLargeError",
    "TokenTable",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
