// Asks the toolkit in Pyodide: `node in_node.mjs PAGE QUESTIONS`, a file of JSON.

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const page = resolve(process.argv[2]);
const { loadPyodide } = await import(pathToFileURL(join(page, "pyodide/pyodide.mjs")));
const script = readFileSync(join(page, "toolkit.js"), "utf-8");
const { start } = await import(`data:text/javascript,${encodeURIComponent(script)}`);

const archive = new Uint8Array(readFileSync(join(page, "kbnf.zip")));
const answered = await start(loadPyodide, archive, { indexURL: join(page, "pyodide") });
const questions = JSON.parse(readFileSync(process.argv[3], "utf-8"));
process.stdout.write(JSON.stringify(questions.map(answered)));
