"""The public names, written from ``__init__.py``."""

from kbnf_core.artifact.manifest import ArtifactError as ArtifactError
from kbnf_core.batch import allocate_bitmask as allocate_bitmask
from kbnf_core.batch import fill_bitmasks as fill_bitmasks
from kbnf_core.batch import fill_tree_bitmasks as fill_tree_bitmasks
from kbnf_core.compiled import compile_artifact as compile_artifact
from kbnf_core.compiled import load_artifact as load_artifact
from kbnf_core.compiler import Compiler as Compiler
from kbnf_core.compiler import DeadlineError as DeadlineError
from kbnf_core.compiler import Metrics as Metrics
from kbnf_core.compiler import QuarantinedError as QuarantinedError
from kbnf_core.compiler import WorkerError as WorkerError
from kbnf_core.config import CompressionConfig as CompressionConfig
from kbnf_core.config import Config as Config
from kbnf_core.config import EngineConfig as EngineConfig
from kbnf_core.config import Finish as Finish
from kbnf_core.config import RegexConfig as RegexConfig
from kbnf_core.engine import AcceptTokenResult as AcceptTokenResult
from kbnf_core.engine import Engine as Engine
from kbnf_core.grammar import Grammar as Grammar
from kbnf_core.lint.check import check as check
from kbnf_core.mask.ahead import Ahead as Ahead
from kbnf_core.mask.bits import apply_bitmask as apply_bitmask
from kbnf_core.mask.completion import Completion as Completion
from kbnf_core.mask.completion import Sample as Sample
from kbnf_core.mask.why import Explanation as Explanation
from kbnf_core.parse.tree import Event as Event
from kbnf_core.parse.tree import Tree as Tree
from kbnf_core.repair import Edit as Edit
from kbnf_core.repair import Repair as Repair
from kbnf_core.repair.weights import Rewrite as Rewrite
from kbnf_core.repair.weights import Weights as Weights
from kbnf_core.text.diagnostics import Diagnostic as Diagnostic
from kbnf_core.text.errors import ConfigError as ConfigError
from kbnf_core.text.errors import EmptyGrammarError as EmptyGrammarError
from kbnf_core.text.errors import EngineError as EngineError
from kbnf_core.text.errors import FinishedError as FinishedError
from kbnf_core.text.errors import GrammarError as GrammarError
from kbnf_core.text.errors import InvalidLogitsError as InvalidLogitsError
from kbnf_core.text.errors import KbnfError as KbnfError
from kbnf_core.text.errors import MissingExtraError as MissingExtraError
from kbnf_core.text.errors import ParseError as ParseError
from kbnf_core.text.errors import RejectedError as RejectedError
from kbnf_core.text.errors import UnknownTokenError as UnknownTokenError
from kbnf_core.text.errors import VocabularyError as VocabularyError
from kbnf_core.text.errors import WorkLimitError as WorkLimitError
from kbnf_core.text.limits import Limits as Limits
from kbnf_core.version import __version__ as __version__
from kbnf_core.vocab.load import load_vocabulary as load_vocabulary
from kbnf_core.vocab.vocabulary import Token as Token
from kbnf_core.vocab.vocabulary import Vocabulary as Vocabulary

_PUBLIC: dict[str, tuple[str, ...]]
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
