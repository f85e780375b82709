"""Grammar toolkit for constrained decoding: parse, check, and mask with KBNF grammars.

Names are imported when they are first used, so importing the package costs nothing. The stub has
the same names for type checkers; ``python -m kbnf_testing.public_names`` writes it.

Tests: tests/unit/test_public_names.py
"""

from importlib import import_module

_PUBLIC = {
    "artifact.manifest": ("ArtifactError",),
    "batch": ("allocate_bitmask", "fill_bitmasks", "fill_tree_bitmasks"),
    "compiled": ("compile_artifact", "load_artifact"),
    "compiler": ("Compiler", "DeadlineError", "Metrics", "QuarantinedError", "WorkerError"),
    "config": ("CompressionConfig", "Config", "EngineConfig", "Finish", "RegexConfig"),
    "engine": ("AcceptTokenResult", "Engine"),
    "grammar": ("Grammar",),
    "lint.check": ("check",),
    "mask.ahead": ("Ahead",),
    "mask.bits": ("apply_bitmask",),
    "mask.completion": ("Completion", "Sample"),
    "mask.why": ("Explanation",),
    "parse.tree": ("Event", "Tree"),
    "repair": ("Edit", "Repair"),
    "repair.weights": ("Rewrite", "Weights"),
    "text.diagnostics": ("Diagnostic",),
    "text.errors": (
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
    "text.limits": ("Limits",),
    "version": ("__version__",),
    "vocab.load": ("load_vocabulary",),
    "vocab.vocabulary": ("Token", "Vocabulary"),
}
"""The public names of this package, by the module that defines them."""

_HOMES = {name: module for module, names in _PUBLIC.items() for name in names}

__all__ = list(_HOMES)


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
