"""Membership of whole texts, as the engine decides it with ``finish=eos`` over bytes."""

from kbnf_core import Config, Engine, Grammar, Vocabulary
from kbnf_core.text.errors import EngineError

BYTES = Vocabulary.bytes()


class Language:
    """The texts of a grammar, each to its end; whatever the grammar says of ``finish``."""

    def __init__(self, grammar: str | Grammar) -> None:
        self._engine = Engine(grammar, BYTES, Config(finish="eos"))

    def has(self, text: str | bytes) -> bool:
        """Return whether ``text`` is one of them."""
        data = text.encode() if isinstance(text, str) else text
        self._engine.reset()
        try:
            if data:
                self._engine.try_accept_new_bytes(data)
        except EngineError:
            return False
        return self._engine.can_finish()
