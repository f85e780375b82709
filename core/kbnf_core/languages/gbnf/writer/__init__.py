"""From KBNF to GBNF."""
