"""E601: a start that the tokens of a vocabulary cannot complete, or cannot end.

Tests: tests/golden/lint
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kbnf_core.config import Finish
from kbnf_core.lint.subject import COMPILED, Needs, Subject, describe
from kbnf_core.text.budget import Budget
from kbnf_core.text.diagnostics import Diagnostic, Rule
from kbnf_core.text.errors import EngineError
from kbnf_core.vocab.validate import missing_bytes

if TYPE_CHECKING:
    from kbnf_core.mask.token_automaton import TokenAutomaton

RULES = (
    Rule("E601", "unreachable-end", "The tokens of the vocabulary cannot complete the start."),
)
NEEDS = Needs.TABLES


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding if no row of tokens is a complete text, or none can be ended."""
    from kbnf_core.mask.completion import MAX_WORK, shortest_completion
    from kbnf_core.mask.finish import MOST_REACHED, MOST_VISITED

    if subject.options.vocabulary is None:
        return
    reading, vocabulary = subject.reading, subject.vocabulary
    start = reading.start_span
    name = f"`{vocabulary.name}`" if vocabulary.name else "the vocabulary"
    waits = reading.finish is Finish.EOS and not reading.is_endless
    if waits and not vocabulary.eos_token_ids:
        yield reading.finding(
            "E601",
            f"{name} has no end of sequence, which `finish=eos` needs",
            start,
            helps=("name it with `--eos ID`",),
        )
    if subject.automaton is None:
        return
    automaton = subject.automaton
    if reading.is_endless:
        with subject.budget.share(MAX_WORK, COMPILED) as budget:
            goes_on = _goes_on(automaton, vocabulary.size, budget)
        if not goes_on:
            message = (
                f"no tokens of {name} continue without end in `{reading.start}`, which never ends"
            )
            yield reading.finding("E601", message, start)
        return
    try:
        with subject.budget.share(MAX_WORK, COMPILED) as budget:
            completion = shortest_completion(automaton, automaton.beginning, budget=budget)
    except EngineError as error:
        subject.stop("E601", str(error), start)
        return
    if completion.tokens is None and automaton.nearest_end.cannot_end(automaton.beginning):
        yield reading.finding(
            "E601",
            f"no tokens of {name} complete `{reading.start}`",
            start,
            notes=(*describe(completion, vocabulary), _reason(subject, completion.data)),
        )
    elif completion.tokens is None:
        why = (
            f"the search for a complete text met {MOST_REACHED:,} states or {MOST_VISITED:,} nodes"
        )
        subject.stop("E601", why, start)


_FAR = 1_000
"""Tokens in a row after which a text counts as one that never ends."""


def _goes_on(automaton: "TokenAutomaton", size: int, budget: Budget) -> bool:
    """Return whether a row of tokens goes round in a circle, or far; or too far to be looked at."""
    from kbnf_core.mask.bits import ids_of

    def after(position: int) -> Iterator[int]:
        tokens = ids_of(automaton.mask(position), size).tolist()
        return (automaton.step(position, token) for token in tokens)

    on_path = {automaton.beginning: after(automaton.beginning)}
    stuck: set[int] = set()
    while on_path:
        position, ways = next(reversed(on_path.items()))
        following = next((state for state in ways if state not in stuck), None)
        if following in on_path or len(on_path) > _FAR or budget.left <= size:
            return True
        budget.spend(1 + size // COMPILED)
        if following is None:
            stuck.add(position)
            del on_path[position]
        else:
            on_path[following] = after(following)
    return False


def _reason(subject: Subject, shortest: bytes | None) -> str:
    missing = frozenset(missing_bytes(subject.vocabulary.tokens.values()))
    if missing.intersection(shortest or b""):
        return "every text needs a byte that no token has"
    return "no text can be cut into tokens"
