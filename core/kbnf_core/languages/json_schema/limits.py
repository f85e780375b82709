"""Named bounds on what a schema can make large; each is met with a problem that names it."""

from dataclasses import dataclass

from kbnf_core.limits import DEFAULT_LIMITS


@dataclass(frozen=True, slots=True)
class SchemaLimits:
    """Bounds on a conversion.

    ``depth``: values nested in the schema's text. ``applied``: schemas that apply to one place of
    a text, one inside the other (``$ref``, ``allOf``, ``anyOf``, ...). ``alternatives``: kinds of
    arrays or of objects that one place tells apart. ``overlaps``: combinations of patterns that
    share names, and other schemas that one of ``oneOf`` shares values with. ``rules``: rules of
    the grammar. ``steps``: states of a counted object or array. ``distinct``: values that
    ``uniqueItems`` keeps apart. ``orders``: properties that may come in any order. ``bound``: the
    largest count of items or members, ``length`` that of characters (``maxLength``). ``work``:
    counted steps of the conversion.
    """

    depth: int = 64
    applied: int = 48
    alternatives: int = 256
    overlaps: int = 24
    rules: int = 20_000
    steps: int = 4_000
    distinct: int = 10
    orders: int = 8
    bound: int = 65_535
    length: int = 2**31 - 1
    work: int = DEFAULT_LIMITS.work
