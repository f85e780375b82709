"""All names but some, as rules: the trie of the names, and where a text may leave it.

A name that is left out is followed letter by letter; at each the text may end, or go on otherwise.
"""

from collections.abc import Callable, Iterable

from kbnf_core.automata.codepoints import ANY, difference, from_text
from kbnf_core.languages.json_schema.build_tree import (
    Form,
    alternation,
    call,
    regex,
    sequence,
    text,
)
from kbnf_core.languages.json_schema.characters import ESCAPED
from kbnf_core.languages.json_schema.linear import Rules
from kbnf_core.languages.json_schema.prelude import Prelude

DEEP = 8
"""Letters after which the rest of a name gets a rule of its own."""

Trie = dict[str, "Trie"]

_END = ""


class OtherNames:
    """Writes the names that are none of some words; rules are shared between all that need them.

    ``names`` are those of the rules.
    """

    def __init__(self, prelude: Prelude, rules: Rules) -> None:
        self._prelude = prelude
        self._rules = rules
        self._known: dict[tuple[str, ...], Form] = {}
        self.names: dict[str, None] = {}

    def write(self, words: tuple[str, ...]) -> Form:
        """Return the JSON texts of the names that are none of ``words``."""
        return self._shared(
            ("other", *sorted(words)),
            "other_key",
            lambda: sequence(text('"'), self._whole(_trie_of(words))),
        )

    def _add(self, name: str, form: Form) -> None:
        self._rules.add(name, form)
        self.names[name] = None

    def _shared(self, key: tuple[str, ...], wish: str, make: Callable[[], Form]) -> Form:
        if key not in self._known:
            name = self._rules.fresh(wish)
            self._add(name, make())
            self._known[key] = call(name)
        return self._known[key]

    def _whole(self, trie: Trie) -> Form:
        """Return what follows the quote, children before their parents."""
        order: list[tuple[Trie, int]] = [(trie, 0)]
        for node, depth in order:
            order.extend((child, depth + 1) for char, child in node.items() if char != _END)
        forms: dict[int, Form] = {}
        for node, depth in reversed(order):
            form = self._node(node, forms)
            if depth and depth % DEEP == 0 and node.keys() - {_END}:
                name = self._rules.fresh("other_key_part")
                self._add(name, form)
                form = call(name)
            forms[id(node)] = form
        return forms[id(trie)]

    def _node(self, node: Trie, forms: dict[int, Form]) -> Form:
        chars = "".join(char for char in node if char != _END)
        spell = self._prelude.spelling
        below = []
        for char in chars:
            plain = spell.text(char)
            letter = regex(spell.spell(from_text(char))) if plain is None else text(plain[1:-1])
            below.append(sequence(letter, forms[id(node[char])]))
        return alternation([self._away(chars, ends=_END not in node), *below])

    def _away(self, chars: str, *, ends: bool) -> Form:
        """Return what goes on with none of ``chars``, or ends here."""
        if not chars:
            return self._prelude.use("name_rest" if ends else "longer_name")
        listed = "".join(sorted(chars))
        wish = f"{'unless' if ends else 'longer_unless'}_{listed}"
        return self._shared((wish, listed), wish, lambda: self._leaving(chars, ends=ends))

    def _leaving(self, chars: str, *, ends: bool) -> Form:
        # An escape may spell several characters; those that are left out have theirs taken out.
        points = difference(ANY, from_text(chars))
        plain = regex(self._prelude.spelling.spell(difference(points, ESCAPED)))
        if set(chars) & set(map(chr, _codes())):
            first: Form = regex(self._prelude.spelling.spell(points))
        else:
            first = alternation([plain, self._prelude.use("escape")])
        more = sequence(first, self._prelude.use("name_rest"))
        return alternation([text('"'), more]) if ends else more


def _codes() -> list[int]:
    return [code for low, high in ESCAPED for code in range(low, high + 1)]


def _trie_of(words: Iterable[str]) -> Trie:
    trie: Trie = {}
    for word in words:
        node = trie
        for char in word:
            node = node.setdefault(char, {})
        node[_END] = {}
    return trie
