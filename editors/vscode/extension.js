// Starts `kbnf lsp` and connects the editor with it.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const LANGUAGES = ["kbnf", "gbnf", "lark", "bnf", "abnf", "structural-tag"];

let client;

exports.activate = async () => {
  const [command, ...args] = workspace.getConfiguration("kbnf").get("command");
  client = new LanguageClient(
    "kbnf",
    "KBNF",
    { command, args },
    { documentSelector: LANGUAGES.map((language) => ({ language })) },
  );
  await client.start();
};

exports.deactivate = () => client?.stop();
