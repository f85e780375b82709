// Runs calls of kbnf_page.py in Pyodide: `node in_node.mjs PAGE CALLS`, a file of JSON.

import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const page = resolve(process.argv[2]);
const module = (name) => import(pathToFileURL(join(page, name)));
const { loadPyodide } = await module("pyodide/pyodide.mjs");
const { start } = await module("calls.mjs");

const archive = new Uint8Array(readFileSync(join(page, "kbnf.zip")));
const call = await start(loadPyodide, archive, { indexURL: join(page, "pyodide") });
const calls = JSON.parse(readFileSync(process.argv[3], "utf-8"));
process.stdout.write(JSON.stringify(calls.map((each) => call(...each))));
