"""Settings of an engine.

The fields that the Rust engine has are accepted so that programs can move over by changing an
import. Those that configure its internals mean nothing here; each says so.

Tests: tests/unit/test_config_limits.py
"""

import enum
import warnings
from dataclasses import dataclass, field, fields, replace
from typing import NamedTuple

from kbnf_core.text.errors import ConfigError
from kbnf_core.text.limits import Limits


class Finish(enum.Enum):
    """When generation ends.

    ``EAGER``: at the first byte at which the start is complete; a token that goes on after it is
    rejected (kbnf 0.1 and 0.2). ``TOKEN``: at the first token end at which the start is complete
    (kbnf 0.3 and later). Both take at least one byte, or one token that is named by its id, also
    where the start matches the empty text. ``EOS``: never by itself; the end-of-sequence token is
    allowed exactly where the start is complete, before the first byte if the start matches the
    empty text (LLGuidance, XGrammar, llama.cpp).
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


class Defaults(NamedTuple):
    """Settings of a project, for grammars in KBNF that say nothing themselves."""

    start: str | None = None
    finish: Finish | None = None


NO_DEFAULTS = Defaults()


@dataclass(slots=True)
class RegexConfig:
    """Bounds the automata of regular expressions, or of ``except!``.

    ``max_memory_usage``: bytes of one table of transitions (E203; the crate's message is "DFA
    exceeded size limit"), four a transition; the same as ``Limits.regex_bytes`` and
    ``Limits.exception_bytes``, which it overrides unless it is None. ``fsa_type``: a DFA is made in
    any case; another value causes a warning. ``min_tokens_required_for_eager_regex_cache``: there
    is no such cache; a change causes a warning.
    """

    max_memory_usage: int | None = None
    fsa_type: object = None
    min_tokens_required_for_eager_regex_cache: int | None = 1000


@dataclass(slots=True)
class EngineConfig:
    """Accepted for compatibility: caching never changes a result, and is bounded by ``Limits``.

    None of it can be turned off here; False is warned of.
    """

    cache_enabled: bool = True
    compaction_enabled: bool = True
    rejected_token_prefix_cache_enabled: bool = True


@dataclass(slots=True)
class CompressionConfig:
    """Accepted for compatibility; terminals are always melted into automata here.

    ``min_terminals``: a change is warned of.
    """

    min_terminals: int = 5


@dataclass(slots=True)
class Config:
    """How an engine reads its grammar and when it finishes.

    ``start_nonterminal`` and ``finish`` left at None are taken from the grammar's pragmas, and
    failing those are ``"start"`` and ``Finish.EAGER``. ``regex_config`` bounds regular
    expressions, ``excepted_config`` ``except!``. ``expected_output_length`` is a hint that is not
    needed: outputs of any length are handled.
    """

    start_nonterminal: str | None = None
    finish: Finish | str | None = None
    limits: Limits = field(default_factory=Limits)
    regex_config: RegexConfig = field(default_factory=RegexConfig)
    excepted_config: RegexConfig = field(default_factory=RegexConfig)
    engine_config: EngineConfig = field(default_factory=EngineConfig)
    compression_config: CompressionConfig = field(default_factory=CompressionConfig)
    expected_output_length: int = 2**32 - 1

    def limits_in_force(self) -> Limits:
        """Return ``limits`` with those of the regex configurations."""
        regex, excepted = self.regex_config, self.excepted_config
        limits = self.limits
        if regex.max_memory_usage is not None:
            limits = replace(limits, regex_bytes=regex.max_memory_usage)
        if excepted.max_memory_usage is not None:
            limits = replace(limits, exception_bytes=excepted.max_memory_usage)
        return limits

    def unheeded(self) -> list[str]:
        """Return the names of the fields whose values have no effect here."""
        groups = ("regex_config", "excepted_config", "engine_config", "compression_config")
        return [
            f"{group}.{setting.name}"
            for group in groups
            for setting in fields(getattr(self, group))
            if not _is_heeded(setting.name, getattr(getattr(self, group), setting.name))
            and getattr(getattr(self, group), setting.name) != setting.default
        ]


def _is_heeded(name: str, value: object) -> bool:
    if name == "fsa_type":
        return getattr(value, "name", value) in (None, "Dfa")
    return name == "max_memory_usage"


_DEFAULTS = Config()


def engine_settings(
    config: Config | None, finish: Finish | str | None, limits: Limits | None
) -> Config:
    """Return the settings of an engine, where ``finish`` and ``limits`` win over the config's.

    Warns of settings that have no effect.
    """
    for name in config.unheeded() if config else ():
        warnings.warn(f"Config.{name} has no effect in this engine", stacklevel=3)
    settings = config or _DEFAULTS
    if finish is not None:
        settings = replace(settings, finish=finish)
    return settings if limits is None else replace(settings, limits=limits)
