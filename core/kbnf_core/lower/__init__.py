"""Lowering: the passes from syntax tree to grammar IR, and from there to tables.

Tests: tests/unit/kernel/test_lowering.py, tests/property
"""
