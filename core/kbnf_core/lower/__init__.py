"""Lowering: the passes from syntax tree to grammar IR, and from there to tables."""
