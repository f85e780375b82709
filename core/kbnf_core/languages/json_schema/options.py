"""What a conversion can be asked for."""

import enum
from dataclasses import dataclass, field

from kbnf_core.languages.json_schema.limits import SchemaLimits


class Whitespace(enum.Enum):
    """What may stand in the gaps of a JSON text."""

    FLEXIBLE = "flexible"
    """Any run of blanks, tabs and line breaks, as LLGuidance has it."""
    COMPACT = "compact"
    """Nothing."""
    BOUNDED = "bounded"
    """One blank, or one line break and an indentation, so that generation cannot idle."""


class Order(enum.Enum):
    """In which order the properties of an object come."""

    DECLARED = "declared"
    ANY = "any"


class Escapes(enum.Enum):
    r"""How characters of strings may be spelt.

    CANONICAL leaves no choice: an escape only where JSON needs one, the short one if there is
    one. ANY adds ``\/`` and ``\uXXXX`` for everything in strings without restrictions.
    """

    CANONICAL = "canonical"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of a conversion; the defaults are LLGuidance's but for ``whitespace``.

    ``additional_properties`` is what a schema means that does not say. With ``lossy`` a keyword
    that cannot be honoured is dropped and reported instead of being an error.
    """

    whitespace: Whitespace = Whitespace.BOUNDED
    order: Order = Order.DECLARED
    additional_properties: bool = True
    escapes: Escapes = Escapes.CANONICAL
    lossy: bool = False
    limits: SchemaLimits = field(default_factory=SchemaLimits)
