"""The syntax tree of KBNF: the text as it was written, with the span of every part.

The tree keeps the writer's form (which brackets, which operator, which quotes), because the
formatter and the linter need it. Meaning is assigned in ``lower``. Texts may be nested up to
``Limits.nesting_depth``; walk the tree with ``postorder``, which does not recurse.

Nodes are never mutated. Still they are not frozen: the code that freezes a class is generated at
every start, and takes longer than reading a small grammar.

Tests: tests/unit/kbnf/test_printer.py, tests/unit/kbnf/test_forms.py
"""

from collections import abc
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from kbnf_core.automata import traversal
from kbnf_core.text.locks import cached_property
from kbnf_core.text.source import Source, Span

if TYPE_CHECKING:
    from kbnf_core.automata.dfa import Dfa
    from kbnf_core.automata.expression import Expression as Texts


@dataclass(slots=True, eq=False)
class Text:
    """A quoted text: its decoded value and, for messages, where each character came from.

    ``value`` is what the escapes decode to. ``origins[i]`` is the index in the source at which
    the spelling of ``value[i]`` starts; one more entry contains the index of the closing quote.
    """

    value: str
    span: Span
    origins: abc.Sequence[int] = field(repr=False)

    def spell(self, start: int, end: int) -> Span:
        """Return the source span that spells ``value[start:end]``."""
        last = len(self.origins) - 1
        return Span(self.origins[min(start, last)], self.origins[min(end, last)])


@dataclass(slots=True, eq=False, repr=False)
class Name:
    """An identifier where it is."""

    value: str
    span: Span


@dataclass(slots=True, eq=False, repr=False)
class Terminal:
    """``'text'`` or ``"text"``: the UTF-8 bytes of the text."""

    text: Text
    span: Span


@dataclass(slots=True, eq=False, repr=False)
class ByteString:
    r"""``#b"\xff\x00"``: exactly these bytes."""

    value: bytes
    span: Span


class PatternKind(Enum):
    """The forms that take a pattern, by their prefix."""

    REGEX = "#"
    EARLY = "#e"
    COMPLEMENT = "#ex"
    SUBSTRINGS = "#substrs"


@dataclass(slots=True, eq=False, repr=False)
class Pattern:
    """``#"regex"``, ``#r"regex"``, ``#e"regex"``, ``#ex"regex"`` or ``#substrs"text"``.

    ``is_raw`` says that it was written as ``#r"regex"``, without escapes. ``dfa`` is the automaton
    over bytes, and ``parsed`` are the characters that the pattern is made of, where a conversion
    that wrote it knows them; operators there are as flat as they are here.
    """

    kind: PatternKind
    text: Text
    span: Span
    is_raw: bool = False
    dfa: "Dfa | None" = None
    parsed: "Texts | None" = None


@dataclass(slots=True, eq=False, repr=False)
class Exception_:  # noqa: N801 - `Exception` is taken
    """``except!('text')``, ``except!(NAME)``, either with ``, limit`` (0 means no limit)."""

    excluded: Terminal | Name
    limit: int
    span: Span


@dataclass(slots=True, eq=False, repr=False)
class TokenName:
    """``#token"<|name|>"``: one special token by its text."""

    text: Text
    span: Span


@dataclass(slots=True, eq=False, repr=False)
class TokenSet:
    """``#token[1-5,7]`` or ``#token[^1-5]``: one token by id; ranges are inclusive."""

    ranges: tuple[tuple[int, int], ...]
    negated: bool
    span: Span


@dataclass(slots=True, eq=False, repr=False)
class Number:
    """``@n``, ``@n+2``, ``@n-1``, ``@3``, ``@>n`` or ``@>=n``: the number of a family, or a count.

    The value is that of ``variable``, if there is one, plus ``add``; with ``relation`` it is one of
    the numbers that are greater (``>``), or not less (``>=``). No rule has a number below 0.
    """

    variable: Name | None
    add: int
    relation: str
    span: Span

    def __str__(self) -> str:
        shift = f"{self.add:+}" if self.variable and self.add else ""
        return f"@{self.relation}{self.variable.value if self.variable else self.add}{shift}"


@dataclass(slots=True, eq=False, repr=False)
class Reference:
    """A use of a nonterminal; ``number`` is that of a rule of a family."""

    name: Name
    span: Span
    number: Number | None = None


class BracketKind(Enum):
    """Brackets, and the meaning of their contents."""

    GROUP = "()"
    OPTIONAL = "[]"
    REPEATED = "{}"


@dataclass(slots=True, eq=False, repr=False)
class Bracket:
    """``( x )``, ``[ x ]`` or ``{ x }``."""

    kind: BracketKind
    body: "Expression"
    span: Span


@dataclass(slots=True, eq=False, repr=False)
class Repetition:
    """``x?``, ``x*``, ``x+`` or ``x{m,n}``; ``high`` is None without an upper bound.

    ``operator`` is the span of the operator alone. With ``numbers``, as in ``x{0,@n}``, each bound
    that has one is its value in a rule of the family; ``low`` and ``high`` are 0 there.
    """

    body: "Expression"
    low: int
    high: int | None
    operator: Span
    span: Span
    numbers: tuple[Number | None, Number | None] = (None, None)

    @property
    def is_counted_by_number(self) -> bool:
        """Whether a bound depends on the number of a family."""
        return self.numbers != (None, None)


@dataclass(slots=True, eq=False, repr=False)
class Concatenation:
    """Two or more symbols, one after the other."""

    items: tuple["Expression", ...]
    span: Span


@dataclass(slots=True, eq=False, repr=False)
class Alternation:
    """Two or more branches."""

    branches: tuple["Expression", ...]
    span: Span


OtherLeaf: TypeAlias = ByteString | Pattern | Exception_ | TokenName | TokenSet | Reference
"""A leaf other than a text: its meaning needs more than the node."""
Leaf: TypeAlias = Terminal | OtherLeaf
Expression: TypeAlias = Leaf | Bracket | Repetition | Concatenation | Alternation


@dataclass(slots=True, eq=False, repr=False)
class Definition:
    """``name ::= body;``. A name may have several definitions: they are alternatives.

    With a ``variable``, as in ``name@n ::= body;``, it defines a family: one rule for each number.
    """

    name: Name
    body: Expression
    span: Span
    variable: Name | None = None

    @property
    def title(self) -> str:
        """The name as it is written in front of the sign."""
        return self.name.value + (f"@{self.variable.value}" if self.variable else "")

    @property
    def branches(self) -> tuple[Expression, ...]:
        """The alternatives of this definition, at least one."""
        return self.body.branches if isinstance(self.body, Alternation) else (self.body,)


@dataclass(slots=True, eq=False, repr=False)
class Comment:
    """``(* text *)``; ``text`` is the text between the marks."""

    text: str
    span: Span


@dataclass(frozen=True, eq=False, repr=False)
class Document:
    """A parsed file.

    Definitions with syntax errors are left out; ``broken_names`` are the names that they, or
    text that could not be read, seem to define: to call those undefined would be wrong.
    ``generated`` are the spans at which a conversion placed rules of its own, such as those of a
    JSON Schema. ``predefined`` are the names that belong to the language: nobody needs to use them.
    Where definitions are copies of parts of what somebody wrote, ``alternatives`` has
    the places of the alternatives in it, each with that of its choice, and whether it can go
    without a change to what the others match; it is None where the tree is what somebody wrote.
    ``origins`` are the names in it of rules that are such copies, empty for the turns of a loop.
    ``remarks`` are for a document that nobody wrote, such as that of a JSON Schema: what to say of
    rules, by name. Its rules are in the order in which people read them.
    """

    source: Source
    definitions: tuple[Definition, ...]
    comments: tuple[Comment, ...]
    broken_names: frozenset[str] = frozenset()
    generated: frozenset[Span] = frozenset()
    predefined: frozenset[str] = frozenset()
    alternatives: Mapping[Span, tuple[Span, bool]] | None = None
    origins: Mapping[str, str] = field(default_factory=dict)
    remarks: Mapping[str, str] | None = None

    @property
    def written_in(self) -> Source | None:
        """The text that the nodes are parts of; None for a document that nobody wrote."""
        return self.source if self.remarks is None else None

    @cached_property
    def first_names(self) -> Mapping[str, Span]:
        """Where each name is defined first."""
        return {d.name.value: d.name.span for d in reversed(self.definitions)}

    @cached_property
    def families(self) -> frozenset[str]:
        """The names that are defined with a number."""
        return frozenset(d.name.value for d in self.definitions if d.variable is not None)

    @property
    def written(self) -> Iterator[Definition]:
        """The definitions that somebody wrote."""
        return (
            definition for definition in self.definitions if definition.span not in self.generated
        )

    def nodes(self) -> Iterator[Expression]:
        """Yield every part of every definition, parts before wholes."""
        return (node for definition in self.definitions for node in postorder(definition.body))

    def written_nodes(self) -> Iterator[Expression]:
        """Yield every part that somebody wrote, parts before wholes."""
        return (node for definition in self.written for node in postorder(definition.body))


def children(node: Expression) -> tuple[Expression, ...]:
    """Return the direct parts of ``node``, in order."""
    match node:
        case Bracket() | Repetition():
            return (node.body,)
        case Concatenation():
            return node.items
        case Alternation():
            return node.branches
        case _:
            return ()


def numbers_in(node: Expression) -> tuple[Number, ...]:
    """Return the numbers that ``node`` itself has: that of a call, or those of a count."""
    match node:
        case Reference(number=Number() as number):
            return (number,)
        case Repetition(numbers=(first, second)):
            # One that is exact has the same number twice.
            written = (first,) if second is first else (first, second)
            return tuple(number for number in written if number is not None)
        case _:
            return ()


def uses_in(root: Expression) -> Iterator[Name]:
    """Yield the names of nonterminals that ``root`` uses, where they are."""
    for node in postorder(root):
        match node:
            case Reference(name) | Exception_(Name() as name):
                yield name


def postorder(root: Expression) -> Iterator[Expression]:
    """Yield every part of ``root``, parts before wholes, without recursion."""
    return traversal.postorder(root, children)
