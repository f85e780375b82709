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
from kbnf_core.languages.json_schema.characters import ANY_CHARACTER, LETTERS, Spelling
from kbnf_core.languages.json_schema.options import (
    Escapes,
    Options,
    Standard,
    Whitespace,
)
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
        "value", "object", "array", "member", "other_name", "escape", "name_rest", "longer_name",
    }
)  # fmt: skip


def _gap(options: Options) -> str:
    if options.whitespace_pattern is not None:
        return f"(?:{options.whitespace_pattern})?" if options.whitespace_pattern else ""
    return _GAPS.get(options.whitespace or Whitespace.BOUNDED, "")


def _separator(pattern: str | None, default: str) -> Form:
    """Return a separator; one without operators is shown as the text that it is."""
    wanted = default if pattern is None else pattern
    return regex(wanted) if _OPERATORS & set(wanted) else text(wanted)


_OPERATORS = frozenset("\\.^$|?*+()[]{}")


class Prelude:
    """The shared rules that are in use, by name; asking for one adds what it needs."""

    def __init__(self, options: Options, prefix: str, *, has_whole_fractions: bool = False) -> None:
        self.whole_fraction = r"(?:\.0+)?" if has_whole_fractions else ""
        self.has_exact_decimals = options.standard is Standard.LLGUIDANCE
        self._gap = _gap(options)
        self._compact = not self._gap
        self._comma = _separator(options.item_separator, ",")
        self._colon = _separator(options.key_separator, ":")
        self.spelling = Spelling(
            LETTERS if options.allowed_escapes is None else options.allowed_escapes,
            options.standard is Standard.LLGUIDANCE,
        )
        self._character = self._any_character(options.escapes)
        self._prefix = prefix
        self._makers: dict[str, Callable[[], Form]] = {
            "ws": lambda: regex(self._gap),
            "comma": lambda: sequence(self.gap, self._comma, self.gap),
            "colon": lambda: sequence(self.gap, self._colon, self.gap),
            "character": lambda: regex(self._character),
            "string": lambda: regex(f'"{self._character}*"'),
            "integer": lambda: regex(INTEGER + self.whole_fraction),
            "number": lambda: regex(NUMBER),
            "boolean": lambda: alternation([text("true"), text("false")]),
            "value": self._value,
            "object": lambda: self.enclosed("{", "}", self._listed("member")),
            "array": lambda: self.enclosed("[", "]", self._listed("value")),
            "escape": lambda: regex(self.spelling.escape),
            "name_rest": lambda: regex(f'{self.spelling.character}*"'),
            "longer_name": lambda: regex(f'{self.spelling.character}+"'),
            "other_name": lambda: regex(self.spelling.with_needless or ""),
            "member": lambda: sequence(self.use("string"), self.colon, self.use("value")),
        }
        self.rules: dict[str, Form] = {}

    def _any_character(self, escapes: Escapes | None) -> str:
        match escapes:
            case Escapes.ANY:
                return ANY_CHARACTER
            case Escapes.UNICODE:
                return self.spelling.unicode_character
            case _:
                return self.spelling.character

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
        return self._comma if self._compact else self.use("comma")

    @property
    def colon(self) -> Form:
        """A colon and its gaps."""
        return self._colon if self._compact else self.use("colon")

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
