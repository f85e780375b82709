"""All strings but some, as an automaton and as an expression: the names of additional members."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain

from kbnf_core.automata.alphabet import join, separate
from kbnf_core.automata.codepoints import ANY, complement, from_text
from kbnf_core.automata.dfa import DEAD, Dfa, rows_over
from kbnf_core.automata.expression import Builder, Expression
from kbnf_core.automata.regex import compile_regex
from kbnf_core.expression import NOTHING
from kbnf_core.languages.json_schema.characters import Spelling, is_spelt_once


def all_but(words: Sequence[str], spelling: Spelling) -> Dfa | None:
    """Return the texts of all other strings; None where a word has several texts.

    A node of the words' trie does what any string does there, but for the bytes that stay in the
    trie. Nodes that leave out the same are one, so this is minimal: a node and a state of any
    string differ by a word. (That its states are not breadth first does not matter to grammars.)
    """
    spelt = [spelling.text(word) if is_spelt_once(word) else None for word in words]
    texts = [text.encode() for text in spelt if text is not None]
    if len(texts) < len(words):
        return None
    anything = _any_string(spelling)
    classes = join([anything.classes, separate(b"".join(texts))])
    rows = rows_over(anything, classes)
    children: list[dict[int, int]] = [{}]
    beside = [0]
    for text in texts:
        node = 0
        for byte in text:
            symbol = classes[byte]
            below = children[node].setdefault(symbol, len(children))
            if below == len(children):
                children.append({})
                beside.append(rows[beside[node]][symbol])
            node = below
    states: dict[tuple[int, ...], int] = {}
    found = [DEAD] * len(children)
    for node in reversed(range(1, len(children))):
        if not children[node]:
            # A word ends here.
            continue
        edges = [(symbol, found[below]) for symbol, below in sorted(children[node].items())]
        key = (beside[node], *chain.from_iterable(edges))
        state = states.get(key)
        if state is None:
            state = states[key] = len(rows)
            row = rows[beside[node]].copy()
            for symbol, target in edges:
                row[symbol] = target
            rows.append(row)
        found[node] = state
    # No string comes back to the start.
    for symbol, below in children[0].items():
        rows[0][symbol] = found[below]
    accepting = [*anything.accepting, *([False] * len(states))]
    return Dfa(classes, rows, accepting)


@lru_cache(maxsize=4)
def _any_string(spelling: Spelling) -> Dfa:
    compiled = compile_regex(f'"{spelling.character}*"')
    assert compiled.dfa is not None  # noqa: S101 - the pattern is ours
    return compiled.dfa


def regex_but(words: Sequence[str], builder: Builder) -> Expression:
    """Return an expression for all other strings.

    They leave the words' trie and continue freely, or end at a node that is no word. The
    continuation of those that leave is written once, not at every node.
    """
    children: list[dict[str, int]] = [{}]
    ends = {0: False}
    for word in words:
        node = 0
        for char in word:
            node = children[node].setdefault(char, len(children))
            if node == len(children):
                children.append({})
        ends[node] = True
    leaving: list[Expression] = [NOTHING] * len(children)
    ending: list[Expression] = [NOTHING] * len(children)
    for node in reversed(range(len(children))):
        away = _other_than(children[node], builder)
        leaving[node] = builder.alternation([away, *_below(children[node], leaving, builder)])
        inner = builder.alternation(_below(children[node], ending, builder))
        ending[node] = inner if ends.get(node) else builder.optional(inner)
    anything = builder.star(builder.characters(ANY))
    return builder.alternation([builder.sequence([leaving[0], anything]), ending[0]])


def _below(children: dict[str, int], found: list[Expression], builder: Builder) -> list[Expression]:
    """Return what is found below a node of the trie, each behind its character."""
    return [
        builder.sequence([builder.text(char), found[child]])
        for char, child in children.items()
        if found[child] != NOTHING
    ]


def _other_than(children: dict[str, int], builder: Builder) -> Expression:
    return builder.characters(complement(from_text("".join(children))))
