"""E601: a start that the tokens of a vocabulary cannot complete, or cannot end."""

from collections.abc import Iterator

from kbnf_core.config import Finish
from kbnf_core.lint.analysis import describe
from kbnf_core.lint.subject import Needs, Subject
from kbnf_core.text.diagnostics import Diagnostic, Rule
from kbnf_core.text.errors import EngineError
from kbnf_core.vocab.validate import missing_bytes

RULES = (
    Rule("E601", "unreachable-end", "The tokens of the vocabulary cannot complete the start."),
)
NEEDS = Needs.TABLES


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding if no row of tokens is a complete text, or none can be ended."""
    from kbnf_core.mask.completion import MAX_WORK, shortest_completion
    from kbnf_core.mask.nearest_end import MOST_VISITED

    if subject.options.vocabulary is None:
        return
    reading, vocabulary = subject.reading, subject.vocabulary
    start = reading.start_span
    name = f"`{vocabulary.name}`" if vocabulary.name else "the vocabulary"
    if reading.finish is Finish.EOS and not vocabulary.eos_token_ids:
        yield reading.finding(
            "E601",
            f"{name} has no end of sequence, which `finish=eos` needs",
            start,
            helps=("name it with `--eos ID`",),
        )
    if subject.automaton is None:
        return
    automaton = subject.automaton
    try:
        with subject.budget.compiled(MAX_WORK) as budget:
            completion = shortest_completion(automaton, automaton.beginning, budget=budget)
    except EngineError as error:
        subject.stop("E601", str(error), start)
        return
    if completion.tokens is None and automaton.nearest_end.has_none(automaton.beginning):
        yield reading.finding(
            "E601",
            f"no tokens of {name} complete `{reading.start}`",
            start,
            notes=(*describe(completion, vocabulary), _reason(subject, completion.data)),
        )
    elif completion.tokens is None:
        why = f"the search for a complete text looked at {MOST_VISITED:,} trie nodes"
        subject.stop("E601", why, start)


def _reason(subject: Subject, shortest: bytes | None) -> str:
    missing = frozenset(missing_bytes(subject.vocabulary.tokens.values()))
    if missing.intersection(shortest or b""):
        return "every text needs a byte that no token has"
    return "no text can be cut into tokens"
