"""Chat templates of real models: formats derived from them take all calls that they write.

The templates may not be kept here: they are read from ``KBNF_DATA``, its folder ``chat-templates``.
"""

from pathlib import Path

import pytest

from benchmarks.chat_templates import row_of
from kbnf_testing.data import OUTSIDE

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


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_derived_format_takes_what_its_template_writes(file: Path) -> None:
    row = row_of(file.read_text("utf-8"))
    assert row.verdict in ("derived", "refused", "no calls", "not rendered")
    assert (row.verdict == "refused") == (file.stem in REFUSED)
    if row.verdict == "derived":
        assert row.taken == row.written >= 4
        assert row.refused == row.wrong >= 4
    else:
        assert row.reason
