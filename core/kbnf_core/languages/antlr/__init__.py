"""ANTLR 4: grammars of a lexer and a parser."""
