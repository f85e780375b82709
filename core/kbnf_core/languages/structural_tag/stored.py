"""Marked rules as text, which artifacts and pickled grammars carry: KBNF, and the marks as JSON."""

import json
from typing import Any

from kbnf_core.conversion.to_kbnf import print_kbnf
from kbnf_core.kbnf.parsed import Mark, Marked, Shape
from kbnf_core.kbnf.read import parse_kbnf
from kbnf_core.languages.structural_tag.write import START
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source


def dump(marked: Marked) -> str:
    """Return marked rules as a text of JSON."""
    rules = print_kbnf(marked.document, START, None, "", keeps_names=True)
    marks = {
        name: {**mark._asdict(), "shapes": [_shape(each) for each in mark.shapes]}
        for name, mark in marked.marks.items()
    }
    found = {"rules": rules, "marks": marks, "messages": marked.messages}
    return json.dumps(found, ensure_ascii=False, sort_keys=True)


def _shape(shape: Shape) -> dict[str, Any]:
    return {**shape._asdict(), "members": dict(shape.members)}


def load(text: str, limits: Limits) -> Marked:
    """Return the marked rules of such a text. Raises ``ValueError`` for what is none."""
    try:
        found = json.loads(text)
        marks = {
            name: Mark(
                mark["kind"],
                mark["name"],
                mark["style"],
                tuple(
                    Shape(**{**each, "kinds": tuple(each["kinds"]), "first": tuple(each["first"])})
                    for each in mark["shapes"]
                ),
                mark["trigger"],
            )
            for name, mark in found["marks"].items()
        }
        parsed = parse_kbnf(Source(found["rules"]), limits)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(str(error)) from None
    return Marked(parsed.document, marks, found.get("messages", ""))
