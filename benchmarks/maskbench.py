"""Cases of a maskbench folder, and the two engines that all benchmarks of JSON Schemas have.

Each file has ``schema`` and ``tests``, values that are ``valid`` or not. A value's text is JSON
without indentation, members in the order of the file. Both engines mask the same vocabulary,
tekken of mistral-common.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from benchmarks.engines import LLGuidance
from benchmarks.vocabulary import Setting
from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.languages import JSON_SCHEMA
from kbnf_core.languages.json_schema import Options, Standard, Whitespace, as_mapping
from kbnf_core.text.errors import EngineError, KbnfError


def grammar_of(text: str, options: Options | None = None) -> Grammar:
    """Return the grammar of a schema, read with these options."""
    return Grammar.read(text, JSON_SCHEMA, options=as_mapping(options))


@dataclass(frozen=True, slots=True)
class Case:
    """One file: its name, its schema, and its values with their verdicts."""

    name: str
    schema: Any
    values: tuple[tuple[str, bool], ...]


class Session(Protocol):
    """An engine at the beginning of a text; ``bits``: int32 words, the last mask."""

    bits: npt.NDArray[np.int32]

    def mask(self) -> object:
        """Work out which tokens can come."""

    def prepare(self) -> None:
        """Work ahead, where the engine can."""

    def accept(self, token: int, /) -> bool:
        """Append a token; False if it cannot come."""

    def complete(self) -> bool:
        """Return whether the text may end here."""


Build = Callable[[Any], Callable[[], Session]]
"""From a schema to a function that begins a text. Raises ``Refused``."""


class RefusedError(Exception):
    """The engine does not take the schema."""


class _OurSession:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.bits = np.zeros((engine.vocabulary.size + 31) // 32, np.int32)

    def mask(self) -> None:
        self._engine.fill_bitmask(self.bits)

    def prepare(self) -> None:
        self._engine.prepare()

    def accept(self, token: int) -> bool:
        try:
            self._engine.try_accept_new_token(token)
        except EngineError:
            return False
        return True

    def complete(self) -> bool:
        return self._engine.is_finished() or self._engine.can_finish()


def session_of(engine: Engine) -> Session:
    """Return a session by an engine of this library."""
    return _OurSession(engine)


def ours(
    vocabulary: Vocabulary, standard: Standard = Standard.JSON_SCHEMA, ahead: bool = False
) -> Build:
    """Return the builder of this library; whitespace as llguidance has it."""
    options = Options(whitespace=Whitespace.FLEXIBLE, standard=standard)

    def build(schema: Any) -> Callable[[], Session]:
        try:
            grammar = grammar_of(json.dumps(schema), options)
            _ = grammar.tables
        except KbnfError as error:
            raise RefusedError(str(error)) from None
        return lambda: session_of(Engine(grammar, vocabulary, ahead=ahead))

    return build


class _PeerSession:
    def __init__(self, matcher: Any, bits: Any, fill: Callable[[Any, Any, int], None]) -> None:
        self._matcher = matcher
        self.bits = bits[0]
        self._all_bits = bits
        self._fill = fill

    def mask(self) -> None:
        self._fill(self._matcher, self._all_bits, 0)

    def prepare(self) -> None:
        pass

    def accept(self, token: int) -> bool:
        return bool(self._matcher.try_consume_tokens([token]) == 1)

    def complete(self) -> bool:
        return bool(self._matcher.is_accepting())


def theirs(setting: Setting) -> Build:
    """Return the builder of llguidance."""
    matcher_class = import_module("llguidance").LLMatcher
    numpy_side = import_module("llguidance.numpy")
    bits = numpy_side.allocate_token_bitmask(1, setting.vocabulary.size)
    fill = numpy_side.fill_next_token_bitmask
    # The adapter of the other benchmark has built it already.
    tokenizer = LLGuidance(setting).tokenizer

    def build(schema: Any) -> Callable[[], Session]:
        # To make a matcher is to compile the schema: once. A text begins with its reset.
        grammar = matcher_class.grammar_from_json_schema(schema)
        matcher = matcher_class(tokenizer, grammar, log_level=0)
        if matcher.is_error():
            raise RefusedError(matcher.get_error())

        def begin() -> Session:
            matcher.reset()
            return _PeerSession(matcher, bits, fill)

        return begin

    return build


def read_cases(folder: Path) -> Iterator[Case]:
    """Yield the cases of a folder, in order of their names."""
    return map(read_case, sorted(folder.glob("*.json")))


def read_case(path: Path) -> Case:
    """Return the case of a file."""
    data = json.loads(path.read_text(encoding="utf-8"))
    values = tuple(
        (json.dumps(test["data"], ensure_ascii=False), test["valid"]) for test in data["tests"]
    )
    return Case(path.stem, data["schema"], values)
