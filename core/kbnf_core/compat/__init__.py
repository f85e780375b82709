"""Other engines' Python surfaces over this one.

Tests: tests/unit/compat/test_kbnf.py
"""
