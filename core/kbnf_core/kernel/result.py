"""What accepting leads to: a value that both kernels return and that users see."""

import enum


class AcceptTokenResult(enum.Enum):
    """What accepting a token led to."""

    Ongoing = "ongoing"
    Finished = "finished"
