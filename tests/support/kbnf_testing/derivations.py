"""A plain chart parser that defines which tree a text has, where it has several.

A derivation is a list of choices, in the order in which they come from the left: the number of an
alternative, 0 for one more round of a repetition or one more character of a regular expression, 1
for its end. The tree of a text is that of the least list. Spans are tried all, so that texts have
to be short. No rule may derive itself alone (``is_cyclic``): no list of choices is then the least.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Text:
    """A text."""

    value: str


@dataclass(frozen=True)
class Star:
    """A character so many times or more, as a regular expression."""

    character: str
    least: int


@dataclass(frozen=True)
class Rule:
    """A rule, by name."""

    name: str


@dataclass(frozen=True)
class Both:
    """One part after the other."""

    parts: "tuple[Body, ...]"


@dataclass(frozen=True)
class Either:
    """One of several branches."""

    branches: "tuple[Body, ...]"


@dataclass(frozen=True)
class Times:
    """So many times a body."""

    body: "Body"
    low: int
    high: int | None


Body: TypeAlias = Text | Star | Rule | Both | Either | Times
Rules: TypeAlias = Mapping[str, Body]
Node: TypeAlias = tuple[str, int, int, list[Any]]
"""A rule, where it begins and ends, and the nodes in it."""
Found: TypeAlias = tuple[list[int], list[Node]]
"""Choices, and the nodes that they lead to."""


def as_kbnf(rules: Rules) -> str:
    """Return rules, the first of which is the start, as a grammar."""
    return "\n".join(f"{name} ::= {_print(body)};" for name, body in rules.items())


def _print(node: Body) -> str:
    match node:
        case Text(value):
            return f'"{value}"'
        case Star(character, least):
            return f'#"{character}{"+" if least else "*"}"'
        case Rule(name):
            return name
        case Both(parts):
            return " ".join(map(_print, parts))
        case Either(branches):
            return "(" + " | ".join(map(_print, branches)) + ")"
        case Times(body, low, None):
            return f"({_print(body)}){{{low},}}"
        case Times(body, low, high):
            return f"({_print(body)}){{{low},{high}}}"


class Chart:
    """The least derivations of all parts of one text."""

    def __init__(self, rules: Rules, text: str) -> None:
        self._rules = rules
        self._text = text
        self._known: dict[tuple[Body, int, int], Found | None] = {}
        self._entered: set[tuple[Body, int, int]] = set()
        self._never = len(text) + 1
        self._lengths = dict.fromkeys(rules, self._never)
        for _ in rules:
            self._lengths = {name: self._least(body) for name, body in rules.items()}

    def _least(self, node: Body) -> int:
        """Return the least length of a part, at most one more than that of the text."""
        match node:
            case Text(value):
                return len(value)
            case Star(_, least):
                return least
            case Rule(name):
                return self._lengths[name]
            case Both(parts):
                return min(self._never, sum(map(self._least, parts)))
            case Either(branches):
                return min(map(self._least, branches))
            case Times(body, low, _):
                return min(self._never, low * self._least(body))

    def tree(self, start: str) -> Node | None:
        """Return (rule, start, end, children) of the text, None where it has none."""
        found = self._find(Rule(start), 0, len(self._text))
        return None if found is None else found[1][0]

    def _find(self, node: Body, begin: int, end: int) -> Found | None:
        """Return the least list of choices and the trees of a part, None where it does not fit."""
        key = (node, begin, end)
        if key in self._known:
            return self._known[key]
        if isinstance(node, Rule):
            if key in self._entered:
                return None
            self._entered.add(key)
        found = min(self._all(node, begin, end), key=lambda each: each[0], default=None)
        if isinstance(node, Rule):
            self._entered.discard(key)
        self._known[key] = found
        return found

    def _all(self, node: Body, begin: int, end: int) -> Iterator[Found]:  # noqa: C901 - a case for each kind of node
        match node:
            case Text(value):
                if self._text[begin:end] == value:
                    yield [], []
            case Star(character, least):
                count = end - begin
                if self._text[begin:end] == character * count and count >= least:
                    yield [0] * (count - least) + [1], []
            case Rule(name):
                found = self._find(self._rules[name], begin, end)
                if found is not None:
                    yield found[0], [(name, begin, end, found[1])]
            case Either(branches):
                for number, branch in enumerate(branches):
                    found = self._find(branch, begin, end)
                    if found is not None:
                        yield [number, *found[0]], found[1]
            case Both(parts):
                if not parts:
                    if begin == end:
                        yield [], []
                else:
                    yield from self._sequence(parts[0], Both(parts[1:]), begin, end)
            case Times(_, 0, 0):
                if begin == end:
                    yield [], []
            case Times(body, 0, high):
                if begin == end:
                    yield [1], []
                rest = Times(body, 0, None if high is None else high - 1)
                # A round of an endless repetition takes some of the text.
                least = begin + (high is None)
                for choices, trees in self._sequence(body, rest, begin, end, least):
                    yield [0, *choices], trees
            case Times(body, low, high):
                rest = Times(body, low - 1, None if high is None else high - 1)
                yield from self._sequence(body, rest, begin, end)

    def _sequence(
        self, first: Body, after: Body, begin: int, end: int, least: int = 0
    ) -> Iterator[Found]:
        # What leaves nothing to the other part is not looked for: the same part of the text would
        # be entered again, and what is found inside of that is not all.
        first_middle = max(least, begin + self._least(first))
        for middle in range(first_middle, end - self._least(after) + 1):
            one = self._find(first, begin, middle)
            if one is not None:
                two = self._find(after, middle, end)
                if two is not None:
                    yield one[0] + two[0], one[1] + two[1]


_LEAVES: list[Body] = [Text("a"), Text("b"), Text("ab"), Star("b", 1), Text(""), Star("a", 0)]
"""What rules are made of; those that may be empty are last."""


def random_rules(random: Random, *, filled: bool = False) -> Rules:
    """Return a random grammar with a few rules over two characters.

    With ``filled`` its terminals are never empty, as those of Lark may not be.
    """
    names = ["start", "one", "two", "three"][: random.randint(1, 4)]
    leaves = _LEAVES[:4] if filled else _LEAVES
    return {name: _random(random, names, leaves, 3) for name in names}


def _random(random: Random, names: Sequence[str], leaves: Sequence[Body], depth: int) -> Body:
    kind = random.random()
    if depth == 0 or kind < 0.3:
        return random.choice(leaves)
    if kind < 0.5:
        return Rule(random.choice(names))
    if kind < 0.7:
        count = random.randint(2, 3)
        return Both(tuple(_random(random, names, leaves, depth - 1) for _ in range(count)))
    if kind < 0.88:
        count = random.randint(2, 3)
        return Either(tuple(_random(random, names, leaves, depth - 1) for _ in range(count)))
    low = random.choice([0, 0, 1, 2])
    high = random.choice([None, None, low + 1, low + 2])
    return Times(_random(random, names, leaves, depth - 1), low, high)


def is_cyclic(rules: Rules) -> bool:
    """Return whether a rule derives itself alone: then a derivation has no first choice."""
    empty = set[str]()
    changed = True
    while changed:
        changed = False
        for name, body in rules.items():
            if name not in empty and _is_empty(body, empty):
                empty.add(name)
                changed = True
    alone = {name: _alone(body, empty) for name, body in rules.items()}
    for name in rules:
        seen, pending = set[str](), [name]
        while pending:
            for each in alone[pending.pop()] - seen:
                seen.add(each)
                pending.append(each)
        if name in seen:
            return True
    return False


def _is_empty(node: Body, empty: set[str]) -> bool:
    match node:
        case Text(value):
            return not value
        case Star(_, least):
            return not least
        case Rule(name):
            return name in empty
        case Both(parts):
            return all(_is_empty(part, empty) for part in parts)
        case Either(branches):
            return any(_is_empty(branch, empty) for branch in branches)
        case Times(body, low, _):
            return not low or _is_empty(body, empty)


def _alone(node: Body, empty: set[str]) -> set[str]:
    """Return the rules that a part may be, with nothing beside them."""
    match node:
        case Rule(name):
            return {name}
        case Both(parts):
            return set[str]().union(
                *(
                    _alone(part, empty)
                    for i, part in enumerate(parts)
                    if all(_is_empty(other, empty) for j, other in enumerate(parts) if j != i)
                )
            )
        case Either(branches):
            return set[str]().union(*(_alone(branch, empty) for branch in branches))
        case Times(body, low, high):
            if high == 0 or (low > 1 and not _is_empty(body, empty)):
                return set[str]()
            return _alone(body, empty)
    return set()


def as_lark(rules: Rules) -> str:
    """Return the same rules as a grammar of Lark."""
    return "\n".join(f"{name}: {_print_lark(body)}" for name, body in rules.items())


def _print_lark(node: Body) -> str:
    match node:
        case Text(value):
            return f'"{value}"'
        case Star(character, _):
            return f"/{character}+/"
        case Rule(name):
            return name
        case Both(parts):
            return " ".join(map(_print_lark, parts))
        case Either(branches):
            return "(" + " | ".join(map(_print_lark, branches)) + ")"
        case Times(body, low, high):
            copies = [f"({_print_lark(body)})"] * low
            if high is None:
                return " ".join([*copies, f"({_print_lark(body)})*"])
            more = ""
            for _ in range(high - low):
                more = f"[({_print_lark(body)}) {more}]"
            return " ".join([*copies, more])
