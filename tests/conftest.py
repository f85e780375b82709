"""Makes the helpers in ``tests/support`` importable (pytest's importlib mode adds no paths).

The folder goes last, and holds only the package ``kbnf_testing``, so it can shadow nothing.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"
"""Real grammars, schemas and vocabularies, which lie beside the checkout where there are any."""

sys.path.append(str(Path(__file__).parent / "support"))
pytest.register_assert_rewrite("kbnf_testing")


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out the files that read ``SHARED`` where it is not there."""
    if SHARED.exists() or collection_path.suffix != ".py":
        return None
    reads_it = '"shared"' in collection_path.read_text(encoding="utf-8")
    return True if reads_it and collection_path.name.startswith("test_") else None


def pytest_report_header() -> str | None:
    """Say what is left out."""
    return None if SHARED.exists() else f"{SHARED} is not there: tests that read it are left out"


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Leave the user's cache of vocabularies alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KBNF_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
