"""From Lark text to rules over lexemes."""
