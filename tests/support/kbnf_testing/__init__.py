"""What several tests share: a reference recogniser, generators, the corpus, and peers.

Nothing here imports ``kbnf_core``, except ``subject``, which runs the engine under test.
"""
