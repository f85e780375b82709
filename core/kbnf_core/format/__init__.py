"""The canonical layout of KBNF texts; see ``document.format_kbnf``."""
