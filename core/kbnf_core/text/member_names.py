"""Member names of JSON objects, in a text that is read in chunks: which names an object has.

A text is JSON if it begins as an object or an array; other texts have no names. Strings are found
by a pattern, not by a parser, since the text is incomplete; it is valid, as a grammar generated it.

Tests: tests/unit/text/test_member_names.py
"""

import json
import re

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*(")?|[][{},]', re.DOTALL)
"""A string, which may not have ended yet, or a character that distinguishes names from other
strings.
"""

_BLANK = b" \t\r\n"


class MemberNames:
    """The names in the objects that are open, in a text that is read piece by piece."""

    def __init__(self, text: bytes = b"") -> None:
        # None for an array.
        self._open: list[set[bytes] | None] = []
        self._awaits_name = False
        self._is_json: bool | None = None
        self._begun = b""
        self.read(text)

    def copy(self) -> "MemberNames":
        """Return names that are read on their own."""
        twin = MemberNames()
        twin._open = [None if names is None else set(names) for names in self._open]
        twin._awaits_name, twin._is_json = self._awaits_name, self._is_json
        twin._begun = self._begun
        return twin

    @property
    def begun(self) -> bytes:
        """The name that is being written, from its quote on; empty where none is."""
        return self._begun if self._awaits_name else b""

    @property
    def is_between(self) -> bool:
        """Whether a member must still get its name, as one came before it."""
        return self._awaits_name and bool(self._open[-1])

    def holds(self, name: bytes) -> bool:
        """Return whether the innermost object has a member of a name, which is given in quotes."""
        return bool(self._open) and _plain(name) in (self._open[-1] or ())

    def add(self, name: bytes) -> None:
        """Give the innermost object, if there is one, a member of a name."""
        if self._open and self._open[-1] is not None:
            self._open[-1].add(_plain(name))

    def read(self, data: bytes) -> bool:
        """Read on; return whether that ended a name that its object has already."""
        text = self._begun + data
        if self._is_json is None and (start := text.lstrip(_BLANK)[:1]):
            self._is_json = start in b"{["
        if not self._is_json:
            return False
        self._begun = b""
        repeats = False
        for match in _TOKEN.finditer(text):
            token = match[0]
            if token[:1] != b'"':
                self._mark(token)
            elif match[1] is None:
                self._begun = text[match.start() :]
                break
            elif self._awaits_name:
                names = self._open[-1]
                assert names is not None  # noqa: S101 - names are awaited in objects
                name = _plain(token)
                repeats |= name in names
                names.add(name)
                self._awaits_name = False
        return repeats

    def _mark(self, mark: bytes) -> None:
        if mark in b"{[":
            self._open.append(set() if mark == b"{" else None)
        elif mark in b"}]" and self._open:
            self._open.pop()
        inside = self._open[-1] if self._open else None
        self._awaits_name = mark in b"{," and inside is not None


def _plain(name: bytes) -> bytes:
    """Return a name in quotes as all spellings of it have it."""
    if b"\\" not in name:
        return name
    try:
        return json.dumps(json.loads(name), ensure_ascii=False).encode(errors="surrogatepass")
    except ValueError:
        return name
