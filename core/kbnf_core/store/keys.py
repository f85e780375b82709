"""Content keys: hashes of everything that decides the result of compiling; none gets stale.

That is the source with its language and options, the start and the finish asked for, the limits,
and the versions of the format, of this program and of the Unicode tables; of a text that stands for
tokens, as `<any!>` of BNF does, also the vocabulary. A schema counts as the value that its text
stands for: a request that brings it finds the result compiled from a file, however that is laid
out.

Tests: tests/unit/store/test_artifact_store.py, tests/unit/store/test_farm.py
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kbnf_core.artifact import FORMAT
from kbnf_core.automata.regex.unicode import regex_version
from kbnf_core.config import NO_DEFAULTS, Defaults, Finish
from kbnf_core.convert import convert
from kbnf_core.frontend import KBNF
from kbnf_core.languages import JSON_SCHEMA, TOOL_LIST, detect, named
from kbnf_core.text.diagnostics import decode
from kbnf_core.text.errors import ConfigError, GrammarError
from kbnf_core.text.files import BELOW, read_file
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import Source
from kbnf_core.version import __version__

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary

G = TypeVar("G")

_VALUES = (JSON_SCHEMA.name, TOOL_LIST.name)
"""The languages whose texts stand for JSON values, however they are laid out."""

DIGITS = 32
"""Hexadecimal digits of keys and of digests."""


def is_name(text: str) -> bool:
    """Return whether a text can be a key or a digest, and so a name in a store."""
    return len(text) == DIGITS and all(digit in "0123456789abcdef" for digit in text)


@dataclass(frozen=True, slots=True)
class Recipe:
    """The input of one compilation: a text in a language, and all that decides the result.

    ``options`` are those of schemas, by name. ``lossy``: constructs that cannot be kept of another
    language are left out. Whatever a text imports is in it already: see ``of``.
    """

    text: str
    language: str = "KBNF"
    start: str | None = None
    finish: str | None = None
    lossy: bool = False
    options: tuple[tuple[str, Any], ...] = ()
    limits: Limits = DEFAULT_LIMITS
    defaults: Defaults = NO_DEFAULTS

    @property
    def uses_vocabulary(self) -> bool:
        """Whether the compiled result depends on a vocabulary."""
        language = named(self.language) or KBNF
        return language.uses_vocabulary(self.text, dict(self.options))

    def key(self, fingerprint: str = "") -> str:
        """Return the key; ``fingerprint`` of a vocabulary, ``""`` for none, where one is used."""
        fields = [
            [FORMAT, __version__, regex_version(), fingerprint if self.uses_vocabulary else ""],
            [self.language, self.start, self.finish, self.lossy, repr(self.options)],
            [asdict(self.limits), repr(self.defaults)],
            hashlib.blake2b(self._identity().encode("utf-8", "surrogatepass")).hexdigest(),
        ]
        whole = json.dumps(fields, sort_keys=True).encode("ascii")
        return hashlib.blake2b(whole, digest_size=DIGITS // 2).hexdigest()

    def _identity(self) -> str:
        """Return the part of the text that decides the result: of a schema, all but its layout."""
        if self.language not in _VALUES:
            return self.text
        try:
            value = json.loads(
                self.text, object_pairs_hook=_members, parse_float=_float, parse_int=_int
            )
            return json.dumps(value)
        except (ValueError, RecursionError):
            return self.text

    def read_by(self, read: Callable[..., G], vocabulary: "Vocabulary | None") -> G:
        """Return the grammar of the text by ``read``, which is ``Grammar.read``; raises as it does.

        A vocabulary that is not used is left out, so that all writers of a key write the same.
        """
        return read(
            self.text,
            named(self.language) or KBNF,
            start=self.start,
            finish=self.finish,
            limits=self.limits,
            defaults=self.defaults,
            # The name of its file is nothing that an artifact depends on.
            vocabulary=vocabulary.unnamed if vocabulary and self.uses_vocabulary else None,
            lossy=self.lossy,
            options=dict(self.options),
        )


def recipe_of(
    source: str | Path | Mapping[str, Any] | bool,
    *,
    path: str = "",
    language: str | None = None,
    start: str | None = None,
    finish: Finish | str | None = None,
    lossy: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    defaults: Defaults = NO_DEFAULTS,
    imports: Any = None,
    **options: Any,
) -> Recipe:
    """Return the recipe for a text in any language, a file, or a JSON Schema as a value.

    ``language`` is the name that ``convert.detect`` gives, by default what it finds in the text
    and its ``path``. A text with rules in other files is converted here, and a schema gets the
    files that it refers to, so that the key covers these files, and machines without them can
    compile it; ``imports`` says which it may.
    Raises ``GrammarError``, ``SourceError`` and ``ConfigError``.
    """
    if isinstance(source, Path):
        path = str(source)
        source = _text_of(source, limits)
    if not isinstance(source, str):
        options = JSON_SCHEMA.options_of(source, options)
        language, source = JSON_SCHEMA.name, JSON_SCHEMA.text_of(source)
    language = language or detect(source, path).name
    meant = named(language)
    if meant is not None and path:
        source = meant.self_contained(source, path, imports or BELOW)
    if options and language not in _VALUES:
        raise ConfigError(f"only schemas have options: {', '.join(sorted(options))}")
    recipe = Recipe(
        source,
        language,
        start,
        None if finish is None else Finish.parse(finish).value,
        lossy,
        tuple(sorted(options.items())),
        limits,
        defaults if language == KBNF.name else NO_DEFAULTS,
    )
    if meant is None or not meant.imports_in(source):
        return recipe
    result = convert(
        source,
        meant,
        path=path or None,
        start=start,
        limits=limits,
        imports=imports or BELOW,
        lossy=lossy,
    )
    if result.losses and not lossy:
        raise GrammarError([loss.diagnostic(Source(source, path)) for loss in result.losses])
    return replace(recipe, text=result.text, language=KBNF.name, start=None, defaults=NO_DEFAULTS)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a member occurs twice")
    return members


def _float(text: str) -> float:
    value = float(text)
    if not isfinite(value) or Decimal(repr(value)) != Decimal(text):
        raise ValueError(f"{text} is not a float")
    return value


def _int(text: str) -> int:
    value = int(text)
    if str(value) != text:
        raise ValueError(f"{text} is written otherwise")
    return value


def _text_of(path: Path, limits: Limits) -> str:
    source, invalid = decode(read_file(path, limits.source_bytes), str(path), limits.source_bytes)
    if invalid is not None:
        raise GrammarError([invalid])
    return source.text
