// Uses the page as a reader would: `node in_browser.mjs PUPPETEER CHROMIUM URL SCREENSHOTS`.
// Prints what was seen, as JSON.

import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [puppeteer, executablePath, url, screenshots] = process.argv.slice(2);
const { launch } = (await import(pathToFileURL(puppeteer))).default;
const browser = await launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const seen = { complaints: [] };

async function open(address) {
  const page = await browser.newPage();
  await page.setViewport({ width: 1300, height: 900 });
  page.on("console", (message) => {
    if (["error", "warn"].includes(message.type())) seen.complaints.push(message.text());
  });
  page.on("pageerror", (error) => seen.complaints.push(String(error)));
  await page.goto(address);
  await settled(page);
  return page;
}

/** Wait until the page has said what it found; return that. */
async function settled(page) {
  await page.waitForFunction(
    () => !/^(Starting|working)/.test(document.getElementById("state").textContent),
    { timeout: 120_000, polling: 100 },
  );
  return page.$eval("#state", (state) => state.textContent);
}

async function write(page, text) {
  await page.$eval("#text", (box, value) => {
    document.getElementById("state").textContent = "working …";
    box.value = value;
    box.dispatchEvent(new Event("input"));
  }, text);
  return settled(page);
}

async function show(page, name) {
  await page.$eval(`input[name="tab"][value="${name}"]`, (radio) => radio.click());
  return settled(page);
}

const picture = (page, name) => page.screenshot({ path: join(screenshots, `${name}.png`) });

try {
  const page = await open(url);
  seen.first = await settled(page);
  await picture(page, "first");
  seen.broken = await write(page, "start ::= '😀' unknown;\n");
  seen.finding = await page.$eval(".finding", (box) => box.textContent);
  await page.click(".finding");
  seen.selected = await page.$eval("#text", (box) =>
    box.value.slice(box.selectionStart, box.selectionEnd));
  await picture(page, "broken");
  await write(page, "start ::= 'a'+   'b';\n");
  await show(page, "formatted");
  seen.formatted = await page.$eval(".result", (box) => box.textContent);
  await show(page, "converted");
  await page.select("#target", "GBNF");
  await settled(page);
  seen.converted = await page.$eval(".result", (box) => box.textContent);
  await picture(page, "converted");
  await show(page, "diagram");
  const frame = await (await page.waitForSelector("iframe")).contentFrame();
  seen.drawn = await frame.$$eval("svg", (pictures) => pictures.length);
  await picture(page, "diagram");
  const other = await open(page.url());
  seen.linked = await other.$eval("#text", (box) => box.value);
  seen.linkedTab = await other.$eval('input[name="tab"]:checked', (radio) => radio.value);
} finally {
  await browser.close();
}
process.stdout.write(JSON.stringify(seen));
