"""ABNF, the grammar language of the IETF's documents (RFC 5234, RFC 7405), to KBNF.

Tests: tests/unit/languages/abnf
"""
