"""Allowed tokens by place in the grammar: the terminals at which their first bytes are expected."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from kbnf_cli.token_order import order_of
from kbnf_core.diagnostics.segments import visible
from kbnf_core.source import Source

if TYPE_CHECKING:
    from kbnf_core import Engine
    from kbnf_core.recognise.explain import LivePlace


@dataclass(frozen=True, slots=True)
class PlaceGroup:
    """The allowed tokens that begin at the same terminals, one or several, the shortest first.

    Without ``places``: those whose terminals were too many to be computed.
    """

    places: "tuple[LivePlace, ...]"
    ids: npt.NDArray[np.int32]

    def title(self, source: Source) -> str:
        """Return the rules and terminals in a few words."""
        return " or ".join(map(place_title, self.places, [source] * len(self.places))) or "others"


def place_title(place: "LivePlace", source: Source) -> str:
    """Return the innermost rule and the terminal."""
    return f"{visible(place.rules[-1])} {visible(source.slice(place.span))}"


def terminal_places(engine: "Engine", places: "Sequence[LivePlace]") -> "list[LivePlace]":
    """Return the places at terminals; a nonterminal is shown by what is open inside it."""
    document = engine.grammar.reading.document
    names = {definition.name.value for definition in document.definitions}
    source = engine.grammar.source
    found = [place for place in places if source.slice(place.span) not in names]
    return sorted(found, key=lambda place: (place.span, place.rules))


def by_place(engine: "Engine", ids: Sequence[int]) -> list[PlaceGroup]:
    """Return the groups of the ordinary tokens among ``ids``, the largest first."""
    places = _shortest_ways(terminal_places(engine, engine.why(b"").places))
    order = order_of(engine.vocabulary)
    flags, _ = order.split(ids)
    ordered = order.by_length[flags[order.by_length]]
    firsts = order.first_byte[ordered]
    takers: dict[tuple[LivePlace, ...], list[int]] = {}
    for first in np.unique(firsts).tolist():
        takers.setdefault(_taking(places, first), []).append(first)
    groups = [PlaceGroup(key, ordered[np.isin(firsts, found)]) for key, found in takers.items()]
    return sorted(groups, key=lambda group: -len(group.ids))


def _shortest_ways(places: "list[LivePlace]") -> "list[LivePlace]":
    """Return one place a terminal, that with the fewest rules on the way."""
    found: dict[object, LivePlace] = {}
    for place in sorted(places, key=lambda each: len(each.rules)):
        found.setdefault((place.span, place.offset, place.expected), place)
    return sorted(found.values(), key=lambda place: (place.span, place.rules))


def _taking(places: "list[LivePlace]", byte: int) -> "tuple[LivePlace, ...]":
    """Return the places that expect a byte; failing that, those that take whole tokens."""
    found = tuple(
        place for place in places if any(low <= byte <= high for low, high in place.expected)
    )
    return found or tuple(place for place in places if not place.expected)
