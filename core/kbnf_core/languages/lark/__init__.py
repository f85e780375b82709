"""Lark and LLGuidance's Lark dialect, to KBNF and back.

``reader`` parses a file, gathers it with its imports (``modules``) and expands templates and
parameters, which gives rules over lexemes (``rules``, ``model``). ``lexer`` turns terminals into
automata (``llguidance_terminals``, ``lark_terminals``) and applies the lexer to the rules: ignored
text is inserted (``ignore``, ``trailing_ignore``), FIRST and FOLLOW sets say which terminals are
expected together (``first_follow``, ``co_expected``, ``lalr``), maximal munch says where lexemes
end (``maximal_munch``), and the rules are multiplied with the lexer's states (``lookahead``,
``lexer_state``, ``reachability``, ``product``). ``regex`` reads Python's regular expressions,
``writer`` prints LLGuidance's Lark. ``read`` and ``lexer.assemble`` run the passes in order.
"""
