"""Makes the helpers in ``tests/support`` importable (pytest's importlib mode adds no paths).

The folder goes last, and holds only the package ``kbnf_testing``, so it can shadow nothing.
"""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent / "support"))
pytest.register_assert_rewrite("kbnf_testing")
