"""Rules that many grammars share: whitespace, separators, and JSON's own types."""

from typing import TYPE_CHECKING

from kbnf_core.languages.json_schema.build_tree import (
    EMPTY,
    Form,
    alternation,
    call,
    optional,
    regex,
    repeated,
    sequence,
    text,
)
from kbnf_core.languages.json_schema.characters import ANY_CHARACTER, CHARACTER
from kbnf_core.languages.json_schema.options import Escapes, Options, Whitespace
from kbnf_core.syntax.tree import Repetition

if TYPE_CHECKING:
    from collections.abc import Callable

_GAPS = {
    Whitespace.FLEXIBLE: r"[ \t\n\r]*",
    Whitespace.BOUNDED: r"(?:\r?\n[ \t]{0,64}| )?",
}

INTEGER = "-?(?:0|[1-9][0-9]*)"
NUMBER = rf"{INTEGER}(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"

NAMES = frozenset(
    {
        "start", "ws", "comma", "colon", "string", "character", "integer", "number", "boolean",
        "value", "object", "array", "member",
    }
)  # fmt: skip


class Prelude:
    """The shared rules that are in use, by name; asking for one adds what it needs."""

    def __init__(self, options: Options, prefix: str) -> None:
        self._compact = options.whitespace is Whitespace.COMPACT
        self._gap = _GAPS.get(options.whitespace, "")
        any_ = options.escapes is Escapes.ANY
        self._character = ANY_CHARACTER if any_ else CHARACTER
        self._prefix = prefix
        self._makers: dict[str, Callable[[], Form]] = {
            "ws": lambda: regex(self._gap),
            "comma": lambda: sequence(self.gap, text(","), self.gap),
            "colon": lambda: sequence(self.gap, text(":"), self.gap),
            "character": lambda: regex(self._character),
            "string": lambda: regex(f'"{self._character}*"'),
            "integer": lambda: regex(INTEGER),
            "number": lambda: regex(NUMBER),
            "boolean": lambda: alternation([text("true"), text("false")]),
            "value": self._value,
            "object": lambda: self.enclosed("{", "}", self._listed("member")),
            "array": lambda: self.enclosed("[", "]", self._listed("value")),
            "member": lambda: sequence(self.use("string"), self.colon, self.use("value")),
        }
        self.rules: dict[str, Form] = {}

    def use(self, name: str) -> Form:
        """Return a call of a shared rule."""
        if name not in self.rules:
            self.rules[name] = EMPTY
            self.rules[name] = self._makers[name]()
        return call(self._prefix + name)

    @property
    def gap(self) -> Form:
        """What may stand between two tokens."""
        return EMPTY if self._compact else self.use("ws")

    @property
    def comma(self) -> Form:
        """A comma and its gaps."""
        return text(",") if self._compact else self.use("comma")

    @property
    def colon(self) -> Form:
        """A colon and its gaps."""
        return text(":") if self._compact else self.use("colon")

    def enclosed(self, opening: str, closing: str, content: Form) -> Form:
        """Return ``content`` in brackets, with gaps inside."""
        if content is EMPTY:
            return sequence(text(opening), self.gap, text(closing))
        if isinstance(content, Repetition) and (content.low, content.high) == (0, 1):
            inner = optional(sequence(content.body, self.gap))
            return sequence(text(opening), self.gap, inner, text(closing))
        return sequence(text(opening), self.gap, content, self.gap, text(closing))

    def _listed(self, name: str) -> Form:
        item = self.use(name)
        return optional(sequence(item, repeated(sequence(self.comma, item), 0, None)))

    def _value(self) -> Form:
        names = ("object", "array", "string", "number", "boolean")
        return alternation([*map(self.use, names), text("null")])
