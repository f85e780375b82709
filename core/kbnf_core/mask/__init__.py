"""Masks: which tokens of a vocabulary can occur next.

Tests: tests/unit/test_limits.py, tests/unit/test_slices.py
"""
