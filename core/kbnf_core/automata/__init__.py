"""Byte automata: regular expressions, operations, exceptions, substrings."""
