"""What ``kbnf diff`` found, as text, JSON, SARIF or annotations of GitHub."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.diagnostics.formats import render_github, render_sarif
from kbnf_core.diagnostics.segments import Role, Segment, Segments, visible
from kbnf_core.source import Source, Span

if TYPE_CHECKING:
    from kbnf_core.diff import Answer, Comparison

SCHEMA = "kbnf.diff/1"


@dataclass(frozen=True, slots=True)
class Forbids:
    """Which texts a mode forbids: those of one side alone."""

    old_only: bool
    new_only: bool


@dataclass(frozen=True, slots=True)
class Compared:
    """Two sources, what was asked about them, and what was found."""

    old: Source
    new: Source
    mode: str
    breaking: str | None
    forbids: Forbids
    allow_unknown: bool
    found: "Comparison"

    @property
    def forbidden(self) -> "list[tuple[str, str, Answer]]":
        """What counts: which has a text, which lacks it, and the answer."""
        old, new = self.old.name, self.new.name
        found = (
            (self.forbids.old_only, old, new, self.found.old_only),
            (self.forbids.new_only, new, old, self.found.new_only),
        )
        return [
            (has, lacks, answer)
            for counts, has, lacks, answer in found
            if counts and not (answer.verdict.value == "none" or self._is_allowed(answer))
        ]

    def _is_allowed(self, answer: "Answer") -> bool:
        return self.allow_unknown and answer.verdict.value == "unknown"

    @property
    def passes(self) -> bool:
        """Whether nothing counts."""
        return not self.forbidden


_RELATIONS = {
    "equal": "{old} and {new} have the same texts (proved)",
    "subset": "every text of {old} is one of {new}, which has more",
    "superset": "every text of {new} is one of {old}, which has more",
    "different": "{old} and {new} both have texts that the other lacks",
    "unknown": "how {old} stands to {new} is not known",
}


def as_text(compared: Compared) -> Segments:
    """Return the relation, a line for each side, and what it is about."""
    old, new = visible(compared.old.name), visible(compared.new.name)
    relation = compared.found.relation.value
    segments = [Segment(f"{_RELATIONS[relation].format(old=old, new=new)}\n", Role.TITLE)]
    for name, answer in ((old, compared.found.old_only), (new, compared.found.new_only)):
        if relation != "equal":
            segments.append(Segment(f"  only in {name}: {_answer(answer)}\n"))
    segments += [Segment(f"  note: {note}\n", Role.NOTE) for note in compared.found.notes]
    return segments


def _answer(answer: "Answer") -> str:
    match answer.verdict.value:
        case "none":
            return "nothing (proved)"
        case "some":
            return f"{visible(answer.shown)}  ({_measure(answer)})"
        case _:
            return f"unknown up to {answer.searched:,} bytes: no such text is that short"


def _measure(answer: "Answer") -> str:
    data = answer.data
    if data is None:
        return "a shortest one"
    return f"a shortest one, {len(data):,} byte{'' if len(data) == 1 else 's'}"


def as_json(compared: Compared) -> Segments:
    """Return the object that ``schemas/diff.schema.json`` describes."""
    found = compared.found
    value = {
        "schema": SCHEMA,
        "old": compared.old.name,
        "new": compared.new.name,
        "mode": compared.mode,
        "breaking": compared.breaking,
        "passed": compared.passes,
        "relation": found.relation.value,
        "old_only": _answer_value(found.old_only),
        "new_only": _answer_value(found.new_only),
        "notes": list(found.notes),
    }
    return [Segment(json.dumps(value, indent=2) + "\n")]


def _answer_value(answer: "Answer") -> dict[str, Any]:
    is_witness = answer.verdict.value == "some"
    data = answer.data
    return {
        "verdict": answer.verdict.value,
        "text": None if data is None else _text(data),
        "hex": None if data is None else data.hex(),
        "shown": answer.shown if is_witness else None,
        "searched": answer.searched if answer.verdict.value == "unknown" else None,
    }


def _text(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def as_sarif(compared: Compared) -> Segments:
    """Return a SARIF log with a result for each side that counts."""
    return [Segment(render_sarif(list(_findings(compared))))]


def as_github(compared: Compared) -> Segments:
    """Return an annotation for each side that counts."""
    return [Segment(render_github(list(_findings(compared))))]


def _findings(compared: Compared) -> Iterator[Diagnostic]:
    """Yield findings, which stand at the beginning of NEW."""
    for has, lacks, answer in compared.forbidden:
        if answer.verdict.value == "some":
            message = f"{has} has the text {answer.shown}, which {lacks} lacks"
            code = "E901"
        else:
            message = (
                f"it is unknown whether {has} has texts that {lacks} lacks; of up to"
                f" {answer.searched:,} bytes it has none"
            )
            code = "E902"
        yield Diagnostic(code, message, compared.new, Span(0, 0), notes=compared.found.notes)


RENDERERS: dict[str, Callable[[Compared], Segments]] = {
    "text": as_text,
    "json": as_json,
    "sarif": as_sarif,
    "github": as_github,
}
