"""Imports all that a task of a farm needs, by compiling: for processes that are forked."""

from pathlib import Path
from tempfile import TemporaryDirectory

from kbnf_core import Grammar, compile_artifact, farm
from kbnf_core.store import fsspec_store
from kbnf_core.store.keys import recipe_of

__all__ = ["farm", "fsspec_store"]

_SCHEMA = {"type": "object", "properties": {"a": {"type": ["string", "number"]}}}

with TemporaryDirectory() as _folder:
    _artifact = Path(_folder) / "artifact"
    compile_artifact(recipe_of(_SCHEMA).read_by(Grammar.read, None), None, _artifact)
