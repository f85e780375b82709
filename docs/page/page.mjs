// The page: an editor, and what the toolkit says of its text.

const WAIT = 300; // milliseconds without a key before the text is looked at
const LONGEST = 1_000_000; // characters of a text in a link
const PATIENCE = 30_000; // milliseconds before a run is given up
const TURN = 3_000; // the same while a newer text waits

const at = (id) => document.getElementById(id);
const [text, language, target, output, state] =
  ["text", "language", "target", "output", "state"].map(at);
let examples = {};

// --- The toolkit, in a worker ---------------------------------------------------------------

let worker, ready, pending, lastId = 0;

function startWorker() {
  worker = new Worker("worker.mjs", { type: "module" });
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
  ready = ask("languages");
}

/** Call a function of kbnf_page.py. */
function ask(...call) {
  return new Promise((resolve, reject) => {
    const id = ++lastId;
    pending.set(id, { resolve, reject });
    worker.postMessage({ id, call });
  });
}

/** Give up what runs too long, sooner while a newer text waits, and begin again. */
async function askSoon(...call) {
  await ready;
  const begun = performance.now();
  let timer;
  const late = new Promise((_, reject) => {
    timer = setInterval(() => {
      if (performance.now() - begun < (isStale ? TURN : PATIENCE)) return;
      worker.terminate();
      startWorker();
      reject(new Error("this takes too long here: try the command on your own machine"));
    }, WAIT);
  });
  try {
    return await Promise.race([ask(...call), late]);
  } finally {
    clearInterval(timer);
  }
}

// --- What is shown ----------------------------------------------------------------------------

const tab = () => document.querySelector('input[name="tab"]:checked').value;

let isLooking = false;
let isStale = false; // the text or a choice has changed since it was looked at

/** Show what the toolkit says of the newest text, one run at a time. */
async function look() {
  isStale = true;
  if (isLooking) return;
  isLooking = true;
  try {
    while (isStale) {
      isStale = false;
      await lookOnce();
    }
  } finally {
    isLooking = false;
  }
}

async function lookOnce() {
  const chosen = tab();
  state.textContent = "working …";
  at("target-row").hidden = chosen !== "converted";
  const call = [chosen, text.value, language.value];
  if (chosen === "converted") call.push(target.value);
  let shown, said;
  try {
    const value = await askSoon(...call);
    [shown, said] = [parts(chosen, value), value.refused ?? value.summary];
  } catch (error) {
    [shown, said] = [[], error.message];
  }
  if (isStale) return;
  output.replaceChildren(...shown);
  state.textContent = said;
  await keepLink();
}

function parts(chosen, { text: result, findings = [] }) {
  const shown = findings.map(finding);
  if (typeof result !== "string") return shown;
  return [...(chosen === "diagram" ? [frame(result)] : taken(result)), ...shown];
}

/** A finding as the command shows it; a click selects its place. */
function finding({ severity, start, end, shown }) {
  const box = document.createElement("pre");
  box.className = `finding ${severity}`;
  box.tabIndex = 0;
  for (const [words, role] of shown) {
    const span = document.createElement("span");
    span.className = role;
    span.textContent = words;
    box.append(span);
  }
  const select = () => {
    text.focus();
    text.setSelectionRange(start, Math.max(end, start));
  };
  box.onclick = select;
  box.onkeydown = (event) => event.key === "Enter" && select();
  return box;
}

/** A text, and a button that puts it into the editor. */
function taken(result) {
  const box = document.createElement("pre");
  box.className = "result";
  box.textContent = result;
  const button = document.createElement("button");
  button.textContent = "Edit this text";
  button.onclick = () => {
    text.value = result;
    if (tab() === "converted") language.value = target.value;
    at("check").checked = true;
    look();
  };
  return [button, box];
}

/** Diagrams, in a frame that runs no script. */
function frame(html) {
  const inner = document.createElement("iframe");
  inner.title = "Railroad diagrams";
  inner.setAttribute("sandbox", "");
  inner.src = URL.createObjectURL(new Blob([html], { type: "text/html" }));
  inner.onload = () => URL.revokeObjectURL(inner.src);
  return inner;
}

// --- Links that hold the text -------------------------------------------------------------------

const through = (data, stream) => new Blob([data]).stream().pipeThrough(stream);

async function packed(value) {
  const stream = through(value, new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

async function unpacked(value) {
  const letters = atob(value.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const reader = through(bytes, new DecompressionStream("deflate-raw"))
    .pipeThrough(new TextDecoderStream())
    .getReader();
  let result = "";
  for (;;) {
    const { done, value: more } = await reader.read();
    if (done) return result;
    result += more;
    if (result.length > LONGEST) throw new Error("the text in this link is too long");
  }
}

async function keepLink() {
  const values = { text: await packed(text.value), language: language.value, tab: tab() };
  if (tab() === "converted") values.target = target.value;
  history.replaceState(null, "", `#${new URLSearchParams(values)}`);
}

/** Take over what the address holds; return whether it holds a text. */
async function readLink() {
  const values = new URLSearchParams(location.hash.slice(1));
  if (!values.has("text")) return false;
  try {
    text.value = await unpacked(values.get("text"));
  } catch {
    state.textContent = "the text in this link cannot be read";
    return false;
  }
  choose(language, values.get("language"));
  choose(target, values.get("target"));
  const wanted = [...document.querySelectorAll('input[name="tab"]')];
  const found = wanted.find((each) => each.value === values.get("tab"));
  if (found) found.checked = true;
  return true;
}

function choose(list, value) {
  if ([...list.options].some((each) => each.value === value)) list.value = value;
}

// --- The beginning ------------------------------------------------------------------------------

async function begin() {
  startWorker();
  try {
    const { read, written } = await ready;
    examples = await ask("examples");
    language.replaceChildren(...read.map((each) => new Option(each)));
    target.replaceChildren(...["KBNF", ...written].map((each) => new Option(each)));
    at("example").append(...Object.keys(examples).map((each) => new Option(each)));
  } catch (error) {
    state.textContent = `The toolkit does not start here: ${error.message}`;
    return;
  }
  if (!(await readLink())) text.value = examples.arithmetic;
  for (const each of [text, language, at("example")]) each.disabled = false;
  let timer;
  text.oninput = () => {
    clearTimeout(timer);
    timer = setTimeout(look, WAIT);
  };
  for (const each of [language, target, ...document.querySelectorAll('input[name="tab"]')]) {
    each.onchange = look;
  }
  at("example").onchange = ({ target: list }) => {
    if (!(list.value in examples)) return;
    text.value = examples[list.value];
    language.value = "KBNF";
    look();
  };
  at("copy").onclick = async () => {
    await keepLink();
    await navigator.clipboard.writeText(location.href);
    state.textContent = "the link is copied: it holds the text";
  };
  window.onhashchange = async () => (await readLink()) && look();
  await look();
}

begin();
