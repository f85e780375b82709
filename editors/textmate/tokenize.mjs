// Prints, as JSON, the tokens that an editor sees in files: [start, end, scopes] in UTF-16 units.
// node tokenize.mjs SCOPE FILE...
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import oniguruma from "vscode-oniguruma";
import textmate from "vscode-textmate";

const require = createRequire(import.meta.url);
const wasm = readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));

const registry = new textmate.Registry({
  onigLib: Promise.resolve({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  }),
  loadGrammar: async (scope) => {
    const path = new URL(`${scope.split(".")[1]}.tmLanguage.json`, import.meta.url).pathname;
    return textmate.parseRawGrammar(readFileSync(path, "utf8"), path);
  },
});

const [scope, ...files] = process.argv.slice(2);
const grammar = await registry.loadGrammar(scope);
const found = files.map((file) => {
  const tokens = [];
  let stack = textmate.INITIAL;
  let offset = 0;
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const read = grammar.tokenizeLine(line, stack);
    for (const token of read.tokens) {
      tokens.push([offset + token.startIndex, offset + token.endIndex, token.scopes.slice(1)]);
    }
    stack = read.ruleStack;
    offset += line.length + 1;
  }
  return tokens;
});
process.stdout.write(JSON.stringify(found));
