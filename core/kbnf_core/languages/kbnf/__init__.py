"""KBNF: from text to its syntax tree and findings."""
