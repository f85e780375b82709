"""The syntax tree of Lark and LLGuidance-Lark files: what was written, with spans.

It is the same for both dialects. What a text means (which escapes, which regular expressions)
depends on the dialect and is decided by ``kbnf_core.languages.lark``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from kbnf_core import traversal
from kbnf_core.source import Source, Span


@dataclass(frozen=True, slots=True, eq=False)
class Name:
    """The name of a rule or terminal, where it stands."""

    value: str
    span: Span

    @property
    def is_terminal(self) -> bool:
        """Whether the name is that of a terminal: its first letter is a capital."""
        return self.value.lstrip("_")[:1].isupper()


@dataclass(frozen=True, slots=True, eq=False)
class String:
    """``"text"`` or ``"text"i``; ``raw`` is what stands between the quotes."""

    raw: str
    ignores_case: bool
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Range:
    """``"a".."z"``."""

    first: String
    last: String
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Regexp:
    r"""``/pattern/flags``; ``raw`` is what stands between the slashes, ``\/`` included."""

    raw: str
    flags: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Special:
    """``<name>``, ``<[17]>``, ``<[^1-5,7]>``: ``text`` is all of it."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Json:
    """``%json {...}``; ``text`` is the JSON."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class RegexObject:
    """``%regex {...}``; ``text`` is the JSON."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Nested:
    """``%lark {...}``; ``text`` is the grammar, which starts at index ``start``."""

    text: str
    start: int
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class GrammarReference:
    """``@name`` or ``@17``."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """A rule or terminal by its name; ``parameter`` is the text behind ``::``, if any."""

    name: Name
    parameter: str | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class TemplateUse:
    """``name{a, b}``."""

    name: Name
    arguments: tuple["Expression", ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """``( x )``."""

    body: "Expression"
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Repeat:
    """``x?``, ``[x]``, ``x*``, ``x+``, ``x~2..3``, ``x{2,3}``; ``high`` None has no bound."""

    body: "Expression"
    low: int
    high: int | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Complement:
    """``~x``: every byte string that is no ``x``."""

    body: "Expression"
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Sequence:
    """One part after the other; none at all is the empty text."""

    items: tuple["Expression", ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Intersection:
    """``x & y``: what all of them match."""

    parts: tuple["Expression", ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Guarded:
    """A branch with ``%if condition``."""

    body: "Expression"
    condition: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Alternation:
    """Two or more branches."""

    branches: tuple["Expression", ...]
    span: Span


Leaf: TypeAlias = (
    String | Range | Regexp | Special | Json | RegexObject | Nested | GrammarReference | Use
)
Expression: TypeAlias = (
    Leaf
    | TemplateUse
    | Group
    | Repeat
    | Complement
    | Sequence
    | Intersection
    | Guarded
    | Alternation
)


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """``lazy``, ``suffix="x"``: a property of a rule's lexeme."""

    name: Name
    value: "String | Regexp | Use | float | None"
    span: Span


class Definer(Enum):
    """How a definition relates to an earlier one of the same name."""

    NEW = ""
    OVERRIDE = "%override"
    EXTEND = "%extend"


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
    """``name: body`` with everything that may stand before the colon."""

    definer: Definer
    name: Name
    template: tuple[Name, ...]
    parameter: str | None
    priority: int | None
    attributes: tuple[Attribute, ...]
    sign: str
    body: Expression
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Ignore:
    """``%ignore x``."""

    body: Expression
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Declare:
    """``%declare A B``."""

    names: tuple[Name, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Import:
    """``%import a.b.X -> Y``: ``names`` pairs each imported name with its name here.

    ``dots`` counts the dots in front: one for a file beside this one.
    """

    dots: int
    module: tuple[str, ...]
    names: tuple[tuple[Name, Name], ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Options:
    """``%llguidance {...}``; ``text`` is the JSON."""

    text: str
    span: Span


Statement: TypeAlias = Definition | Ignore | Declare | Import | Options


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A parsed file; statements with mistakes are left out."""

    source: Source
    statements: tuple[Statement, ...]
    broken_names: frozenset[str] = frozenset()


def children(node: Expression) -> tuple[Expression, ...]:
    """Return the direct parts of ``node``, in order."""
    match node:
        case Group() | Repeat() | Complement() | Guarded():
            return (node.body,)
        case Sequence():
            return node.items
        case Intersection():
            return node.parts
        case Alternation():
            return node.branches
        case TemplateUse():
            return node.arguments
        case _:
            return ()


def postorder(root: Expression) -> Iterator[Expression]:
    """Yield every part of ``root``, parts before wholes, without recursion."""
    return traversal.postorder(root, children)
