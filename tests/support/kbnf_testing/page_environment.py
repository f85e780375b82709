"""Environments with the packages that a page says to install, and nothing else.

Nothing is installed for them: what an install command brings is linked from the environment at
hand, by the metadata of the distributions in it. So a page is run as its reader runs it, in
seconds.
"""

import re
import shlex
import sysconfig
import venv
from collections.abc import Iterator
from importlib.metadata import Distribution
from importlib.metadata import distributions as installed
from pathlib import Path

from packaging.requirements import Requirement

_INSTALL = re.compile(r"pip install ((?:[^`\n#&]|#(?! ))+)")
_OURS = "kbnf-toolkit"
_PACKAGES = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
"""Where distributions are looked for: a build leaves metadata in the checkout, too."""


def requirements(text: str) -> Iterator[Requirement]:
    """Yield what the install commands in a text name; a checkout, or a wheel, is the toolkit.

    Left out are editable installations, which are for those who change the toolkit.
    """
    for command in _INSTALL.findall(text):
        words = shlex.split(command)
        for word in () if "-e" in words else words:
            if ours := re.match(r"(?:\.|(?:\w+/)?kbnf_toolkit-.*\.whl)(?:$|\[(.*)\]$)", word):
                extras = filter(None, (ours[1] or "").split(","))
                yield from (Requirement(f"{_OURS}[{extra}]") for extra in extras)
            elif re.match(r"[a-z]", word):
                yield Requirement(word)


def distributions(wanted: Requirement) -> dict[str, Distribution] | None:
    """Return a requirement and all that it requires in turn; None where one is not installed."""
    found: dict[str, Distribution] = {}
    seen: set[tuple[str, str]] = set()
    pending = [(wanted, extra) for extra in ("", *wanted.extras)]
    while pending:
        needed, extra = pending.pop()
        if (needed.name, extra) in seen:
            continue
        seen.add((needed.name, extra))
        try:
            found[needed.name] = next(iter(installed(name=needed.name, path=_PACKAGES)))
        except StopIteration:
            return None
        for each in map(Requirement, found[needed.name].requires or ()):
            if each.marker is None or each.marker.evaluate({"extra": extra}):
                pending += [(each, own) for own in ("", *each.extras)]
    return found


def make(folder: Path, page: str) -> Path:
    """Make an environment in ``folder`` with what a page installs; return its ``bin``.

    Packages outside of the environment at hand are left out.
    """
    venv.create(folder, symlinks=True)
    [packages] = folder.glob("lib/python*/site-packages")
    wanted = (Requirement(_OURS), *requirements(page))
    linked = {name: each for one in wanted for name, each in (distributions(one) or {}).items()}
    for each in linked.values():
        for top in sorted({Path(name).parts[0] for name in map(str, each.files or ())}):
            source, link = Path(str(each.locate_file(top))), packages / top
            if top not in ("..", "__pycache__") and source.exists() and not link.exists():
                link.symlink_to(source)
    commands = folder / "bin"
    program = "from kbnf_cli.main import run; raise SystemExit(run())"
    (commands / "kbnf").write_text(f"#!{commands / 'python'}\n{program}\n")
    (commands / "kbnf").chmod(0o755)
    return commands
