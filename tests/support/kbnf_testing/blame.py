"""Attributes a wrong answer of a reference engine to one of its known bugs.

``known_bugs.toml`` names for each bug the *sign* by which its effects are recognised; the signs
are the functions here. They look at the grammar and at the first place that differs.
"""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kbnf_testing import grammar as g
from kbnf_testing.earley import Recogniser
from kbnf_testing.features import has_nullable_part, has_unit_cycle, is_recursive
from kbnf_testing.peer import Answer, PeerStep
from kbnf_testing.walk import Outcome

KNOWN_BUGS = Path(__file__).resolve().parents[2] / "differential" / "known_bugs.toml"


@dataclass(frozen=True, slots=True)
class Difference:
    """The question to a peer, the right answer, and its own."""

    grammar: g.Grammar
    recogniser: Recogniser
    tokens: dict[int, bytes]
    offers: tuple[int, ...]
    right: Answer
    said: Answer

    def first(self) -> tuple[int, PeerStep, PeerStep]:
        """Return the number of the first offer answered wrongly (-1: before any), and both."""
        before = (PeerStep("", self.right.initial), PeerStep("", self.said.initial))
        pairs = [before, *zip(self.right.steps, self.said.steps, strict=True)]
        number = next(i for i, (right, said) in enumerate(pairs) if right != said)
        return number - 1, *pairs[number]


def _crash_without_progress(found: Difference) -> bool:
    """Match a crash or hang where a part can be empty or a symbol can derive itself."""
    loops = has_nullable_part(found.grammar) or has_unit_cycle(found.grammar)
    return found.said.crashed and loops


def _after_refusal(found: Difference) -> bool:
    """Return whether all is right until a token of two or more bytes is refused."""
    if found.said.error:
        return False
    number, right, _ = found.first()
    is_long = number >= 0 and len(found.tokens[found.offers[number]]) > 1
    return is_long and right.result == Outcome.REJECTED.value


def _panic_in_step(found: Difference) -> bool:
    """Match a panic while a token is accepted or the mask after it is computed."""
    return not found.said.error and found.said.crashed


def _through_acceptance(found: Difference) -> bool:
    """Match a token that wrongly finishes: the text was complete before its last byte."""
    if found.said.error:
        return False
    number, right, said = found.first()
    if (right.result, said.result) != (Outcome.ONGOING.value, Outcome.FINISHED.value):
        return False
    before = b"".join(found.tokens[offer] for offer in found.offers[:number]).decode("latin-1")
    token = found.tokens[found.offers[number]].decode("latin-1")
    return any(found.recogniser.contains(before + token[:end]) for end in range(1, len(token)))


def _long_tokens_in_mask(found: Difference) -> bool:
    """Match masks that differ in tokens of two or more bytes only."""
    if found.said.error:
        return False
    _, right, said = found.first()
    differing = set(right.allowed) ^ set(said.allowed)
    same_result = right.result == said.result
    return same_result and all(len(found.tokens[token_id]) > 1 for token_id in differing)


def _unproductive(found: Difference) -> bool:
    """Match further tokens allowed in a grammar with parts that can never be completed."""
    if found.said.error or not found.recogniser.has_unproductive_part():
        return False
    _, right, said = found.first()
    return set(right.allowed) < set(said.allowed)


def _nullable(found: Difference) -> bool:
    """Match another language, in a grammar with parts that can be empty."""
    return not found.said.error and has_nullable_part(found.grammar)


def _complement_in_mask(found: Difference) -> bool:
    """Match a mask that lacks tokens, in a grammar with ``#ex``."""
    if found.said.error or not any(isinstance(node, g.Never) for node in g.nodes(found.grammar)):
        return False
    _, right, said = found.first()
    return right.result == said.result and set(said.allowed) < set(right.allowed)


def _unit_cycle(found: Difference) -> bool:
    """Match another language, in a grammar with a symbol that derives itself."""
    return not found.said.error and has_unit_cycle(found.grammar)


def _recursive_start(found: Difference) -> bool:
    """Match a missed end, or a beginning allowed again, where the start calls itself."""
    return not found.said.error and is_recursive(found.grammar, found.grammar.start)


_SIGNS: dict[str, Callable[[Difference], bool]] = {
    "crash-without-progress": _crash_without_progress,
    "after-refusal": _after_refusal,
    "panic-in-step": _panic_in_step,
    "through-acceptance": _through_acceptance,
    "long-tokens-in-mask": _long_tokens_in_mask,
    "unproductive": _unproductive,
    "nullable": _nullable,
    "unit-cycle": _unit_cycle,
    "recursive-start": _recursive_start,
    "complement-in-mask": _complement_in_mask,
}


@dataclass(frozen=True, slots=True)
class Bug:
    """A known bug of some versions, and the sign of its effects."""

    name: str
    versions: tuple[str, ...]
    spec: str
    reason: str
    sign: str


def load_bugs() -> list[Bug]:
    """Return the bugs of ``known_bugs.toml``, the most particular first."""
    tables = tomllib.loads(KNOWN_BUGS.read_text(encoding="utf-8"))["bug"]
    return [Bug(**{**table, "versions": tuple(table["versions"])}) for table in tables]


def blame(found: Difference, version: str) -> Bug | None:
    """Return the first known bug of ``version`` whose sign the difference bears."""
    bugs = (bug for bug in load_bugs() if version in bug.versions)
    return next((bug for bug in bugs if _SIGNS[bug.sign](found)), None)


@dataclass(frozen=True, slots=True)
class Listed:
    """Corpus cases (and ``file/NAME``) that a version answers otherwise: always, or sometimes."""

    always: frozenset[str]
    sometimes: frozenset[str]


def known_differences(version: str) -> Listed:
    """Return the differences of ``version`` that ``known_bugs.toml`` lists."""
    tables = tomllib.loads(KNOWN_BUGS.read_text(encoding="utf-8"))["difference"]
    listed = [table for table in tables if version in table["versions"]]
    sometimes = [table for table in listed if table.get("sometimes")]
    always = [table for table in listed if not table.get("sometimes")]
    return Listed(_cases(always), _cases(sometimes))


def _cases(tables: list[dict[str, list[str]]]) -> frozenset[str]:
    return frozenset(name for table in tables for name in table["cases"])
