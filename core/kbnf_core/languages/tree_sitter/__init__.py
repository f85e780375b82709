"""tree-sitter: grammars as its generator writes them.

Tests: tests/unit/languages/tree_sitter/test_tree_sitter.py
"""
