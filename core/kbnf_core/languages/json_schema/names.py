"""Names: unique ones for rules, and all names of members but some.

Rules are named after definitions and properties.

The names of additional members are all strings but some: an automaton (``all_but``), which for
people is one rule (``OtherNames``). A name that is none of those goes along their trie and leaves
it by a character that is written as itself; or it goes on with an escape, or ends, at a beginning
that is none of them; or it is one of them and goes on with an escape. The ways off the trie, and
these beginnings, are listed, so that each takes a text as long as its depth: words longer than
``CHUNK`` are cut, and what follows a beginning of that length is a rule of its own.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

from kbnf_core.automata.algebra import Choice
from kbnf_core.automata.algebra import Sequence as Sequenced
from kbnf_core.automata.chosen_kernel import AUTOMATA
from kbnf_core.automata.codepoints import ANY, CodePoints, difference, from_text
from kbnf_core.automata.dfa import Dfa, join, rows_over, separate
from kbnf_core.automata.expression import print_character, print_characters
from kbnf_core.automata.regex.syntax import Characters
from kbnf_core.kbnf.build import EMPTY, Form, alternation, call, optional, regex, sequence, text
from kbnf_core.languages.json_schema.prelude import Prelude, Spelling, is_spelt_once, spell_text
from kbnf_core.languages.json_schema.value_sets import compiled_pattern
from kbnf_core.text.json_text import steps_of

_NO_NAME = re.compile(r"_*[^A-Za-z0-9_]+_*")
_LONGEST = 48


class Names:
    """Generates unique identifiers that begin with ``prefix``."""

    def __init__(self, prefix: str, reserved: frozenset[str]) -> None:
        self._prefix = prefix
        self._used = {prefix + name: 1 for name in reserved}

    def take(self, name: str) -> bool:
        """Note that a name is in use; return whether it was not."""
        is_new = name not in self._used
        self._used.setdefault(name, 1)
        return is_new

    def fresh(self, hint: str) -> str:
        """Return an identifier like ``hint`` that was not given out before."""
        base = _NO_NAME.sub("_", hint).strip("_")[:_LONGEST] or "rule"
        if base[0].isdigit():
            base = f"_{base}"
        base = self._prefix + base
        name = base
        count = self._used.get(base, 0)
        while name in self._used:
            count += 1
            name = f"{base}_{count}"
        self._used[base] = max(count, 1)
        self._used.setdefault(name, 1)
        return name


def last_step(pointer: str) -> str:
    """Return the name that a JSON Pointer ends with, of a definition or property."""
    return steps_of(pointer)[-1]


def is_definition(pointer: str) -> bool:
    """Return whether a pointer names a definition."""
    return pointer.rpartition("/")[0].endswith(("/$defs", "/definitions"))


WIDTH = 72
"""Columns of a regular expression."""

CHUNK = 32
"""Characters of words that one rule looks at."""


class OtherNames:
    """Writes the names that are none of some words, each set of words once.

    ``comments`` are what to say of the rules, by name; ``rules`` are where rules go, and ``fresh``
    takes a hint for a name and returns the name.
    """

    def __init__(
        self, prelude: Prelude, fresh: Callable[[str], str], rules: dict[str, Form]
    ) -> None:
        self._prelude = prelude
        self._fresh = fresh
        self._rules = rules
        self._known: dict[tuple[str, ...], Form] = {}
        self.comments: dict[str, str] = {}

    def write(self, words: tuple[str, ...]) -> Form:
        """Return the JSON texts of the names that are none of ``words``.

        All of these have only characters that stand for themselves.
        """
        key = tuple(sorted(words))
        if key not in self._known:
            name = self._fresh("other_key")
            self.comments[name] = f"All but {', '.join(map(spell_text, words))}"
            self._known[key] = call(name)
            # Rules to write: the name, what comes first in it, the rests of words that it avoids.
            pending = [(name, [text('"')], words)]
            while pending:
                name, first, rests = pending.pop()
                cut = _cut(rests)
                inner = {head: self._fresh(name) for head in cut}
                self._rules[name] = sequence(*first, self._ways(rests, inner))
                pending += [(inner[head], [], cut[head]) for head in cut]
        return self._known[key]

    def _ways(self, words: tuple[str, ...], inner: Mapping[str, str]) -> Form:
        """Return the rests of names that are none of ``words``; ``inner`` are rules by heads."""
        whole = dict.fromkeys(word for word in words if word[:CHUNK] not in inner)
        rest, end = call(self._prelude.use("name_rest").nonterminal), text('"')
        escaped: list[Form] = []
        if self._prelude.spelling.escape:
            escaped = [sequence(call(self._prelude.use("escape").nonterminal), rest)]
        plain = difference(ANY, self._prelude.spelling.escaped)
        below, spelled = _trie([*whole, *inner])
        away: list[_Way] = []
        ends: list[_Way] = []
        for start, chars in below.items():
            if start in inner:
                continue
            written, letters = spelled[start]
            others, points = _but(chars, plain)
            away.append((written + others, (*letters, points)))
            if start and start not in whole:
                ends.append(spelled[start])
        ways = [sequence(_lines(away), rest)]
        if whole:
            ways += [sequence(alternation(map(text, whole)), each) for each in escaped]
        if ends or "" not in whole:
            begun = _lines(ends) if ends else EMPTY
            begun = begun if "" in whole or not ends else optional(begun)
            ways.append(sequence(begun, alternation([*escaped, end])))
        return alternation([*ways, *(sequence(text(head), call(inner[head])) for head in inner)])


def _cut(words: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the rests of words that are cut, by their heads."""
    found: dict[str, tuple[str, ...]] = {}
    if max(map(len, words)) > CHUNK:
        for word in words:
            if len(word) >= CHUNK:
                found[word[:CHUNK]] = (*found.get(word[:CHUNK], ()), word[CHUNK:])
    return found


_Way = tuple[str, tuple[Characters, ...]]
"""One character after the other: as a regular expression, and their sets."""


def _trie(words: Sequence[str]) -> tuple[dict[str, str], dict[str, _Way]]:
    """Return for each beginning of words the characters that go on from it, and how it is spelt."""
    below = {"": ""}
    spelled: dict[str, _Way] = {"": ("", ())}
    for word in words:
        for end, char in enumerate(word):
            start, longer = word[:end], word[: end + 1]
            if longer not in below:
                below[start] += char
                below[longer] = ""
                written, letters = spelled[start]
                one, points = _letter(char)
                spelled[longer] = written + one, (*letters, points)
    return below, spelled


def _lines(ways: Iterable[_Way]) -> Form:
    """Return the alternatives, as many in one regular expression as fit on a line."""
    lines: list[list[_Way]] = []
    room = 0
    for way in ways:
        room -= len(way[0]) + 1
        if not lines or room < 0:
            lines.append([])
            room = WIDTH - len(way[0]) - 1
        lines[-1].append(way)
    return alternation(map(_line, lines))


def _line(ways: Sequence[_Way]) -> Form:
    """Return alternatives as one regular expression, with its tree."""
    branches = [Sequenced(sets) if len(sets) > 1 else sets[0] for _, sets in ways]
    whole = Choice(tuple(branches)) if len(branches) > 1 else branches[0]
    return regex("|".join(written for written, _ in ways), parsed=whole)


def _letter(char: str) -> tuple[str, Characters]:
    return print_character(ord(char)), Characters(from_text(char))


@lru_cache(maxsize=1_024)
def _but(chars: str, plain: CodePoints) -> tuple[str, Characters]:
    """Return the characters of a set but some, as they are written and as a set.

    A process keeps 1,024 of them: names begin with the same few letters. Without, a conversion of a
    schema to KBNF makes a tenth more calls.
    """
    points = difference(plain, from_text(chars))
    return print_characters(points), Characters(points)


def all_but(words: Sequence[str], spelling: Spelling) -> Dfa | None:
    """Return the texts of all other strings; None where a word has several texts.

    This is minimal: what was added and a state of any string differ by a word. (That states are
    not breadth first does not matter to grammars.)
    """
    spelt = [spelling.text(word) if is_spelt_once(word) else None for word in words]
    texts = [text.encode() for text in spelt if text is not None]
    if len(texts) < len(words):
        return None
    anything = compiled_pattern(f'"{spelling.character}*"').dfa
    assert anything is not None  # noqa: S101 - the pattern is ours
    classes = join([anything.classes, separate(b"".join(texts))])
    rows = AUTOMATA.leave_out(
        rows_over(anything, classes), [text.translate(classes) for text in texts]
    )
    accepting = [*anything.accepting, *([False] * (len(rows) - anything.state_count))]
    return Dfa(classes, rows, accepting)
