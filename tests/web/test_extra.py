"""``kbnf play --web`` where its extra is not installed."""

import subprocess
import sys

from kbnf_core.text.errors import install_command


def test_a_missing_extra_is_named() -> None:
    program = (
        "import sys; sys.modules['uvicorn'] = None\n"
        "from kbnf_cli.main import main; sys.exit(main(['play', '--web']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert done.stderr.decode() == (
        "error: the playground in a browser needs an optional library:"
        f" `{install_command('web')}`\n"
    )
