"""The extension for VS Code: it names what is there, and it packs."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from kbnf_cli.lsp.server import ASK_ENGINES
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


_RUN = """
const told = [], sent = [], deleted = [], registered = {};
const editor = { document: { languageId: "json", uri: "file:///a.json", save: async () => true } };
const stubs = {
  vscode: {
    commands: { registerCommand: (name, run) => (registered[name] = run) },
    ProgressLocation: {},
    window: {
      activeTextEditor: editor,
      withProgress: (_, run) => run(),
      showInformationMessage: (message) => told.push(message),
      showErrorMessage: (message) => told.push(message),
    },
    workspace: {
      getConfiguration: () => ({ get: () => ["kbnf", "lsp"] }),
      onDidChangeTextDocument: (run) => (registered.change = run),
      onDidCloseTextDocument: () => {},
    },
  },
  "vscode-languageclient/node": {
    ExecuteCommandRequest: { type: "execute" },
    LanguageClient: class {
      diagnostics = { delete: (uri) => deleted.push(uri) };
      start() {}
      async sendRequest(_, asked) {
        sent.push(asked);
        if (sent.length > 1) throw new Error("xgrammar is not installed");
        return 2;
      }
    },
  },
};
const Module = require("module"), load = Module._load;
Module._load = (name, ...rest) => stubs[name] ?? load(name, ...rest);
const { activate } = require(process.argv[1]);
(async () => {
  await activate({ subscriptions: [] });
  await registered["kbnf.checkForOtherEngines"]();
  await registered["kbnf.checkForOtherEngines"]();
  editor.document.save = async () => false;
  await registered["kbnf.checkForOtherEngines"]();
  registered.change({ document: editor.document });
  registered.change({ document: { languageId: "kbnf" } });
  console.log(JSON.stringify({ told, sent, deleted }));
})();
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_the_palette_asks_engines() -> None:
    (contributed,) = manifest()["commands"]
    command = ["node", "-e", _RUN, str(FOLDER / "extension.js")]
    ran = subprocess.run(command, check=True, capture_output=True, timeout=60)
    assert contributed["command"] == "kbnf.checkForOtherEngines"
    assert json.loads(ran.stdout) == {
        "told": [
            "KBNF: 2 findings from other engines",
            "KBNF: xgrammar is not installed",
            "KBNF: the file must be saved before engines are asked about it.",
        ],
        "sent": [{"command": ASK_ENGINES, "arguments": ["file:///a.json"]}] * 2,
        "deleted": ["file:///a.json"],
    }


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
