"""Examples of texts that a grammar accepts and refuses: reading, running, and coverage.

Tests: tests/unit/examples
"""
