"""A real vocabulary, of 131,072 tokens, as the package ``mistral-common`` has it."""

from functools import lru_cache
from importlib.resources import as_file, files

import pytest

from kbnf_core import Vocabulary, load_vocabulary

NAME = "tekken_240911.json"


@lru_cache(maxsize=1)
def real_vocabulary() -> Vocabulary:
    """Return the vocabulary; skip the test where the package is not installed."""
    pytest.importorskip("mistral_common")
    with as_file(files("mistral_common") / "data" / NAME) as path:
        return load_vocabulary(path)
