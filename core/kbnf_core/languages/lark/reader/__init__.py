"""From Lark text to rules over lexemes.

Tests: tests/unit/languages/lark
"""
