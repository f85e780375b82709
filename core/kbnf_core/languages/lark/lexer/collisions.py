r"""Collisions of two terminals in one scanner: texts that both match, as Lark's strict mode says.

Lark asks interegular, which reads Python's regular expressions as sets of texts; so it is asked
here too. It falls short of ``re``, and of the reading in ``regex``, in this: alternation has no
order and laziness no meaning (``a|ab`` may match ``ab``), classes and ``\d``, ``\w`` are ASCII,
there is no look-behind, no ``^``, ``$``, ``\b``, no reference back and no flag but ``ims``; what a
look-ahead asks is part of the text. Hence terminals are not read by it, and an example of it
counts only if ``re`` confirms it; where there is none, our own automata give one.
"""

import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

from kbnf_core.automata.product import common_word
from kbnf_core.budget import Budget
from kbnf_core.languages.lark.lexer.lookahead import first_bytes
from kbnf_core.languages.lark.lexer.maximal_munch import COMPARISON, precedes
from kbnf_core.languages.lark.reader.model import Terminal
from kbnf_core.languages.lark.reader.report import COLLISION, Report

if TYPE_CHECKING:
    from interegular import Pattern

_MOST_STATES, _MOST_LENGTH, _MOST_PAIRS = 100, 400, 40
"""States and characters of terminals that are handed to interegular, whose automata are Python
dicts, and pairs in one grammar; for others our own example serves."""

_SECONDS = 0.2
"""What interegular may search for an example; it counts this in steps, not by a clock."""


@dataclass(frozen=True, slots=True)
class Collision:
    """A text that two terminals match, before a text that their look-aheads may ask for."""

    first: Terminal
    second: Terminal
    text: str
    following: str = ""


def report_collisions(
    scanners: Iterable[Iterable[Terminal]], budget: Budget, report: Report
) -> None:
    """Note each pair of terminals that collide in a scanner, with an example."""
    for found in collisions(scanners, budget):
        before = f" before {found.following!r}" if found.following else ""
        first, second = found.first.title, found.second.title
        report.note(
            COLLISION,
            f"`{first}` and `{second}` both match {found.text!r}{before}; Lark's lexer takes"
            f" `{first}`, which stands first in its order",
            found.second.span,
            "give one of them a priority (`NAME.2`), or let it exclude the other's texts",
        )


def collisions(scanners: Iterable[Iterable[Terminal]], budget: Budget) -> Iterator[Collision]:
    """Yield a collision of each pair of terminals with one priority that share a scanner."""
    seen: set[frozenset[str]] = set()
    for scanner in scanners:
        patterns = sorted((t for t in scanner if _is_pattern(t)), key=lambda t: t.title)
        for one, other in combinations(patterns, 2):
            pair = frozenset((one.title, other.title))
            if pair in seen or len(pair) < 2 or _priority(one) != _priority(other):
                continue
            seen.add(pair)
            if first_bytes(one.dfa) & first_bytes(other.dfa):
                budget.spend(COMPARISON)
                first, second = (one, other) if precedes(one, other) else (other, one)
                found = _collision(first, second, len(seen) <= _MOST_PAIRS)
                if found is not None:
                    yield found


def _is_pattern(terminal: Terminal) -> bool:
    """Tell whether Lark keeps a terminal as a regular expression: strings win over those."""
    return terminal.order is not None and terminal.order.keyword is None


def _priority(terminal: Terminal) -> int | None:
    return terminal.order.key[0] if terminal.order else None


def _collision(one: Terminal, other: Terminal, asks: bool) -> Collision | None:
    word = common_word(one.dfa, other.dfa)
    examples = [*_overlap(one, other)] if asks else []
    if word is not None:
        examples.append((word.decode("utf-8", "replace"), ""))
    for text, following in examples:
        if all(_matches(each, text, following) for each in (one, other)):
            return Collision(one, other, text, following)
    return None


def _matches(terminal: Terminal, text: str, following: str) -> bool:
    """Tell whether Python's ``re`` matches exactly ``text`` before ``following``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        found = re.match(_regexp(terminal), text + following)
    return found is not None and found.end() == len(text)


def _regexp(terminal: Terminal) -> str:
    return terminal.order.regexp if terminal.order else ""


def _overlap(one: Terminal, other: Terminal) -> Iterator[tuple[str, str]]:
    """Yield interegular's example of a text that both match, and what must follow it."""
    from interegular import Comparator, Unsupported

    readings = (_read(_regexp(each)) for each in (one, other) if _is_small(each))
    patterns = dict(enumerate(reading for reading in readings if reading is not None))
    if len(patterns) < 2:
        return
    comparator = Comparator(patterns)
    try:
        found = comparator.get_example_overlap(0, 1, _SECONDS)
    except (Unsupported, ValueError, TypeError):
        # It cannot say, or there is none; unbounded look-ahead fails with a TypeError.
        return
    if not found.prefix:
        yield found.main_text, found.postfix


def _is_small(terminal: Terminal) -> bool:
    return terminal.dfa.state_count <= _MOST_STATES and len(_regexp(terminal)) <= _MOST_LENGTH


@lru_cache(maxsize=1024)
def _read(regexp: str) -> "Pattern | None":
    """Return interegular's reading of a pattern; None where it has none."""
    from interegular import InvalidSyntax, Unsupported, parse_pattern

    try:
        return parse_pattern(regexp)
    except (Unsupported, InvalidSyntax, AttributeError, RecursionError):
        # A comment is an AttributeError there.
        return None
