"""Formatron's own tests: the same on ``kbnf-compat`` as on the Rust engine."""

import pytest

from kbnf_testing import formatron_suite


@pytest.mark.slow
def test_formatron_does_the_same_on_either_engine() -> None:
    if not formatron_suite.TESTS.exists():
        pytest.skip("tests/serving/hosts.py has not fetched Formatron")
    for needed in ("torch", "transformers"):
        pytest.importorskip(needed, reason=f"{needed} is not installed (extra `transformers`)")
    found = formatron_suite.pairs()
    assert len(found) == 53
    assert [pair.name for pair in found if not pair.is_same] == []
    # A regular expression that Formatron does not escape; no engine takes it.
    failed = [pair.name for pair in found if pair.ours["outcome"] != "passed"]
    assert failed == ["test_formatter.py::test_utf8_json_key"]
