"""Lints: checks for grammars that are valid but may not do what their author means.

Here is what a check may be asked for beside them.

Tests: tests/unit/lint/test_targets.py, tests/unit/lint/test_bounds.py
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary


TARGETS = ("kbnf-0.2", "kbnf-0.4", "llama.cpp", "llguidance", "xgrammar")
"""The engines that ``targets`` may name."""


@dataclass(frozen=True, slots=True)
class LintOptions:
    """Settings of the lints.

    ``vocabulary``: find texts that its tokens cannot spell. ``targets``: find constructs that these
    engines refuse (names from ``TARGETS``). ``reports_cost``: report the cost of the grammar.
    ``max_states``: find a grammar whose tables have more states. ``max_mask_work``: find rules
    whose masks take more trie nodes; see ``mask.work``. ``reports_effort``: say also where a search
    that most grammars need not pass, that of W307, has ended without an answer. ``work``: counted
    steps that all lints of a text may take together, about a microsecond each; ``seconds``: the
    time they may take, for a machine so slow that it would end first. One I901 names the searches
    that did not end.
    """

    vocabulary: "Vocabulary | None" = None
    targets: tuple[str, ...] = ()
    reports_cost: bool = False
    max_states: int | None = None
    max_mask_work: int | None = None
    reports_effort: bool = False
    work: int = 2_000_000
    seconds: float = 20.0

    @property
    def counts_work(self) -> bool:
        """Whether the work of masks is to be counted."""
        return self.reports_cost or self.max_mask_work is not None

    @property
    def needs_tables(self) -> bool:
        """Whether something is asked that takes more than the text's meaning."""
        return self.vocabulary is not None or self.max_states is not None or self.counts_work

    def without_engine(self) -> "LintOptions":
        """Return the settings less all that the engine looks for."""
        return replace(
            self, vocabulary=None, reports_cost=False, max_states=None, max_mask_work=None
        )


NO_OPTIONS = LintOptions()
