"""The metasyntaxes: grammar texts to spanned trees, and back.

Tests: tests/unit/kernel/test_lowering.py, tests/property/test_advice.py
"""
