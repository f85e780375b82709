"""Masks: which tokens of a vocabulary can occur next."""
