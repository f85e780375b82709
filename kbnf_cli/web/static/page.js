// The page: asks about the newest state, one question at a time, and shows the answer. All that
// comes back is shown as text, but for diagrams, whose elements are drawn without style or script.

import { ask, begin as beginAsking, hasEngine, hurry, openVocabulary, takeToken } from "./backend.js";
import { Editor, words } from "./editor.js";
import { checked, packed, unpacked } from "./links.js";
import { badgeOf, counted, countOf, findingsNote, sideOf, statusOf, verdictOf } from "./words.js";

const PAUSE = 80; // milliseconds without a key before a question is asked
const COLOURS = 10;
const TABS = ["grammar", "texts", "tokens"];
const SELECTS = ["language", "start", "finish", "vocabulary"];
const KEPT = ["grammar", "language", "start", "finish", "tab", "show", "chosen", "prefix", "vocabulary"];

const by = (id) => document.getElementById(id);
const state = {
  grammar: "", language: "KBNF", start: "", finish: "", vocabulary: "",
  tab: "grammar", show: "findings", texts: [{ text: "", fits: true }], chosen: 0,
  prefix: "", why: "", find: "",
};
let offers = { examples: {}, languages: [], written: [], targets: [], vocabularies: [] };
let answer = {};
let nodes = [];
let lit = -1;
let seed = 0;
let asking = false;
let changed = false;
let timer = 0;

const grammar = new Editor(by("grammar-editor"), (text) => { state.grammar = text; edited(); });
const text = new Editor(by("text-editor"), (value) => { state.texts[state.chosen].text = value; nodes = []; change(); });
const prefix = new Editor(by("prefix-editor"), (value) => { state.prefix = value; change(); });

function make(tag, attributes, ...inner) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value !== undefined) made.setAttribute(key, value);
  }
  made.append(...inner);
  return made;
}

const button = (attributes, ...inner) => make("button", { type: "button", ...attributes }, ...inner);
const link = (label, click, ...inner) => button({ class: "link", click }, label, ...inner);

// --- Links: the whole state is in the fragment, which no browser sends anywhere --------------------

async function linkNow() {
  const kept = Object.fromEntries(KEPT.map((name) => [name, state[name]]));
  kept.texts = state.texts.map((each) => [each.text, each.fits]);
  return `${location.origin}${location.pathname}#state=${await packed(kept)}`;
}

async function keepLink() {
  history.replaceState(null, "", await linkNow());
}

/** Take over the state that an address has; tell whether it had one. */
async function takeLink(address) {
  const found = new URLSearchParams(address.slice(address.indexOf("#") + 1)).get("state");
  if (!found) return false;
  try {
    const { texts, ...given } = checked(await unpacked(found), state, KEPT);
    Object.assign(state, given);
    takeTexts(texts);
    state.chosen = Math.min(given.chosen ?? 0, state.texts.length - 1);
  } catch {
    trouble("This link is damaged: it has no grammar.");
    return false;
  }
  if (!TABS.includes(state.tab)) state.tab = "grammar";
  return true;
}

/** Put texts, as [text, whether it must fit], in place of those that are there. */
function takeTexts(texts) {
  state.texts = texts.map(([value, fits]) => ({ text: value, fits: Boolean(fits) }));
  if (!state.texts.length) state.texts = [{ text: "", fits: true }];
  state.chosen = 0;
}

// --- Asking ---------------------------------------------------------------------------------------

function question() {
  const { grammar: written, language, start, finish } = state;
  const asked = { grammar: written, language, start, finish };
  if (!hasEngine || state.tab === "grammar") {
    // Other engines are asked when somebody wants it, and not while typing.
    return { ...asked, show: state.show === "targets" ? "findings" : state.show };
  }
  if (state.tab === "texts") {
    return { ...asked, show: "texts", texts: state.texts.map((each) => each.text), chosen: state.chosen };
  }
  const { prefix: value, why, find, vocabulary } = state;
  return { ...asked, show: "tokens", text: value, why, find, vocabulary };
}

/** The grammar has changed: what was said of it holds no more. */
function edited() {
  answer = { ...answer, findings: [], targets: undefined };
  for (const each of state.texts) each.status = "";
  drawList();
  grammar.paint("words", words(state.grammar, state.language));
  change();
}

function change() {
  changed = true;
  hurry();
  clearTimeout(timer);
  timer = setTimeout(look, PAUSE);
}

async function look() {
  if (asking) return;
  asking = true;
  while (changed) {
    changed = false;
    await keepLink();
    const asked = question();
    const found = await answerTo(asked);
    if (found && JSON.stringify(asked) === JSON.stringify(question())) show({ targets: answer.targets, ...found });
  }
  asking = false;
}

/** Return an answer, or one that says why there is none; nothing where the token was missing. */
async function answerTo(asked) {
  const slow = setTimeout(() => { by("busy").textContent = "working …"; }, 400);
  try {
    return await ask(asked);
  } catch (error) {
    if (!error.needsToken) return { trouble: error.message };
    changed = false;
    await askForToken();
    return null;
  } finally {
    clearTimeout(slow);
    by("busy").textContent = "";
  }
}

function dialog(label, value, isNeeded) {
  const box = by("ask");
  by("ask-label").textContent = label;
  by("ask-value").value = value;
  by("ask-cancel").hidden = isNeeded;
  return new Promise((resolve) => {
    box.returnValue = "";
    by("ask-ok").value = "ok";
    by("ask-cancel").onclick = () => box.close("");
    box.onclose = () => resolve(box.returnValue === "ok" ? by("ask-value").value : "");
    box.showModal();
  });
}

async function askForToken() {
  const given = await dialog("The address that `kbnf play --web` printed, or its token:", "", false);
  if (!given) return trouble("The server answers nothing without its token: reload to try again.");
  takeToken(given, true);
  return begin();
}

// --- The grammar and its findings -----------------------------------------------------------------

function trouble(said) {
  by("trouble").textContent = said || "";
  by("trouble").hidden = !said;
}

function show(found) {
  answer = found;
  trouble(found.trouble);
  const [said, kind] = verdictOf(found);
  by("verdict").className = `badge ${kind}`;
  by("verdict").textContent = said;
  grammar.paint("marks", (found.findings || []).map(visibly));
  showStarts();
  if (state.tab === "grammar") showGrammarTab();
  else if (hasEngine && state.tab === "texts") showTexts();
  else if (hasEngine) showTokens();
}

// What is missing is marked at the character before it.
function visibly({ start, end, severity }) {
  return { start: end > start ? start : Math.max(0, start - 1), end: Math.max(end, start), name: severity };
}

function showStarts() {
  const names = (answer.rules || []).map((each) => each.name);
  const rest = names.includes(state.start) || !state.start ? [] : [state.start];
  const none = make("option", { value: "" }, "default");
  by("start").replaceChildren(none, ...[...rest, ...names].map((name) => make("option", { value: name }, name)));
  by("start").value = state.start;
}

function showTools() {
  const tools = [["findings", "Findings"], ["explanation", "Explanation"], ["diagram", "Diagram"]];
  for (const name of offers.written) {
    tools.push([name, name === state.language ? "Format" : `To ${name}`]);
  }
  if (offers.targets.length) tools.push(["targets", "Other engines"]);
  by("tools").replaceChildren(...tools.map(([name, label]) => button({
    "aria-pressed": String(state.show === name),
    click: () => { state.show = name; if (name === "targets") askTargets(); else change(); showTools(); },
  }, label)));
}

function showGrammarTab() {
  const findings = answer.findings || [];
  const isWrong = findings.some((each) => each.severity === "error");
  const isPlain = state.show === "findings";
  let shown = [];
  explained = [];
  grammar.paint("lit", []);
  if (!isPlain && isWrong) shown = [make("p", {}, "The grammar has errors.")];
  else if (answer.written && state.show !== "targets") shown = written(answer.written);
  else if (answer.explanation) shown = explanation(answer.explanation);
  else if (answer.diagrams) shown = answer.diagrams.map(diagram);
  else if (state.show === "targets") shown = targets(answer.targets);
  by("output").replaceChildren(...shown);
  by("findings").replaceChildren(...(isPlain || isWrong ? findings.map(finding) : []));
  const note = isPlain ? findingsNote(answer) : "";
  by("said").replaceChildren(...(isWrong && answer.other ? otherLanguage(answer.other) : [note]));
}

/** Offer to read a text as what it is. */
function otherLanguage(name) {
  const read = () => { state.start = ""; writeGrammar(state.grammar, name); };
  return [`This looks like ${name}: `, link(`read it as ${name}`, read), "."];
}

function finding(each) {
  const at = link(`line ${each.line}, column ${each.column}`, () => grammar.select(each));
  return make("li", { class: each.severity },
    make("p", { class: "message" }, make("span", { class: "code" }, `${each.code} ${each.severity}`), " ", each.message),
    ...each.notes.map((note) => make("p", {}, `note: ${note}`)),
    // What a command line does about a text in another language, a link does here.
    ...(answer.other && each.code === "E008" ? [] : each.helps).map((help) => make("p", {}, `help: ${help}`)),
    make("p", {}, at, ...each.fixes.flatMap((fix) => [" · ", fixLink(fix)])));
}

function fixLink(fix) {
  const said = fix.safe ? fix.message : `${fix.message} (changes which texts match)`;
  return link(`Fix: ${said}`, () => {
    let fixed = state.grammar;
    for (const edit of [...fix.edits].sort((a, b) => b.start - a.start)) {
      fixed = fixed.slice(0, edit.start) + edit.replacement + fixed.slice(edit.end);
    }
    writeGrammar(fixed);
  });
}

function writeGrammar(value, language = state.language) {
  state.grammar = value;
  state.language = by("language").value = language;
  grammar.value = value;
  showTools();
  edited();
}

function written({ text: result, losses, language }) {
  const lost = make("ol", { class: "losses" }, ...losses.map(finding));
  if (result === null) return [make("p", {}, "This cannot be converted."), lost];
  const take = () => { state.show = "findings"; state.start = ""; writeGrammar(result, language); };
  return [
    make("div", { class: "row" },
      button({ click: (event) => copyText(result, event.target) }, "Copy"),
      button({ click: take }, "Edit this text"),
      make("span", { class: "count" }, losses.length ? `${losses.length} kept otherwise than written` : "")),
    lost,
    make("pre", { class: "result", tabindex: "0" }, result),
  ];
}

async function copyText(value, from) {
  try {
    await navigator.clipboard.writeText(value);
    from.textContent = "Copied";
  } catch {
    await dialog("Copy this:", value, true);
  }
}

// The rows of the explanation, in the order of the grammar, with the places of their parts.
let explained = [];

function explanation(rules) {
  explained = [];
  return rules.map(({ rule, lines }) => make("figure", {},
    make("figcaption", {}, link(rule, () => selectRule(rule))),
    make("ul", { class: "words" }, ...lines.map((each) => {
      const row = make("li", {
        mouseenter: () => lightPart(each, row), mouseleave: () => lightPart(null, null),
      }, button({ click: () => grammar.select(each) }, each.words));
      row.style.setProperty("--depth", String(Math.min(each.depth, 30)));
      explained.push({ ...each, row });
      return row;
    }))));
}

function lightPart(place, row) {
  for (const each of explained) each.row.classList.toggle("lit", each.row === row);
  grammar.paint("lit", place ? [{ start: place.start, end: place.end, name: "lit" }] : []);
}

/** Light what the innermost part at the cursor means. */
function followGrammar() {
  if (document.activeElement !== grammar.area || state.tab !== "grammar" || !explained.length) return;
  const at = grammar.area.selectionStart;
  let found = null;
  for (const each of explained) {
    const isInside = each.start <= at && at <= each.end;
    if (isInside && (!found || each.end - each.start < found.end - found.start)) found = each;
  }
  lightPart(found, found && found.row);
  if (found) found.row.scrollIntoView({ block: "nearest" });
}

function diagram({ rule, used_by: users, svg }) {
  const drawn = document.importNode(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement, true);
  drawn.setAttribute("role", "img");
  drawn.setAttribute("aria-label", `Railroad diagram of ${rule}`);
  for (const inner of drawn.querySelectorAll("a")) {
    const target = inner.getAttributeNS("http://www.w3.org/1999/xlink", "href").slice("#rule-".length);
    inner.setAttributeNS("http://www.w3.org/1999/xlink", "href", "#");
    inner.addEventListener("click", (event) => { event.preventDefault(); selectRule(target); });
  }
  const used = users.flatMap((user, index) => [index ? ", " : "used by ", link(user, () => selectRule(user))]);
  return make("figure", {},
    make("figcaption", {}, link(rule, () => selectRule(rule)), " ", make("span", { class: "count" }, ...used)),
    make("div", { class: "drawing", tabindex: "0" }, drawn));
}

function selectRule(name) {
  const found = (answer.rules || []).find((each) => each.name === name);
  if (found) grammar.select(found);
}

async function askTargets() {
  answer.targets = null;
  showGrammarTab();
  const asked = { ...question(), show: "targets" };
  const found = await answerTo(asked);
  if (!found || asked.grammar !== state.grammar) return;
  trouble(found.trouble);
  answer.targets = found.targets;
  if (state.tab === "grammar") showGrammarTab();
}

function targets(found) {
  const again = button({ click: askTargets }, "Ask the engines");
  if (found === null) return [make("p", { role: "status" }, `Asking ${offers.targets.join(", ")} …`)];
  if (!found) return [again];
  const rows = found.rows.map((each) => make("tr", {},
    make("td", {}, each.tool), make("td", {}, each.target), make("td", { class: each.verdict }, each.verdict)));
  return [
    make("p", { class: "count" }, found.asked.join("; ")),
    make("table", {}, ...rows),
    make("ol", { class: "losses" }, ...found.findings.map(finding)),
    again,
  ];
}

// --- Texts and the tree ---------------------------------------------------------------------------

function showTexts() {
  const found = answer.texts || { statuses: [], nodes: [] };
  state.texts.forEach((each, index) => { each.status = found.statuses[index] || ""; });
  nodes = found.nodes || [];
  drawList();
  const { status } = state.texts[state.chosen];
  by("text-status").className = badgeOf(status);
  by("text-status").textContent = statusOf(status) || (answer.is_checked && !answer.trouble ? "the grammar has errors" : "");
  showExplained(by("problem"), found.problem, "");
  drawTree(found.more || 0);
  const length = text.value.length;
  text.paint("rules", coloured(length));
  text.paint("rest", status === "rejected" ? [{ start: found.rest, end: length, name: "rest" }] : []);
  light(lit < nodes.length ? lit : -1);
}

/** Tell whether a text does as it must; null where that is not known, or nobody wrote a text yet. */
function verdict({ text: written, status, fits }) {
  if (!status || (!written && fits && status !== "complete")) return null;
  return (status === "complete") === fits;
}

function drawList() {
  const known = state.texts.filter((each) => verdict(each) !== null);
  by("passed").textContent = known.length ? `${known.filter(verdict).length}/${known.length}` : "";
  by("texts").replaceChildren(...state.texts.map((each, index) => {
    const passed = verdict(each);
    const mark = passed === null ? "·" : passed ? "✓" : "✗";
    return make("li", { class: index === state.chosen ? "chosen" : "" },
      make("span", { class: `tick ${passed === null ? "" : passed}`, title: passed ? "as expected" : "" }, mark),
      button({ class: "pick", "aria-pressed": String(index === state.chosen), click: () => choose(index) },
        each.text ? onOneLine(each.text.slice(0, 200)) : "(empty)"),
      button({ class: "must", title: "Change what is expected", click: () => { each.fits = !each.fits; drawList(); keepLink(); } },
        each.fits ? "must fit" : "must not fit"),
      make("span", { class: badgeOf(each.status) }, statusOf(each.status)),
      button({ class: "drop", "aria-label": "Remove this text", click: () => drop(index) }, "×"));
  }));
}

// Blanks at the ends, and line breaks, are drawn.
const onOneLine = (value) => value
  .replace(/^ +| +$/g, (blanks) => "␣".repeat(blanks.length))
  .replaceAll("\n", "⏎").replaceAll("\r", "␍").replaceAll("\t", "⇥");

function choose(index) {
  state.chosen = index;
  nodes = [];
  lit = -1;
  text.value = state.texts[index].text;
  drawList();
  text.area.focus();
  change();
}

function drop(index) {
  state.texts.splice(index, 1);
  if (!state.texts.length) takeTexts([]);
  choose(Math.min(state.chosen - (index < state.chosen ? 1 : 0), state.texts.length - 1));
}

function addTexts(added) {
  if (state.texts.length === 1 && !state.texts[0].text) state.texts = [];
  const first = state.texts.length;
  state.texts.push(...added.map((each) => ({ text: each, fits: true })));
  choose(first);
}

async function addSamples() {
  const found = await answerTo({ ...question(), show: "samples", seed: seed++ });
  if (!found) return;
  trouble(found.trouble);
  const known = new Set(state.texts.map((each) => each.text));
  const fresh = (found.samples || []).filter((each) => !known.has(each));
  if (fresh.length) addTexts(fresh);
  else by("busy").textContent = found.samples ? "no other texts were found" : "";
}

// Rules get their colours in the order in which they come.
const colours = new Map();

function colourOf(rule) {
  if (!colours.has(rule)) colours.set(rule, colours.size % COLOURS);
  return `r${colours.get(rule)}`;
}

/** Return the layer in which each character has the colour of the innermost rule. */
function coloured(length) {
  const owner = new Array(length).fill(-1);
  nodes.forEach((node, index) => owner.fill(index, node.start, Math.min(node.end, length)));
  const found = [];
  owner.forEach((index, at) => {
    const last = found[found.length - 1];
    if (last && last.index === index) last.end = at + 1;
    else if (index >= 0) found.push({ index, start: at, end: at + 1, name: colourOf(nodes[index].rule) });
    else found.push({ index, start: at, end: at, name: "" });
  });
  return found.filter((each) => each.name);
}

function drawTree(more) {
  by("tree-count").textContent = nodes.length ? counted(nodes.length + more, "node") : "";
  const rows = nodes.map((node, index) => {
    const row = make("li", {
      role: "treeitem", "aria-level": String(node.depth + 1), tabindex: index ? "-1" : "0",
      mouseenter: () => light(index), focus: () => { light(index); reveal(node); },
      click: () => row.focus(), keydown: (event) => walkTree(event, index),
    },
    make("span", { class: `name ${colourOf(node.rule)}` }, node.rule), " ",
    make("span", { class: "count" }, `${node.start}–${node.open ? "…" : node.end}`), " ",
    make("code", {}, node.leaf ? onOneLine(text.value.slice(node.start, node.end).slice(0, 80)) : ""));
    row.style.setProperty("--depth", String(Math.min(node.depth, 30)));
    return row;
  });
  if (more) rows.push(make("li", { class: "count" }, counted(more, "more node")));
  if (!rows.length) rows.push(make("li", { class: "count" }, "No rule is certain yet."));
  by("tree").replaceChildren(...rows);
}

function walkTree(event, index) {
  const next = index + ({ ArrowDown: 1, ArrowUp: -1 }[event.key] || 0);
  if (next === index || !nodes[next]) return;
  event.preventDefault();
  by("tree").children[next].focus();
}

/** Light a node: its row, its text, and its rule in the grammar. */
function light(index) {
  const rows = by("tree").children;
  if (rows[lit]) rows[lit].classList.remove("lit");
  lit = index;
  const node = nodes[index];
  const rule = node && (answer.rules || []).find((each) => each.name === node.rule);
  if (node) rows[index].classList.add("lit");
  text.paint("lit", node ? [{ start: node.start, end: node.end, name: "lit" }] : []);
  grammar.paint("lit", rule ? [{ start: rule.start, end: rule.end, name: "lit" }] : []);
  return rule;
}

function reveal(node) {
  const rule = (answer.rules || []).find((each) => each.name === node.rule);
  if (rule) grammar.reveal(rule.start);
  text.reveal(node.start);
}

/** Light the innermost node at the cursor. */
function followCursor() {
  if (document.activeElement !== text.area || state.tab !== "texts") return;
  const at = Math.min(text.area.selectionStart, text.value.length - 1);
  let found = -1;
  nodes.forEach((node, index) => { if (node.start <= at && at < node.end) found = index; });
  if (found === lit) return;
  light(found);
  const row = by("tree").children[found];
  if (row) by("tree").scrollTop = row.offsetTop - by("tree").clientHeight / 2;
}

// --- Tokens ---------------------------------------------------------------------------------------

function showTokens() {
  const found = answer.tokens || {};
  by("prefix-status").className = badgeOf(found.status);
  by("prefix-status").textContent = statusOf(found.status) || (answer.is_checked && !answer.trouble ? "the grammar has errors" : "");
  const { length } = prefix.value;
  prefix.paint("rest", found.status === "rejected" ? [{ start: found.rest, end: length, name: "rest" }] : []);
  showExplained(by("rejection"), found.rejection, "");
  showExplained(by("explained"), found.why, found.why && found.why.asked);
  const time = found.microseconds;
  by("timing").textContent = time ? `text ${time.text.toLocaleString("en")} µs, mask ${time.mask.toLocaleString("en")} µs` : "";
  const forced = found.forced || { text: "", shown: "" };
  by("forced").hidden = !forced.text;
  by("forced").querySelector("code").textContent = forced.shown;
  const { mask } = found;
  by("mask-count").textContent = mask ? countOf(mask) : "";
  by("side").textContent = mask ? sideOf(mask) : "";
  by("mask").replaceChildren(...(mask ? mask.tokens : []).map((each) => make("li", {}, button({
    class: `${each.allowed ? "yes" : "no"}${each.special ? " special" : ""}`,
    title: `token ${each.id}: ${each.allowed ? "allowed" : "refused"}`,
    click: () => { by("why").value = state.why = `#${each.id}`; change(); },
  }, each.text))));
}

function showExplained(box, why, asked) {
  box.hidden = !why;
  if (!why) return;
  box.className = `explained ${why.allowed ? "yes" : "no"}`;
  const said = asked ? [make("code", {}, asked), why.allowed ? " is allowed: " : " is refused: "] : [];
  const rows = [make("p", {}, ...said, why.reason)];
  if (why.expected) rows.push(pair("expected", make("code", {}, why.expected)));
  for (const place of why.places) {
    const name = `${place.path.join(" > ")}, line ${place.line}: `;
    rows.push(pair("in", link(name, () => grammar.select(place), make("code", {}, place.symbol))));
  }
  if (why.more) rows.push(pair("", counted(why.more, "more place")));
  box.replaceChildren(...rows);
}

const pair = (key, ...inner) =>
  make("p", { class: "pair" }, make("span", { class: "key" }, key), make("span", {}, ...inner));

// --- Beginning ------------------------------------------------------------------------------------

function showTab(tab) {
  state.tab = tab;
  document.body.dataset.tab = tab;
  for (const each of TABS) {
    const isChosen = each === tab;
    by(`tab-${each}`).setAttribute("aria-selected", String(isChosen));
    by(`tab-${each}`).tabIndex = isChosen ? 0 : -1;
    by(`panel-${each}`).hidden = !isChosen;
  }
  if (tab !== "texts") light(-1);
  change();
}

function fill() {
  // What a link names and nobody offers is what comes first.
  const offered = {
    language: ["KBNF", ...offers.languages], finish: ["", "eager", "token", "eos"],
    show: ["findings", "explanation", "diagram", "targets", ...offers.written], vocabulary: offers.vocabularies.length ? offers.vocabularies : [""],
  };
  for (const [name, values] of Object.entries(offered)) if (!values.includes(state[name])) state[name] = values[0];
  grammar.value = state.grammar;
  text.value = state.texts[state.chosen].text;
  prefix.value = state.prefix;
  for (const id of [...SELECTS, "why", "find"]) by(id).value = state[id];
  grammar.paint("words", words(state.grammar, state.language));
  showStarts();
  showTools();
  drawList();
  showTab(state.tab);
}

const options = (values) => values.map((each) => make("option", { value: each }, each));

async function begin() {
  by("busy").textContent = "starting …";
  let begun;
  try {
    begun = await beginAsking();
  } catch (error) {
    by("busy").textContent = "";
    return error.needsToken ? askForToken() : trouble(error.message);
  }
  trouble("");
  by("busy").textContent = "";
  offers = { targets: [], vocabularies: [], ...begun };
  by("example").replaceChildren(make("option", { value: "" }, "choose …"), ...options(Object.keys(begun.examples)));
  by("language").replaceChildren(...options(begun.languages));
  showVocabularies();
  if (!state.grammar) {
    for (const name of ["grammar", "language", "start", "finish"]) state[name] = begun[name] || "";
    takeTexts(begun.texts || []);
  }
  return fill();
}

function takeExample() {
  const example = offers.examples[by("example").value];
  by("example").value = "";
  if (!example) return;
  Object.assign(state, { language: "KBNF", start: "", finish: "", prefix: "", grammar: example.grammar });
  takeTexts(example.texts);
  nodes = [];
  answer = {};
  fill();
}

function showVocabularies() {
  by("vocabulary").replaceChildren(...options(offers.vocabularies));
}

/** Add the vocabulary in a file that the reader has, and use it. */
async function openFile(file) {
  by("busy").textContent = `reading ${file.name} …`;
  try {
    const { trouble: why, vocabularies, opened } = await openVocabulary(file);
    trouble(why);
    if (!opened) return;
    offers.vocabularies = vocabularies;
    showVocabularies();
    by("vocabulary").value = state.vocabulary = opened;
    change();
  } catch (error) {
    trouble(error.message);
  } finally {
    by("busy").textContent = "";
  }
}

async function copyLink() {
  const address = await linkNow();
  history.replaceState(null, "", address);
  try {
    await navigator.clipboard.writeText(address);
    by("busy").textContent = "The link is copied: it has the grammar and the texts.";
  } catch {
    await dialog("The link:", address, true);
  }
}

async function openLink() {
  const given = await dialog("A link that was copied from a playground:", "", false);
  if (given && (await takeLink(given))) fill();
}

function listen() {
  for (const id of SELECTS) {
    by(id).addEventListener("change", () => {
      state[id] = by(id).value;
      if (id === "language") { state.start = ""; showTools(); edited(); } else change();
    });
  }
  for (const id of ["why", "find"]) {
    by(id).addEventListener("input", () => { state[id] = by(id).value; change(); });
  }
  for (const tab of TABS) {
    by(`tab-${tab}`).addEventListener("click", () => {
      showTab(tab);
      if (hasEngine && tab !== "grammar") (tab === "texts" ? text : prefix).area.focus();
    });
    by(`tab-${tab}`).addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = TABS[(TABS.indexOf(tab) + step + TABS.length) % TABS.length];
      showTab(next);
      by(`tab-${next}`).focus();
    });
  }
  by("open-vocabulary").addEventListener("click", () => by("vocabulary-file").click());
  by("vocabulary-file").addEventListener("change", ({ target }) => {
    if (target.files[0]) openFile(target.files[0]);
    target.value = "";
  });
  document.addEventListener("selectionchange", followCursor);
  document.addEventListener("selectionchange", followGrammar);
  by("tree").addEventListener("mouseleave", () => { if (document.activeElement !== text.area) light(-1); });
  by("example").addEventListener("change", takeExample);
  by("add").addEventListener("click", () => addTexts([""]));
  by("sample").addEventListener("click", addSamples);
  by("take").addEventListener("click", () => {
    state.prefix += answer.tokens.forced.text;
    prefix.value = state.prefix;
    change();
  });
  by("copy").addEventListener("click", copyLink);
  by("open").addEventListener("click", openLink);
  addEventListener("hashchange", async () => {
    const hasToken = takeToken(location.hash);
    const hasState = await takeLink(location.hash);
    if (hasToken) begin();
    else if (hasState) fill();
  });
  if (hasEngine) return;
  for (const panel of [by("panel-texts"), by("panel-tokens")]) {
    for (const inner of panel.children) inner.hidden = !inner.classList.contains("needs");
    panel.querySelector(".needs").append(
      "Texts, trees and tokens need the compiled engine, which does not run in a browser. On your machine, in a checkout: ",
      make("code", {}, "pip install '.[web]'"), ", then ", make("code", {}, "kbnf play --web"), ".");
  }
}

listen();
takeToken(location.hash);
await takeLink(location.hash);
history.replaceState(null, "", location.pathname);
await begin();
