"""``python -m kbnf_cli`` is ``kbnf``."""

from kbnf_cli.main import run

run()
