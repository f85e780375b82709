"""A backend for outlines.

::

    import outlines
    from kbnf_core.integrations.outlines import KbnfBackend

    model = outlines.from_transformers(transformers_model, tokenizer)
    processor = KbnfBackend(tokenizer).get_json_schema_logits_processor(schema)
    outlines.Generator(model, processor=processor)("A person: ")

Tests: tests/serving
"""

from typing import Any

from kbnf_core.compiler import Compiler
from kbnf_core.grammar import Grammar
from kbnf_core.text.errors import ConfigError, MissingExtraError
from kbnf_core.vocab.vocabulary import Vocabulary

try:
    from outlines.backends.base import BaseBackend
    from outlines.processors.base_logits_processor import OutlinesLogitsProcessor

    from kbnf_core.integrations.transformers import KbnfLogitsProcessor
except ImportError:
    raise MissingExtraError("kbnf_core.integrations.outlines", "outlines") from None


class KbnfProcessor(OutlinesLogitsProcessor):  # type: ignore[misc] # the host is not typed
    """Constrains the rows that a torch model of outlines writes; see ``KbnfLogitsProcessor``."""

    def __init__(self, grammar: Grammar, vocabulary: Vocabulary) -> None:
        super().__init__("torch")
        self._made_of = grammar, vocabulary
        self.reset()

    def reset(self) -> None:
        """Begin a new generation."""
        self._processor = KbnfLogitsProcessor(*self._made_of)

    def process_logits(self, input_ids: Any, logits: Any) -> Any:
        """Return the logits, those of tokens that cannot occur at minus infinity."""
        return self._processor(input_ids, logits)


class KbnfBackend(BaseBackend):  # type: ignore[misc] # the host is not typed
    """Makes processors of schemas, regular expressions and grammars, each compiled once.

    ``tokenizer``: that of the model, or a ``Vocabulary``. ``canonical``: allow the tokens alone
    that the tokenizer would write (``Engine``). ``schema_options`` are those of
    ``Grammar.from_json_schema``.
    """

    def __init__(
        self, tokenizer: object, *, canonical: bool = False, **schema_options: Any
    ) -> None:
        vocabulary = tokenizer if isinstance(tokenizer, Vocabulary) else Vocabulary.of(tokenizer)
        self._compiler = Compiler(vocabulary, schema_options=schema_options, canonical=canonical)

    def get_json_schema_logits_processor(
        self, json_schema: str, whitespace_pattern: str | None = None
    ) -> KbnfProcessor:
        """Return the processor of a JSON Schema; ``ConfigError`` for a pattern of whitespace."""
        if whitespace_pattern is not None:
            raise ConfigError("whitespace is bounded here; `whitespace_pattern` has to be None")
        return self._processor(self._compiler.json_schema(json_schema))

    def get_regex_logits_processor(self, regex: str) -> KbnfProcessor:
        """Return the processor of a regular expression."""
        return self._processor(self._compiler.regex(regex))

    def get_cfg_logits_processor(self, grammar: str) -> KbnfProcessor:
        """Return the processor of a grammar in KBNF."""
        return self._processor(self._compiler.grammar(grammar))

    def _processor(self, grammar: Grammar) -> KbnfProcessor:
        return KbnfProcessor(grammar, self._compiler.vocabulary)
