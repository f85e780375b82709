"""What a check is asked for beside the findings that need no question."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary

TARGETS = ("kbnf-0.2", "kbnf-0.4", "llama.cpp", "llguidance", "xgrammar")
"""The engines that ``targets`` may name."""


@dataclass(frozen=True, slots=True)
class LintOptions:
    """Settings of the lints.

    ``vocabulary``: find what its tokens cannot spell. ``targets``: find what these engines refuse
    (names from ``TARGETS``). ``reports_cost``: tell what the grammar takes. ``max_states``: find
    a grammar whose tables have more states.
    """

    vocabulary: "Vocabulary | None" = None
    targets: tuple[str, ...] = ()
    reports_cost: bool = False
    max_states: int | None = None


NO_OPTIONS = LintOptions()
