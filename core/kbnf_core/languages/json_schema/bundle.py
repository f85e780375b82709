"""References to files beside a schema: such a file is put below ``$defs`` of the schema.

References to it, and those in it, become pointers; so everything after the reader, other engines
too, has one document, and nothing but this module reads files. Addresses on the web are never
fetched; where the schema's own ``$id`` is one, files in the same folder of the web are looked for
beside the schema.

A text without a path has no files beside it, and the import policy limits the folders.
"""

from collections.abc import Iterable, Iterator
from posixpath import basename, dirname, join, normpath
from typing import NamedTuple
from urllib.parse import quote, unquote, urldefrag, urljoin

from kbnf_core.languages.json_schema.document import dialect_of, is_old, read_json
from kbnf_core.languages.json_schema.problems import Problem, ProblemError, too_large
from kbnf_core.text.files import Imports
from kbnf_core.text.json_text import Json, escape
from kbnf_core.text.limits import DEFAULT_LIMITS


class Bundle(NamedTuple):
    """A schema with the files that it refers to; ``moved`` pairs their pointers with references."""

    value: Json
    moved: tuple[tuple[str, str], ...] = ()


class _Room:
    """The characters that files referred to may have that are not yet used.

    ``unreadable``: paths that nothing could be read from, which are not tried again.
    """

    def __init__(self) -> None:
        self.left = DEFAULT_LIMITS.source_bytes
        self.unreadable: set[str] = set()


def bundle_each(schemas: Iterable[tuple[Json, str]], path: str | None, imports: Imports) -> bool:
    """Change schemas of one text, each with its pointer, as ``bundled``; return whether any was.

    Their files together are bounded as those of one schema. Raises ProblemError.
    """
    room, is_changed = _Room(), False
    for schema, pointer in schemas:
        try:
            is_changed |= bool(bundled(schema, path, imports, room).moved)
        except ProblemError as error:
            problems = (each._replace(pointer=pointer + each.pointer) for each in error.problems)
            raise ProblemError(*problems) from None
    return is_changed


def bundled(value: Json, path: str | None, imports: Imports, room: _Room | None = None) -> Bundle:
    """Return the schema in the file ``path`` with all files that its references lead to.

    ``value`` is changed where it has such references. What cannot be read stays a reference that
    leads nowhere. Raises ProblemError for a file that is not JSON, and where files are larger
    together than a text may be.
    """
    if path is None or not isinstance(value, dict) or "'$ref'" not in repr(value):
        return Bundle(value)
    bundler = _Bundler(value, path, imports, room or _Room())
    files = bundler.gather()
    if not files:
        return Bundle(value)
    held = value.get(bundler.keyword)
    value[bundler.keyword] = {**(held if isinstance(held, dict) else {}), **files}
    return Bundle(value, tuple(bundler.moved))


class _File(NamedTuple):
    """A file: its contents, its address, and where it is in the bundle."""

    value: dict[str, Json]
    address: str
    pointer: str
    anchors: dict[str, str]


class _Reference(NamedTuple):
    """A schema with a ``$ref`` to another resource, and its pointer in the bundle.

    ``is_nested``: it is in a schema with an identifier of its own.
    """

    holder: dict[str, Json]
    address: str
    fragment: str
    pointer: str
    is_nested: bool


class _Bundler:
    """The files that are read so far, by their paths."""

    def __init__(self, value: dict[str, Json], path: str, imports: Imports, room: _Room) -> None:
        self.keyword = "definitions" if is_old(dialect_of(value)) else "$defs"
        self.moved: list[tuple[str, str]] = []
        self._path = path
        self._imports = imports
        self._own = _base_of(value, "")
        self._names = set(value.get(self.keyword) or ())
        self._room = room
        self._files = {normpath(path): _File(value, self._own, "", {})}

    def gather(self) -> dict[str, Json]:
        """Read all files; return their contents by names that the schema does not have."""
        first = next(iter(self._files.values()))
        waiting = [(each, each.pointer) for each in self._references(first)]
        while waiting:
            reference, shown = waiting.pop()
            path = self._path_of(reference.address)
            found = None if path is None else self._files.get(path)
            if path is not None and found is None:
                found = self._read(path, reference.address, shown)
                # What is in a file is shown at the reference in the schema that led there.
                waiting += [(each, shown) for each in self._references(found)] if found else []
            if found is not None:
                fragment, target = reference.fragment, quote(found.pointer, safe="/~$")
                if fragment and not fragment.startswith("/"):
                    fragment = found.anchors.get(fragment, f"/{fragment}")
                around = self._own if reference.is_nested else ""
                reference.holder["$ref"] = f"{around}#{target}{fragment}"
        own = list(self._files.values())[1:]
        return {each.pointer.rpartition("/")[2]: each.value for each in own}

    def _references(self, file: _File) -> Iterator[_Reference]:
        """Yield the references of a file to other resources; in files below, to itself too."""
        found: list[_Reference] = []
        known: set[str] = set()
        pending: list[tuple[Json, str, str]] = [(file.value, file.address, file.pointer)]
        while pending:
            value, around, pointer = pending.pop()
            if isinstance(value, dict):
                base = _base_of(value, around) if value is not file.value else around
                known |= {base} - {file.address}
                if isinstance(anchor := value.get("$anchor"), str):
                    file.anchors[anchor] = pointer.removeprefix(file.pointer)
                reference = value.get("$ref")
                if isinstance(reference, str):
                    address, fragment = _join(base, reference) or ("", "")
                    address = base if reference.startswith("#") else address
                    fragment = reference[1:] if reference.startswith("#") else fragment
                    nested = base != file.address
                    found.append(_Reference(value, address, fragment, f"{pointer}/$ref", nested))
                below = ((name, each) for name, each in value.items() if name not in _DATA)
                pending += [(each, base, f"{pointer}/{escape(name)}") for name, each in below]
            elif isinstance(value, list):
                pending += [(each, around, f"{pointer}/{n}") for n, each in enumerate(value)]
        for each in found:
            is_own = each.address == file.address and not file.pointer
            if not is_own and each.address not in known:
                yield each

    def _path_of(self, address: str) -> str | None:
        """Return the path of the file that an address means."""
        folder, slash, _ = self._own.rpartition("/")
        near = address.removeprefix(folder + slash)
        if not near or ":" in near or near.startswith("/"):
            return None
        return normpath(join(dirname(self._path), unquote(near)))

    def _read(self, path: str, address: str, shown: str) -> _File | None:
        if path in self._room.unreadable:
            return None
        text = self._imports.load(path) if self._imports.permit(path, self._path) else None
        if text is None:
            self._room.unreadable.add(path)
            return None
        self._room.left -= len(text)
        if self._room.left < 0:
            most = DEFAULT_LIMITS.source_bytes
            raise too_large("characters in files referred to", most, "source_bytes", shown)
        try:
            value = read_json(text)
        except ProblemError as error:
            message = f"`{address}`: {error.problem.message}"
            raise ProblemError(Problem(error.problem.code, message, shown)) from None
        own = dict(value) if isinstance(value, dict) else {"allOf": [value]}
        for keyword in ("$id", "id", "$schema"):
            if isinstance(own.get(keyword), str):
                del own[keyword]
        pointer = f"/{self.keyword}/{self._new_name(path)}"
        self.moved.append((pointer, shown))
        found = self._files[path] = _File(own, address, pointer, {})
        return found

    def _new_name(self, path: str) -> str:
        stem = name = basename(path).partition(".")[0] or "file"
        number = 1
        while name in self._names:
            number += 1
            name = f"{stem}_{number}"
        self._names.add(name)
        return name


def _base_of(value: dict[str, Json], around: str) -> str:
    """Return what references in a schema are relative to."""
    named = value.get("$id", value.get("id"))
    joined = _join(around, named) if isinstance(named, str) else None
    return joined[0] if joined else around


def _join(around: str, reference: str) -> tuple[str, str] | None:
    """Return the address and fragment of a reference, None where it is not a reference."""
    try:
        return urldefrag(urljoin(around, reference))
    except ValueError:
        return None


_DATA = frozenset({"const", "enum", "default", "examples"})
"""Keywords whose values are not schemas."""
