"""Comparing grammars: equality, inclusion, and what breaks between two versions."""

from kbnf_core.diff.comparison import WORK, Answer, Comparison, Relation, Verdict, compare

__all__ = ["WORK", "Answer", "Comparison", "Relation", "Verdict", "compare"]
