"""What a comparison found, as values."""

import enum
from dataclasses import dataclass

from kbnf_core.ir import TokenTerminal
from kbnf_core.kbnf.printer import quote


class Verdict(enum.Enum):
    """What is known of the texts that one grammar has and the other lacks."""

    NONE = "none"
    """Proved: there are none."""
    SOME = "some"
    """There is a witness."""
    UNKNOWN = "unknown"
    """None was found, and the search was given up."""


class Relation(enum.Enum):
    """The relation of the language of OLD to that of NEW."""

    EQUAL = "equal"
    SUBSET = "subset"
    SUPERSET = "superset"
    DIFFERENT = "different"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Answer:
    """The texts that one grammar has and the other lacks.

    ``witness`` is a shortest one where there are ``SOME``; tokens that grammars name by id have no
    bytes and are in it as themselves. Where it is ``UNKNOWN``, no text of ``searched`` bytes or
    fewer is one.
    """

    verdict: Verdict
    witness: tuple[bytes | TokenTerminal, ...] = ()
    searched: int = 0

    @property
    def data(self) -> bytes | None:
        """The bytes of the witness, if it has no tokens without bytes."""
        if self.verdict is not Verdict.SOME:
            return None
        pieces = [piece for piece in self.witness if isinstance(piece, bytes)]
        return b"".join(pieces) if len(pieces) == len(self.witness) else None

    @property
    def shown(self) -> str:
        """The witness as a grammar would write it."""
        return " ".join(map(_shown, self.witness)) or '""'


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two languages compared: what ``old_only`` has, and what ``new_only``.

    ``steps`` counts the work; ``notes`` say what the difference is about where that is known.
    ``of_prefixes`` says that no text of either ever ends: the languages are those of their viable
    prefixes.
    """

    old_only: Answer
    new_only: Answer
    steps: int
    notes: tuple[str, ...] = ()
    of_prefixes: bool = False

    @property
    def relation(self) -> Relation:
        """The relation of OLD to NEW."""
        return _RELATIONS.get((self.old_only.verdict, self.new_only.verdict), Relation.UNKNOWN)


_RELATIONS = {
    (Verdict.NONE, Verdict.NONE): Relation.EQUAL,
    (Verdict.NONE, Verdict.SOME): Relation.SUBSET,
    (Verdict.SOME, Verdict.NONE): Relation.SUPERSET,
    (Verdict.SOME, Verdict.SOME): Relation.DIFFERENT,
}


def _shown(piece: bytes | TokenTerminal) -> str:
    if isinstance(piece, bytes):
        try:
            return quote(piece.decode())
        except UnicodeDecodeError:
            return '#b"' + "".join(f"\\x{byte:02x}" for byte in piece) + '"'
    if piece.name is not None:
        return f"#token{quote(piece.name)}"
    ranges = ",".join(str(a) if a == b else f"{a}-{b}" for a, b in piece.ranges)
    return f"#token[{'^' if piece.negated else ''}{ranges}]"
