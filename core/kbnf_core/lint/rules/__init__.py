"""The lints, one per file.

Tests: tests/unit/lint/test_bounds.py, tests/golden/lint
"""
