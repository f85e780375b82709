"""The result of accepting a token: a public value that both kernels return."""

import enum


class AcceptTokenResult(enum.Enum):
    """What accepting a token led to."""

    Ongoing = "ongoing"
    Finished = "finished"
