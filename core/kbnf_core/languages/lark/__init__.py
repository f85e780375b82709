"""Lark and LLGuidance's Lark dialect, to KBNF and back.

``reader`` parses a file, gathers it with its imports (``modules``) and expands templates and
parameters, which gives rules over lexemes (``rules``, ``model``). ``lexer`` turns terminals into
automata (``llguidance_terminals``, ``lark_terminals``) and applies the lexer to the rules: ignored
text is inserted (``ignore``), FIRST and FOLLOW sets say which terminals are expected together
(``first_follow``, ``lalr``), maximal munch says where lexemes end (``maximal_munch``,
``lookahead``), and the rules are multiplied with the lexer's states (``lexer``, ``product``). With
an indenter (``indenter``, ``marks``), brackets and blocks make rules of their own before that
(``layout``), and columns make families of rules after it (``indentation``, ``columns``).
``regex`` gives Python's regular expressions automata, ``writer`` prints LLGuidance's Lark. ``read``
and ``product.Assembly`` run the passes in order.

Tests: tests/unit/languages/lark
"""
