"""Makes the helpers in ``tests/support`` importable (pytest's importlib mode adds no paths).

The folder goes last, and holds only the package ``kbnf_testing``, so it can shadow nothing.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent / "support"))
pytest.register_assert_rewrite("kbnf_testing")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Leave the user's cache of vocabularies alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KBNF_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
