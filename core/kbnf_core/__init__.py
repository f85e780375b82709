"""Grammar toolkit for constrained decoding: parse, check, and mask with KBNF grammars.

Names are imported when they are first used, so importing the package costs nothing.

Tests: tests/unit/test_seed_documentation.py
"""

from importlib import import_module
from typing import TYPE_CHECKING

from kbnf_core.version import __version__

if TYPE_CHECKING:
    from kbnf_core.artifact.manifest import ArtifactError
    from kbnf_core.batch import allocate_bitmask, fill_bitmasks, fill_tree_bitmasks
    from kbnf_core.compiled import compile_artifact, load_artifact
    from kbnf_core.compiler import (
        Compiler,
        DeadlineError,
        Metrics,
        QuarantinedError,
        WorkerError,
    )
    from kbnf_core.config import CompressionConfig, Config, EngineConfig, Finish, RegexConfig
    from kbnf_core.engine import AcceptTokenResult, Engine
    from kbnf_core.grammar import Grammar
    from kbnf_core.lint.check import check
    from kbnf_core.mask.ahead import Ahead
    from kbnf_core.mask.bits import apply_bitmask
    from kbnf_core.mask.completion import Completion, Sample
    from kbnf_core.mask.why import Explanation
    from kbnf_core.parse.tree import Event, Tree
    from kbnf_core.repair import Edit, Repair
    from kbnf_core.repair.weights import Rewrite, Weights
    from kbnf_core.text.diagnostics import Diagnostic
    from kbnf_core.text.errors import (
        ConfigError,
        EmptyGrammarError,
        EngineError,
        FinishedError,
        GrammarError,
        InvalidLogitsError,
        KbnfError,
        MissingExtraError,
        ParseError,
        RejectedError,
        UnknownTokenError,
        VocabularyError,
        WorkLimitError,
    )
    from kbnf_core.text.limits import Limits
    from kbnf_core.vocab.load import load_vocabulary
    from kbnf_core.vocab.vocabulary import Token, Vocabulary


_HOMES = {
    "Ahead": "mask.ahead",
    "ArtifactError": "artifact.manifest",
    "compile_artifact": "compiled",
    "load_artifact": "compiled",
    "allocate_bitmask": "batch",
    "apply_bitmask": "mask.bits",
    "fill_bitmasks": "batch",
    "fill_tree_bitmasks": "batch",
    "check": "lint.check",
    "Compiler": "compiler",
    "DeadlineError": "compiler",
    "Metrics": "compiler",
    "QuarantinedError": "compiler",
    "WorkerError": "compiler",
    "CompressionConfig": "config",
    "Config": "config",
    "EngineConfig": "config",
    "Finish": "config",
    "RegexConfig": "config",
    "Diagnostic": "text.diagnostics",
    "AcceptTokenResult": "engine",
    "Engine": "engine",
    "ConfigError": "text.errors",
    "EmptyGrammarError": "text.errors",
    "EngineError": "text.errors",
    "FinishedError": "text.errors",
    "GrammarError": "text.errors",
    "InvalidLogitsError": "text.errors",
    "KbnfError": "text.errors",
    "ParseError": "text.errors",
    "RejectedError": "text.errors",
    "UnknownTokenError": "text.errors",
    "VocabularyError": "text.errors",
    "MissingExtraError": "text.errors",
    "WorkLimitError": "text.errors",
    "Explanation": "mask.why",
    "Completion": "mask.completion",
    "Sample": "mask.completion",
    "Edit": "repair",
    "Repair": "repair",
    "Rewrite": "repair.weights",
    "Weights": "repair.weights",
    "Grammar": "grammar",
    "Limits": "text.limits",
    "Event": "parse.tree",
    "Tree": "parse.tree",
    "Token": "vocab.vocabulary",
    "Vocabulary": "vocab.vocabulary",
    "load_vocabulary": "vocab.load",
}

__all__ = [
    "AcceptTokenResult",
    "Ahead",
    "ArtifactError",
    "Compiler",
    "Completion",
    "CompressionConfig",
    "Config",
    "ConfigError",
    "DeadlineError",
    "Diagnostic",
    "Edit",
    "EmptyGrammarError",
    "Engine",
    "EngineConfig",
    "EngineError",
    "Event",
    "Explanation",
    "Finish",
    "FinishedError",
    "Grammar",
    "GrammarError",
    "InvalidLogitsError",
    "KbnfError",
    "Limits",
    "Metrics",
    "MissingExtraError",
    "ParseError",
    "QuarantinedError",
    "RegexConfig",
    "RejectedError",
    "Repair",
    "Rewrite",
    "Sample",
    "Token",
    "Tree",
    "UnknownTokenError",
    "Vocabulary",
    "VocabularyError",
    "Weights",
    "WorkLimitError",
    "WorkerError",
    "__version__",
    "allocate_bitmask",
    "apply_bitmask",
    "check",
    "compile_artifact",
    "fill_bitmasks",
    "fill_tree_bitmasks",
    "load_artifact",
    "load_vocabulary",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
