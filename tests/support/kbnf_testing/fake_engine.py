"""An engine that misbehaves when it is asked to: `python -m kbnf_testing.fake_engine`.

It speaks as `kbnf_core.targets.worker` does. It takes every JSON text, whatever the schema says: so
it enforces nothing. What is written in the schema makes it refuse (`look-ahead`), end its
process (`kill`), take for ever (`sleep`), or fail while it reads (`broken`).
"""

import json
import os
import signal
import sys
import time
from typing import Any


def main() -> None:
    """Answer until the input ends."""
    _say({"ready": True})
    schema = ""
    for line in sys.stdin:
        question = json.loads(line)
        if "read" in question:
            _say(_read(schema, question["read"]))
            continue
        schema = question["text"]
        if "kill" in schema:
            sys.stderr.write("these were its last words\n")
            sys.stderr.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        if "sleep" in schema:
            time.sleep(1_000)
        if "(?=" in schema:
            _say({"refused": f"look-ahead in {schema}"})
        else:
            _say({"seconds": 0.0, "bytes": 0})


def _read(schema: str, text: str) -> dict[str, Any]:
    if "broken" in schema:
        return {"broken": "something is wrong inside"}
    try:
        json.loads(text)
    except ValueError:
        return {"taken": 0}
    return {"taken": None}


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
