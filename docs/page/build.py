"""Writes the static page into a folder that any web server can serve.

``python docs/page/build.py OUT`` needs the npm package ``pyodide`` (``npm install`` in this
folder) and, in the Python that runs it, the toolkit with its extra ``diagram``. Equal inputs
give equal files.
"""

import argparse
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SERVED = {"page.html": "index.html"} | {
    name: name for name in ("page.css", "page.js", "editor.js", "links.js", "words.js", "icon.svg")
}
"""Files of the page that `kbnf play --web` serves, and what they are called here."""

OWN = ("backend.js", "worker.js", "toolkit.js")
"""What answers in place of the server."""

PYODIDE = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "pyodide-lock.json",
    "python_stdlib.zip",
)
LIBRARIES = ("lark", "interegular", "railroad-diagrams")
"""In plain Python, and all that is needed beside the standard library."""

LEFT_OUT = {"artifact", "compat", "compiler", "device", "integrations", "kernel", "recognise"}
"""Parts that nothing in the page reaches: they take NumPy and what is compiled."""

KEPT = {".py", ".lark", ".json", ".txt", ".md"}


def contents() -> Iterator[tuple[str, bytes]]:
    """Yield the files of the archive, with their places in it."""
    for name in ("__init__.py", "web/__init__.py", "web/answers.py"):
        yield f"kbnf_cli/{name}", (ROOT / "kbnf_cli" / name).read_bytes()
    for path in (ROOT / "grammars").iterdir():
        if path.suffix in {".kbnf", ".toml"}:
            yield f"kbnf_core/shipped_files/grammars/{path.name}", path.read_bytes()
    core = _folder_of("kbnf_core")
    for path in core.rglob("*"):
        place = path.relative_to(core)
        left_out = place.parts[0] in LEFT_OUT and place.name != "__init__.py"
        if path.suffix in KEPT and not left_out:
            yield f"kbnf_core/{place.as_posix()}", path.read_bytes()
    for name in LIBRARIES:
        for file in distribution(name).files or ():
            is_legal = file.name in {"METADATA", "LICENSE"}
            if ".." not in file.parts and (file.suffix in KEPT or is_legal):
                yield file.as_posix(), Path(str(file.locate())).read_bytes()


def _folder_of(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{package} is not installed for {sys.executable}")
    return Path(spec.origin).parent


def write_archive(target: Path) -> None:
    """Write what Pyodide unpacks; the same bytes for the same files."""
    with ZipFile(target, "w", ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in sorted(contents()):
            entry = ZipInfo(name)
            entry.compress_type = ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)


def build(out: Path, pyodide: Path) -> None:
    """Write the page into ``out``."""
    lacking = [name for name in PYODIDE if not (pyodide / name).is_file()]
    if lacking:
        raise SystemExit(f"{pyodide} lacks {', '.join(lacking)}: run `npm install` in {HERE}")
    (out / "pyodide").mkdir(parents=True, exist_ok=True)
    for name, target in SERVED.items():
        shutil.copyfile(ROOT / "kbnf_cli" / "web" / "static" / name, out / target)
    for name in OWN:
        shutil.copyfile(HERE / name, out / name)
    for name in PYODIDE:
        shutil.copyfile(pyodide / name, out / "pyodide" / name)
    write_archive(out / "kbnf.zip")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the static page into a folder.")
    parser.add_argument("out", type=Path)
    parser.add_argument("--pyodide", type=Path, default=HERE / "node_modules" / "pyodide")
    chosen = parser.parse_args()
    build(chosen.out, chosen.pyodide)
