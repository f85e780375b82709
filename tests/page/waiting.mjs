// Runs the script of the page with a document and workers that are made up: `node waiting.mjs PAGE`.
// A worker never answers about the text "slow". Prints what was shown, as JSON.

import { readFileSync } from "node:fs";

const [page] = process.argv.slice(2);
const seen = { asked: [], shown: [], workers: 0 };
const elements = new Map();

function element(id) {
  if (!elements.has(id)) {
    elements.set(id, {
      value: "", options: [], textContent: "", append() {},
      replaceChildren: (...children) => { if (id === "output") seen.shown.push(children.length); },
    });
  }
  return elements.get(id);
}

class FakeWorker {
  constructor() { seen.workers += 1; }
  terminate() { this.isOver = true; }
  postMessage({ id, call }) {
    const [name, text] = call;
    if (name === "checked") seen.asked.push(text);
    if (text === "slow") return;
    const findings = [{ severity: "error", start: 0, end: 1, shown: [] }];
    const value = {
      languages: { read: ["KBNF"], written: [] },
      examples: { arithmetic: "first" },
      checked: { summary: `said of ${text}`, findings, text: null },
    }[name];
    setTimeout(() => this.isOver || this.onmessage({ data: { id, value } }), 10);
  }
}

Object.assign(globalThis, {
  Worker: FakeWorker,
  Option: class {},
  document: {
    getElementById: element,
    createElement: () => ({ append() {}, className: "" }),
    querySelector: () => ({ value: "checked" }),
    querySelectorAll: () => [],
  },
  location: { hash: "", href: "" },
  history: { replaceState() {} },
  window: globalThis,
});

const sleep = (time) => new Promise((resolve) => setTimeout(resolve, time));

async function until(said) {
  while (element("state").textContent !== said) await sleep(10);
}

function type(value) {
  element("text").value = value;
  element("text").oninput();
}

const script = readFileSync(page, "utf-8")
  .replace("const TURN = 3_000", "const TURN = 600")
  .replace("const WAIT = 300", "const WAIT = 30");
await import(`data:text/javascript,${encodeURIComponent(script)}`);
await until("said of first");
type("slow");
await until("working …");
await sleep(200);
seen.besideSlow = element("state").textContent;
type("newer");
await sleep(100);
type("newest");
await until("said of newest");
process.stdout.write(JSON.stringify(seen));
process.exit();
