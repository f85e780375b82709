"""llama.cpp's GBNF, read and written.

Tests: tests/unit/languages/gbnf
"""
