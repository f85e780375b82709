"""Parse trees: which rules matched which parts of a text.

Tests: tests/unit/parse/test_parse.py
"""
