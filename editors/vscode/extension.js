// Starts `kbnf lsp` and connects the editor with it.
const { commands, ProgressLocation, window, workspace } = require("vscode");
const { ExecuteCommandRequest, LanguageClient } = require("vscode-languageclient/node");

const LANGUAGES = ["kbnf", "gbnf", "lark", "bnf", "abnf", "antlr", "ebnf", "structural-tag"];

let client;

exports.activate = async (context) => {
  const [command, ...args] = workspace.getConfiguration("kbnf").get("command");
  client = new LanguageClient(
    "kbnf",
    "KBNF",
    { command, args },
    { documentSelector: LANGUAGES.map((language) => ({ language })) },
  );
  context.subscriptions.push(
    commands.registerCommand("kbnf.checkForOtherEngines", checkForOtherEngines),
    workspace.onDidChangeTextDocument(({ document }) => forget(document)),
    workspace.onDidCloseTextDocument(forget),
  );
  await client.start();
};

exports.deactivate = () => client?.stop();

// The server reads JSON files from disk: they are open in the editor only.
const isServed = (document) => LANGUAGES.includes(document.languageId);

async function checkForOtherEngines() {
  const document = window.activeTextEditor?.document;
  if (document === undefined) {
    return;
  }
  if (!isServed(document) && !(await document.save())) {
    window.showErrorMessage("KBNF: the file must be saved before engines are asked about it.");
    return;
  }
  const title = "KBNF: asking the installed engines";
  const asked = { command: "kbnf.askEngines", arguments: [document.uri.toString()] };
  try {
    const count = await window.withProgress({ location: ProgressLocation.Notification, title }, () =>
      client.sendRequest(ExecuteCommandRequest.type, asked),
    );
    const found = count === 1 ? "1 finding" : `${count} findings`;
    window.showInformationMessage(`KBNF: ${found} from other engines`);
  } catch (error) {
    window.showErrorMessage(`KBNF: ${error.message}`);
  }
}

// Findings about a JSON file are removed when it changes: the server is not told of it.
function forget(document) {
  if (!isServed(document)) {
    client.diagnostics?.delete(document.uri);
  }
}
