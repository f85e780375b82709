"""ANTLR 4: grammars of a lexer and a parser.

Tests: tests/unit/languages/antlr/test_antlr.py
"""
