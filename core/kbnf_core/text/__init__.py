"""Texts and their findings: sources, diagnostics, errors, limits, files.

Tests: tests/unit/text
"""
