"""The kbnf command."""
