// The page: asks the server about the newest grammar and text, one question at a time, and shows
// the answer. All that comes back is shown as text, never as markup.
"use strict";

const FIELDS = ["grammar", "text", "start", "finish", "vocabulary"];
const COLOURS = 10;
const PAUSE = 60;
const by = (id) => document.getElementById(id);
const state = { grammar: "", text: "", start: "", finish: "", vocabulary: "", why: "", find: "" };
let token = "";
let answer = {};
let colours = { parts: [], paths: [], rest: "" };
const coloured = new Map();
let asking = false;
let changed = false;
let timer = 0;

function make(tag, attributes, ...inner) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "click") made.addEventListener("click", value);
    else made.setAttribute(key, value);
  }
  made.append(...inner);
  return made;
}

// The link: all that a visitor typed is in the fragment, which no browser sends anywhere.

function encode(value) {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function decode(text) {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(binary, (c) => c.charCodeAt(0))));
}

function link() {
  const kept = Object.fromEntries(FIELDS.map((name) => [name, state[name]]));
  return `${location.origin}/#state=${encode(kept)}`;
}

function takeLink(address) {
  const found = new URLSearchParams(address.slice(address.indexOf("#") + 1));
  if (found.has("token")) keepToken(found.get("token"));
  if (!found.has("state")) return found.has("token");
  try {
    const given = decode(found.get("state"));
    for (const name of FIELDS) if (typeof given[name] === "string") state[name] = given[name];
    return true;
  } catch {
    trouble("This link is damaged: it holds no grammar.");
    return false;
  }
}

function keepToken(given) {
  token = given;
  sessionStorage.setItem("token", given);
}

// Asking

async function post(path, value) {
  const reply = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Kbnf-Token": token },
    body: JSON.stringify(value),
  });
  if (reply.ok) return reply.json();
  const said = (await reply.text()).trim();
  throw Object.assign(new Error(said), { status: reply.status });
}

function change() {
  changed = true;
  clearTimeout(timer);
  timer = setTimeout(look, PAUSE);
}

async function look() {
  if (asking) return;
  asking = true;
  while (changed) {
    changed = false;
    history.replaceState(null, "", link());
    const slow = setTimeout(() => { by("busy").textContent = "working …"; }, 400);
    const asked = { ...state };
    try {
      const found = await post("/look", asked);
      if (asked.grammar === state.grammar && asked.text === state.text) show(found);
    } catch (error) {
      if (error.status === 401) { changed = false; await askForToken(); }
      else if (error.status) show({ trouble: `The server refused: ${error.message}.` });
      else show({ trouble: "The server does not answer. Is `kbnf play --web` still running?" });
    }
    clearTimeout(slow);
    by("busy").textContent = "";
  }
  asking = false;
}

function ask(label, value, isNeeded) {
  const dialog = by("ask");
  by("ask-label").textContent = label;
  by("ask-value").value = value;
  by("ask-cancel").hidden = isNeeded;
  return new Promise((resolve) => {
    dialog.returnValue = "";
    by("ask-ok").value = "ok";
    by("ask-cancel").onclick = () => dialog.close("");
    dialog.onclose = () => resolve(dialog.returnValue === "ok" ? by("ask-value").value : "");
    dialog.showModal();
  });
}

async function askForToken() {
  const given = await ask("The address that `kbnf play --web` printed, or its token:", "", false);
  if (!given) return trouble("Without its token the server answers nothing: reload to try again.");
  const held = new URLSearchParams(given.slice(given.indexOf("#") + 1)).get("token");
  keepToken(held || given.trim());
  await begin();
}

// Showing

function trouble(text) {
  by("trouble").textContent = text || "";
  by("trouble").hidden = !text;
}

function show(found) {
  answer = found;
  trouble(found.trouble);
  showFindings();
  showStarts();
  colours = found.text || { parts: [], paths: [], rest: "" };
  drawText();
  showStatus();
  showExplained(by("rejection"), found.rejection, "");
  showExplained(by("explained"), found.why, found.why && found.why.asked);
  showMask();
}

function drawGrammar() {
  const marks = (answer.findings || []).map(visibly).filter((each) => each.end > each.start);
  const worst = { error: 0, warning: 1, info: 2 };
  marks.sort((a, b) => worst[a.severity] - worst[b.severity] || a.start - b.start);
  const kept = [];
  for (const each of marks) {
    if (kept.every((other) => each.end <= other.start || each.start >= other.end)) kept.push(each);
  }
  kept.sort((a, b) => a.start - b.start);
  const pieces = [];
  let done = 0;
  for (const each of kept) {
    pieces.push(state.grammar.slice(done, each.start));
    pieces.push(make("mark", { class: each.severity }, state.grammar.slice(each.start, each.end)));
    done = each.end;
  }
  by("grammar-back").replaceChildren(...pieces, state.grammar.slice(done), "\n");
  follow("grammar");
}

// What is missing is marked at what stands before it.
function visibly(finding) {
  if (finding.end > finding.start) return finding;
  return { ...finding, start: Math.max(0, finding.start - 1) };
}

// Rules get their colours in the order in which a text uses them, and keep them.
function colourOf(rule) {
  if (!coloured.has(rule)) coloured.set(rule, coloured.size % COLOURS);
  return `r${coloured.get(rule)}`;
}

function drawText() {
  const pieces = [];
  const used = new Map();
  let done = 0;
  for (const [text, index] of colours.parts) {
    // What was typed since the answer has no colour yet.
    if (!state.text.startsWith(text, done)) break;
    const path = colours.paths[index];
    done += text.length;
    if (!path) { pieces.push(text); continue; }
    const rule = path[path.length - 1];
    used.set(rule, path);
    pieces.push(make("span", { class: colourOf(rule) }, text));
  }
  const isRest = colours.rest && state.text.slice(done) === colours.rest;
  const rest = state.text.slice(done);
  pieces.push(isRest ? make("span", { class: "rest" }, rest) : rest);
  by("text-back").replaceChildren(...pieces, "\n");
  by("legend").replaceChildren(...[...used].map(([rule, path]) =>
    make("li", { class: colourOf(rule), title: path.join(" > ") }, rule)));
  follow("text");
}

function follow(id) {
  by(`${id}-back`).scrollTop = by(id).scrollTop;
}

function showFindings() {
  const findings = answer.findings || [];
  const total = findings.length + (answer.more || 0);
  by("findings-count").textContent = total ? String(total) : "";
  const items = findings.map((each) => {
    const place = make("button", { type: "button", class: "link", click: () => select(each) },
      `line ${each.line}, column ${each.column}`);
    return make("li", { class: each.severity },
      make("p", { class: "message" }, make("span", { class: "code" }, `${each.code} ${each.severity}`), " ", each.message),
      ...each.notes.map((note) => make("p", {}, `note: ${note}`)),
      ...each.helps.map((help) => make("p", {}, `help: ${help}`)),
      make("p", {}, place, ...each.fixes.flatMap((fix) => [" · ", fixButton(fix)])));
  });
  if (!answer.is_checked) items.push(make("li", {}, make("p", {}, "Not everything was looked at.")));
  else if (!items.length) items.push(make("li", {}, make("p", {}, "Nothing was found.")));
  if (answer.more) items.push(make("li", {}, make("p", {}, `and ${answer.more} more`)));
  by("findings").replaceChildren(...items);
  drawGrammar();
}

function fixButton(fix) {
  const words = fix.safe ? fix.message : `${fix.message} (changes what is matched)`;
  return make("button", { type: "button", class: "link", click: () => apply(fix) }, `Fix: ${words}`);
}

function apply(fix) {
  let text = state.grammar;
  for (const edit of [...fix.edits].sort((a, b) => b.start - a.start)) {
    text = text.slice(0, edit.start) + edit.replacement + text.slice(edit.end);
  }
  by("grammar").value = state.grammar = text;
  drawGrammar();
  change();
}

function select(place) {
  const area = by("grammar");
  area.focus();
  area.setSelectionRange(place.start, place.end);
  area.scrollTop = Math.max(0, (place.line - 4) * 22.4);
}

function showStarts() {
  const names = answer.rules || [];
  const rest = names.includes(state.start) || !state.start ? [] : [state.start];
  const none = make("option", { value: "" }, "as the grammar says");
  by("start").replaceChildren(none, ...[...rest, ...names].map((name) => make("option", { value: name }, name)));
  by("start").value = state.start;
}

const STATUS = {
  ongoing: "goes on", complete: "may end here", finished: "the text is over",
  rejected: "does not fit", stuck: "no token of the vocabulary can come",
};

function showStatus() {
  const status = answer.status || "";
  by("status").className = `badge ${status}`;
  const unusable = answer.is_checked && !answer.trouble;
  by("status").textContent = STATUS[status] || (unusable ? "the grammar cannot be used" : "not known");
}

function showExplained(box, why, asked) {
  box.hidden = !why;
  if (!why) return box.replaceChildren();
  box.className = `explained ${why.allowed ? "yes" : "no"}`;
  const verdict = asked ? [make("code", {}, asked), why.allowed ? " can come: " : " cannot come: "] : [];
  const rows = [make("p", {}, ...verdict, why.reason)];
  if (why.expected) rows.push(row("expected", make("code", {}, why.expected)));
  for (const place of why.places) {
    const name = `${place.path.join(" > ")}, line ${place.line}: `;
    rows.push(row("in", make("button", { type: "button", class: "link", click: () => select(place) }, name, make("code", {}, place.symbol))));
  }
  if (why.more) rows.push(row("", `and ${why.more} more places`));
  return box.replaceChildren(...rows);
}

function row(key, ...inner) {
  return make("p", { class: "pair" }, make("span", { class: "key" }, key), ...inner);
}

const number = (value) => value.toLocaleString("en");

function showMask() {
  const mask = answer.mask;
  by("mask-count").textContent = mask ? `${number(mask.allowed)} of ${number(mask.total)} tokens` : "";
  by("side").textContent = mask ? sideOf(mask) : "";
  const tokens = mask ? mask.tokens : [];
  by("mask").replaceChildren(...tokens.map((each) => make("li", {}, make("button", {
    type: "button",
    class: `${each.allowed ? "yes" : "no"}${each.special ? " special" : ""}`,
    title: `token ${each.id}: ${each.allowed ? "allowed" : "not allowed"}`,
    click: () => { by("why").value = state.why = `#${each.id}`; change(); },
  }, each.text))));
}

function sideOf(mask) {
  const shown = mask.tokens.length < mask.count ? `, ${number(mask.tokens.length)} of which are shown` : "";
  if (mask.side === "found") return `${number(mask.count)} tokens hold this${shown}.`;
  if (mask.side === "allowed") return mask.count ? `These can come${shown}.` : "Nothing can come.";
  return mask.count ? `All but ${number(mask.count)} can come; these cannot${shown}.` : "Every token can come.";
}

// Beginning

function fill() {
  for (const id of ["grammar", "text", "finish", "vocabulary", "why", "find"]) by(id).value = state[id];
  showStarts();
  drawGrammar();
  drawText();
}

async function begin() {
  let begun;
  try {
    begun = await post("/begin", {});
  } catch (error) {
    return error.status === 401 ? askForToken() : trouble(`The server refused: ${error.message}.`);
  }
  trouble("");
  by("vocabulary").replaceChildren(...begun.vocabularies.map((name) => make("option", { value: name }, name)));
  if (!state.grammar) Object.assign(state, { grammar: begun.grammar, start: begun.start, finish: begun.finish });
  if (!begun.vocabularies.includes(state.vocabulary)) [state.vocabulary] = begun.vocabularies;
  fill();
  return change();
}

function listen() {
  for (const id of ["grammar", "text", "why", "find"]) {
    by(id).addEventListener("input", () => {
      state[id] = by(id).value;
      if (id === "grammar") { coloured.clear(); answer.findings = []; drawGrammar(); }
      if (id === "text") drawText();
      change();
    });
  }
  for (const id of ["start", "finish", "vocabulary"]) {
    by(id).addEventListener("change", () => { state[id] = by(id).value; change(); });
  }
  for (const id of ["grammar", "text"]) by(id).addEventListener("scroll", () => follow(id));
  by("copy").addEventListener("click", copy);
  by("open").addEventListener("click", open_);
  addEventListener("hashchange", () => { if (takeLink(location.hash)) begin(); });
}

async function copy() {
  history.replaceState(null, "", link());
  try {
    await navigator.clipboard.writeText(link());
    by("busy").textContent = "copied: grammar and text, without the token";
  } catch {
    ask("The link, without the token:", link(), true);
  }
}

async function open_() {
  const given = await ask("A link that was copied from a playground:", "", false);
  if (given && takeLink(given)) begin();
}

token = sessionStorage.getItem("token") || "";
listen();
takeLink(location.hash);
history.replaceState(null, "", location.pathname);
begin();
