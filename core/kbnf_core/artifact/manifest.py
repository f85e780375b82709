"""The manifest of an artifact: checked once, then a value."""

from dataclasses import dataclass
from typing import Any

from kbnf_core.artifact import FORMAT
from kbnf_core.artifact.errors import ArtifactError
from kbnf_core.config import Finish
from kbnf_core.ir import TokenTerminal


@dataclass(frozen=True, slots=True)
class VocabularyMark:
    """The vocabulary that masks were made for; ``nodes`` counts those of its trie."""

    name: str | None
    size: int
    fingerprint: str
    nodes: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an artifact says of itself; see the package's documentation."""

    tool: str
    start: str
    finish: Finish
    nonterminals: tuple[str, ...]
    start_is_nullable: bool
    token_terminals: tuple[TokenTerminal, ...]
    source_path: str | None
    source_hash: str
    unicode: str
    vocabulary: VocabularyMark | None


def parse_manifest(path: str, fields: Any) -> Manifest:
    """Return the manifest that ``fields`` hold; raise ArtifactError where it is none of ours."""
    if fields is None:
        raise ArtifactError(path, "it is another kind of file")
    try:
        number = fields["format"]
        if isinstance(number, int):
            _check_format(path, number)
            return _parse(fields)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        if isinstance(error, ArtifactError):
            raise
    raise ArtifactError(path, "its manifest is damaged")


def _check_format(path: str, number: int) -> None:
    if number != FORMAT:
        what = "newer" if number > FORMAT else "older"
        raise ArtifactError(
            path, f"it has the {what} format {number}, and this is {FORMAT}: compile it again"
        )


def _parse(fields: dict[str, Any]) -> Manifest:
    path, vocabulary = fields["source_path"], fields["vocabulary"]
    return Manifest(
        tool=_text(fields["tool"]),
        start=_text(fields["start"]),
        finish=Finish(fields["finish"]),
        nonterminals=tuple(map(_text, fields["nonterminals"])),
        start_is_nullable=bool(fields["start_is_nullable"]),
        token_terminals=tuple(map(_terminal, fields["token_terminals"])),
        source_path=None if path is None else _text(path),
        source_hash=_text(fields["source_hash"]),
        unicode=_text(fields["unicode"]),
        vocabulary=None if vocabulary is None else _mark(vocabulary),
    )


def _terminal(fields: dict[str, Any]) -> TokenTerminal:
    name = fields["name"]
    ranges = tuple((_number(low), _number(high)) for low, high in fields["ranges"])
    return TokenTerminal(None if name is None else _text(name), ranges, bool(fields["negated"]))


def _mark(fields: dict[str, Any]) -> VocabularyMark:
    name = fields["name"]
    return VocabularyMark(
        None if name is None else _text(name),
        _number(fields["size"]),
        _text(fields["fingerprint"]),
        _number(fields["nodes"]),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _number(value: object) -> int:
    if not isinstance(value, int) or value < 0:
        raise TypeError(value)
    return value
