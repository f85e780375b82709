"""From KBNF text to a grammar: a small reader of the tests' own, by recursive descent."""

import re
from collections.abc import Mapping
from itertools import product

from kbnf_testing import grammar as g
from kbnf_testing.regex_reader import read_regex
from kbnf_testing.scanner import Scanner, UnsupportedError

_BLANK = re.compile(r"(?:[ \t\r\n]|\(\*(?s:.*?)\*\))*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_CODE = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]+)\}")
_OPERATORS: dict[str, tuple[int, int | None]] = {"?": (0, 1), "*": (0, None), "+": (1, None)}


def read_kbnf(text: str, special: Mapping[str, int], start: str = "start") -> g.Grammar:
    """Return the grammar that ``text`` spells; ``special`` are the ids of special tokens.

    Raises ``UnsupportedError`` for anything this reader does not know; it says nothing about
    whether the text is right.
    """
    return _Reader(text, special).grammar(start)


class _Reader:
    def __init__(self, text: str, special: Mapping[str, int]) -> None:
        self._scanner = Scanner(text)
        self._special = special
        self._excepting: list[tuple[str, g.Except]] = []

    def grammar(self, start: str) -> g.Grammar:
        branches: dict[str, list[g.Expression]] = {}
        self._skip_blanks()
        while self._scanner.rest:
            name = self._name()
            if not self._sign("::="):
                self._expect("=")
            branches.setdefault(name, []).append(self._alternatives())
            if not self._sign(";") and self._scanner.rest:
                raise UnsupportedError(f"expected ; before {self._scanner.rest[:30]!r}")
        rules = {
            name: bodies[0] if len(bodies) == 1 else g.Choice(tuple(bodies))
            for name, bodies in branches.items()
        }
        return g.Grammar({name: self._resolve(body, rules) for name, body in rules.items()}, start)

    def _skip_blanks(self) -> None:
        match = _BLANK.match(self._scanner.text, self._scanner.place)
        assert match is not None
        self._scanner.place = match.end()

    def _sign(self, sign: str) -> bool:
        found = self._scanner.take(sign)
        if found:
            self._skip_blanks()
        return found

    def _expect(self, sign: str) -> None:
        self._scanner.expect(sign)
        self._skip_blanks()

    def _name(self) -> str:
        match = _NAME.match(self._scanner.text, self._scanner.place)
        if match is None:
            raise UnsupportedError(f"expected a name before {self._scanner.rest[:30]!r}")
        self._scanner.place = match.end()
        self._skip_blanks()
        return match[0]

    def _alternatives(self) -> g.Expression:
        branches = [self._sequence()]
        while self._sign("|"):
            branches.append(self._sequence())
        return branches[0] if len(branches) == 1 else g.Choice(tuple(branches))

    def _sequence(self) -> g.Expression:
        parts = [self._postfix()]
        while self._scanner.rest and self._scanner.rest[0] not in "|)]};":
            self._sign(",")
            parts.append(self._postfix())
        return parts[0] if len(parts) == 1 else g.Sequence(tuple(parts))

    def _postfix(self) -> g.Expression:
        node = self._primary()
        self._skip_blanks()
        if (operator := self._scanner.take_any("?*+")) is not None:
            node = g.Repeat(node, *_OPERATORS[operator])
        elif re.match(r"\{[\d,]", self._scanner.rest):
            self._scanner.expect("{")
            node = g.Repeat(node, *self._scanner.bounds())
        self._skip_blanks()
        return node

    def _primary(self) -> g.Expression:
        if self._sign("("):
            return self._closed(")")
        if self._sign("["):
            return g.Repeat(self._closed("]"), 0, 1)
        if self._sign("{"):
            return g.Repeat(self._closed("}"), 0, None)
        if self._scanner.take("#"):
            return self._special_form()
        if self._scanner.rest.startswith(("'", '"')):
            return g.Literal(self._string().encode())
        if self._sign("except!"):
            return self._except()
        return g.Reference(self._name())

    def _closed(self, bracket: str) -> g.Expression:
        node = self._alternatives()
        self._scanner.expect(bracket)
        return node

    def _special_form(self) -> g.Expression:
        if self._scanner.take("token["):
            return self._token_set()
        if self._scanner.take("token"):
            return self._token_name()
        if self._scanner.take("substrs"):
            return g.Substrings(self._string().encode())
        if self._scanner.take("b"):
            return g.Literal(self._bytes())
        if self._scanner.take("ex"):
            return g.Never(read_regex(self._string()))
        if self._scanner.take("e"):
            return g.Early(read_regex(self._string()))
        return g.Regex(read_regex(self._string()))

    def _token_name(self) -> g.Expression:
        name = self._string()
        return g.Token(frozenset({self._special[name]}), name=name)

    def _token_set(self) -> g.Expression:
        negated = self._scanner.take("^")
        ids: set[int] = set()
        while True:
            low, high = self._scanner.number(), None
            if self._scanner.take("-"):
                high = self._scanner.number()
            if low is None:
                raise UnsupportedError("an id set needs numbers")
            ids.update(range(low, (low if high is None else high) + 1))
            if self._scanner.take("]"):
                return g.Token(frozenset(ids), negated)
            self._expect(",")

    def _except(self) -> g.Expression:
        self._expect("(")
        is_text = self._scanner.rest.startswith(("'", '"'))
        what = self._string() if is_text else self._name()
        self._skip_blanks()
        limit = self._scanner.number() if self._sign(",") else 0
        self._skip_blanks()
        self._scanner.expect(")")
        if limit is None:
            raise UnsupportedError("except! needs a number after the comma")
        # The texts of a nonterminal are filled in when all rules are known.
        return g.Except((what.encode(),), limit, None if is_text else what)

    def _string(self) -> str:
        quote = self._scanner.character()
        if quote not in "'\"":
            raise UnsupportedError(f"expected a quoted text, not {quote!r}")
        text = ""
        while (character := self._scanner.character()) != quote:
            text += self._escaped() if character == "\\" else character
        return text

    def _escaped(self) -> str:
        match = _CODE.match(self._scanner.text, self._scanner.place)
        if match is not None:
            self._scanner.place = match.end()
            return chr(int(match[1] or match[2] or match[3], 16))
        character = self._scanner.character()
        if character.isalnum() and character not in _ESCAPES:
            raise UnsupportedError(f"the escape \\{character} is not read")
        return _ESCAPES.get(character, character)

    def _bytes(self) -> bytes:
        # In #b a \xHH is a byte; other characters stand for their UTF-8.
        match = re.compile(r"""(['"])((?:\\x[0-9a-fA-F]{2})*)\1""").match(
            self._scanner.text, self._scanner.place
        )
        if match is None:
            raise UnsupportedError('only #b"\\xHH..." is read')
        self._scanner.place = match.end()
        return bytes.fromhex(match[2].replace("\\x", ""))

    def _resolve(self, node: g.Expression, rules: Mapping[str, g.Expression]) -> g.Expression:
        """Check names, and give each ``except!(NAME)`` the texts that NAME stands for."""
        match node:
            case g.Except(via=str(name)):
                return g.Except(_texts(rules, name), node.limit, name)
            case g.Reference() if node.name not in rules:
                raise UnsupportedError(f"{node.name} is not defined")
            case g.Sequence():
                return g.Sequence(tuple(self._resolve(part, rules) for part in node.parts))
            case g.Choice():
                return g.Choice(tuple(self._resolve(part, rules) for part in node.branches))
            case g.Repeat():
                return g.Repeat(self._resolve(node.body, rules), node.low, node.high)
            case _:
                return node


def _texts(rules: Mapping[str, g.Expression], name: str) -> tuple[bytes, ...]:
    """Return the texts that a nonterminal expands to."""
    texts = tuple(dict.fromkeys(_expanded(g.Reference(name), rules, ())))
    if b"" in texts:
        raise UnsupportedError("an excluded text is empty")
    return texts


def _expanded(
    node: g.Expression, rules: Mapping[str, g.Expression], outer: tuple[str, ...]
) -> list[bytes]:
    match node:
        case g.Literal(data):
            return [data]
        case g.Choice(branches):
            return [text for branch in branches for text in _expanded(branch, rules, outer)]
        case g.Sequence(parts):
            joined = product(*(_expanded(part, rules, outer) for part in parts))
            return [b"".join(each) for each in joined]
        case g.Reference(name) if name in rules and name not in outer:
            return _expanded(rules[name], rules, (*outer, name))
    raise UnsupportedError("an excluded nonterminal may only hold terminals")
