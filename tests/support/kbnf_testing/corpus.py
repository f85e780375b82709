"""The corpus: cases as data, neutral between engines.

A file ``NAME.toml`` holds ``[[case]]`` tables with a ``name``, a ``grammar``, ``spec`` (the
section of spec/kbnf.md it stands for), ``finish`` and ``start`` if not the defaults, and at least
one of these assertions:

- ``accept``, ``viable``, ``dead``: texts (or ``{hex = "..."}``) given byte by byte, which end
  exactly at the last byte, go on after it, or are refused;
- ``vocabulary`` (a name of vocabularies.toml) with ``initial`` (the ids allowed at first) and
  ``steps`` of ``token`` or ``bytes``, ``result`` and, perhaps, ``allowed`` afterwards;
- ``error``: the codes that creating an engine must report, all of them.

``not_by_reference`` says why the reference recogniser cannot run the case.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kbnf_testing.vocabulary import Tokens
from kbnf_testing.walk import Outcome

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
_ASSERTIONS = frozenset({"accept", "viable", "dead", "initial", "steps", "error"})
_SETTINGS = frozenset(
    {"name", "grammar", "spec", "finish", "start", "vocabulary", "not_by_reference"}
)
BYTE_TOKENS = Tokens({value: bytes([value]) for value in range(256)}, eos=frozenset({256}))


class CorpusError(ValueError):
    """A case that is malformed, or that asserts nothing."""


@dataclass(frozen=True, slots=True)
class Step:
    """One token (or bytes) to offer, its outcome, and the ids allowed afterwards."""

    offer: int | bytes
    result: Outcome
    allowed: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Case:
    """One case; properties that are not asserted are empty or None."""

    name: str
    grammar: str
    spec: str
    finish: str
    start: str
    tokens: Tokens
    accept: tuple[bytes, ...]
    viable: tuple[bytes, ...]
    dead: tuple[bytes, ...]
    initial: tuple[int, ...] | None
    steps: tuple[Step, ...]
    error: frozenset[str]
    not_by_reference: str

    def tokens_matter(self) -> bool:
        """Whether the case walks over tokens of a vocabulary, not only bytes."""
        return self.initial is not None or bool(self.steps)


def load_corpus(folder: Path = CORPUS) -> list[Case]:
    """Return all cases of all files, in order."""
    vocabularies = load_vocabularies(folder / "vocabularies.toml")
    files = sorted(path for path in folder.glob("*.toml") if path.stem != "vocabularies")
    cases = [case for path in files for case in _load_file(path, vocabularies)]
    names = [case.name for case in cases]
    if len(set(names)) != len(names):
        raise CorpusError(f"names used twice: {sorted({n for n in names if names.count(n) > 1})}")
    return cases


def load_vocabularies(path: Path) -> dict[str, Tokens]:
    """Return the named vocabularies: ``tokens``, ``special`` and ``eos`` of each."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        name: Tokens(
            {int(token_id): _data(text) for token_id, text in table["tokens"].items()},
            table.get("special", {}),
            frozenset(table.get("eos", ())),
        )
        for name, table in tables.items()
    }


def read_case(table: Mapping[str, Any], prefix: str, vocabularies: Mapping[str, Tokens]) -> Case:
    """Return the case in ``table``; raise ``CorpusError`` where it is malformed or void."""
    name = f"{prefix}/{table.get('name', '?')}"
    unknown = set(table) - _ASSERTIONS - _SETTINGS
    if unknown or not {"name", "grammar", "spec"} <= set(table):
        raise CorpusError(f"{name}: unknown keys {sorted(unknown)}, or name, grammar, spec missing")
    if not any(table.get(key) for key in _ASSERTIONS - {"initial"}) and "initial" not in table:
        raise CorpusError(f"{name}: asserts nothing")
    if ("steps" in table or "initial" in table) != ("vocabulary" in table):
        raise CorpusError(f"{name}: steps and initial need a vocabulary, and only they do")
    return Case(
        name=name,
        grammar=table["grammar"],
        spec=table["spec"],
        finish=table.get("finish", "eager"),
        start=table.get("start", "start"),
        tokens=vocabularies[table["vocabulary"]] if "vocabulary" in table else BYTE_TOKENS,
        accept=_texts(table, "accept"),
        viable=_texts(table, "viable"),
        dead=_texts(table, "dead"),
        initial=tuple(table["initial"]) if "initial" in table else None,
        steps=tuple(_step(step) for step in table.get("steps", ())),
        error=frozenset(table.get("error", ())),
        not_by_reference=table.get("not_by_reference", ""),
    )


def _load_file(path: Path, vocabularies: Mapping[str, Tokens]) -> list[Case]:
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    if list(tables) != ["case"]:
        raise CorpusError(f"{path}: a corpus file holds [[case]] tables and nothing else")
    return [read_case(table, path.stem, vocabularies) for table in tables["case"]]


def _texts(table: Mapping[str, Any], key: str) -> tuple[bytes, ...]:
    return tuple(_data(text) for text in table.get(key, ()))


def _data(text: str | Mapping[str, str]) -> bytes:
    return text.encode() if isinstance(text, str) else bytes.fromhex(text["hex"])


def _step(table: Mapping[str, Any]) -> Step:
    offer = table["token"] if "token" in table else _data(table["bytes"])
    allowed = tuple(table["allowed"]) if "allowed" in table else None
    return Step(offer, Outcome(table["result"]), allowed)
