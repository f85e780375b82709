"""Findings as plain values: everything in them comes back."""

import json
from dataclasses import fields

from kbnf_core.text.diagnostics import Diagnostic, Fix, Label, TextEdit
from kbnf_core.text.diagnostics.stored import from_stored, to_stored
from kbnf_core.text.source import Source, Span

HERE = Source("start ::= \ud800'é';", "a.kbnf")
THERE = Source("imported", None)
FULL = Diagnostic(
    "W101",
    "message",
    THERE,
    Span(1, 2),
    "label",
    (Label(Span(3, 4), "beside"),),
    ("note", "another"),
    ("help",),
    (Fix("mend", (TextEdit(Span(5, 5), "x"), TextEdit(Span(6, 7), "")), safe=False),),
    (("engine", "name"),),
)


def test_everything_comes_back() -> None:
    found = (FULL, Diagnostic("E001", "other", HERE, Span(0, 0)))
    stored = json.loads(json.dumps(to_stored(found, HERE)))
    first, second = from_stored(stored, HERE)
    assert second == found[1]
    for field in fields(Diagnostic):
        if field.name != "source":
            assert getattr(first, field.name) == getattr(FULL, field.name)
            assert getattr(FULL, field.name)
    assert (first.source.text, first.source.path) == ("imported", None)
