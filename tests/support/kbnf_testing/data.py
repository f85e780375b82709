"""Places of the files that tests read: in the repository, and outside of it.

``tests/data`` has what its licence lets us keep. What may not be kept is read from the folder
that the environment variable ``KBNF_DATA`` names, by tests with the marker ``data``.
"""

import os
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "data"
"""Grammars, schemas and a vocabulary of other projects; ``README.md`` says where from."""

SPEC = DATA / "spec"
"""Examples of each grammar language, a JSON object a line."""

PATCH = Path(__file__).with_name("apply_patch.lark")
"""A grammar of patches of our own, as agents send one for LLGuidance, without a mark."""

VARIABLE = "KBNF_DATA"

OUTSIDE = Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None
"""The folder of data outside of the repository: ``maskbench/*.json``."""
