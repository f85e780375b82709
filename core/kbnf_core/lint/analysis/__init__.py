"""Analyses of a grammar that several lints share."""
