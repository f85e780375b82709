"""tree-sitter: grammars as its generator writes them."""
