"""The error and the warning for artifacts."""

from kbnf_core.errors import KbnfError


class ArtifactError(KbnfError, ValueError):
    """A file that is no usable artifact; ``path`` names it and ``reason`` says why."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path} is not a usable artifact: {reason}")


class ArtifactWarning(UserWarning):
    """Masks of an artifact are damaged and are recomputed: slower, but correct."""
