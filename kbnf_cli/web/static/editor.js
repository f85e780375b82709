// A text area over a layer that shows its text in colours, with line numbers where it is `numbered`.
// Colours come in layers, each a list of {start, end, name}; the class of a piece has all names.

/** The words of each language; what is in none of them has no colour. What is not closed goes on to
 * the end of its line, or of the text, so that no place is looked at more than a few times. */
const NAME = String.raw`[\p{L}_][\p{L}\p{N}_\-]*`;
const END = String.raw`\\?$(?![\s\S])`;
const QUOTED = String.raw`"(?:\\.|[^"\\\n])*(?:"|\\?$)|'(?:\\.|[^'\\\n])*(?:'|\\?$)`;
const PATTERN = String.raw`#(?:"(?:\\[\s\S]|[^"\\])*(?:"|${END})|'(?:\\[\s\S]|[^'\\])*(?:'|${END})`;
const ANGLES = String.raw`<[^>\n]*(?:>|$)`;
const JSON_WORDS = String.raw`(?<rule>"(?:\\.|[^"\\\n])*"(?=\s*:))|(?<string>"(?:\\.|[^"\\\n])*(?:"|\\?$))|(?<number>-?\d[\d.eE+-]*|true|false|null)`;
const WORDS = {
  KBNF: String.raw`(?<comment>\(\*[\s\S]*?(?:\*\)|$(?![\s\S])))|(?<regex>${PATTERN}|r"[^"]*(?:"|${END})|r'[^']*(?:'|${END})))|(?<string>${QUOTED})|(?<defined>${NAME}(?=\s*::=))|(?<word>${NAME}!)|(?<rule>${NAME})|(?<sign>::=|[|;*+?{}()\[\]])`,
  GBNF: String.raw`(?<comment>#.*)|(?<regex>\[(?:\\.|[^\]\\\n])*(?:\]|\\?$))|(?<string>"(?:\\.|[^"\\\n])*(?:"|\\?$))|(?<defined>${NAME}(?=\s*::=))|(?<rule>${NAME})|(?<sign>::=|[|*+?{}()])`,
  Lark: String.raw`(?<comment>(?://|#).*)|(?<regex>/(?!/)(?:\\.|[^/\\\n])+(?:/[imslux]*|\\?$))|(?<string>"(?:\\.|[^"\\\n])*(?:"i?|\\?$))|(?<word>%\w+)|(?<defined>[?!]?${NAME}(?:\.\d+)?(?=\s*(?:(?:\[[^\]\n]{0,200}\]|\{[^}\n]{0,200}\})\s*)?:))|(?<rule>${NAME})|(?<sign>->|[:|*+?~{}()\[\]])`,
  BNF: String.raw`(?<regex>${PATTERN}))|(?<string>${QUOTED})|(?<defined>${ANGLES}(?=\s*::=))|(?<rule>${ANGLES})|(?<sign>::=|\|)`,
  ABNF: String.raw`(?<comment>;.*)|(?<string>(?:%[siSI])?"[^"\n]*(?:"|$)|${ANGLES})|(?<regex>%[xdbXDB][\da-fA-F.\-]+)|(?<defined>^${NAME}(?=\s*=))|(?<rule>${NAME})|(?<sign>=/?|[/*()\[\]])`,
  "JSON Schema": JSON_WORDS, "Structural tag": JSON_WORDS, "Tool list": JSON_WORDS,
};

const LONGEST = 50_000; // characters of a text that is drawn line by line, and in colours
const MOST_LINES = 5_000;

/** Return the layer of the words of a text. */
export function words(text, language) {
  if (text.length > LONGEST || !WORDS[language]) return [];
  const found = [];
  for (const match of text.matchAll(new RegExp(WORDS[language], "gmu"))) {
    const [name] = Object.entries(match.groups).find(([, value]) => value !== undefined);
    found.push({ start: match.index, end: match.index + match[0].length, name });
  }
  return found;
}

/** Return pieces of a text, {start, end, names}, within which the names of all ranges are equal. */
export function pieces(text, ranges) {
  const kept = ranges.filter((each) => each.start < each.end && each.start < text.length);
  kept.sort((a, b) => a.start - b.start);
  const ends = kept.map((each) => Math.min(each.end, text.length));
  const cuts = [...new Set([0, text.length, ...kept.map((each) => each.start), ...ends])];
  cuts.sort((a, b) => a - b);
  const found = [];
  let next = 0;
  let open = [];
  for (let at = 0; at + 1 < cuts.length; at++) {
    open = open.filter((each) => each.end > cuts[at]);
    while (next < kept.length && kept[next].start <= cuts[at]) open.push(kept[next++]);
    found.push({ start: cuts[at], end: cuts[at + 1], names: open.map((each) => each.name) });
  }
  return found;
}

export class Editor {
  /** `box` has a `pre` and a `textarea`; `changed` is called with what is typed. */
  constructor(box, changed) {
    this.area = box.querySelector("textarea");
    this.back = box.querySelector("pre");
    this.layers = new Map();
    this.area.addEventListener("input", () => {
      this.layers.clear();
      changed(this.area.value);
      this.draw();
    });
    this.area.addEventListener("scroll", () => this.follow());
  }

  get value() {
    return this.area.value;
  }

  set value(text) {
    if (this.area.value !== text) {
      this.area.value = text;
      this.layers.clear();
    }
    this.draw();
  }

  /** Show a layer in place of the one before. */
  paint(layer, ranges) {
    this.layers.set(layer, ranges);
    this.draw();
  }

  /** Select a place, and bring it into view. */
  select({ start, end }) {
    this.area.focus();
    this.area.setSelectionRange(start, end);
    this.reveal(start);
  }

  /** Scroll so that the line of a place is in view. */
  reveal(start) {
    const line = this.back.children[this.area.value.slice(0, start).split("\n").length - 1];
    if (!line) return;
    const { scrollTop, clientHeight } = this.area;
    const top = line.offsetTop;
    if (top < scrollTop || top + line.offsetHeight > scrollTop + clientHeight) {
      this.area.scrollTop = Math.max(0, top - clientHeight / 3);
    }
    this.follow();
  }

  follow() {
    this.back.scrollTop = this.area.scrollTop;
  }

  /** Draw the text once, however many layers were painted since. */
  draw() {
    if (this.isDrawn === false) return;
    this.isDrawn = false;
    queueMicrotask(() => {
      this.isDrawn = true;
      this.back.replaceChildren(...this.lines());
      this.follow();
    });
  }

  lines() {
    const text = this.area.value;
    const lines = [newLine()];
    if (text.length > LONGEST || text.split("\n").length > MOST_LINES) {
      // As one line, without numbers: elements for each would be too many.
      lines[0].append(text);
      return lines;
    }
    for (const { start, end, names } of pieces(text, [...this.layers.values()].flat())) {
      text.slice(start, end).split("\n").forEach((part, index) => {
        if (index) lines.push(newLine());
        const line = lines[lines.length - 1];
        if (names.includes("error")) line.classList.add("wrong");
        if (!part) return;
        const piece = document.createElement("span");
        if (names.length) piece.className = names.join(" ");
        piece.textContent = part;
        line.append(piece);
      });
    }
    return lines;
  }
}

function newLine() {
  const line = document.createElement("div");
  line.className = "line";
  return line;
}
