"""The lexer as part of the grammar: which lexemes end where."""
