"""Response templates of transformers: how the messages of a model are read.

Tests: tests/unit/languages/test_response_templates.py
"""
