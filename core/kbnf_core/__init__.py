"""Grammar toolkit for constrained decoding: parse, check, and mask with KBNF grammars.

Names are imported when they are first used, so importing the package costs nothing. The stub has
the same names for type checkers; ``python -m kbnf_testing.public_names`` writes it.

Tests: tests/unit/test_public_names.py
"""

from importlib import import_module

_PUBLIC = {
    "kbnf_core.artifact.manifest": ("ArtifactError",),
    "kbnf_core.batch": ("allocate_bitmask", "fill_bitmasks", "fill_tree_bitmasks"),
    "kbnf_core.compiled": ("compile_artifact", "load_artifact"),
    "kbnf_core.compiler": (
        "Compiler",
        "DeadlineError",
        "Metrics",
        "QuarantinedError",
        "WorkerError",
    ),
    "kbnf_core.config": ("CompressionConfig", "Config", "EngineConfig", "Finish", "RegexConfig"),
    "kbnf_core.engine": ("AcceptTokenResult", "Engine"),
    "kbnf_core.grammar": ("Grammar",),
    "kbnf_core.lint.check": ("check",),
    "kbnf_core.mask.ahead": ("Ahead",),
    "kbnf_core.mask.bits": ("apply_bitmask",),
    "kbnf_core.mask.completion": ("Completion", "Sample"),
    "kbnf_core.mask.why": ("Explanation",),
    "kbnf_core.parse.tree": ("Event", "Tree"),
    "kbnf_core.repair": ("Edit", "Repair"),
    "kbnf_core.repair.weights": ("Rewrite", "Weights"),
    "kbnf_core.text.diagnostics": ("Diagnostic",),
    "kbnf_core.text.errors": (
        "ConfigError",
        "EmptyGrammarError",
        "EngineError",
        "FinishedError",
        "GrammarError",
        "InvalidLogitsError",
        "KbnfError",
        "MissingExtraError",
        "ParseError",
        "RejectedError",
        "UnknownTokenError",
        "VocabularyError",
        "WorkLimitError",
    ),
    "kbnf_core.text.limits": ("Limits",),
    "kbnf_core.version": ("__version__",),
    "kbnf_core.vocab.load": ("load_vocabulary",),
    "kbnf_core.vocab.vocabulary": ("Token", "Vocabulary"),
}
"""The public names of this package, by the module that defines them."""

_HOMES = {name: module for module, names in _PUBLIC.items() for name in names}

__all__ = list(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
