"""Recognition: hash-consed Earley sets, stepped byte by byte and remembered.

Tests: tests/unit/kernel
"""
