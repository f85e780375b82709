"""Making missing artifacts of a store: compiling a recipe, and keeping the result or the reason.

The store is below grammars: what reads and restores one is given as a value.

Tests: tests/unit/store
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kbnf_core.artifact.manifest import ArtifactError
from kbnf_core.artifact.read import Restore, read_artifact
from kbnf_core.artifact.write import Compilable, write_artifact
from kbnf_core.processes import memory_limit
from kbnf_core.store import (
    INPUTS,
    ArtifactStore,
    DamagedError,
    Failure,
    StoredFailureError,
    open_store,
)
from kbnf_core.store.backend import StoreError
from kbnf_core.store.keys import Recipe, recipe_of
from kbnf_core.text.errors import GrammarError, InternalError, KbnfError, SourceError

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary


G = TypeVar("G", bound=Compilable)


def grammar_from_store(
    url: str | Path,
    source: Any,
    vocabulary: "Vocabulary | None",
    read: Callable[..., G],
    restore: Restore[G],
    **options: Any,
) -> G:
    """Return the grammar of a source, as ``Grammar.from_store`` says.

    ``read`` and ``restore`` are those of ``Grammar``.
    """
    store = open_store(url)
    recipe = recipe_of(source, **options)
    key = recipe.key(fingerprint_of(vocabulary))
    try:
        result = _stored(store, key, recipe, restore)
        if result is not None:
            return result
        with store.cache.single_flight(key):
            result = _stored(store, key, recipe, restore)
            return result or _made(store, key, recipe, vocabulary, read, restore)
    except OSError as error:
        # An error of the store, or of the disk with the local cache. A request is served; the
        # administrator of the store reads the warning.
        reason = error.reason if isinstance(error, StoreError) else error.strerror or str(error)
        store.warn(f"{reason}; this grammar is compiled here")
        return recipe.read_by(read, vocabulary)


def fingerprint_of(vocabulary: "Vocabulary | None") -> str:
    """Return the hash that stands for a vocabulary in a key."""
    return "" if vocabulary is None else vocabulary.fingerprint


def _stored(store: ArtifactStore, key: str, recipe: Recipe, restore: Restore[G]) -> G | None:
    """Return the stored grammar; raise the stored reason if the source was refused."""
    path = store.get(key)
    if path is None:
        failure = store.failure(key)
        if failure is not None:
            raise StoredFailureError(failure)
        return None
    try:
        return _loaded(path, key, recipe, restore)
    except (ArtifactError, SourceError) as error:
        # Damaged, or evicted, in the local cache.
        store.cache.drop(key)
        store.warn(error)
        store.count("damaged")
    path = store.get(key)
    try:
        return None if path is None else _loaded(path, key, recipe, restore)
    except (ArtifactError, SourceError):
        # So it lies in the store.
        store.discard(key, DamagedError(INPUTS + key, "names what cannot be used"))
    return None


def _loaded(path: Path, key: str, recipe: Recipe, restore: Restore[G]) -> G:
    return read_artifact(path, restore, recipe.limits, recipe.limits.artifact_read, key)


def _made(
    store: ArtifactStore,
    key: str,
    recipe: Recipe,
    vocabulary: "Vocabulary | None",
    read: Callable[..., G],
    restore: Restore[G],
) -> G:
    with store.cache.draft() as work:
        compile_recipe(store, key, recipe, vocabulary, work, read)
        try:
            store.put(key, work)
        except StoreError as error:
            store.warn(f"{error.reason}; what was compiled stays here")
        return _loaded(store.cache.keep(key, work), key, recipe, restore)


def compile_recipe(
    store: ArtifactStore,
    key: str,
    recipe: Recipe,
    vocabulary: "Vocabulary | None",
    out: Path,
    read: Callable[..., Compilable],
    memory: int | None = None,
) -> None:
    """Write the artifact of a recipe to ``out``; store the reason where it cannot be made."""
    try:
        with memory_limit(memory):
            write_artifact(out, recipe.read_by(read, vocabulary), key)
    except (MemoryError, RecursionError) as error:
        message = f"compiling took more memory than a task has: {type(error).__name__}"
        store.put_failure(key, Failure("memory", message))
        raise
    except KbnfError as error:
        store.put_failure(key, Failure("refused", _text_of(error)))
        raise
    except OSError:
        # The disk's fault.
        raise
    except Exception as error:
        internal = InternalError(error)
        store.put_failure(key, Failure("internal", str(internal)))
        raise internal from error


def _text_of(error: KbnfError) -> str:
    """Return the text of an error, with those of its findings."""
    if not isinstance(error, GrammarError):
        return str(error)
    from kbnf_core.text.diagnostics.segments import plain
    from kbnf_core.text.diagnostics.text import render_text

    return "".join(
        plain(render_text(diagnostic)) for diagnostic in error.diagnostics
    ).rstrip() or str(error)
