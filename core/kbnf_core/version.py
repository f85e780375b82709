"""The version of the package.

Tests: tests/unit/test_wheel.py
"""

__version__ = "0.3.0"
