"""Chat templates of real models: formats derived from them take all calls that they write.

The templates may not be kept here: they are read from ``KBNF_DATA``, its folder ``chat-templates``.
"""

from pathlib import Path

import pytest

from benchmarks.chat_templates import PATTERNS, Judge, Reader, Template, row_of
from kbnf_testing.data import OUTSIDE
from kbnf_testing.rendered_calls import NAMED

pytest.importorskip("jinja2")
pytest.importorskip("transformers")

FILES = sorted((OUTSIDE / "chat-templates").glob("*.jinja")) if OUTSIDE else []
pytestmark = [pytest.mark.data, pytest.mark.skipif(not FILES, reason="needs KBNF_DATA")]

REFUSED = {
    # Writes values inside of values as Python prints them.
    "ByteDance-Seed-OSS",
    # The prompt has the beginning of a call, and of an answer.
    "meetkai-functionary-medium-v3.2",
}
"""Templates that write calls in no way that a format can say."""


@pytest.mark.parametrize("name", NAMED)
def test_a_format_by_name_takes_what_the_templates_of_its_models_write(name: str) -> None:
    [file] = [each for each in FILES if each.stem == name]
    template = Template(file.read_text("utf-8"))
    judge = Judge(NAMED[name], template)
    written = {title: template.written(calls) for title, calls in PATTERNS.items()}
    texts = {title: text for title, text in written.items() if text is not None}
    assert [title for title, text in texts.items() if not judge.takes(text)] == []
    assert len(texts) >= 4
    reader = Reader(NAMED[name])
    raw = [(each, calls) for calls in PATTERNS.values() for each in template.raw(calls)]
    assert [text for text, calls in raw if not reader.reads(text, calls)] == []
    assert raw


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_derived_format_takes_what_its_template_writes(file: Path) -> None:
    row = row_of(file.read_text("utf-8"))
    assert row.verdict in ("derived", "refused", "no calls", "not rendered")
    assert (row.verdict == "refused") == (file.stem in REFUSED)
    if row.verdict == "derived":
        assert row.taken == row.written >= 4
        assert row.refused == row.wrong >= 4
        assert row.read == row.raw > 0
    else:
        assert row.reason
