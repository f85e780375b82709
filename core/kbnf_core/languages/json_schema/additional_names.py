"""All strings but some, as an automaton and as an expression: the names of additional members."""

from collections.abc import Sequence
from functools import lru_cache

from kbnf_core.automata.alphabet import join, separate
from kbnf_core.automata.chosen_kernel import AUTOMATA
from kbnf_core.automata.codepoints import ANY, CodePoints, difference, from_text
from kbnf_core.automata.dfa import Dfa, rows_over
from kbnf_core.automata.expression import Builder, Expression
from kbnf_core.automata.regex import compile_regex
from kbnf_core.expression import NOTHING
from kbnf_core.languages.json_schema.characters import Spelling, is_spelt_once


def all_but(words: Sequence[str], spelling: Spelling) -> Dfa | None:
    """Return the texts of all other strings; None where a word has several texts.

    This is minimal: what was added and a state of any string differ by a word. (That states are
    not breadth first does not matter to grammars.)
    """
    spelt = [spelling.text(word) if is_spelt_once(word) else None for word in words]
    texts = [text.encode() for text in spelt if text is not None]
    if len(texts) < len(words):
        return None
    anything = _any_string(spelling)
    classes = join([anything.classes, separate(b"".join(texts))])
    rows = AUTOMATA.leave_out(
        rows_over(anything, classes), [text.translate(classes) for text in texts]
    )
    accepting = [*anything.accepting, *([False] * (len(rows) - anything.state_count))]
    return Dfa(classes, rows, accepting)


@lru_cache(maxsize=4)
def _any_string(spelling: Spelling) -> Dfa:
    compiled = compile_regex(f'"{spelling.character}*"')
    assert compiled.dfa is not None  # noqa: S101 - the pattern is ours
    return compiled.dfa


def regex_but(words: Sequence[str], builder: Builder) -> Expression:
    """Return an expression for all other strings.

    The continuation of those that leave the words' trie is written once, not at every node.
    """
    away, _, ends = leaving(words, builder, ANY)
    anything = builder.star(builder.characters(ANY))
    return builder.alternation([builder.sequence([away, anything]), ends])


def leaving(
    words: Sequence[str], builder: Builder, alphabet: CodePoints
) -> tuple[Expression, Expression, Expression]:
    """Return expressions for strings that leave the words' trie, that are in it, that end in it.

    The first are those that do with their last character, which is one of ``alphabet``; the second
    all ways along the trie; of these, the third are no words.
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
    away: list[Expression] = [NOTHING] * len(children)
    within: list[Expression] = [NOTHING] * len(children)
    ending: list[Expression] = [NOTHING] * len(children)
    for node in reversed(range(len(children))):
        below = children[node]
        others = builder.characters(difference(alphabet, from_text("".join(below))))
        away[node] = builder.alternation([others, *_below(below, away, builder)])
        within[node] = builder.optional(builder.alternation(_below(below, within, builder)))
        inner = builder.alternation(_below(below, ending, builder))
        ending[node] = inner if ends.get(node) else builder.optional(inner)
    return away[0], within[0], ending[0]


def _below(children: dict[str, int], found: list[Expression], builder: Builder) -> list[Expression]:
    """Return what is found below a node of the trie, each behind its character."""
    return [
        builder.sequence([builder.text(char), found[child]])
        for char, child in children.items()
        if found[child] != NOTHING
    ]
