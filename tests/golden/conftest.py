"""Golden files: ``pytest tests/golden --update-golden`` writes them anew."""

from collections.abc import Callable

import pytest


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Return a check that text equals a golden file beside the test, to the byte."""
    folder = request.path.parent
    update = request.config.getoption("--update-golden")

    def compare(name: str, actual: str) -> None:
        file = folder / name
        if update:
            file.write_bytes(actual.encode("utf-8"))
        assert actual.encode("utf-8") == file.read_bytes()

    return compare
