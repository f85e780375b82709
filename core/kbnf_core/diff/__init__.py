"""Comparing grammars: equality, inclusion, and breaking changes between two versions.

Tests: tests/unit/diff/test_short.py, tests/unit/diff/test_comparison.py
"""

from kbnf_core.diff.comparison import WORK, Answer, Comparison, Relation, Verdict, compare

__all__ = ["WORK", "Answer", "Comparison", "Relation", "Verdict", "compare"]
