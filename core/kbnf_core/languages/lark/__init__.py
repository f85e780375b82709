"""Lark and LLGuidance's Lark dialect, to KBNF and back.

A file is parsed (``syntax.lark_dialect_parse``) and gathered with what it imports (``modules``);
its terminals become automata (``llguidance_terminals``, ``lark_terminals``, ``leftmost``), its
rules rules over lexemes (``rules``, ``model``). ``read`` does this in order, and ``assemble`` the
rest: ignored text is put in (``skipping``, ``ends``), what may be expected together is worked out
(``positions``, ``together``, ``lalr``), so is where lexemes end (``cuts``) and what may follow
them (``rest``, ``lexed``), and the rules are multiplied with the lexer (``reach``, ``product``).
"""
