"""Response templates of transformers: how the messages of a model are read."""
