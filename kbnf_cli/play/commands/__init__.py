"""The commands of the console, by name; each module holds one group of them."""

from kbnf_cli.play.commands.base import Command
from kbnf_cli.play.commands.checking import CHECKING
from kbnf_cli.play.commands.feeding import FEEDING
from kbnf_cli.play.commands.filing import FILING
from kbnf_cli.play.commands.looking import LOOKING
from kbnf_cli.play.commands.moving import MOVING
from kbnf_cli.play.commands.switching import SWITCHING

GROUPS: dict[str, tuple[Command, ...]] = {
    "text": FEEDING,
    "what may come": LOOKING,
    "back and forth": MOVING,
    "files": FILING,
    "checks": CHECKING,
    "switches": SWITCHING,
}

COMMANDS = {
    name: command for group in GROUPS.values() for command in group for name in command.names
}
