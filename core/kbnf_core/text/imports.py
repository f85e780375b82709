"""The import policy: files that a grammar may import, set by the caller, never by the grammar.

Grammars are untrusted: nothing in one leads out of its folder unless the caller permits that, as
people who work on their own files do, and a service does not.
"""

from collections.abc import Callable
from posixpath import dirname, join, normpath
from typing import NamedTuple, TypeAlias

from kbnf_core.text.diagnostics import decode
from kbnf_core.text.errors import SourceError
from kbnf_core.text.files import read_file
from kbnf_core.text.limits import DEFAULT_LIMITS

Load: TypeAlias = Callable[[str], str | None]
"""Returns the text of a file, None if it cannot be read."""


def load_text(path: str) -> str | None:
    """Return the text of a file on disk; None where it cannot be read or is no UTF-8."""
    try:
        data = read_file(path, DEFAULT_LIMITS.source_bytes)
    except SourceError:
        return None
    source, invalid = decode(data, path)
    return None if invalid is not None else source.text


class Imports(NamedTuple):
    """How imports are read: through ``load``, ``anywhere`` or below the grammar's folder only.

    Links in that folder are followed, since its owner made them.
    """

    load: Load = load_text
    anywhere: bool = False

    def permit(self, path: str, grammar: str | None) -> bool:
        """Return whether the text called ``grammar`` may import the file at ``path``."""
        folder = normpath(dirname(grammar or ""))
        prefix = "" if folder == "." else join(folder, "")
        place = normpath(path)
        rest = place.removeprefix(prefix)
        inside = place.startswith(prefix) and not rest.startswith(("../", "/"))
        return self.anywhere or inside


BELOW = Imports()
"""From the grammar's folder and those below it; the library's default."""

ANYWHERE = Imports(anywhere=True)
"""From any folder that the grammar names; for grammars that are the user's own."""
