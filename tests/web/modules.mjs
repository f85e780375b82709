// Calls functions of a module of the page: `node modules.mjs MODULE`, with a list of
// [name, ...arguments] in JSON on stdin. Prints what they return, or why not, as JSON.

import { readFileSync } from "node:fs";

const file = process.argv[2];
const calls = readFileSync(0, "utf-8");
const module = await import(`data:text/javascript,${encodeURIComponent(readFileSync(file, "utf-8"))}`);
const found = [];
for (const [name, ...given] of JSON.parse(calls)) {
  try {
    found.push(await module[name](...given));
  } catch (error) {
    found.push({ refused: error.message });
  }
}
process.stdout.write(JSON.stringify(found));
