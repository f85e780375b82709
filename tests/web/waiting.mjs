// Asks the static page's backend with workers that are made up: `node waiting.mjs BACKEND`. A worker
// never answers about the grammar "slow". Prints what was asked, and what came, as JSON.

import { readFileSync } from "node:fs";

const [file] = process.argv.slice(2);
const seen = { asked: [], workers: 0 };

globalThis.Worker = class {
  constructor() { seen.workers += 1; }
  terminate() { this.isOver = true; }
  postMessage({ id, value }) {
    if (value) seen.asked.push(value.grammar);
    if (value?.grammar === "slow") return;
    const answer = value ? { is_checked: true } : { examples: { arithmetic: { grammar: "first", texts: [] } } };
    setTimeout(() => this.isOver || this.onmessage({ data: { id, value: answer } }), 10);
  }
};

const script = readFileSync(file, "utf-8")
  .replace("const TURN = 3_000", "const TURN = 300")
  .replace("const TICK = 200", "const TICK = 20")
  .replace('new URL("worker.js", import.meta.url)', '"worker.js"');
const { ask, begin, hurry } = await import(`data:text/javascript,${encodeURIComponent(script)}`);
seen.first = (await begin()).grammar;
const slow = ask({ grammar: "slow" }).catch((error) => error.message);
hurry();
seen.slow = await slow;
seen.newest = await ask({ grammar: "newest" });
process.stdout.write(JSON.stringify(seen));
