"""Byte automata: regular expressions, operations, exceptions, substrings.

Tests: tests/unit/automata/test_chunk_runs.py, tests/unit/automata/test_explore.py
"""
