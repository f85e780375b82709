"""Regular expressions in the syntax of Rust's ``regex`` crate, compiled to byte automata.

Tests: tests/unit/automata/test_regex_tables.py
"""
