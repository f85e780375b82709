"""Vocabularies: the bytes that a model's tokens spell, read from any format, and their trie.

Tests: tests/unit/vocab/test_cache.py
"""
