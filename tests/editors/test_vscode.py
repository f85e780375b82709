"""The extension for VS Code: it names what is there, and it packs."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from kbnf_core.languages import EXTENSIONS

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "editors" / "vscode"


def manifest() -> Any:
    """Return the manifest's contributions."""
    return json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))["contributes"]


def test_every_grammar_language_is_contributed() -> None:
    extensions = [each for language in manifest()["languages"] for each in language["extensions"]]
    assert sorted(extensions) == sorted(EXTENSIONS)


def test_grammars_and_configurations_exist() -> None:
    for grammar in manifest()["grammars"]:
        path = ROOT / "editors" / "textmate" / Path(grammar["path"]).name
        assert json.loads(path.read_text(encoding="utf-8"))["scopeName"] == grammar["scopeName"]
    for language in manifest()["languages"]:
        if "configuration" in language:
            assert json.loads((FOLDER / language["configuration"]).read_text(encoding="utf-8"))


def test_a_workspace_cannot_choose_what_is_started() -> None:
    (setting,) = manifest()["configuration"]["properties"].values()
    assert setting["scope"] == "machine"


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("npx") is None or not (FOLDER / "node_modules").is_dir(),
    reason="needs Node, and `npm install` in editors/vscode",
)
def test_it_packs(tmp_path: Path) -> None:
    packed = tmp_path / "kbnf.vsix"
    command = ["npx", "vsce", "package", "--allow-missing-repository", "-o", str(packed)]
    subprocess.run(command, cwd=FOLDER, check=True, capture_output=True, timeout=300)
    names = ZipFile(packed).namelist()
    for name in ("kbnf", "gbnf", "lark"):
        assert f"extension/syntaxes/{name}.tmLanguage.json" in names
    assert "extension/extension.js" in names
    assert "extension/node_modules/vscode-languageclient/package.json" in names
