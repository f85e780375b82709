"""The schemas of the commands' JSON output, and grammars of schemas with options as a value."""

import json
from pathlib import Path
from random import Random
from typing import Any

from jsonschema import Draft202012Validator

import kbnf_cli
from kbnf_core import AcceptTokenResult, Engine, Grammar, Vocabulary
from kbnf_core.languages import JSON_SCHEMA
from kbnf_core.languages.json_schema import Options, as_mapping
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits

FOLDER = Path(kbnf_cli.__file__).parent / "schemas"


def checked(name: str, text: str) -> Any:
    """Return the value that ``text`` spells, after checking it against a command's schema."""
    schema = json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    value = json.loads(text)
    Draft202012Validator(schema).validate(value)
    return value


def json_schema_grammar(
    text: str, options: Options | None = None, limits: Limits = DEFAULT_LIMITS
) -> Grammar:
    """Return the grammar of a schema, read with these options."""
    own = as_mapping(options)
    lossy = bool(own.pop("lossy", False))
    return Grammar.read(text, JSON_SCHEMA, limits=limits, lossy=lossy, options=own)


def masks_differ(
    left: Grammar,
    right: Grammar,
    seed: int,
    vocabulary: Vocabulary | None = None,
    letters: bytes = b"abcnexstopyi1",
) -> bytes | None:
    """Walk at random through both, and return a prefix after which other tokens may come.

    Without a ``vocabulary`` they are bytes. ``letters``: of names, so that a walk stays in them.
    """
    vocabulary = vocabulary or Vocabulary.bytes()
    choose = Random(seed)
    engines = [Engine(grammar, vocabulary) for grammar in (left, right)]
    prefix = b""
    while len(prefix) < 80:
        for engine in engines:
            engine.compute_allowed_token_ids()
        ours, theirs = (engine.get_allowed_token_ids_from_last_computation() for engine in engines)
        if ours != theirs:
            return prefix
        data = {token: found for token in sorted(ours) if (found := vocabulary.token(token))}
        if not data:
            return None
        wanted = [token for token, found in data.items() if found[0] in b'{}[]",:' + letters]
        token = choose.choice(wanted or list(data))
        prefix += data[token]
        results = [engine.try_accept_new_token(token) for engine in engines]
        if AcceptTokenResult.Finished in results:
            return None if results[0] is results[1] else prefix
    return None
