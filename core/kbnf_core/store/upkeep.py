"""Looking after a store: what is in it, whether it is whole, what nothing refers to any more."""

from collections.abc import Iterator

from kbnf_core.store.artifact_store import FAILURES, INPUTS, OBJECTS, ROWS, ArtifactStore
from kbnf_core.store.backend import DAY
from kbnf_core.store.shared_rows import DamagedError

FOLDERS = (INPUTS, OBJECTS, ROWS, FAILURES, "vocabularies/")


def sizes(store: ArtifactStore) -> dict[str, tuple[int, int]]:
    """Return how many entries there are in each folder, and their bytes."""
    found = {}
    for folder in FOLDERS:
        names = list(store.backend.keys(folder))
        found[folder.rstrip("/")] = len(names), sum(map(store.backend.size, names))
    return found


def damage(store: ArtifactStore, remove: bool = False) -> Iterator[DamagedError]:
    """Yield what is wrong with each artifact, having read it whole.

    With ``remove``, the entry goes and what is damaged of it, so that it is compiled again.
    """
    for key in store.known_keys():
        try:
            store.check(key)
        except DamagedError as error:
            if remove:
                store.backend.remove(error.key)
                store.backend.remove(INPUTS + key)
            yield error


def collect(store: ArtifactStore, age: float = DAY) -> int:
    """Remove what nothing refers to and is older than ``age`` seconds; return how many.

    Writers put rows first and inputs last, so what is young may be about to be referred to.
    """
    removed = store.backend.sweep()
    objects: set[str] = set()
    for key in store.known_keys():
        try:
            objects.add(store.digest(key) or "")
        except DamagedError:
            continue
    rows: set[str] = set()
    for name in objects - {""}:
        try:
            rows.update(store.row_names(name))
        except DamagedError:
            continue
    for folder, used in ((OBJECTS, objects), (ROWS, rows)):
        for entry in store.backend.keys(folder):
            if entry.removeprefix(folder) not in used and store.backend.age(entry) > age:
                store.backend.remove(entry)
                removed += 1
    return removed
