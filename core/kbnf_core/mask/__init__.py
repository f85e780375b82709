"""Masks: which tokens of a vocabulary can come next."""
