"""Parametric rules: what ``set_bit(0)`` makes of a parameter, what ``%if`` says of it.

A parameter is one number of 64 bits; ``[a:b]`` names its bits a up to b, exclusive.
"""

import re
from dataclasses import dataclass

_WORDS = re.compile(
    r"\s*(?:(?P<number>0x[0-9A-Fa-f]+|\d+)|(?P<name>[A-Za-z_]\w*)|(?P<mark>[\[\](),:]))"
)
_ALL = 2**64 - 1


class ParameterError(Exception):
    """An expression or condition that is none."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Bits ``low`` up to ``high`` of a parameter."""

    low: int
    high: int

    @property
    def full(self) -> int:
        """The greatest value."""
        return (1 << (self.high - self.low)) - 1

    def of(self, value: int) -> int:
        """Return the value of these bits."""
        return value >> self.low & self.full

    def put(self, value: int, bits: int) -> int:
        """Return ``value`` with these bits replaced."""
        return value & ~(self.full << self.low) | bits << self.low


@dataclass(frozen=True, slots=True)
class _Term:
    """A name with arguments; numbers and parts of the parameter are arguments too."""

    name: str
    arguments: tuple["_Term | _Part | int", ...]


def evaluate(expression: str, value: int | None) -> int:
    """Return the parameter that ``expression`` gives where the parameter is ``value``."""
    term = _parse(expression)
    if isinstance(term, int):
        return term & _ALL
    if value is None:
        raise ParameterError("there is no parameter here that it could change")
    if isinstance(term, _Part):
        return value
    return _change(term, value)


def _change(term: _Term, value: int) -> int:
    match term.name, term.arguments:
        case "set_bit", (int(bit),) if bit < 64:
            return value | 1 << bit
        case "clear_bit", (int(bit),) if bit < 64:
            return value & ~(1 << bit)
        case "bit_and", (int(mask),):
            return value & mask
        case "bit_or", (int(mask),):
            return value | mask
        case "incr", (_Part() as part,):
            return part.put(value, min(part.of(value) + 1, part.full))
        case "decr", (_Part() as part,):
            return part.put(value, max(part.of(value) - 1, 0))
        case _:
            raise ParameterError(f"`{term.name}` with these arguments changes no parameter")


def holds(condition: str, value: int | None) -> bool:
    """Tell whether ``condition`` holds where the parameter is ``value``."""
    if value is None:
        raise ParameterError("there is no parameter here")
    term = _parse(condition)
    if not isinstance(term, _Term):
        raise ParameterError("this is no condition")
    return _truth(term, value)


def _truth(term: _Term, value: int) -> bool:
    match term.name, term.arguments:
        case "true", ():
            return True
        case "and", parts if parts:
            return all(_truth(_condition(part), value) for part in parts)
        case "or", parts if parts:
            return any(_truth(_condition(part), value) for part in parts)
        case "not", (part,):
            return not _truth(_condition(part), value)
        case "bit_set", (int(bit),):
            return bool(value >> bit & 1)
        case "bit_clear", (int(bit),):
            return not value >> bit & 1
        case "is_ones", (_Part() as part,):
            return part.of(value) == part.full
        case "is_zeros", (_Part() as part,):
            return part.of(value) == 0
        case name, (_Part() as part, int(number)):
            return _compare(name, part.of(value), number)
        case _:
            raise ParameterError(f"`{term.name}` with these arguments is no condition")


def _condition(part: "_Term | _Part | int") -> _Term:
    if not isinstance(part, _Term):
        raise ParameterError("this is no condition")
    return part


def _compare(name: str, found: int, number: int) -> bool:
    if name.startswith("bit_count_"):
        name, found = name.removeprefix("bit_count_"), found.bit_count()
    relations = {
        "eq": found == number,
        "ne": found != number,
        "lt": found < number,
        "le": found <= number,
        "gt": found > number,
        "ge": found >= number,
    }
    if name not in relations:
        raise ParameterError(f"`{name}` is no condition")
    return relations[name]


def _parse(text: str) -> "_Term | _Part | int":
    """Parse one term; nesting needs a stack of open calls."""
    words = _split(text)
    open_calls: list[tuple[str, list[_Term | _Part | int]]] = [("", [])]
    place = 0
    while place < len(words):
        word = words[place]
        arguments = open_calls[-1][1]
        place += 1
        if word == "[":
            arguments.append(_slice(words[place : place + 4]))
            place += 4
        elif word == ")":
            if len(open_calls) == 1:
                raise ParameterError("a bracket is closed that is not open")
            name, parts = open_calls.pop()
            open_calls[-1][1].append(_Term(name, tuple(parts)))
        elif word == "_":
            arguments.append(_Part(0, 64))
        elif word[0].isdigit():
            arguments.append(_number(word))
        elif word == ",":
            continue
        elif place < len(words) and words[place] == "(":
            open_calls.append((word, []))
            place += 1
        else:
            arguments.append(_Term(word, ()))
    if len(open_calls) != 1 or len(open_calls[0][1]) != 1:
        raise ParameterError(f"`{text.strip()}` cannot be read")
    return open_calls[0][1][0]


def _number(word: str) -> int:
    digits = word[2:] if word.startswith("0x") else word
    if len(digits) > 20:
        raise ParameterError(f"`{word}` is no number of 64 bits")
    return int(digits, 16 if word.startswith("0x") else 10)


def _slice(words: list[str]) -> _Part:
    match words:
        case [low, ":", high, "]"] if low.isdigit() and high.isdigit():
            part = _Part(int(low), int(high))
            if part.low < part.high <= 64:
                return part
    raise ParameterError("bits are written as `[low:high]`, low < high <= 64")


def _split(text: str) -> list[str]:
    words: list[str] = []
    place = 0
    while text[place:].strip():
        match = _WORDS.match(text, place)
        if match is None:
            raise ParameterError(f"`{text[place:].strip()}` cannot be read")
        words.append(match[0].strip())
        place = match.end()
    return words
