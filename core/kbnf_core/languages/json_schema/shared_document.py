"""A document in which schemas with the same contents are one: each is read and written once.

Schemas that a program wrote repeat whole definitions wherever they are used. What a schema means
depends on its contents, on what its references are relative to and on the scope of the dynamic ones
alone; annotations, which may differ from place to place, say nothing.
"""

from collections.abc import Hashable

from kbnf_core.json_text import Json
from kbnf_core.languages.json_schema.document import Document, Place
from kbnf_core.languages.json_schema.expressions import Expression, Ref
from kbnf_core.languages.json_schema.keywords import ANNOTATIONS
from kbnf_core.languages.json_schema.options import SchemaLimits, Standard

MOST_SPELLED = 4_000_000
"""Characters of contents that are compared; those of nested schemas count once a level."""


class SharedDocument(Document):
    """A document that names a schema by the first place of its contents."""

    def __init__(
        self,
        value: Json,
        limits: SchemaLimits,
        standard: Standard = Standard.JSON_SCHEMA,
        *,
        closed: bool = False,
    ) -> None:
        super().__init__(value, limits, standard, closed=closed)
        self._first: dict[Ref, Ref] = {}
        self._by_contents: dict[Hashable, Ref] = {}
        self._spelled = 0

    def inside(self, place: Place, *steps: str) -> Expression:
        """Return the schema below ``place``, or one with the same contents that was met before."""
        found = super().inside(place, *steps)
        if not isinstance(found, Ref):
            return found
        first = self._first.get(found)
        if first is None:
            first = self._by_contents.setdefault(self._contents(found), found)
            self._first[found] = first
        return first

    def _contents(self, at: Ref) -> Hashable:
        """Return what a schema depends on; itself where comparing does not pay."""
        place = self.place(at)
        if place.resolver is not None or place.type_alone or self._spelled > MOST_SPELLED:
            return at
        contents = place.contents
        spelled = repr([item for item in contents.items() if item[0] not in ANNOTATIONS])
        self._spelled += len(spelled)
        return spelled, place.scope, place.closing
