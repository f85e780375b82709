"""Settings of an engine.

The fields that the Rust engine has are accepted so that programs can move over by changing an
import. Those that configure its internals mean nothing here; each says so.
"""

import enum
from dataclasses import dataclass, field

from kbnf_core.errors import ConfigError
from kbnf_core.limits import Limits


class Finish(enum.Enum):
    """When generation ends.

    ``EAGER``: at the first byte at which the start is complete; a token that goes on behind it is
    rejected (kbnf 0.1 and 0.2). ``TOKEN``: at the first token end at which the start is complete
    (kbnf 0.3 and later). ``EOS``: never by itself; the end-of-sequence token is allowed exactly
    where the start is complete (LLGuidance, XGrammar, llama.cpp).
    """

    EAGER = "eager"
    TOKEN = "token"
    EOS = "eos"

    @classmethod
    def parse(cls, value: "Finish | str") -> "Finish":
        """Return the member named ``value``; raise ConfigError for any other word."""
        try:
            return cls(value)
        except ValueError:
            words = ", ".join(member.value for member in cls)
            raise ConfigError(f"finish must be one of {words}, not {value!r}") from None


@dataclass(slots=True)
class RegexConfig:
    """Accepted for compatibility; ``Config.limits`` bounds regular expressions here."""

    max_memory_usage: int | None = None
    fsa_type: object = None
    min_tokens_required_for_eager_regex_cache: int | None = 1000


@dataclass(slots=True)
class EngineConfig:
    """Accepted for compatibility; caching cannot be turned off here and never changes a result."""

    cache_enabled: bool = True
    compaction_enabled: bool = True
    rejected_token_prefix_cache_enabled: bool = True


@dataclass(slots=True)
class CompressionConfig:
    """Accepted for compatibility; terminals are always melted into automata here."""

    min_terminals: int = 5


@dataclass(slots=True)
class Config:
    """How an engine reads its grammar and when it finishes.

    ``start_nonterminal`` and ``finish`` left at None are taken from the grammar's pragmas, and
    failing those are ``"start"`` and ``Finish.EAGER``. ``expected_output_length`` is accepted for
    compatibility: outputs of any length are handled.
    """

    start_nonterminal: str | None = None
    finish: Finish | str | None = None
    limits: Limits = field(default_factory=Limits)
    regex_config: RegexConfig = field(default_factory=RegexConfig)
    excepted_config: RegexConfig = field(default_factory=RegexConfig)
    engine_config: EngineConfig = field(default_factory=EngineConfig)
    compression_config: CompressionConfig = field(default_factory=CompressionConfig)
    expected_output_length: int = 2**32 - 1
