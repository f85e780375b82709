"""Tests beside the peers run where these are installed, as in ``.ci/run``; they are an extra."""

from importlib.util import find_spec

_HAS_PEERS = all(find_spec(name) for name in ("llguidance", "xgrammar"))

collect_ignore = [] if _HAS_PEERS else ["test_conformance.py", "test_vocabulary_of.py"]
