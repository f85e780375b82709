"""The stub of the package's public names; ``python -m kbnf_testing.public_names`` writes it."""

from pathlib import Path

import kbnf_core

STUB = Path(kbnf_core.__file__).with_suffix(".pyi")


def stub() -> str:
    """Return the text of ``kbnf_core/__init__.pyi``, an import for each public name."""
    lines = [
        f"from {module} import {name} as {name}"
        for module, names in sorted(kbnf_core._PUBLIC.items())
        for name in names
    ]
    lines += ["", "_PUBLIC: dict[str, tuple[str, ...]]", "__all__ = ["]
    lines += [f'    "{name}",' for name in sorted(kbnf_core.__all__)]
    return "\n".join(['"""The public names, written from ``__init__.py``."""\n', *lines, "]", ""])


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
