// Calls functions of a module of the page: `node modules.mjs MODULE CALLS`, where CALLS is a list of
// [name, ...arguments] in JSON. Prints what they return, as JSON.

import { readFileSync } from "node:fs";

const [file, calls] = process.argv.slice(2);
const module = await import(`data:text/javascript,${encodeURIComponent(readFileSync(file, "utf-8"))}`);
const found = JSON.parse(calls).map(([name, ...given]) => module[name](...given));
process.stdout.write(JSON.stringify(found));
