"""From ``--vocab`` and ``--eos`` to a vocabulary."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kbnf_cli.console import Console

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary

BUILT_IN = "bytes"


def read_vocabulary(console: Console, name: str, eos: Sequence[int]) -> "Vocabulary":
    """Return the vocabulary called ``bytes``, or the one in a file.

    ``eos``, unless empty, replaces the stop ids. Raises what ``load_vocabulary`` raises.
    """
    from kbnf_core.vocab.load import load_vocabulary
    from kbnf_core.vocab.vocabulary import Vocabulary

    if name == BUILT_IN:
        built_in = Vocabulary.bytes()
        if not eos:
            return built_in
        return Vocabulary(built_in.tokens, eos_token_id=eos, name=built_in.name)
    with console.busy(f"loading {Path(name).name}"):
        return load_vocabulary(name, eos or None)
