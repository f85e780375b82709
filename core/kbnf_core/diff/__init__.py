"""Comparing grammars: equality, inclusion, and what breaks between two versions."""

from kbnf_core.diff.comparison import WORK, compare
from kbnf_core.diff.result import Answer, Comparison, Relation, Verdict

__all__ = ["WORK", "Answer", "Comparison", "Relation", "Verdict", "compare"]
