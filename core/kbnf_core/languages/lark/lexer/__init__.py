"""Compiles the lexer into the grammar: which lexemes end where."""
