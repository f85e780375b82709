"""The ``kbnf`` command: thin commands that read, call ``kbnf_core``, and render.

Tests: tests/cli/test_check_cache.py, tests/cli/test_diff.py
"""
