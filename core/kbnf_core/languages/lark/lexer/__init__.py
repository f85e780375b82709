"""Compiles the lexer into the grammar: which lexemes end where.

Tests: tests/unit/languages/lark/test_beyond_limits.py
"""
