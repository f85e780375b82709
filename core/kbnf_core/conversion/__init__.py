"""Shared parts of conversions between languages: losses, names, layout, and checks.

Tests: tests/unit/languages/test_variants.py
"""
