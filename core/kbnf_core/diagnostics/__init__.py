"""Findings about a grammar: one model, one catalogue of codes, renderers, a page per code."""

from kbnf_core.diagnostics.catalogue import CATALOGUE, Rule, Severity
from kbnf_core.diagnostics.model import Diagnostic, Edit, Fix, Label

__all__ = ["CATALOGUE", "Diagnostic", "Edit", "Fix", "Label", "Rule", "Severity"]
