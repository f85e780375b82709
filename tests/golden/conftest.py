"""Golden files: ``pytest tests/golden --update-golden`` writes them anew."""

from collections.abc import Callable

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Return a check that text equals a golden file beside the test, to the byte."""
    folder = request.path.parent
    # The default serves runs from further up, where this file is loaded too late for options.
    update = request.config.getoption("--update-golden", default=False)

    def compare(name: str, actual: str) -> None:
        file = folder / name
        if update:
            file.write_bytes(actual.encode("utf-8"))
        assert actual.encode("utf-8") == file.read_bytes()

    return compare
