"""Which documents are valid: judged by ``jsonschema`` and by our own engine, never by one alone.

A document is *valid* where neither refuses it, *invalid* where neither accepts it; what one of the
two cannot judge, the other one does. All else is in doubt, and nothing is reported of it.
``GrammarTexts`` asks a grammar of this library as engines are asked.

Tests: tests/unit/targets/test_documents.py
"""

import copy
import json
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from importlib import import_module
from random import Random
from typing import Any, TypeAlias

from kbnf_core.engine import Engine
from kbnf_core.grammar import Grammar
from kbnf_core.languages import JSON_SCHEMA
from kbnf_core.languages.json_schema import VALIDATOR, Options, as_mapping
from kbnf_core.languages.json_schema.document import SchemaDocument
from kbnf_core.text.errors import EngineError, KbnfError, RejectedError
from kbnf_core.text.json_text import escape, steps_of
from kbnf_core.text.locks import cached_property
from kbnf_core.vocab.vocabulary import Vocabulary


class GrammarTexts:
    """The texts of a grammar, wherever generation would end."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar

    @cached_property
    def start(self) -> Engine:
        """An engine at the beginning of a text, not to be moved."""
        return Engine(self.grammar, Vocabulary.bytes(), finish="eos")

    def read(self, data: bytes) -> int | None:
        """Return None for a text of the grammar, else how many of its bytes one begins with."""
        engine = copy.copy(self.start)
        try:
            engine.try_accept_new_bytes(data)
        except RejectedError as error:
            return error.byte_offset
        except EngineError:
            return self._taken(data)
        return None if engine.is_finished() or engine.can_finish() else len(data)

    def _taken(self, data: bytes) -> int:
        """Return the number of bytes that the engine accepts one by one."""
        engine = copy.copy(self.start)
        for count in range(len(data)):
            try:
                engine.try_accept_new_bytes(data[count : count + 1])
            except EngineError:
                return count
        return len(data)

    def shortest(self, count: int) -> list[str]:
        """Return the shortest texts, at most ``count``."""
        try:
            result = self.start.shortest_texts(count).texts
        except KbnfError:
            return []
        return [data.decode("utf-8", "replace") for data in result]

    def drawn(self, lengths: Iterable[int], random: Random) -> Iterator[str]:
        """Yield texts at random, of about these lengths."""
        for length in lengths:
            try:
                vocabulary = self.start.vocabulary
                sample = self.start.sample(random, length)
            except KbnfError:
                return
            if sample.is_complete:
                ends = vocabulary.eos_token_ids
                data = b"".join(
                    vocabulary.token(token) or b"" for token in sample.tokens if token not in ends
                )
                yield data.decode("utf-8", "replace")

    def has(self, text: str) -> bool:
        """Return whether the grammar accepts a text."""
        return self.read(text.encode("utf-8", "surrogatepass")) is None


Json: TypeAlias = Any
"""A JSON value as ``json`` reads it."""


def compact(value: Json) -> str:
    """Return the text of a value without whitespace, members in their order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


_WIDTH = 100


def shown(text: str) -> str:
    """Return a document as a message shows it: with its middle left out where it is long."""
    text = text.replace("`", "'")
    if len(text) > _WIDTH:
        text = f"{text[: _WIDTH // 2]} … {text[-_WIDTH // 4 :]}"
    return f"`{text}`"


_EXPONENT = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d[\d.]*e[+-]?\d+')
"""A string, or a number with an exponent."""


def _without_exponent(match: re.Match[str]) -> str:
    return match[0] if match[0][0] == '"' else f"{Decimal(match[0]):f}"


def spellings(value: Json) -> Iterator[str]:
    """Yield the texts of a value that say the same: without blanks and with, escaped where not.

    Whether characters beyond ASCII are escaped, and numbers have exponents, is decided by engines,
    and does not count.
    """
    texts = [compact(value), json.dumps(value, ensure_ascii=False)]
    yield from texts
    plain = _EXPONENT.sub(_without_exponent, texts[0])
    if plain != texts[0]:
        yield plain
    if not texts[0].isascii():
        yield from (json.dumps(value, separators=(",", ":")), json.dumps(value))


class Judges:
    """What judges the documents of a schema; ``text`` is the schema as it was written.

    Our own engine is one of them unless ``by_ours`` is False.
    """

    def __init__(self, schema: Json, text: str | None = None, *, by_ours: bool = True) -> None:
        self.schema = schema
        self._by_ours = by_ours
        self._text = json.dumps(schema) if text is None else text
        self._changed: dict[str, Judges] = {}

    @cached_property
    def document(self) -> SchemaDocument:
        """The reader of the schema, which follows its references."""
        return SchemaDocument(self.schema, Options())

    @cached_property
    def validator(self) -> Any:
        """The validator of ``jsonschema`` with its formats; nothing is fetched."""
        validators = import_module("jsonschema.validators")
        kind = validators.validator_for(self.schema, default=validators.Draft202012Validator)
        registry = import_module("jsonschema_specifications").REGISTRY
        return kind(self.schema, registry=registry, format_checker=kind.FORMAT_CHECKER)

    def knows_format(self, name: object) -> bool:
        """Return whether ``jsonschema`` checks a format."""
        return name in self.validator.FORMAT_CHECKER.checkers

    def fits(self, value: Json, schema: Json = None) -> bool | None:
        """Return whether ``jsonschema`` finds a value valid, None where it cannot say.

        ``schema`` is one inside the document, without it the whole.
        """
        validator = self.validator if schema is None else self.validator.evolve(schema=schema)
        try:
            with warnings.catch_warnings(action="ignore"):
                return bool(validator.is_valid(value))
        except Exception:
            # A reference to elsewhere, an expression that Python does not read, a deep recursion.
            return None

    def failing(self, value: Json, schema: Json) -> frozenset[str] | None:
        """Return the keywords of a schema inside the document that a value violates."""
        try:
            with warnings.catch_warnings(action="ignore"):
                errors = self.validator.evolve(schema=schema).iter_errors(value)
                return frozenset(str(error.schema_path[0]) for error in errors if error.schema_path)
        except Exception:
            return None

    @cached_property
    def ours(self) -> GrammarTexts | None:
        """Our own reading of the schema, None where it cannot be kept as a whole.

        It is as wide as that of a validator: other spellings of an engine do not count.
        """
        if not self._by_ours:
            return None
        try:
            options = as_mapping(VALIDATOR)
            grammar = Grammar.read(self._text, JSON_SCHEMA, options=options)
            grammar.tables  # noqa: B018 - lowered here, since a grammar past a limit cannot judge
        except KbnfError:
            return None
        return GrammarTexts(grammar)

    def we_take(self, text: str) -> bool | None:
        """Return whether our engine takes a text, None where it cannot say."""
        return None if self.ours is None else self.ours.has(text)

    def are_for(self, value: Json, text: str) -> bool:
        """Return whether a document is valid, and nothing speaks against it."""
        verdicts = {self.fits(value), self.we_take(text)} - {None}
        return verdicts == {True}

    def are_against(self, value: Json, text: str, *, ours_alone: bool = False) -> bool:
        """Return whether a document is invalid, and nothing speaks for it.

        ``ours_alone``: it is about a format that ``jsonschema`` does not check.
        """
        verdicts = {None if ours_alone else self.fits(value), self.we_take(text)} - {None}
        return verdicts == {False}

    def without(self, pointer: str) -> "Judges":
        """Return the judges of the schema without the member at a pointer."""
        if pointer not in self._changed:
            changed = removed(self.schema, pointer)
            self._changed[pointer] = Judges(changed, by_ours=self._by_ours)
        return self._changed[pointer]


def pointer_to(*steps: str | int) -> str:
    """Return the JSON Pointer of steps."""
    return "".join(f"/{escape(str(step))}" for step in steps)


def at(value: Json, pointer: str) -> Json:
    """Return the value at a pointer. Raises ``LookupError``."""
    for step in steps_of(pointer):
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def replaced(value: Json, path: tuple[str | int, ...], new: Json) -> Json:
    """Return a value with another one at a path; nothing is changed in place."""
    if not path:
        return new
    first, *rest = path
    if isinstance(value, list):
        index = int(first)
        return [*value[:index], replaced(value[index], tuple(rest), new), *value[index + 1 :]]
    return {
        key: replaced(inner_value, tuple(rest), new) if key == first else inner_value
        for key, inner_value in value.items()
    }


def removed(value: Json, pointer: str) -> Json:
    """Return a value without the member or item at a pointer; nothing is changed in place."""
    *path, last = steps_of(pointer)
    inner = at(value, pointer_to(*path))
    if isinstance(inner, list):
        fewer: Json = [item for index, item in enumerate(inner) if str(index) != last]
    else:
        fewer = {key: inner_value for key, inner_value in inner.items() if key != last}
    return replaced(value, tuple(path), fewer)


@lru_cache(maxsize=4096)
def _strings(text: str, count: int) -> tuple[str, ...]:
    try:
        texts = GrammarTexts(Grammar.from_json_schema(text, whitespace="compact"))
    except KbnfError:
        return ()
    random = Random(0)  # noqa: S311 - the same strings each time
    values = []
    for data in (*texts.shortest(count), *texts.drawn((6, 12, 24, 48), random)):
        try:
            values.append(json.loads(data))
        except ValueError:
            continue
    return tuple(dict.fromkeys(values))


@lru_cache(maxsize=1024)
def _differing(wider: str, narrower: str) -> tuple[str, ...]:
    from kbnf_core.diff.comparison import compare

    try:
        grammars = [
            Grammar.from_json_schema(text, whitespace="compact") for text in (wider, narrower)
        ]
        if any(grammar.tables.state_count > _LARGE for grammar in grammars):
            return ()
        data = compare(grammars[0], grammars[1], _WORK).old_only.data
        return () if data is None else (json.loads(data),)
    except (KbnfError, ValueError):
        return ()


_WORK = 20_000
"""Steps for a difference of strings."""

_LARGE = 1_000
"""States of a grammar of strings from which a difference takes seconds."""


def differing(wider: Mapping[str, Json], narrower: Mapping[str, Json]) -> tuple[str, ...]:
    """Return a shortest string that one schema of strings allows and the other does not."""
    texts = (
        json.dumps({"type": "string", **schema}, sort_keys=True) for schema in (wider, narrower)
    )
    return _differing(*texts)


def strings(keywords: Mapping[str, Json], count: int = 6) -> tuple[str, ...]:
    """Return strings that a schema of strings allows: the shortest, and some at random."""
    return _strings(json.dumps({"type": "string", **keywords}, sort_keys=True), count)
