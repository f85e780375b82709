"""Texts of alternatives whose rules are known: a known tool is found in a text, and not read again.

A schema of the calls of some tools is an ``anyOf`` and nothing else. The text of an alternative
that was read before, in such a schema and with the same options, stands for the rules it has. So
only what is new is read and converted, as a schema of the new alternatives; a text is compared
with those that begin like it. Whatever is not plain here (another keyword, something to be said of
a schema) is read as any schema is.
"""

import json
import re
from collections import OrderedDict
from collections.abc import Iterator
from decimal import Decimal
from threading import Lock
from typing import NamedTuple

from kbnf_core.ir import Part
from kbnf_core.languages.json_schema.parts import LARGEST, PARTS, Key
from kbnf_core.text.json_text import Json, refuse_constant, refuse_halves

_OPENING = re.compile(r'\s*\{\s*"anyOf"\s*:\s*\[\s*')
_BETWEEN = re.compile(r"\s*,\s*")
_CLOSING = re.compile(r"\s*\]\s*\}\s*")
_DECODER = json.JSONDecoder(parse_float=Decimal, parse_int=Decimal, parse_constant=refuse_constant)

BEGINNING = 96
"""Characters by which texts are looked up."""

ALL = 2**23
"""Characters of all texts that are remembered, with the keys of their parts."""


class Alternative(NamedTuple):
    """An alternative as it stands in a text: the part it is known to be, or what was read."""

    text: str
    part: Part | None
    value: Json = None


class Texts:
    """The texts of a process, by settings and by how they begin; the oldest go first."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str], dict[str, Key]] = OrderedDict()
        self._size = 0
        self._lock = Lock()

    def alternatives(self, text: str, settings: str) -> list[Alternative] | None:
        """Return the alternatives of a schema that is nothing else; None for any other text."""
        opening = _OPENING.match(text)
        if opening is None:
            return None
        try:
            return list(self._each(text, settings, opening.end()))
        except (ValueError, RecursionError):
            return None

    def _each(self, text: str, settings: str, at: int) -> Iterator[Alternative]:
        while True:
            known = self._find(text, settings, at)
            if known is None:
                value, end = _DECODER.raw_decode(text, at)
                refuse_halves(text[at:end])
                known = Alternative(text[at:end], None, value)
            yield known
            end = at + len(known.text)
            comma = _BETWEEN.match(text, end)
            if comma is None:
                break
            at = comma.end()
        if _CLOSING.fullmatch(text, end) is None:
            raise ValueError(text)

    def _find(self, text: str, settings: str, at: int) -> Alternative | None:
        known = self._known.get((settings, text[at : at + BEGINNING]))
        for each, key in () if known is None else known.items():
            if text.startswith(each, at):
                part = PARTS.find(key)
                return None if part is None else Alternative(each, part)
        return None

    def keep(self, text: str, settings: str, key: Key) -> None:
        """Remember that an alternative with this text is a part, by its key among ``PARTS``."""
        if not BEGINNING <= len(text) <= LARGEST or "$" in text:
            return
        beginning = settings, text[:BEGINNING]
        with self._lock:
            known = self._known.pop(beginning, {})
            if text not in known:
                self._size += len(text) + sum(map(len, key))
            self._known[beginning] = {**known, text: key}
            while self._size > ALL:
                _, gone = self._known.popitem(last=False)
                self._size -= sum(len(each) + sum(map(len, key)) for each, key in gone.items())

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._known.clear()
            self._size = 0


TEXTS = Texts()
