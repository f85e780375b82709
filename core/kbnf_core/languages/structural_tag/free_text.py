"""Free text, and the strings that end it: what ``any_text`` and its like allow.

Text in which some strings occur nowhere is ``except!`` or ``#ex`` of KBNF. Where a *trigger* hands
over to a tag, the text up to the trigger's first occurrence is free text and then the trigger,
unless some string may end inside of the trigger: then the text's end is not where the trigger
begins, and an automaton says which texts lead up to it.
"""

from collections.abc import Iterable, Sequence

from kbnf_core.automata import operations
from kbnf_core.automata.characters import NotTextError
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.regex import compile_regex
from kbnf_core.automata.to_regex import to_regex
from kbnf_core.languages.conversion.build_tree import escaped
from kbnf_core.languages.json_schema.build_tree import Form, alternation, regex, text
from kbnf_core.source import NOWHERE
from kbnf_core.syntax import tree


def avoiding(words: Sequence[str]) -> Form:
    """Return nonempty text in which none of ``words`` occurs."""
    if not words:
        return regex("(?s:.)+")
    if len(words) == 1:
        return tree.Exception_(_terminal(words[0]), 0, NOWHERE)
    pattern = tree.Text("|".join(map(escaped, words)), NOWHERE, ())
    return tree.Pattern(tree.PatternKind.COMPLEMENT, pattern, NOWHERE)


def is_clean(trigger: str, words: Iterable[str]) -> bool:
    """Tell whether none of ``words`` can end inside of ``trigger``, or together with it."""
    ends = [trigger[:length] for length in range(1, len(trigger))]
    return not any(
        any(end.endswith(word) or word.endswith(end) for end in ends)
        or (word != trigger and (word.endswith(trigger) or trigger.endswith(word)))
        for word in words
    )


def up_to(trigger: str, words: Sequence[str]) -> Form:
    """Return the texts that end with ``trigger`` before any of ``words`` occurs in them.

    Of words that end at one place the longest counts. Raises ``LimitError`` where the texts have no
    expression of bearable size.
    """
    found = operations.intersect(
        operations.shortest_matches(_ending_in(words)), _ending_in([trigger])
    )
    longer = [word for word in words if word != trigger and word.endswith(trigger)]
    if longer:
        found = operations.difference(found, _ending_in(longer))
    try:
        return regex(to_regex(found))
    except NotTextError:
        raise LimitError("states", 0) from None


def _ending_in(words: Sequence[str]) -> Dfa:
    compiled = compile_regex("(?s:.)*(?:" + "|".join(map(escaped, words)) + ")").dfa
    if compiled is None:
        raise LimitError("states", 0)
    return compiled


def listed(words: Iterable[str]) -> Form:
    """Return any of ``words``."""
    return alternation(map(text, words))


def _terminal(value: str) -> tree.Terminal:
    return tree.Terminal(tree.Text(value, NOWHERE, ()), NOWHERE)
