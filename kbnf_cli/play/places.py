"""The places at which a text may go on, in the order of the grammar's text."""

from typing import TYPE_CHECKING

from kbnf_cli.play.session import Session

if TYPE_CHECKING:
    from kbnf_core import Explanation
    from kbnf_core.recognise.explain import LivePlace


def terminal_places(session: Session, why: "Explanation") -> "list[LivePlace]":
    """Return the places of terminals; a nonterminal is told by what is open inside it."""
    document = session.engine.grammar.reading.document
    names = {definition.name.value for definition in document.definitions}
    source = session.engine.grammar.source
    places = [place for place in why.places if source.slice(place.span) not in names]
    return sorted(places, key=lambda place: (place.span, place.rules))
