"""Calls as models' templates write them are read back as the values that were written.

``kbnf_testing.rendered_calls`` is the judge, and a command for as many calls as one likes.
"""

from pathlib import Path

import pytest

from kbnf_core.languages.structural_tag.models import table
from kbnf_testing.data import OUTSIDE
from kbnf_testing.rendered_calls import NAMED, check_preset, check_template

FEW, MANY = 6, 300


@pytest.mark.parametrize("preset", table())
def test_what_models_of_a_format_write_is_read_back(preset: str) -> None:
    found = [*check_preset(preset, FEW)]
    assert found == [""] * FEW


@pytest.mark.slow
@pytest.mark.parametrize("preset", table())
def test_many_calls_of_a_format_are_read_back(preset: str) -> None:
    assert {*check_preset(preset, MANY)} == {""}


FILES = sorted((OUTSIDE / "chat-templates").glob("*.jinja")) if OUTSIDE else []
HAVE_NAMES = [each for each in FILES if each.stem in NAMED]


@pytest.mark.data
@pytest.mark.skipif(not FILES, reason="needs KBNF_DATA")
@pytest.mark.parametrize("file", HAVE_NAMES, ids=lambda file: file.stem)
def test_what_a_template_renders_is_read_back_by_name(file: Path) -> None:
    pytest.importorskip("transformers")
    found = [*check_template(file, NAMED[file.stem], FEW)]
    assert {*found} == {""}
