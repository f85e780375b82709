"""Errors that the library raises: one family, with attributes rather than only words.

Tests: tests/unit/text/test_errors.py, tests/unit/text/test_collecting.py
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from kbnf_core.text.diagnostics import Diagnostic

Status = Literal["fits", "cut", "wrong"]
"""The status of a text: it fits, it begins one that fits, or it is wrong from a byte on."""


class KbnfError(Exception):
    """Anything that this library refuses to do. Travels between processes, attributes and all."""

    def __reduce__(self) -> tuple[object, ...]:
        # An exception is otherwise made again by calling its class with its message.
        return _restore, (type(self), self.args, self.__dict__)


def _restore(
    kind: type[KbnfError], args: tuple[object, ...], attributes: dict[str, object]
) -> KbnfError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(attributes)
    return error


class GrammarError(KbnfError, ValueError):
    """A grammar that cannot be used; ``diagnostics`` contain every finding, errors first.

    ``str`` is one line about the first; ``report()`` is what the command line prints. Notebooks
    show the report.
    """

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__(_in_one_line(self.diagnostics))

    def report(self, width: int | None = None) -> str:
        """Return every finding with its source lines, notes and help, in lines of ``width``."""
        from kbnf_core.text.diagnostics.segments import plain
        from kbnf_core.text.diagnostics.text import render_text

        return "".join(plain(render_text(diagnostic, width)) for diagnostic in self.diagnostics)

    def _render_traceback_(self) -> list[str]:
        """Return the text for IPython and Jupyter: where the error was raised, and the report."""
        import traceback

        frames = traceback.extract_tb(self.__traceback__)
        where = [
            f'File "{frame.filename}", line {frame.lineno}, in {frame.name}'
            for frame in frames
            if Path(__file__).parent not in Path(frame.filename).parents
        ]
        return [*where, f"{type(self).__name__}: {self}", "", *self.report().splitlines()]


class EmptyGrammarError(GrammarError):
    """A grammar whose language is empty, or contains the empty text only."""


class SourceError(KbnfError, OSError):
    """A file that cannot be read; ``path`` names it."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"cannot read {path}: {reason}")


class VocabularyError(KbnfError, ValueError):
    """A vocabulary that cannot be used, or a file of another kind."""


class MissingExtraError(KbnfError, ImportError):
    """An optional library is needed; ``extra`` is the extra that installs it."""

    def __init__(self, feature: str, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{feature} needs an optional library: `{install_command(extra)}`")


def install_command(extra: str) -> str:
    """Return the command that installs the libraries of an extra, which the package index has."""
    import re
    import shlex
    from importlib.metadata import PackageNotFoundError, requires

    try:
        listed = requires("kbnf-toolkit") or []
    except PackageNotFoundError:
        listed = []
    marked = (line.partition(";") for line in listed)
    of_extra = re.compile(rf"extra == ['\"]{extra}['\"]").search
    names = [shlex.quote(name.strip()) for name, _, mark in marked if of_extra(mark)]
    return f"pip install {' '.join(names)}" if names else f"pip install '.[{extra}]'"


class MissingEngineError(KbnfError, ImportError):
    """The compiled engine is needed and cannot be loaded; ``reason`` says why."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        advice = (
            "install Python's headers (python3-dev, python3-devel) and a C++ compiler, and then"
            " `pip install --force-reinstall --no-cache-dir .` in a checkout of kbnf"
        )
        if "one interpreter" in reason:
            advice = "use it in the interpreter that loaded it first, or in another process"
        super().__init__(
            f"this needs the compiled engine, which cannot be loaded ({reason}): {advice}"
        )


class ConfigError(KbnfError, ValueError):
    """A setting that is unknown or has an impossible value."""


class WorkLimitError(KbnfError, RuntimeError):
    """More work than ``Limits.work`` allows; ``subject`` names the rule or terminal, if known."""

    def __init__(self, limit: int, subject: str = "", advice: str = "") -> None:
        self.limit = limit
        self.subject = subject
        where = f" in `{subject}`" if subject else ""
        rest = f": {advice}" if advice else ""
        super().__init__(
            f"this takes more than {limit:,} steps of work{where} (`Limits.work`){rest}"
        )


class LimitError(KbnfError, ValueError):
    """A construction that passed its bound: more than ``limit`` of ``unit``."""

    def __init__(self, unit: str, limit: int) -> None:
        self.unit = unit
        self.limit = limit
        super().__init__(f"more than {limit} {unit}")


class InternalError(KbnfError, RuntimeError):
    """A bug in this library: an exception that nothing here means to raise, as a value.

    What it says names the exception, and the line that raised it.
    """

    def __init__(self, error: Exception) -> None:
        import traceback

        frames = traceback.extract_tb(error.__traceback__)
        where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
        super().__init__(
            f"internal error: {type(error).__name__}: {str(error)[:200]}{where}; this is a bug in"
            " kbnf, please report it with the source"
        )


class EngineError(KbnfError, ValueError):
    """An operation that the engine refuses; its state is unchanged."""


class RejectedError(EngineError):
    """A token, or bytes, that is not allowed here.

    ``token_id`` is None for plain bytes; ``byte_offset`` is the number of accepted bytes.
    """

    def __init__(self, token_id: int | None, data: bytes, byte_offset: int) -> None:
        self.token_id = token_id
        self.data = data
        self.byte_offset = byte_offset
        subject = f"the bytes {data!r} are" if token_id is None else f"token {token_id} {data!r} is"
        super().__init__(f"{subject} not allowed here: rejected at byte {byte_offset}")


class ParseError(KbnfError, ValueError):
    """A text that a grammar does not match.

    ``offset`` bytes of ``data`` fit; all of them where it ends too early (``is_unfinished``).
    ``expected`` are the inclusive ranges of bytes that fit there, none where nothing may follow;
    ``rules`` those that are certainly open there, outermost first.
    """

    def __init__(
        self,
        data: bytes,
        offset: int,
        expected: tuple[tuple[int, int], ...],
        rules: tuple[str, ...] = (),
    ) -> None:
        self.data = data
        self.offset = offset
        self.expected = expected
        self.rules = rules
        wanted = ", ".join(_shown_range(*inclusive) for inclusive in expected) or "nothing"
        reason = "the text ends too early" if self.is_unfinished else f"byte {offset} does not fit"
        inside = f" in `{rules[-1]}`" if rules else ""
        super().__init__(f"{reason}: expected {wanted}{inside}")

    @property
    def is_unfinished(self) -> bool:
        """Whether the text is the beginning of one that fits."""
        return self.offset == len(self.data)

    @property
    def status(self) -> Status:
        """``cut`` where the text is the beginning of one that fits, else ``wrong``."""
        return "cut" if self.is_unfinished else "wrong"


class MessageError(KbnfError, ValueError):
    """A text that a response template reads to no message."""


class NoValueError(ParseError):
    """A text that fits a grammar without values, and is not JSON; ``offset`` is 0."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data, 0, ())
        self.args = (
            "the text has no value: it is not JSON, and its grammar is neither a structural tag"
            " nor that of calls of tools",
        )

    @property
    def status(self) -> Status:
        """``fits``: only its value is missing."""
        return "fits"


def _shown_range(low: int, high: int) -> str:
    first, last = (chr(byte) if 0x20 < byte < 0x7F else f"0x{byte:02x}" for byte in (low, high))
    return f"`{first}`" if low == high else f"`{first}`-`{last}`"


class LateError(RejectedError):
    """A token that the grammar takes, but not with so few left: see ``Engine.remaining``."""

    def __init__(self, token: int | bytes, data: bytes, left: int) -> None:
        super().__init__(token if isinstance(token, int) else None, data, len(data))
        self.left = left
        beginning = str(self).rpartition(":")[0]
        self.args = (f"{beginning}: the text could not end in the {left} tokens that are left",)


class UnknownTokenError(EngineError):
    """A token id that the vocabulary does not have."""

    def __init__(self, token_id: int) -> None:
        self.token_id = token_id
        super().__init__(f"the vocabulary has no token {token_id}: the id does not exist")


class FinishedError(EngineError):
    """The engine is finished: nothing can follow."""

    def __init__(self) -> None:
        super().__init__("the engine is finished; reset it before it can take more")


class InvalidLogitsError(EngineError):
    """Logits that are narrower than the vocabulary."""

    def __init__(self, length: int, vocabulary_size: int) -> None:
        self.length = length
        self.vocabulary_size = vocabulary_size
        super().__init__(f"{length} logits are fewer than the vocabulary's {vocabulary_size} ids")


def _in_one_line(diagnostics: Sequence[Diagnostic]) -> str:
    if not diagnostics:
        return "the grammar cannot be used"
    first = _summarise(diagnostics[0]).partition("\n")[0]
    more = len(diagnostics) - 1
    if not more:
        return first
    return f"{first} (and {more} more finding{'' if more == 1 else 's'}: `report()`)"


def _summarise(diagnostic: Diagnostic) -> str:
    position = diagnostic.source.position(diagnostic.span.start)
    where = f"{diagnostic.source.name}:{position.line}:{position.column}"
    return f"{where}: {diagnostic.rule.severity.label}[{diagnostic.code}]: {diagnostic.message}"
