"""Texts of alternatives whose rules are known: a known tool is found in a text, and not read again.

A schema of the calls of some tools is an ``anyOf`` and nothing else. The text of an alternative
that was read before, in such a schema and with the same options, stands for the rules it has. So
only what is new is read and converted, as a schema of the new alternatives; a text is compared
with those that begin like it. Whatever is not plain here (another keyword, something to be said of
a schema) is read as any schema is.
"""

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from kbnf_core.ir import Part
from kbnf_core.languages.json_schema.parts import LARGEST, PARTS, Key
from kbnf_core.text.json_text import Json, refuse_constant, refuse_halves
from kbnf_core.text.remembered import Remembered

_OPENING = re.compile(r'\s*\{\s*"anyOf"\s*:\s*\[\s*')
_BETWEEN = re.compile(r"\s*,\s*")
_CLOSING = re.compile(r"\s*\]\s*\}\s*")
_DECODER = json.JSONDecoder(parse_float=Decimal, parse_int=Decimal, parse_constant=refuse_constant)

BEGINNING = 96
"""Characters by which texts are looked up."""

ALL = 2**21
"""Characters of all texts that are remembered, with the keys of their parts."""


class Alternative(NamedTuple):
    """An alternative as it stands in a text: the part it is known to be, or what was read."""

    text: str
    part: Part | None
    value: Json = None


def is_list(text: str) -> bool:
    """Tell whether a text begins as a schema does that is a list of alternatives."""
    return _OPENING.match(text) is not None


Beginning = tuple[str, str]
"""The settings, and how a text begins."""


class Texts(Remembered[Beginning, dict[str, Key]]):
    """The texts of a process, with the keys of their parts, by settings and by how they begin."""

    def __init__(self, most: int = ALL) -> None:
        super().__init__(most, _size_of)

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
        known = self.find((settings, text[at : at + BEGINNING]))
        for each, key in () if known is None else tuple(known.items()):
            if text.startswith(each, at):
                part = PARTS.find(key)
                return None if part is None else Alternative(each, part)
        return None

    def keep_text(self, text: str, settings: str, key: Key) -> None:
        """Remember that an alternative with this text is a part, by its key among ``PARTS``."""
        if BEGINNING <= len(text) <= LARGEST and "$" not in text:
            beginning = settings, text[:BEGINNING]
            known = self.find(beginning)
            if known is None:
                self.keep(beginning, {text: key})
            else:
                known[text] = key
                self.recount((beginning,))


def _size_of(beginning: Beginning, known: dict[str, Key]) -> int:
    return len(beginning[1]) + sum(len(text) + sum(map(len, key)) for text, key in known.items())


TEXTS = Texts()
