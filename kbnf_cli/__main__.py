"""``python -m kbnf_cli`` is ``kbnf``.

Tests: tests/cli
"""

from kbnf_cli.main import run

run()
