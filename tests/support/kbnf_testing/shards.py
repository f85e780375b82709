"""Shards of the tests: equal shares by chance, which different runs complete.

A test belongs to the shard that the CRC of its name chooses, so its shard stays the same while
other tests come and go, and long cases of one test are spread over all shards.
"""

from argparse import ArgumentTypeError
from dataclasses import dataclass
from typing import Self
from zlib import crc32


@dataclass(frozen=True)
class Shard:
    """One of ``count`` shards; ``index`` is 1 for the first one."""

    index: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the shard that a text such as ``3/9`` names."""
        index, _, count = text.partition("/")
        if not (index.isdecimal() and count.isdecimal() and 1 <= int(index) <= int(count)):
            raise ArgumentTypeError(f"not a shard such as 3/9: {text!r}")
        return cls(int(index), int(count))

    def contains(self, test: str) -> bool:
        """Return whether the shard has a test, given its node id."""
        return crc32(test.encode()) % self.count == self.index - 1
