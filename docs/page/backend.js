// Asks the toolkit in a worker of the browser: the static page's form of kbnf_cli/web/static/backend.js.

const PATIENCE = 30_000; // milliseconds before a question is given up
const TURN = 3_000; // the same while a newer one waits
const TICK = 200;

/** Whether texts, tokens and other engines can be asked about. */
export const hasEngine = false;

export const takeToken = () => false;

let worker;
let pending;
let lastId = 0;
let othersWait = false;

function startWorker() {
  worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
  pending = new Map();
  worker.onmessage = ({ data }) => {
    const { resolve, reject } = pending.get(data.id) ?? {};
    pending.delete(data.id);
    if (data.failure) reject?.(new Error(data.failure));
    else resolve?.(data.value);
  };
  worker.onerror = (event) => {
    for (const { reject } of pending.values()) reject(new Error(event.message || "no worker"));
  };
}

function call(value) {
  return new Promise((resolve, reject) => {
    const id = ++lastId;
    pending.set(id, { resolve, reject });
    worker.postMessage({ id, value });
  });
}

/** Return what the page begins with, once the toolkit runs. */
export async function begin() {
  startWorker();
  let begun;
  try {
    begun = await call(null);
  } catch (error) {
    throw new Error(`The toolkit does not start here: ${error.message}`);
  }
  const { grammar, texts } = begun.examples.arithmetic;
  return { ...begun, grammar, texts, language: "KBNF" };
}

/** Return the answer to a question; one that takes too long is given up, and the worker replaced. */
export async function ask(question) {
  othersWait = false;
  const begun = performance.now();
  let timer;
  const late = new Promise((_, reject) => {
    timer = setInterval(() => {
      if (performance.now() - begun < (othersWait ? TURN : PATIENCE)) return;
      worker.terminate();
      startWorker();
      reject(new Error("This takes too long in a browser: try the command on your own machine."));
    }, TICK);
  });
  try {
    return await Promise.race([call(question), late]);
  } finally {
    clearInterval(timer);
  }
}

/** Vocabularies need the engine. */
export const openVocabulary = () => Promise.reject(new Error("There is no engine."));

/** Tell that a newer question waits: the one that runs gets its turn only. */
export function hurry() {
  othersWait = true;
}
