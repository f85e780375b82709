"""Weights: what an edit costs, by the bytes that it inserts, deletes or replaces.

Costs are small where people and models err (a bracket, a quote, a comma, a blank, a fence) and
large where data would be made up or lost. ``docs/repair.md`` has the tables for users.
"""

from dataclasses import dataclass, replace

from kbnf_core.text.errors import ConfigError

Rewrites = tuple[tuple[bytes, bytes, float], ...]


@dataclass(frozen=True, slots=True)
class Weights:
    """A table of costs.

    ``sign`` and ``blank``: to insert or delete one (ASCII that is no letter or digit); to delete a
    blank between two letters costs as a sign.
    ``noise``: to delete a letter or digit that does not fit.
    ``forced``: to insert a letter or digit where the grammar takes no other byte.
    ``chosen``: to insert another one, or anything in free text: data is made up.
    ``content``: to delete a letter or digit that fits, or anything in free text: data is lost.
    ``swapped``: to swap two neighbouring characters; in free text it costs as ``content``.
    ``around``: to delete all before the text or all after it; beside this 0.002 a byte.
    ``closed``: to add at the end of the text what is neither chosen nor a quote.
    ``opened``: beside ``sign``, a quote where no free text is, before what is no letter or digit.
    ``quoted``: to put a word (letters, digits, ``_`` and ``-``), where no free text is, between two
    quotes.
    ``marker``: what an edit costs at least where a text may end, or begins, in free text out of
    which it leads, as the marker before a call does: the call would become free text.
    ``rewrites``: (bytes, what they become, cost).

    To replace a character costs 0.1 more than the dearer of deleting it and inserting the other.
    Of a character beyond ASCII its first byte costs this, each other one a quarter of ``forced``.
    To close a text that was cut costs 0.001 a byte, at most 0.05: less than any edit.
    """

    sign: float = 1.0
    blank: float = 0.5
    noise: float = 1.0
    forced: float = 0.5
    chosen: float = 3.0
    content: float = 3.0
    swapped: float = 1.0
    around: float = 2.5
    closed: float = 0.3
    opened: float = 1.5
    quoted: float = 1.5
    marker: float = 9.0
    rewrites: Rewrites = ()

    def __post_init__(self) -> None:
        prices = [getattr(self, name) for name in self.__slots__ if name != "rewrites"]
        prices += [cost for *_, cost in self.rewrites]
        if not all(_LEAST <= each <= _MOST for each in prices):
            raise ConfigError(f"a cost of an edit is from {_LEAST} to {_MOST:,}")


_LEAST, _MOST = 0.1, 1_000_000

ANY = Weights()
"""For any language."""

JSON = replace(
    ANY,
    quoted=0.6,
    rewrites=(
        # Literals of Python and JavaScript, and their quotes.
        (b"None", b"null", 0.4),
        (b"undefined", b"null", 0.4),
        (b"NaN", b"null", 0.4),
        (b"True", b"true", 0.4),
        (b"False", b"false", 0.4),
        (b"'", b'"', 0.2),
        ("\N{LEFT DOUBLE QUOTATION MARK}".encode(), b'"', 0.2),
        ("\N{RIGHT DOUBLE QUOTATION MARK}".encode(), b'"', 0.2),
        (b"\\'", b"'", 0.5),
        # What has to be escaped in strings.
        (b'"', b'\\"', 0.9),
        (b"\\", b"\\\\", 0.9),
        (b"\n", b"\\n", 0.4),
        (b"\r", b"\\r", 0.4),
        (b"\t", b"\\t", 0.4),
        # Commas before a closing bracket.
        (b",}", b"}", 0.6),
        (b",]", b"]", 0.6),
        # Fences.
        (b"```json\n", b"", 0.6),
        (b"```\n", b"", 0.6),
        (b"\n```", b"", 0.6),
        (b"```", b"", 0.6),
    ),
)
"""For JSON, and for texts with JSON in them."""
