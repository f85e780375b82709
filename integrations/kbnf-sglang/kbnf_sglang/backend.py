"""SGLang's grammar backend and grammar object over an engine."""

import logging
from copy import copy
from typing import Any

import numpy as np
import torch
from sglang.srt.constrained.base_grammar_backend import (
    BaseGrammarBackend,
    BaseGrammarObject,
    GrammarRow,
    InvalidGrammarObject,
    register_vocab_mask_buffer,
)

from kbnf_core import (
    Ahead,
    Compiler,
    Engine,
    KbnfError,
    Vocabulary,
    allocate_bitmask,
    apply_bitmask,
    fill_bitmasks,
)
from kbnf_core.convert import detect
from kbnf_core.integrations import schema_options
from kbnf_core.integrations.stepwise import fill_ends, fill_or_end

ANY_JSON = "$$ANY$$"
"""SGLang's name for JSON without a schema."""

_logger = logging.getLogger(__name__)


class KbnfGrammar(BaseGrammarObject):  # type: ignore[misc] # the host is not typed
    """The position of a request in its grammar."""

    def __init__(self, engine: Engine) -> None:
        super().__init__()
        self.engine = engine
        self.is_closed = False

    def accept_token(self, token: int) -> None:
        """Append a token; ``ValueError`` for one that cannot come. After the end all are passed.

        Where a mask failed none can: SGLang ends that request with an error.
        """
        if self.is_closed:
            raise ValueError("this text was closed, since its mask could not be made")
        if not self.engine.is_finished() and not self.engine.accept_tokens([token]):
            raise ValueError(f"token {token} is not allowed here")

    def wait_for(self, after: str | None) -> None:
        """Begin anew, with the grammar behind a text, or at once."""
        engine = self.engine
        if engine.after != after:
            self.engine = Engine(engine.grammar, engine.vocabulary, finish="eos", after=after)

    def rollback(self, k: int) -> None:
        """Undo tokens."""
        self.engine.rollback(k)

    def is_terminated(self) -> bool:
        """Return whether the text is over."""
        return self.engine.is_finished()

    @staticmethod
    def allocate_vocab_mask(vocab_size: int, batch_size: int, device: Any) -> torch.Tensor:
        """Return a bitmask in the memory of the host."""
        del device
        return torch.from_numpy(allocate_bitmask(batch_size, vocab_size))

    def fill_vocab_mask(self, vocab_mask: torch.Tensor, idx: int) -> None:
        """Write what can come here into a row; ends alone where that fails."""
        if self.is_closed or not fill_or_end(self.engine, vocab_mask, idx):
            self.is_closed = True
            fill_ends(self.engine.vocabulary, vocab_mask[idx].numpy())

    @staticmethod
    def fill_vocab_mask_batched(entries: list[GrammarRow], vocab_mask: torch.Tensor) -> None:
        """Write many rows at once; others keep what they hold."""
        is_plain = all(
            isinstance(entry.grammar, KbnfGrammar) and not entry.grammar.is_closed
            for entry in entries
        )
        if is_plain:
            engines = [entry.grammar.engine for entry in entries]
            try:
                rows = [entry.row for entry in entries]
                fill_bitmasks(engines, vocab_mask, rows=rows, threads=2)
            except (KbnfError, MemoryError):
                is_plain = False
        if not is_plain:
            # One by one, so that only the request at fault is closed.
            BaseGrammarObject.fill_vocab_mask_batched(entries, vocab_mask)

    @staticmethod
    def reset_vocab_mask(vocab_mask: torch.Tensor) -> None:
        """Allow everything."""
        vocab_mask.fill_(-1)

    @staticmethod
    def move_vocab_mask(vocab_mask: torch.Tensor, device: Any) -> torch.Tensor:
        """Return the bitmask on a device."""
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits: torch.Tensor, vocab_mask: torch.Tensor) -> None:
        """Set what cannot come to minus infinity, in place."""
        apply_bitmask(logits, vocab_mask)

    def copy(self) -> "KbnfGrammar":
        """Return another position at the same place."""
        twin = KbnfGrammar(copy(self.engine))
        twin.is_closed = self.is_closed
        return twin

    def try_jump_forward(self, tokenizer: Any) -> tuple[list[int], str] | None:
        """Return the tokens that have to come, if any."""
        del tokenizer
        tokens = self.engine.forced_tokens()
        return (tokens, "") if tokens else None

    def jump_forward_str_state(self, helper: tuple[list[int], str]) -> tuple[str, int]:
        """Return no text: jumps are by tokens."""
        del helper
        return "", -1

    def jump_and_retokenize(
        self, old_output_ids: list[int], new_output_ids: list[int], next_state: int
    ) -> None:
        """Do nothing: tokens that were jumped over are accepted like others."""


class KbnfBackend(BaseGrammarBackend):  # type: ignore[misc] # the host is not typed
    """Compiles in a process of its own, so that the scheduler's loop goes on."""

    def __init__(
        self, vocabulary: Vocabulary, whitespace: str | None = None, workers: int = 1
    ) -> None:
        super().__init__()
        own = schema_options()
        if whitespace is not None:
            own["whitespace"] = whitespace
        self._compiler = Compiler(vocabulary, workers=workers, schema_options=own)

    @property
    def ahead(self) -> Ahead | None:
        """What was prepared while the model computed; None where ``KBNF_AHEAD=0`` turned it off."""
        return self._compiler.ahead

    # What waits for the end of reasoning takes these from the backend.
    allocate_vocab_mask = KbnfGrammar.allocate_vocab_mask
    move_vocab_mask = KbnfGrammar.move_vocab_mask
    apply_vocab_mask = KbnfGrammar.apply_vocab_mask

    @property
    def is_support_token_filter(self) -> bool:
        """Tell that strict thinking is possible."""
        return True

    @staticmethod
    def set_token_filter(
        vocab_mask: torch.Tensor,
        token_ids: list[int],
        batch_idx: int,
        is_allowed: bool = True,
        reset_vocab_mask: bool = True,
    ) -> None:
        """Allow or forbid tokens in a row: besides what is there, or besides all others."""
        row = vocab_mask[batch_idx]
        if reset_vocab_mask:
            row.fill_(0 if is_allowed else -1)
        bits = row.numpy().view(np.uint32)
        for token_id in token_ids:
            word, bit = token_id // 32, np.uint32(1 << token_id % 32)
            bits[word] = bits[word] | bit if is_allowed else bits[word] & ~bit

    def initialize_vocab_mask_buffer(
        self, name: str, vocab_size: int, max_rows: int, device: Any
    ) -> torch.Tensor:
        """Return a bitmask that is used again and again."""
        del device
        mask = torch.from_numpy(allocate_bitmask(max_rows, vocab_size))
        return register_vocab_mask_buffer(name, mask, max_rows)

    def dispatch_json(self, key_string: str) -> BaseGrammarObject:
        """Compile a JSON Schema."""
        schema = True if key_string == ANY_JSON else key_string
        return self._grammar("json_schema", schema)

    def dispatch_regex(self, key_string: str) -> BaseGrammarObject:
        """Compile a regular expression."""
        return self._grammar("regex", key_string)

    def dispatch_ebnf(self, key_string: str) -> BaseGrammarObject:
        """Compile a grammar in GBNF (SGLang's EBNF), Lark, KBNF, ..., by what it looks like."""
        return self._grammar("grammar", key_string, language=detect(key_string, "").lower())

    def dispatch_structural_tag(self, key_string: str) -> BaseGrammarObject:
        """Compile a structural tag."""
        return self._grammar("structural_tag", key_string)

    def _grammar(self, kind: str, source: Any, **options: Any) -> BaseGrammarObject:
        try:
            grammar = self._compiler.submit(kind, source, **options).result()
            return KbnfGrammar(Engine(grammar, self._compiler.vocabulary, finish="eos"))
        except Exception as error:
            # Whatever went wrong, a dead process among it: refused, and never unconstrained.
            _logger.warning("refused: %s", error)
            return InvalidGrammarObject(str(error))
