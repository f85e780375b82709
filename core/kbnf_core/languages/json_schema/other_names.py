"""All names but some, as one rule for people: where a text leaves the trie of the names.

A name that is none of them goes along the trie and leaves it, by a character that may stand for
itself or by an escape, or it ends where none of them ends.
"""

from collections.abc import Callable, Iterator

from kbnf_core.automata.codepoints import ANY, difference, from_text
from kbnf_core.automata.expression import Builder, print_characters
from kbnf_core.automata.expression import Expression as Regex
from kbnf_core.expression import NOTHING
from kbnf_core.languages.json_schema.additional_names import leaving
from kbnf_core.languages.json_schema.build_tree import (
    Form,
    alternation,
    call,
    regex,
    sequence,
    text,
)
from kbnf_core.languages.json_schema.characters import ESCAPED, spell_text
from kbnf_core.languages.json_schema.linear import Rules
from kbnf_core.languages.json_schema.prelude import Prelude

PLAIN = difference(ANY, ESCAPED)
"""Characters that stand for themselves."""

WIDTH = 72
"""Columns of a regular expression."""


class OtherNames:
    """Writes the names that are none of some words, each set of words once.

    ``comments`` are what to say of the rules, by name; ``pieces`` writes an expression.
    """

    def __init__(self, prelude: Prelude, rules: Rules, pieces: Callable[[Regex], Form]) -> None:
        self._prelude = prelude
        self._rules = rules
        self._pieces = pieces
        self._builder = Builder()
        self._known: dict[tuple[str, ...], Form] = {}
        self.comments: dict[str, str] = {}

    def write(self, words: tuple[str, ...]) -> Form:
        """Return the JSON texts of the names that are none of ``words``.

        All of them, and their texts, have the characters of PLAIN.
        """
        key = tuple(sorted(words))
        if key not in self._known:
            _, within, ends = leaving(words, self._builder, PLAIN)
            rest = self._prelude.use("name_rest")
            escaped = sequence(self._pieces(within), self._prelude.use("escape"), rest)
            ways = [sequence(alternation(map(regex, _away(words))), rest), escaped]
            if ends != NOTHING:
                ways.append(sequence(self._pieces(ends), text('"')))
            name = self._rules.fresh("other_key")
            self._rules.add(name, sequence(text('"'), alternation(ways)))
            self.comments[name] = f"All but {', '.join(map(spell_text, words))}"
            self._known[key] = call(name)
        return self._known[key]


def _away(words: tuple[str, ...]) -> Iterator[str]:
    """Yield regular expressions of the ways off the trie: a beginning of a word, another letter."""
    below: dict[str, str] = {"": ""}
    for word in words:
        for end, char in enumerate(word):
            start = word[:end]
            if char not in below[start]:
                below[start] += char
                below.setdefault(word[: end + 1], "")
    line = ""
    for start, chars in below.items():
        spelled = "".join(print_characters(from_text(char)) for char in start)
        way = spelled + print_characters(difference(PLAIN, from_text(chars)))
        if line and len(line) + len(way) >= WIDTH:
            yield line
            line = ""
        line += f"|{way}" if line else way
    yield line
