"""The manifest of an artifact: validated on reading, then an immutable value; and its errors.

Tests: tests/unit/text/test_errors.py
"""

import hashlib
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kbnf_core.artifact import FORMAT
from kbnf_core.config import Finish
from kbnf_core.container_layout import ContainerError, read_layout
from kbnf_core.ir import TokenTerminal
from kbnf_core.text.errors import KbnfError
from kbnf_core.text.source import Source

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary


class ArtifactError(KbnfError, ValueError):
    """A file that is not a usable artifact; ``path`` names it and ``reason`` says why."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path} is not a usable artifact: {reason}")


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class VocabularyMark:
    """The vocabulary over which a grammar was read; ``fingerprint``: without its own stop ids."""

    name: str | None
    fingerprint: str

    @classmethod
    def of(cls, vocabulary: "Vocabulary") -> "VocabularyMark":
        """Return the mark of a vocabulary."""
        return cls(vocabulary.name, (vocabulary.base or vocabulary).fingerprint)

    def is_of(self, vocabulary: "Vocabulary") -> bool:
        """Return whether a vocabulary is the marked one, whatever its name and stop ids."""
        return self.fingerprint == self.of(vocabulary).fingerprint


@dataclass(frozen=True, slots=True)
class ArtifactSection:
    """A part of the file: the names of its arrays, and ``container.digest`` of them."""

    arrays: tuple[str, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The metadata of an artifact; see the package's documentation."""

    tool: str
    start: str
    kbnf_start: str
    language: str | None
    finish: Finish
    nonterminals: tuple[str, ...]
    start_is_nullable: bool
    token_terminals: tuple[TokenTerminal, ...]
    source_path: str | None
    source_hash: str
    limits: Mapping[str, int | None]
    key: str | None
    unicode: str
    vocabulary: VocabularyMark | None
    sections: Mapping[str, ArtifactSection]

    @property
    def text_path(self) -> str | None:
        """What the stored text is called: KBNF of another language has places of its own."""
        is_converted = self.source_path is not None and self.language is None
        return f"{self.source_path}{_AS_KBNF}" if is_converted else self.source_path


_AS_KBNF = " (as KBNF)"
_MARK = re.compile(r" \((?:as KBNF|converted)\)$")
"""The suffix of the path of a converted text; the latter one in version 0.2."""


def hash_of(data: bytes) -> str:
    """Return the BLAKE2b-128 of ``data``."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def text_of(path: str, manifest: Manifest, data: bytes) -> Source:
    """Return the text of an artifact; raise ArtifactError if it is not the compiled one."""
    if hash_of(data) != manifest.source_hash:
        raise ArtifactError(path, "its grammar is not the one that its hash is of")
    try:
        return Source(data.decode("utf-8"), manifest.text_path)
    except UnicodeDecodeError:
        raise ArtifactError(path, "its grammar is not UTF-8") from None


def read_text(path: str | Path) -> tuple[Source, Manifest]:
    """Return the text of an artifact, and its manifest; nothing else is read, nor NumPy needed.

    Raises ``ArtifactError``, and ``SourceError`` for a file that cannot be read.
    """
    try:
        layout = read_layout(path)
    except ContainerError as error:
        raise ArtifactError(str(path), error.reason) from None
    manifest = parse_manifest(str(path), layout.metadata)
    return text_of(str(path), manifest, layout.bytes_of("source") or b""), manifest


def manifest_digest(fields: Mapping[str, object]) -> str:
    """Return the hash of a manifest as JSON in ASCII, with sorted keys and without spaces."""
    return hash_of(json.dumps(fields, sort_keys=True, separators=(",", ":")).encode("ascii"))


def parse_manifest(path: str, metadata: Mapping[str, Any]) -> Manifest:
    """Return the manifest in ``metadata``; raise ArtifactError where there is none of ours."""
    fields = metadata.get("kbnf")
    if fields is None:
        raise ArtifactError(path, "it is another kind of file")
    if not isinstance(fields, dict) or type(fields.get("format")) is not int:
        raise ArtifactError(path, "its manifest is damaged")
    # The digest may be another one, or elsewhere, in another format.
    if fields["format"] != FORMAT:
        raise ArtifactError(path, _other_format(path, fields))
    if metadata.get("digest") != manifest_digest(fields):
        raise ArtifactError(path, "its manifest is damaged: it is not what its digest is of")
    try:
        return _parse(fields)
    except (ValueError, TypeError, KeyError):
        raise ArtifactError(path, "its manifest is damaged") from None


def _other_format(path: str, fields: Mapping[str, Any]) -> str:
    source = fields.get("source_path")
    grammar = "GRAMMAR"
    if isinstance(source, str):
        grammar = shlex.quote(_MARK.sub("", source))
    over = " --vocab VOCABULARY" if fields.get("vocabulary") else ""
    age = "newer" if fields["format"] > FORMAT else "older"
    return (
        f"it has the {age} format {fields['format']}, and this version reads {FORMAT}: compile it"
        f" again with `kbnf compile {grammar}{over} -o {shlex.quote(path)}`"
    )


def _parse(fields: Mapping[str, Any]) -> Manifest:
    path, vocabulary = fields["source_path"], fields["vocabulary"]
    key = fields.get("key")
    return Manifest(
        tool=_text(fields["tool"]),
        start=_text(fields["start"]),
        kbnf_start=_text(fields["kbnf_start"]),
        language=None if fields["language"] is None else _text(fields["language"]),
        finish=Finish(fields["finish"]),
        nonterminals=tuple(map(_text, _list(fields["nonterminals"]))),
        start_is_nullable=_flag(fields["start_is_nullable"]),
        token_terminals=tuple(map(_terminal, _list(fields["token_terminals"]))),
        source_path=None if path is None else _text(path),
        source_hash=_text(fields["source_hash"]),
        limits=dict(_limits(_fields(fields["limits"]))),
        key=None if key is None else _text(key),
        unicode=_text(fields["unicode"]),
        vocabulary=None if vocabulary is None else _mark(_fields(vocabulary)),
        sections=dict(_sections(_fields(fields["sections"]))),
    )


def _terminal(value: object) -> TokenTerminal:
    fields = _fields(value)
    name = fields["name"]
    ranges = tuple(
        (_number(low), _number(high)) for low, high in map(_list, _list(fields["ranges"]))
    )
    return TokenTerminal(None if name is None else _text(name), ranges, _flag(fields["negated"]))


def _mark(fields: Mapping[str, Any]) -> VocabularyMark:
    name = fields["name"]
    return VocabularyMark(None if name is None else _text(name), _text(fields["fingerprint"]))


def _limits(fields: Mapping[str, Any]) -> Iterator[tuple[str, int | None]]:
    for name, value in fields.items():
        yield name, None if value is None else _number(value)


def _sections(fields: Mapping[str, Any]) -> Iterator[tuple[str, ArtifactSection]]:
    for name, value in fields.items():
        section = _fields(value)
        yield (
            name,
            ArtifactSection(tuple(map(_text, _list(section["arrays"]))), _text(section["digest"])),
        )


def _text(value: object) -> str:
    # A text that cannot be encoded could not be printed either.
    _of_type(str, value).encode("utf-8")
    return _of_type(str, value)


def _number(value: object) -> int:
    if _of_type(int, value) < 0:
        raise ValueError(value)
    return _of_type(int, value)


def _flag(value: object) -> bool:
    return _of_type(bool, value)


def _list(value: object) -> list[Any]:
    return _of_type(list, value)


def _fields(value: object) -> dict[str, Any]:
    return _of_type(dict, value)


def _of_type(kind: type[T], value: object) -> T:
    """Return ``value``, which is exactly of that type: a truth value is not a number."""
    if type(value) is not kind:
        raise TypeError(value)
    return value
