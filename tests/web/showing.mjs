// Shows answers on a page that is made up: `node showing.mjs PAGE ANSWERS`, where ANSWERS is a list
// in JSON. Prints the texts of the findings and of the status after each, as JSON.

import { readFileSync } from "node:fs";
import vm from "node:vm";

const [page, answers] = process.argv.slice(2);
const elements = new Map();

function make() {
  return {
    children: [], value: "", className: "", hidden: false,
    append(...inner) { this.children.push(...inner); },
    replaceChildren(...inner) { this.children = inner; },
    setAttribute() {}, addEventListener() {},
  };
}

function element(id) {
  if (!elements.has(id)) elements.set(id, make());
  return elements.get(id);
}

const texts = (each) => (typeof each === "string" ? each : each.children.map(texts).join(""));

const context = vm.createContext({
  document: { getElementById: element, createElement: make },
  sessionStorage: { getItem: () => "", setItem() {} },
  location: { hash: "", pathname: "/", origin: "" },
  history: { replaceState() {} },
  fetch: () => new Promise(() => {}),
  addEventListener() {}, setTimeout, clearTimeout, URLSearchParams,
});
vm.runInContext(readFileSync(page, "utf-8"), context);
const seen = JSON.parse(answers).map((answer) => {
  context.show(answer);
  return [texts(element("findings")), element("status").textContent, element("trouble").textContent];
});
process.stdout.write(JSON.stringify(seen));
process.exit();
