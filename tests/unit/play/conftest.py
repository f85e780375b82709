"""A world in memory, so that the step function is tested without files or a terminal."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from kbnf_cli.play.session import Files, Session, World, open_session
from kbnf_core import Grammar, Vocabulary
from kbnf_core.text.errors import SourceError
from kbnf_core.vocab.read import Encoder, load_encoder
from kbnf_testing.play import GRAMMAR, TOKENS


@dataclass
class MemoryWorld:
    """Files are a dict; ``columns`` and ``rows`` can be set."""

    files: dict[Path, str] = field(default_factory=dict)
    columns: int = 80
    rows: int = 10

    def grammar(self, files: Files, vocabulary: Vocabulary) -> Grammar:
        """Open a grammar among the files; none of them asks for a vocabulary."""
        del vocabulary
        path, text = files.grammar, self.read(files.grammar).decode()
        return Grammar(text, start=files.start, finish=files.finish, path=str(path))

    def vocabulary(self, name: str, eos: tuple[int, ...] | None) -> Vocabulary:
        """Return the one vocabulary there is."""
        if name != "words":
            raise SourceError(name, "no such file")
        return Vocabulary(TOKENS, eos_token_id=eos or 99, special_tokens={"<|x|>": 98})

    def encoder(self, name: str, vocabulary: Vocabulary) -> Encoder:
        """Return the tokenizer that takes the longest tokens."""
        del name
        return load_encoder(None, vocabulary)

    def has(self, path: Path) -> bool:
        """Return whether it is one of the files."""
        return path in self.files

    def read(self, path: Path) -> bytes:
        """Read one of the files."""
        if path not in self.files:
            raise SourceError(str(path), "no such file")
        return self.files[path].encode()

    def write(self, path: Path, text: str) -> None:
        """Write one of the files."""
        self.files[path] = text


@pytest.fixture
def world() -> MemoryWorld:
    """Make a world with one grammar in it."""
    return MemoryWorld({Path("g.kbnf"): GRAMMAR})


@pytest.fixture
def session(world: MemoryWorld) -> Session:
    """Open a session at its beginning."""
    return open_session(Files(Path("g.kbnf"), "words"), cast(World, world))
