"""The formats of tool calls that come with the toolkit, written from XGrammar, and a call in each.

``PYTHONPATH=tests/support python -m kbnf_testing.call_formats`` writes
``languages/structural_tag/formats.json``; a test compares it with what is installed.
"""

import json
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kbnf_core.languages.structural_tag import models

FILE = Path(models.__file__).with_name("formats.json")

EXAMPLES: dict[str, str] = json.loads(
    Path(__file__).with_name("call_examples.json").read_text("utf-8")
)
"""A call of ``get_weather`` with ``city`` ``Paris`` in each format."""


def registry() -> dict[str, Any]:
    """Return what makes XGrammar's structural tags, by the names of their formats."""
    from xgrammar import builtin_structural_tag

    found: dict[str, Any] = builtin_structural_tag._structural_tag_registry
    return found


def read() -> str:
    """Return the text of the file for the XGrammar that is installed."""
    begin = f"xgrammar {version('xgrammar')}"
    lines = [f'{{"from": {_json(begin)}, "formats": {{']
    for number, name in enumerate(registry()):
        found = models.from_xgrammar(name, _models(name))
        comma, known = "," if number else "", _json(found["models"])
        lines += [f'{comma}{_json(name)}: {{"models": {known},']
        templates = [f"{_json(key)}: {_json(each)}" for key, each in found["templates"].items()]
        lines += [' "templates": {', ",\n".join(f"  {each}" for each in templates), " },"]
        shared = ",\n".join(f"  {_json(each)}" for each in found["shared"])
        lines += [' "shared": [', shared, " ]}"]
    return "\n".join([*lines, "}}", ""])


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _models(name: str) -> str:
    documented = str(registry()[name].__doc__)
    _, _, rest = documented.partition("Supported models:")
    listed = re.match(r"(?:\s*- .+)+", rest)
    found = re.findall(r"- (.+)", listed[0]) if listed else []
    return ", ".join(each.strip().strip(".") for each in found) or name


def main() -> None:
    """Write the file."""
    FILE.write_text(read(), encoding="utf-8")


if __name__ == "__main__":
    main()
