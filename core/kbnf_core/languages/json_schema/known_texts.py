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
from kbnf_core.languages.json_schema.keywords import REFERENCES
from kbnf_core.languages.json_schema.parts import LARGEST, PARTS, Key
from kbnf_core.text.json_text import Json, read_number, refuse_constant, refuse_halves
from kbnf_core.text.remembered import Remembered

_OPENING = re.compile(r'\s*\{\s*"anyOf"\s*:\s*\[\s*')
_BETWEEN = re.compile(r"\s*,\s*")
_CLOSING = re.compile(r"\s*\]\s*\}\s*")
_DECODER = json.JSONDecoder(
    parse_float=read_number, parse_int=Decimal, parse_constant=refuse_constant
)

BEGINNING = 96
"""Characters by which texts are looked up."""

ALL = 2**21
"""Characters of all texts that are remembered, with the keys of their parts."""


class Alternative(NamedTuple):
    """An alternative as it stands in a text: the part it is known to be, or what was read."""

    text: str
    part: Part | None
    value: Json = None


def _decoded(text: str, at: int) -> tuple[Json, int]:
    """Return the value that begins at a place, and where it ends. Raises ValueError."""
    value, end = _DECODER.raw_decode(text, at)
    refuse_halves(text[at:end])
    return value, end


def is_list(text: str) -> bool:
    """Tell whether a text begins as a schema does that is a list of alternatives."""
    return _OPENING.match(text) is not None


def _refers(alternative: Alternative) -> bool:
    """Tell whether an alternative that was read has references."""
    pending = [alternative.value] if "$" in alternative.text or "\\" in alternative.text else []
    for value in pending:
        if isinstance(value, dict):
            if not REFERENCES.isdisjoint(value):
                return True
            pending += value.values()
        elif isinstance(value, list):
            pending += value
    return False


Beginning = tuple[str, str]
"""The settings, and how a text begins."""


class Texts(Remembered[Beginning, dict[str, Key]]):
    """The texts of a process, with the keys of their parts, by settings and by how they begin."""

    def __init__(self, most: int = ALL) -> None:
        super().__init__(most, _size_of)

    def alternatives(self, text: str, settings: str) -> list[Alternative] | None:
        """Return the alternatives of a schema that is nothing else; None for any other text.

        None, too, where some are known and others have references: these are to the whole text.
        """
        opening = _OPENING.match(text)
        if opening is None:
            return None
        try:
            read = list(self._each(text, settings, opening.end()))
            parts = iter(PARTS.find_all(key for _, key, _ in read if key is not None))
            found = []
            for each, key, value in read:
                part = None if key is None else next(parts)
                # The text is remembered for longer than its part.
                is_lost = key is not None and part is None
                found.append(Alternative(each, part, _decoded(each, 0)[0] if is_lost else value))
        except (ValueError, RecursionError):
            return None
        new = [each for each in found if each.part is None]
        if len(new) < len(found) and any(map(_refers, new)):
            # To what is known, maybe, or to what has another place without it.
            return None
        return found

    def _each(self, text: str, settings: str, at: int) -> Iterator[tuple[str, Key | None, Json]]:
        """Yield the text of each alternative with the key of its part, else with its value."""
        while True:
            each, key = self._find(text, settings, at)
            value = None
            if key is None:
                value, end = _decoded(text, at)
                each = text[at:end]
            yield each, key, value
            at += len(each)
            # Most are written like that.
            if text.startswith(", {", at):
                at += 2
                continue
            comma = _BETWEEN.match(text, at)
            if comma is None:
                break
            at = comma.end()
        if _CLOSING.fullmatch(text, at) is None:
            raise ValueError(text)

    def _find(self, text: str, settings: str, at: int) -> tuple[str, Key | None]:
        known = self.find((settings, text[at : at + BEGINNING]))
        for each, key in () if known is None else tuple(known.items()):
            if text.startswith(each, at):
                return each, key
        return "", None

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
