"""Examples of what a grammar takes and refuses: reading, running, and what they cover.

Tests: tests/unit/examples
"""
