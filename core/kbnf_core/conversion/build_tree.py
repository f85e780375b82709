"""Makes parts of KBNF syntax trees: texts, patterns, groups, and names out of foreign names."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.regex import compile_regex
from kbnf_core.kbnf import tree
from kbnf_core.text.source import Span

TABLE_HEAD = "Renamed:"
"""Begins the comment with the table of new names; it is not carried over to a third text."""

_NO_IDENTIFIER = re.compile(r"[^A-Za-z0-9_]+")
_NO_GBNF_NAME = re.compile(r"[^A-Za-z0-9-]+")

_OF_XGRAMMAR = (
    "true",
    "false",
    "Token",
    "ExcludeToken",
    "TagDispatch",
    "TokenTagDispatch",
    "Regex",
    "Substring",
)
"""Words of XGrammar's GBNF that cannot name a rule."""


def kbnf_names(names: Iterable[str], fixed: Mapping[str, str]) -> dict[str, str]:
    """Return an identifier of KBNF for each name of another language, each different.

    ``fixed`` contains those that are settled. Other names stay as they are where they can.
    """
    spell = partial(_spelled, bad=_NO_IDENTIFIER, joint="_")
    return distinct(names, fixed, spell, "_")


def gbnf_names(names: Iterable[str], fixed: Mapping[str, str]) -> dict[str, str]:
    """Return a name of GBNF for each name of any language, as ``kbnf_names``.

    It has letters, digits and hyphens only, and begins with a letter: all readers of GBNF take it.
    """
    spell = partial(_spelled, bad=_NO_GBNF_NAME, joint="-")
    return distinct(names, fixed, spell, "-", _OF_XGRAMMAR)


@dataclass(slots=True)
class Names:
    """Gives out identifiers of KBNF, each once; what is asked for again gets the same name."""

    _given: dict[object, str] = field(default_factory=dict)
    _used: set[str] = field(default_factory=set)

    def copy(self) -> "Names":
        """Return the same state, to come back to."""
        return Names(dict(self._given), set(self._used))

    def of(self, key: object, wanted: str) -> str:
        """Return the name of ``key``, as close to ``wanted`` as is left."""
        if key not in self._given:
            self._given[key] = self.fresh(wanted)
        return self._given[key]

    def fresh(self, wanted: str) -> str:
        """Return a name that nothing has yet; an underscore in front is kept."""
        base = _NO_IDENTIFIER.sub("_", wanted).strip("_") or "rule"
        if wanted.startswith("_") or base[0].isdigit():
            base = f"_{base}"
        name = _free(base, self._used, "_")
        self._used.add(name)
        return name


def _spelled(name: str, bad: "re.Pattern[str]", joint: str) -> str:
    """Return ``name`` with one joint for every run of ``bad`` characters, none at its ends."""
    plain = name if bad.search(name) is None else bad.sub(joint, name).strip(joint)
    return plain if plain[:1].isalpha() or plain[:1] == "_" else f"r{plain}"


def distinct(
    names: Iterable[str],
    fixed: Mapping[str, str],
    spell: Callable[[str], str],
    joint: str,
    reserved: Iterable[str] = (),
) -> dict[str, str]:
    """Return ``fixed``, and for every other name one close to what ``spell`` makes of it.

    The result depends on the order of the names only. None is one of ``reserved``.
    """
    ordered = list(dict.fromkeys(names))
    chosen = dict(fixed)
    taken = {*fixed.values(), *reserved}
    # Names that can stay go first, so that none of them gives way to one that must change.
    for name in sorted(ordered, key=lambda name: spell(name) != name):
        if name not in chosen:
            chosen[name] = _free(spell(name), taken, joint)
            taken.add(chosen[name])
    return chosen


def _free(wanted: str, taken: set[str], joint: str) -> str:
    number = 2
    name = wanted
    while name in taken:
        name = f"{wanted}{joint}{number}"
        number += 1
    return name


_SPECIAL = re.compile(r"([\\.^$|?*+()\[\]{}&~#-])")


def escaped(value: str) -> str:
    """Return a regular expression of one text."""
    return _SPECIAL.sub(r"\\\1", value)


def text_of(value: str, span: Span) -> tree.Text:
    """Return a quoted text whose every character is shown at the start of ``span``."""
    return tree.Text(value, span, (span.start,) * (len(value) + 1))


def terminal(value: str, span: Span) -> tree.Terminal:
    """Return ``'value'``."""
    return tree.Terminal(text_of(value, span), span)


def text_or_bytes(data: bytes, span: Span) -> tree.Terminal | tree.ByteString:
    """Return ``'text'`` for bytes that are one, else ``#b'bytes'``."""
    try:
        return terminal(data.decode(), span)
    except UnicodeDecodeError:
        return tree.ByteString(data, span)


def pattern(regex: str, span: Span) -> tree.Pattern:
    """Return ``#'regex'``."""
    return tree.Pattern(tree.PatternKind.REGEX, text_of(regex, span), span)


def nothing(span: Span) -> tree.Pattern:
    """Return a pattern that matches nothing."""
    return pattern(r"[^\x{0}-\x{10FFFF}]", span)


def reference(name: str, span: Span) -> tree.Reference:
    """Return a use of a nonterminal."""
    return tree.Reference(tree.Name(name, span), span)


def sequence(items: list[tree.Expression], span: Span) -> tree.Expression:
    """Return the items side by side; the empty text if there are none."""
    flat: list[tree.Expression] = []
    for item in items:
        flat.extend(item.items if isinstance(item, tree.Sequence) else [item])
    solid = [item for item in flat if not is_empty_text(item)]
    if not solid:
        return terminal("", span)
    return solid[0] if len(solid) == 1 else tree.Sequence(tuple(solid), span)


def choice(branches: list[tree.Expression], span: Span) -> tree.Expression:
    """Return any of the branches, at least one; the empty text among them becomes a ``?``."""
    flat: list[tree.Expression] = []
    for branch in branches:
        flat.extend(branch.branches if isinstance(branch, tree.Alternation) else [branch])
    solid = [branch for branch in flat if not is_empty_text(branch)]
    if not solid:
        return terminal("", span)
    whole = solid[0] if len(solid) == 1 else tree.Alternation(tuple(solid), span)
    return whole if len(solid) == len(flat) else repeat(whole, 0, 1, span)


def repeat(body: tree.Expression, low: int, high: int | None, span: Span) -> tree.Expression:
    """Return the body, ``low`` to ``high`` times."""
    if high == 0 or is_empty_text(body):
        return terminal("", span)
    if (low, high) == (1, 1):
        return body
    if isinstance(body, tree.Repetition) and (low, high) == (0, 1):
        if body.low == 0:
            return body
        if body.low == 1:
            return tree.Repetition(body.body, 0, body.high, span, span)
    return tree.Repetition(body, low, high, span, span)


def is_empty_text(node: tree.Expression) -> bool:
    """Return whether ``node`` is the empty text, as written."""
    return isinstance(node, tree.Terminal) and not node.text.value


def is_written(candidate: str, dfa: Dfa) -> bool:
    """Return whether the regular expression ``candidate`` has the language of ``dfa``."""
    compiled = compile_regex(candidate).dfa
    return compiled is not None and operations.is_equal(compiled, dfa)


def write_dfa(dfa: Dfa, span: Span) -> tree.Expression | None:
    """Return ``dfa`` as one KBNF symbol; None if its words are no text or too many."""
    from kbnf_core.automata.characters import NotTextError
    from kbnf_core.automata.to_regex import to_regex

    word = _only_word(dfa)
    if word is not None:
        return text_or_bytes(word, span)
    try:
        return pattern(to_regex(dfa), span)
    except (NotTextError, LimitError):
        return None


def only_text(dfa: Dfa) -> str | None:
    """Return the text of a language of one word, if it is one."""
    try:
        return (_only_word(dfa) or b"").decode() or None
    except UnicodeDecodeError:
        return None


def _only_word(dfa: Dfa) -> bytes | None:
    """Return the word of a language of one word."""
    word = operations.shortest_word(dfa)
    if word is None or len(word) != dfa.state_count - 1:
        return None
    return word if operations.is_equal(dfa, operations.literal(word)) else None


def write_rules(dfa: Dfa, name: str, span: Span) -> list[tuple[str, tree.Expression]]:
    """Return ``dfa`` as right-linear rules over bytes; the first is called ``name``.

    A state that is entered from one place, and goes on in one way or ends, is no rule of its own.
    """
    members: dict[int, bytes] = {}
    for byte, symbol in enumerate(dfa.classes):
        members[symbol] = members.get(symbol, b"") + bytes([byte])
    edges = [
        [(members[symbol], target) for symbol, target in enumerate(row) if target != DEAD]
        for row in dfa.rows
    ]
    entered = Counter(target for row in edges for _, target in row)
    ways = [len(row) + is_end for row, is_end in zip(edges, dfa.accepting, strict=True)]

    def branch(label: bytes, target: int) -> tree.Expression:
        labels = [label]
        while entered[target] == ways[target] == 1 and target > 0:
            if not edges[target]:
                return sequence(_symbols(labels, span), span)
            [(label, target)] = edges[target]
            labels.append(label)
        rest = reference(f"{name}_{target}" if target else name, span)
        return sequence([*_symbols(labels, span), rest], span)

    rules: list[tuple[str, tree.Expression]] = []
    for state, row in enumerate(edges):
        if state == 0 or not entered[state] == ways[state] == 1:
            ends = [terminal("", span)] if dfa.accepting[state] else []
            body = choice([*ends, *(branch(*edge) for edge in row)], span)
            rules.append((f"{name}_{state}" if state else name, body))
    return rules


_PIECE = 60
"""Bytes of a text in one piece, so that lines stay short."""


def _symbols(labels: list[bytes], span: Span) -> list[tree.Expression]:
    """Return symbols for texts with one of the bytes of each label."""
    symbols: list[tree.Expression] = []
    for is_text, group in groupby(labels, lambda label: len(label) == 1):
        if is_text:
            symbols += _texts(b"".join(group), span)
        else:
            symbols += [_one_byte(label, span) for label in group]
    return symbols


def _texts(data: bytes, span: Span) -> Iterator[tree.Expression]:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        yield from (
            tree.ByteString(data[i : i + _PIECE], span) for i in range(0, len(data), _PIECE)
        )
    else:
        yield from (terminal(text[i : i + _PIECE], span) for i in range(0, len(text), _PIECE))


def _one_byte(members: bytes, span: Span) -> tree.Expression:
    if members.isascii():
        characters = "".join(f"\\x{byte:02x}" for byte in members)
        return pattern(f"[{characters}]", span)
    return choice([tree.ByteString(bytes([byte]), span) for byte in members], span)
