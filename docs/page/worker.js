// Runs the toolkit beside the page, so that the page never waits for it.

import { start } from "./toolkit.js";
import { loadPyodide } from "./pyodide/pyodide.mjs";

async function begin() {
  const response = await fetch(new URL("kbnf.zip", import.meta.url));
  if (!response.ok) throw new Error(`kbnf.zip: ${response.status}`);
  return start(loadPyodide, await response.arrayBuffer());
}

const ready = begin();

self.onmessage = async ({ data: { id, value } }) => {
  try {
    const run = await ready;
    self.postMessage({ id, value: run(value) });
  } catch (error) {
    self.postMessage({ id, failure: String(error) });
  }
};
