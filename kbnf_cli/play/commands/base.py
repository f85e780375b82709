"""What a command of the console is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from kbnf_cli.play.session import Reply, Session, World

Handler: TypeAlias = Callable[[Session, str, World], Reply]
"""Takes what was typed behind the command's name, without blanks around it (see ``Command``)."""


@dataclass(frozen=True, slots=True)
class Command:
    """``names``: the command's own and the shorter ones. ``usage``: what may follow it.

    ``takes_text``: a token or a text follows, whose blanks count: only one of those that stand
    before it belongs to the command.
    """

    names: tuple[str, ...]
    usage: str
    help: str
    handler: Handler
    takes_text: bool = False
