"""Making what a store has not: compiling a recipe, and keeping the result or the reason."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from kbnf_core.artifact.errors import ArtifactError
from kbnf_core.artifact.read import load_artifact
from kbnf_core.artifact.write import compile_artifact
from kbnf_core.errors import GrammarError, KbnfError, SourceError
from kbnf_core.grammar import Grammar
from kbnf_core.store.artifact_store import ArtifactStore, Failure, StoredFailureError
from kbnf_core.store.backend import StoreError
from kbnf_core.store.keys import Recipe, recipe_of
from kbnf_core.store.opening import open_store
from kbnf_core.store.posix import memory_limit

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary


def grammar_from_store(
    url: str | Path, source: Any, vocabulary: "Vocabulary | None", **options: Any
) -> Grammar:
    """Return the grammar of a source with its masks, as ``Grammar.from_store`` says."""
    store = open_store(url)
    recipe = recipe_of(source, **options)
    key = recipe.key(fingerprint_of(vocabulary))
    try:
        found = _stored(store, key, recipe)
        if found is not None:
            return found
        with store.cache.single_flight(key):
            return _stored(store, key, recipe) or _made(store, key, recipe, vocabulary)
    except StoreError as error:
        # A request is served; whoever looks after the store reads the warning.
        store.warn(f"{error.reason}; this grammar is compiled here")
        return recipe.grammar(vocabulary)


def make(
    store: ArtifactStore,
    key: str,
    recipe: Recipe,
    vocabulary: "Vocabulary | None",
    memory: int | None = None,
) -> None:
    """Compile a recipe and put it into the store; raises what is wrong with the source.

    The reason is stored then, too. ``memory``: bytes that compiling may take.
    """
    with store.cache.draft() as work:
        _compile(store, key, recipe, vocabulary, work, memory)
        store.put(key, work)


def fingerprint_of(vocabulary: "Vocabulary | None") -> str:
    """Return what stands for a vocabulary in a key."""
    return "" if vocabulary is None else vocabulary.fingerprint


def _stored(store: ArtifactStore, key: str, recipe: Recipe) -> Grammar | None:
    """Return what the store has; raise where it says that there is nothing."""
    path = store.get(key)
    if path is None:
        failure = store.failure(key)
        if failure is not None:
            raise StoredFailureError(failure)
        return None
    try:
        return load_artifact(path, recipe.limits)
    except (ArtifactError, SourceError) as error:
        # Damaged, or evicted, in the local cache.
        store.cache.drop(key)
        store.warn(error)
        store.count("damaged")
    path = store.get(key)
    return None if path is None else load_artifact(path, recipe.limits)


def _made(
    store: ArtifactStore, key: str, recipe: Recipe, vocabulary: "Vocabulary | None"
) -> Grammar:
    with store.cache.draft() as work:
        _compile(store, key, recipe, vocabulary, work)
        try:
            store.put(key, work)
        except StoreError as error:
            store.warn(f"{error.reason}; what was compiled stays here")
        return load_artifact(store.cache.keep(key, work), recipe.limits)


def _compile(
    store: ArtifactStore,
    key: str,
    recipe: Recipe,
    vocabulary: "Vocabulary | None",
    out: Path,
    memory: int | None = None,
) -> None:
    try:
        # The name of a file with tokens is nothing that an artifact depends on.
        tokens = None if vocabulary is None else vocabulary.unnamed
        with memory_limit(memory):
            compile_artifact(recipe.grammar(vocabulary), tokens, out)
    except (MemoryError, RecursionError) as error:
        message = f"compiling took more memory than a task has: {type(error).__name__}"
        store.put_failure(key, Failure("memory", message))
        raise
    except KbnfError as error:
        store.put_failure(key, Failure("refused", _text_of(error)))
        raise


def _text_of(error: KbnfError) -> str:
    """Return the text of an error, with what its findings say in addition."""
    if not isinstance(error, GrammarError):
        return str(error)
    from kbnf_core.diagnostics.segments import plain
    from kbnf_core.diagnostics.text import render_text

    return "".join(plain(render_text(each)) for each in error.diagnostics).rstrip() or str(error)
