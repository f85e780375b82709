"""The error family: attributes survive the way between processes."""

import pickle

import pytest

from kbnf_core import Grammar, GrammarError
from kbnf_core.artifact.manifest import ArtifactError
from kbnf_core.text.errors import (
    ConfigError,
    FinishedError,
    InvalidLogitsError,
    KbnfError,
    LimitError,
    MissingEngineError,
    MissingExtraError,
    RejectedError,
    SourceError,
    UnknownTokenError,
)


@pytest.mark.parametrize(
    "error",
    [
        ArtifactError("p", "reason"),
        ConfigError("text"),
        FinishedError(),
        InvalidLogitsError(1, 2),
        LimitError("states", 3),
        MissingEngineError("reason"),
        MissingExtraError("x", "extra"),
        RejectedError(5, b"ab", 1),
        SourceError("path", "reason"),
        UnknownTokenError(7),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_survive_pickling(error: KbnfError) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - written just here
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


def test_diagnostics_survive_pickling() -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar("start ::= x;")
    again = pickle.loads(pickle.dumps(caught.value))  # noqa: S301 - written just here
    assert [d.code for d in again.diagnostics] == ["E101"]
    assert again.diagnostics[0].source.text == "start ::= x;"
