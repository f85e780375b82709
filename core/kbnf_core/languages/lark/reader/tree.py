"""The syntax tree of Lark and LLGuidance-Lark files, as they are written, with spans.

It is the same for both dialects. What a text means (which escapes, which regular expressions)
depends on the dialect. The operators are those of ``ir``; an optional part is a repetition.

Tests: tests/unit/languages/lark
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from kbnf_core import ir
from kbnf_core.automata import traversal
from kbnf_core.ir import Choice, Repeat, Sequence
from kbnf_core.text.source import Source, Span


@dataclass(frozen=True, slots=True, eq=False)
class LarkName:
    """The name of a rule or terminal, where it is."""

    value: str
    span: Span

    @property
    def is_terminal(self) -> bool:
        """Whether the name is that of a terminal: its first letter is a capital."""
        return self.value.lstrip("_")[:1].isupper()


@dataclass(frozen=True, slots=True, eq=False)
class String:
    """``"text"`` or ``"text"i``; ``raw`` is the text between the quotes."""

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
    r"""``/pattern/flags``; ``raw`` is the text between the slashes, ``\/`` included."""

    raw: str
    flags: str
    span: Span


class ForeignKind(Enum):
    """The kind of an embedded text in a grammar, as messages call it."""

    SPECIAL = "special tokens"
    JSON = "%json literals"
    REGEX = "%regex literals"
    NESTED = "%lark literals"
    GRAMMAR = "grammar references"


@dataclass(frozen=True, slots=True, eq=False)
class Foreign:
    """A special token (``<name>``, ``<[1-5]>``: ``text`` is all of it) or what follows a mark.

    ``%json {...}`` and ``%regex {...}`` have the JSON as their text, ``%lark {...}`` the grammar
    within, ``@name`` the name.
    """

    kind: ForeignKind
    text: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """A rule or terminal by its name; ``parameter`` is the text after ``::``, if any."""

    name: LarkName
    parameter: str | None
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class TemplateUse:
    """``name{a, b}``."""

    name: LarkName
    arguments: tuple["Expression", ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """``( x )``, or a branch with an alias."""

    body: "Expression"
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Complement:
    """``~x``: every byte string outside of ``x``."""

    body: "Expression"
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Intersection:
    """``x & y``: what all of them match."""

    operands: tuple["Expression", ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Guarded:
    """A branch with ``%if condition``."""

    body: "Expression"
    condition: str
    span: Span


Expression: TypeAlias = (
    String
    | Range
    | Regexp
    | Foreign
    | Use
    | TemplateUse
    | Group
    | Complement
    | Intersection
    | Guarded
    | Sequence["Expression"]
    | Choice["Expression"]
    | Repeat["Expression"]
)


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """``lazy``, ``suffix="x"``: a property of a rule's lexeme."""

    name: LarkName
    value: String | Regexp | Use | float | None
    span: Span


class Definer(Enum):
    """How a definition relates to an earlier one of the same name."""

    NEW = ""
    OVERRIDE = "%override"
    EXTEND = "%extend"


@dataclass(frozen=True, slots=True, eq=False)
class LarkDefinition:
    """``name: body`` with everything that may be before the colon."""

    definer: Definer
    name: LarkName
    template: tuple[LarkName, ...]
    parameter: str | None
    priority: int | None
    attributes: tuple[Attribute, ...]
    sign: str
    body: Expression
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class IgnoreStatement:
    """``%ignore x``."""

    body: Expression
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Declare:
    """``%declare A B``."""

    names: tuple[LarkName, ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Import:
    """``%import a.b.X -> Y``: ``names`` pairs each imported name with its name here.

    ``dots`` counts the dots in front: one for a file beside this one.
    """

    dots: int
    module: tuple[str, ...]
    names: tuple[tuple[LarkName, LarkName], ...]
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class OptionsStatement:
    """``%llguidance {...}``; ``text`` is the JSON."""

    text: str
    span: Span


Statement: TypeAlias = LarkDefinition | IgnoreStatement | Declare | Import | OptionsStatement


@dataclass(frozen=True, slots=True, eq=False)
class LarkDocument:
    """A parsed file; statements with mistakes are left out."""

    source: Source
    statements: tuple[Statement, ...]
    broken_names: frozenset[str] = frozenset()


def children(node: Expression) -> tuple[Expression, ...]:
    """Return the direct operands of ``node``, in order."""
    match node:
        case Group() | Complement() | Guarded():
            return (node.body,)
        case Intersection():
            return node.operands
        case TemplateUse():
            return node.arguments
        case _:
            return ir.children(node)


def postorder(root: Expression) -> Iterator[Expression]:
    """Yield every part of ``root``, parts before wholes, without recursion."""
    return traversal.postorder(root, children)
