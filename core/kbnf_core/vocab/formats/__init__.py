"""One module per vocabulary format: from what a file holds to ids and bytes.

Only ``kbnf_core.vocab.load`` reads the vocabulary file and decides which of these it is for.
"""
