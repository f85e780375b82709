"""What several tests share: a reference recogniser, generators, the corpus, and peers.

The reference, its grammars and its generators import nothing of ``kbnf_core``; ``subject`` and
``agreement`` run the engine under test.
"""
