"""EBNF as W3C and ISO/IEC 14977 write it.

Tests: tests/unit/languages/ebnf/test_ebnf.py
"""
