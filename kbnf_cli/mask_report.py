"""The report of ``kbnf mask``: the allowed tokens, and why something can or cannot occur.

Tests: tests/cli
"""

import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kbnf_cli.escaped import are_blanks, describe_bytes, escaped
from kbnf_core.text.diagnostics.segments import Role, Segment, Segments, visible
from kbnf_core.text.diagnostics.text import count_of, location_of
from kbnf_core.text.source import Source, Span

if TYPE_CHECKING:
    from kbnf_core import Explanation, Vocabulary
    from kbnf_core.recognise.explain import LiveSite

SCHEMA = "kbnf.mask/1"


@dataclass(frozen=True, slots=True)
class Prefix:
    """Bytes, or the ids of tokens where ``tokens`` is not empty."""

    data: bytes = b""
    tokens: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a prefix cannot be.

    ``token_index`` is the index of the guilty token in the prefix, None for bytes; ``byte_offset``
    how many bytes of the whole prefix were right, and ``accepted`` these bytes. ``explanation`` is
    None where the grammar was finished already.
    """

    message: str
    token_index: int | None
    byte_offset: int
    accepted: bytes
    explanation: "Explanation | None"


@dataclass(frozen=True, slots=True)
class Mask:
    """The tokens allowed after a prefix, ascending ids."""

    vocabulary: "Vocabulary"
    prefix: Prefix
    is_finished: bool
    ids: Sequence[int]

    @property
    def status(self) -> str:
        """``finished`` or ``ongoing``."""
        return "finished" if self.is_finished else "ongoing"

    @property
    def is_eos_allowed(self) -> bool:
        """Whether an end of sequence is among the ids."""
        return not self.vocabulary.eos_token_ids.isdisjoint(self.ids)


@dataclass(frozen=True, slots=True)
class View:
    """``limit``: tokens listed one by one at most. ``columns``: cells in a line.

    ``match``: the text or ``/RE/`` that tokens are searched for, None where all are shown.
    """

    limit: int
    columns: int
    match: str | None = None


def mask_value(mask: Mask) -> dict[str, Any]:
    """Return the object that ``schemas/mask.schema.json`` describes."""
    vocabulary = mask.vocabulary
    return {
        "schema": SCHEMA,
        "status": mask.status,
        "vocabulary": {
            "name": vocabulary.name,
            "size": vocabulary.size,
            "fingerprint": vocabulary.fingerprint,
        },
        "prefix": {"hex": mask.prefix.data.hex(), "tokens": list(mask.prefix.tokens)},
        "allowed": {"count": len(mask.ids), "ids": list(mask.ids)},
        "eos_allowed": mask.is_eos_allowed,
    }


def to_json(value: dict[str, Any]) -> str:
    """Return an object as one line of ASCII."""
    return json.dumps(value) + "\n"


def to_ids(mask: Mask) -> str:
    """Return one id a line."""
    return "".join(f"{token_id}\n" for token_id in mask.ids)


def to_npy(mask: Mask) -> bytes:
    """Return a NumPy file: bool[vocabulary size], True where a token is allowed."""
    import numpy as np

    flags = np.zeros(mask.vocabulary.size, dtype=np.bool_)
    flags[list(mask.ids)] = True
    buffer = io.BytesIO()
    np.save(buffer, flags)
    return buffer.getvalue()


_ROOT = "(root)"
"""The JSON Pointer of a whole text, for people."""

MOST_SITES = 8
"""Places in the grammar that the text form shows."""


def explanation_value(explanation: "Explanation", source: Source) -> dict[str, Any]:
    """Return an explanation as the object under ``why`` (schema ``kbnf.mask/1``)."""
    return {
        "allowed": explanation.allowed,
        "token": explanation.token_id,
        "hex": explanation.data.hex(),
        "accepted": explanation.accepted,
        "reason": explanation.reason,
        "expected": _expected_value(explanation),
        "places": [_site_value(site, source) for site in sites_of(explanation)],
    }


def rejection_value(rejection: Rejection) -> dict[str, Any]:
    """Return a rejection as the object under ``error`` (schema ``kbnf.mask/1``)."""
    explanation = rejection.explanation
    sites = [] if explanation is None else sites_of(explanation)
    return {
        "message": rejection.message,
        "token_index": rejection.token_index,
        "byte_offset": rejection.byte_offset,
        "expected": _expected_value(explanation),
        "path": list(sites[0].rules) if sites else [],
    }


def explanation_text(
    explanation: "Explanation", source: Source, vocabulary: "Vocabulary"
) -> Segments:
    """Return an explanation for people: the verdict, then where the grammar is."""
    verdict = "is allowed" if explanation.allowed else "is not allowed"
    role = Role.HELP if explanation.allowed else Role.ERROR
    return [
        Segment(f"{_subject(explanation, vocabulary)} "),
        Segment(verdict, role),
        Segment(f": {visible(explanation.reason)}\n"),
        *_situation(explanation, source, explanation.data[: explanation.accepted]),
    ]


def rejection_text(rejection: Rejection, source: Source) -> Segments:
    """Return a rejection for people."""
    return [
        Segment("error:", Role.ERROR),
        Segment(f" {visible(rejection.message)}\n"),
        *_situation(rejection.explanation, source, rejection.accepted),
    ]


def _situation(explanation: "Explanation | None", source: Source, accepted: bytes) -> Segments:
    rows = [("accepted", f"{escaped(accepted)} ({count_of(len(accepted), 'byte')})")]
    if explanation is not None:
        rows += _position_rows(explanation, source)
    return [segment for key, value in rows for segment in _row(key, value)]


def _position_rows(explanation: "Explanation", source: Source) -> Iterable[tuple[str, str]]:
    failing = explanation.data[explanation.accepted : explanation.accepted + 1]
    if failing and not explanation.allowed:
        yield "refused", f"{describe_bytes([(failing[0], failing[0])])} (0x{failing[0]:02x})"
    if explanation.sites:
        yield "expected", describe_bytes(explanation.expected)
    else:
        yield "expected", "nothing: the text is complete"
    for site in sites_of(explanation)[:MOST_SITES]:
        yield "in", describe_site(site, source)
    if len(explanation.sites) > MOST_SITES:
        yield "", more_sites(len(explanation.sites))


def more_sites(count: int) -> str:
    """Return how many of these sites are not shown."""
    return f"... and {count_of(count - MOST_SITES, 'more place')}"


def sites_of(explanation: "Explanation") -> list["LiveSite"]:
    """Return the sites in the order of the grammar's text, those of blanks last."""

    def key(site: "LiveSite") -> tuple[bool, Span, tuple[str, ...]]:
        is_blank = bool(site.expected) and are_blanks(site.expected)
        return is_blank, site.span, site.rules

    return sorted(explanation.sites, key=key)


def describe_site(site: "LiveSite", source: Source) -> str:
    """Return the way from the start to a place, its position, and the symbol there."""
    where = f"{location_of(source, site.span)} {symbol_at(source, site.span)}"
    return f"{' > '.join(site.rules)}, at {where}"


_SYMBOL = 60
"""Characters of a symbol that are shown."""


def symbol_at(source: Source, span: Span) -> str:
    """Return the symbol at a place in one line, or the pointer of a schema; long text is cut."""
    pointer = source.pointer(span)
    if pointer is not None:
        return visible(pointer) or _ROOT
    more = "…" if span.end - span.start > _SYMBOL else ""
    shown = source.slice(Span(span.start, min(span.end, span.start + _SYMBOL)))
    return visible(" ".join(shown.split("\n"))) + more


def _row(key: str, value: str) -> Segments:
    return [Segment(f"  {key:8}  ", Role.LOCATION), Segment(f"{value}\n")]


def _subject(explanation: "Explanation", vocabulary: "Vocabulary") -> str:
    if explanation.token_id is None:
        return escaped(explanation.data)
    if explanation.token_id in vocabulary.special_ids:
        text = vocabulary.token_string(explanation.token_id) or "end of sequence"
        return f"special token {explanation.token_id} {visible(text)}"
    return f"token {explanation.token_id} {escaped(explanation.data)}"


def _expected_value(explanation: "Explanation | None") -> dict[str, Any]:
    """Return the inclusive ranges of bytes that could have come, and the same for people."""
    ranges = () if explanation is None else explanation.expected
    return {"bytes": [list(bounds) for bounds in ranges], "text": describe_bytes(ranges)}


def _site_value(site: "LiveSite", source: Source) -> dict[str, Any]:
    from kbnf_core.text.diagnostics.formats import span_value

    pointer = source.pointer(site.span)
    return {
        "path": list(site.rules),
        "span": span_value(source, site.span),
        **({} if pointer is None else {"pointer": pointer}),
        "expected": [list(bounds) for bounds in site.expected],
    }
