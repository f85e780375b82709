// Copies the TextMate grammars, which are kept once for all editors, into the extension.
const { cpSync, mkdirSync, readdirSync } = require("node:fs");
const { join } = require("node:path");

const from = join(__dirname, "..", "textmate");
const to = join(__dirname, "syntaxes");
mkdirSync(to, { recursive: true });
for (const name of readdirSync(from).filter((each) => each.endsWith(".tmLanguage.json"))) {
  cpSync(join(from, name), join(to, name));
}
cpSync(join(__dirname, "..", "..", "LICENSE"), join(__dirname, "LICENSE"));
