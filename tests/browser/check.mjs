/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens each report.html from file:// in a real browser and uses it as a reader would.  Loading is
 * what costs, so a page is loaded three times: to use it, to look at it in all sizes and colors, and
 * without its script.  What an address or an old browser does depends on the script alone, which is
 * the same in all pages: that is checked with the first report.
 *
 *   node check.mjs REPORT.html... */
import { readFileSync } from "node:fs";

import { axeSource, check, open, run, unfold } from "./support.mjs";
import { checkOverview, checkPaper, checkTimeline, checkTimelineLinks, waitForTimeline }
  from "./timeline.mjs";

/* The table with the most rows of those that have texts: sorting and filtering show there.  Trees
 * have columns that nobody sees. */
async function largestTable(page) {
  return page.evaluate(() => Array.from(document.querySelectorAll(".table"))
    .filter((table) => !table.querySelector('th[data-key="parent"]') &&
      table.querySelector("tbody tr:last-child > " +
      ":not([data-v], [hidden], .nil, .empty)"))
    .sort((a, b) => b.dataset.total - a.dataset.total)[0].id);
}

const byId = (id) => `[id="${id}"]`;

/* ---- checks -------------------------------------------------------------------------------- */

async function checkPolicy(page) {
  const policy = await page.getAttribute('meta[http-equiv="Content-Security-Policy"]', "content");
  check(/default-src 'none'/.test(policy) && /script-src 'sha256-/.test(policy) &&
    !/unsafe/.test(policy), "the policy names hashes only", policy);
  const effective = await page.evaluate(async () => {
    const seen = [];
    document.addEventListener("securitypolicyviolation",
      (event) => seen.push(event.effectiveDirective));
    const script = document.createElement("script");
    script.textContent = "globalThis.broken = true";
    document.body.append(script);
    const style = document.createElement("style");
    style.textContent = "body { display: none }";
    document.head.append(style);
    const image = new Image();
    image.src = "https://example.invalid/x.png";
    document.body.append(image);
    await new Promise((done) => setTimeout(done, 200));
    const shown = getComputedStyle(document.body).display !== "none";
    [script, style, image].forEach((element) => element.remove());
    return { seen, ran: Boolean(globalThis.broken), shown };
  });
  check(!effective.ran && effective.shown && effective.seen.length >= 3,
    "the policy stops foreign scripts, styles and images", JSON.stringify(effective));
}

async function checkMarkup(page) {
  const found = await page.evaluate(() => {
    const all = Array.from(document.querySelectorAll("*"));
    const ids = all.map((element) => element.id).filter(Boolean);
    return {
      foreign: Array.from(document.querySelectorAll("tbody :not(tr, th, td, span, a.timeline-link, .node > button), main :is(" +
        "script:not([type='application/json']), img, iframe, object, embed)"),
      (e) => e.outerHTML.slice(0, 80)),
      handlers: all.filter((e) => e.getAttributeNames().some((n) => n.startsWith("on"))).length,
      twice: ids.filter((id, i) => ids.indexOf(id) !== i).slice(0, 5),
      dead: Array.from(document.querySelectorAll('a[href^="#"]'),
        (a) => decodeURIComponent(a.getAttribute("href").slice(1)))
        .filter((id) => id && !id.includes("=") && !id.startsWith("r-") &&
          !document.getElementById(id)).slice(0, 5),
      summary: JSON.parse(document.getElementById("traceanalyze-report").textContent).schema,
    };
  });
  check(found.foreign.length === 0, "names bring in no elements", found.foreign.join(" "));
  check(found.handlers === 0, "no event handlers in attributes");
  check(found.twice.length === 0, "ids are unique", found.twice.join(" "));
  check(found.dead.length === 0, "links inside the page have a target", found.dead.join(" "));
  check(found.summary === "traceanalyze.report/1", "the data for programs parses");
}

async function checkSort(page) {
  const id = await largestTable(page);
  const column = await page.evaluate((table) => {
    const heads = Array.from(document.getElementById(table).querySelectorAll("thead th"));
    return heads.findIndex((head, i) => i > 0 && head.classList.contains("n") &&
      !head.hasAttribute("aria-sort"));
  }, id);
  const head = page.locator(`${byId(id)} > .scroll thead th`).nth(column);
  const values = () => page.evaluate(([table, i]) => Array.from(
    document.getElementById(table).querySelectorAll("tbody tr"),
    (row) => row.cells[i].dataset.v === undefined ? null : Number(row.cells[i].dataset.v)),
  [id, column]);
  const ordered = (list, sign) => list.every((value, i) => i === 0 || value === null ||
    (list[i - 1] !== null && sign * (value - list[i - 1]) >= 0));

  const given = await values();
  await head.locator("button").click();
  check(await head.getAttribute("aria-sort") === "descending" && ordered(await values(), -1),
    "a first click sorts numbers from the largest");
  const hash = new URLSearchParams(new URL(page.url()).hash.slice(1));
  check(hash.get("sort") === `${await head.getAttribute("data-key")},desc` &&
    "t-" + hash.get("table") === id, "the address holds the order", page.url());
  await head.locator("button").click();
  check(await head.getAttribute("aria-sort") === "ascending" && ordered(await values(), 1),
    "a second click turns the order");
  await head.locator("button").click();
  check(String(await values()) === String(given), "a third click gives the first order back");
}

async function checkFilter(page) {
  const id = await largestTable(page);
  const filter = page.locator(`${byId(id)} .tools input[type=search]`);
  const rows = page.locator(`${byId(id)} tbody tr`);
  const word = await page.evaluate((table) => {
    const cells = document.getElementById(table).querySelectorAll("tbody tr:last-child > *");
    return Array.from(cells).find((cell) => !cell.matches("[data-v], .nil") && cell.textContent)
      .textContent.trim().slice(0, 24);
  }, id);
  await filter.fill(word);
  const texts = await rows.allTextContents();
  check(texts.length > 0 && texts.every((text) => word.toLowerCase().split(/\s+/)
    .every((part) => text.toLowerCase().includes(part))), "the filter keeps matching rows", word);
  check(new URLSearchParams(new URL(page.url()).hash.slice(1)).get("f") === word.trim(),
    "the address holds the filter");
  await filter.press("Escape");
  check(await filter.inputValue() === "", "Esc clears the filter");

  const total = Number(await page.locator(byId(id)).getAttribute("data-total"));
  const more = page.locator(`${byId(id)} .foot button`);
  if (await more.isVisible()) {
    await more.click();
    check(await rows.count() === Math.min(total, 5000), "the button shows all rows");
    await more.click();
    check(await rows.count() < total, "and the first ones again");
  }
}

async function checkTools(page) {
  const id = await largestTable(page);
  const box = page.locator(byId(id));
  const columns = await box.locator(".scroll thead th:not([hidden])").count();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await box.locator("button[aria-label^=Copy]").click();
  await page.waitForFunction((table) => document.getElementById(table)
    .querySelector("button[aria-label^=Copy]").textContent === "Copied", id);
  const lines = (await page.evaluate(() => navigator.clipboard.readText())).split(/\r?\n/);
  check(lines.length > 2 && lines[0].split("\t").length === columns &&
    lines[1].split("\t").length === columns, "copying gives tab-separated values");

  const waiting = page.waitForEvent("download");
  await box.locator("button[aria-label^=Download]").click();
  const file = await waiting;
  const csv = readFileSync(await file.path(), "utf8");
  const keys = await box.locator(".scroll thead th:not([hidden])").evaluateAll((heads) =>
    heads.map((head) => head.dataset.key).join(","));
  check(file.suggestedFilename() === id.slice(2) + ".csv" && csv.startsWith(keys + "\r\n"),
    "the table downloads as CSV", file.suggestedFilename());

  const menu = box.locator(".menu");
  if (await menu.count()) {
    await menu.locator("summary").click();
    await menu.locator("input").nth(1).uncheck();
    check(await box.locator(".scroll thead th:visible").count() === columns - 1,
      "the chooser hides a column");
    await menu.locator("input").nth(1).check();
    await page.keyboard.press("Escape");
    check(await menu.getAttribute("open") === null, "Esc closes the chooser");
  }
}

async function checkSearch(page) {
  await page.keyboard.press("/");
  const word = await page.evaluate(() => {
    const source = document.querySelector(".finding h3 span:last-child, tbody th");
    return source.textContent.split(/\s+/).find((part) => part.length > 3) || "a";
  });
  await page.keyboard.type(word);
  const results = page.locator(".results");
  check(await results.isVisible() && (await results.textContent()).includes(word),
    "/ searches the whole page", word);
  check(await page.locator(".hero").isHidden(), "results take the place of the summary");
  await page.keyboard.press("Escape");
  check(await page.locator(".hero").isVisible() && await results.isHidden(), "Esc ends the search");
}

/* Names are short; each is found as it is shown, as it is recorded, and cut in its middle. */
async function checkNames(page) {
  const name = page.locator("main > section:not(#g-appendix) .table tbody .name[title]").first();
  if (await name.count() === 0) {
    return;
  }
  const [said, full] = await name.evaluate((element) => [element.textContent, element.title]);
  check(said.length < full.length, "a name is shorter than what is recorded", `${said} ${full}`);
  const box = page.locator(".bar input[type=search]");
  for (const form of [said, full.slice(0, 200), `${said.slice(0, 12)}…${said.slice(-6)}`]) {
    await box.fill(form);
    check(await name.isVisible(), `it is found as ${form.slice(0, 40)}`);
  }
  await box.fill("");
}

/* The first findings are folded, since they stand on the first screen; its links open them. */
async function checkFirstFinding(page) {
  const link = page.locator(".first a").first();
  if (await link.count()) {
    await link.click();
    const id = (await link.getAttribute("href")).slice(1);
    check(await page.locator(`${byId(id)} .why, ${byId(id)} .advice`).first().isVisible(),
      "a link to a finding opens it");
  }
}

async function checkEvidence(page) {
  const links = page.locator('.evidence a[href^="#r-"]');
  if (await links.count() === 0) {
    return;
  }
  await (await unfold(links.first())).click();
  const cited = page.locator("tr.cited");
  check(await cited.count() === 1 && await cited.evaluate((row) => {
    const box = row.getBoundingClientRect();
    return box.top > 0 && box.bottom < innerHeight;
  }), "evidence leads to its row");
}

/* A box of a tree becomes as wide as the drawing, by mouse and by keys, and goes back. */
async function checkTree(page) {
  const tree = page.locator(".chart.nested").first();
  if (await tree.count() === 0) {
    return;
  }
  const boxes = tree.locator("rect[role=button]");
  const all = Number(await boxes.first().getAttribute("width"));
  const widths = await boxes.evaluateAll((list) => list.map((box) => Number(box.getAttribute("width"))));
  const small = widths.findIndex((width) => width > 8 && width < all / 2);
  if (small < 0) {
    return;
  }
  const box = boxes.nth(small);
  const wide = async () => Math.abs(Number(await box.getAttribute("width")) - all) < 2;
  await box.click();
  check(await wide(), "a click on a box zooms in");
  const hidden = await boxes.evaluateAll((list) =>
    list.filter((one) => one.getAttribute("visibility") === "hidden").length);
  check(hidden > 0, "boxes beside it are out of the way");
  await box.focus();
  await page.keyboard.press("Escape");
  for (let i = 0; i < 60 && Number(await boxes.nth(small).getAttribute("width")) > widths[small] + 1; i++) {
    await page.keyboard.press("Escape");
  }
  const back = await boxes.evaluateAll((list) => list.map((one) => Number(one.getAttribute("width"))));
  check(back.every((width, i) => Math.abs(width - widths[i]) < 0.5), "Escape zooms out again");
  await boxes.first().focus();
  await page.keyboard.press("ArrowDown");
  check(await page.evaluate(() => document.activeElement.getAttribute("role")) === "button" &&
    !await boxes.first().evaluate((one) => one === document.activeElement),
    "arrow keys walk through the boxes");
}

/* Rows of a table of calls are folded into their callers, and opened by keys. */
async function checkCalls(page) {
  const table = page.locator('.table[id="t-ops.call_tree"]');
  if (await table.count() === 0) {
    return;
  }
  const rows = table.locator("tbody tr"), folded = table.locator(".twist[aria-expanded=false]").first();
  if (await folded.count() === 0) {
    return;
  }
  const before = await rows.count();
  const depth = await folded.evaluate((one) => one.parentElement.style.getPropertyValue("--depth"));
  await folded.focus();
  await page.keyboard.press("ArrowRight");
  const focused = () => page.evaluate(() => document.activeElement.getAttribute("aria-expanded"));
  const first = () => page.evaluate(() => document.activeElement.closest("tr").nextElementSibling
    .querySelector(".node").style.getPropertyValue("--depth"));
  check(await rows.count() > before && await focused() === "true", "→ opens a caller");
  check(Number(await first()) === Number(depth) + 1, "what it calls stands to its right");
  await page.keyboard.press("ArrowLeft");
  check(await rows.count() === before && await focused() === "false", "← closes it");
  check(Number(await table.getAttribute("data-passes")) > 0.5,
    "the page says which share makes a chain of calls");
}

async function checkKeys(page) {
  await page.locator("main").focus();
  await page.keyboard.press("?");
  check(await page.locator("dialog").isVisible(), "? opens the help");
  await page.keyboard.press("Escape");
  check(await page.locator("dialog").isHidden(), "Esc closes it");
  const name = page.locator("tbody .name[tabindex='0']:visible").first();
  if (await name.count()) {
    const widths = () => name.evaluate((element) => Array.from(
      element.closest("table").querySelectorAll("thead th"), (head) => Math.round(head.offsetWidth)).join());
    const before = await widths();
    await name.focus();
    await page.keyboard.press("Enter");
    check(await name.getAttribute("aria-expanded") === "true", "Enter shows a long name in full");
    check(before === await widths(), "which leaves columns as wide as they are",
      `${before} ${await widths()}`);
    await page.keyboard.press("Enter");
  }
}

const backgroundOf = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

async function checkTheme(page) {
  const before = await backgroundOf(page);
  await page.getByRole("button", { name: "Light or dark" }).click();
  check(before !== await backgroundOf(page) && /theme=(dark|light)/.test(page.url()),
    "the theme can be changed");
}

/* On a usual screen no table needs to be moved sideways, unless it has more columns than fit with
 * names cut and small print. */
async function checkTables(page) {
  const columnsThatFit = 15;
  const wide = await page.evaluate((most) => Array.from(document.querySelectorAll(".table"))
    .filter((box) => box.querySelectorAll("thead th:not([hidden])").length <= most)
    .map((box) => [box.id, box.querySelector(".scroll")])
    .filter(([, scroll]) => scroll.scrollWidth > scroll.clientWidth)
    .map(([id, scroll]) => `${id} ${scroll.scrollWidth} px`), columnsThatFit);
  check(wide.length === 0, "tables fit at 1400 px", wide.join(", "));
}

/* The data of a chart fits once it is unfolded: its names make room as those of tables do. */
async function checkChartData(page) {
  const wide = await page.evaluate(async () => {
    const unfolded = Array.from(document.querySelectorAll("figure details"));
    unfolded.forEach((details) => { details.open = true; });
    await new Promise((done) => setTimeout(done, 300));
    return unfolded.map((details) => details.querySelector(".scroll"))
      .filter((scroll) => scroll.scrollWidth > scroll.clientWidth)
      .map((scroll) => `${scroll.getAttribute("aria-label")} ${scroll.scrollWidth} px`);
  });
  check(wide.length === 0, "data of charts fit at 1000 px", wide.join(", "));
}

async function checkWidths(page) {
  await page.setViewportSize({ width: 1400, height: 1000 });
  await checkTables(page);
  await page.setViewportSize({ width: 1000, height: 900 });
  await checkChartData(page);
  for (const width of [2560, 1280, 768, 360]) {
    await page.setViewportSize({ width, height: 900 });
    const extra = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    check(extra <= 0, `no horizontal overflow at ${width} px`, `${extra} px`);
  }
  await page.setViewportSize({ width: 1280, height: 900 });
}

/* Rows of a table are alike, and marks of a chart: axe takes minutes for all of them. */
const fewAlike = () => {
  document.querySelectorAll("tbody").forEach((body) =>
    Array.from(body.rows).slice(6).forEach((row) => row.remove()));
  document.querySelectorAll("svg, svg g").forEach((group) =>
    Array.from(group.children).slice(24).forEach((mark) => mark.remove()));
};

/* In the dark the markup is the same, and the colors are not. */
async function checkAccess(page) {
  const everything = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  await page.evaluate(fewAlike);
  await page.evaluate(axeSource());
  const light = await backgroundOf(page);
  for (const [colorScheme, runOnly] of [["light", everything], ["dark", ["color-contrast"]]]) {
    await page.emulateMedia({ colorScheme });
    const found = await page.evaluate((rules) => globalThis.axe.run(document, {
      resultTypes: ["violations"], runOnly: rules }), runOnly);
    const lines = found.violations.map((violation) =>
      `${violation.id} (${violation.nodes.length}) ${violation.nodes[0].html.slice(0, 120)}`);
    check(lines.length === 0, `axe finds nothing in ${colorScheme}`, lines.join("\n      "));
  }
  check(await backgroundOf(page) !== light, "the dark was dark");
}

async function checkLook(browser, file) {
  const page = await open(browser, file);
  await waitForTimeline(page);
  await checkWidths(page);
  await checkPaper(page);
  await checkAccess(page); /* last: it removes what is alike */
  await page.context().close();
}

async function checkWithoutScript(browser, file) {
  const page = await open(browser, file, { javaScriptEnabled: false });
  const rows = page.locator(".table tbody tr");
  check(await rows.first().isVisible() && await rows.last().isVisible() &&
    await page.locator("h1").isVisible() && await page.locator("button").count() === 0,
  "without scripts all can be read and no dead buttons show");
  await checkOverview(page);
  check(page.faults.every((fault) => /script/i.test(fault)), "and nothing fails",
    page.faults.join("; "));
  await page.context().close();
}

async function checkLinks(browser, file) {
  const first = await open(browser, file);
  const id = await largestTable(first);
  const numeric = first.locator(`${byId(id)} > .scroll thead th.n`);
  const key = await numeric.last().getAttribute("data-key");
  const section = await first.evaluate((table) =>
    document.getElementById(table).closest("section").id.slice(2), id);
  await first.context().close();
  const params = new URLSearchParams({ s: section, table: id.slice(2), sort: `${key},asc`,
    theme: "dark" });
  const page = await open(browser, file, { hash: `#${params}` });
  const head = page.locator(`${byId(id)} > .scroll thead th[data-key="${key}"]`);
  check(await head.getAttribute("aria-sort") === "ascending" &&
    await page.getAttribute("html", "data-theme") === "dark" &&
    await page.locator(byId(id)).evaluate((box) =>
      Math.abs(box.getBoundingClientRect().top) < innerHeight),
  "a deep link restores place, order and theme");
  await page.reload();
  check(await page.getAttribute("html", "data-theme") === "dark",
    "the theme stays with the address");
  const odd = await open(browser, file,
    { hash: "#s=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E&sort=__proto__,desc&q=%3Cb%3E" +
      "&theme=%22x" });
  check(odd.faults.length === 0 && await odd.locator("main b b, .results b").count() === 0,
    "a hostile address does nothing", odd.faults.join("; "));
  await odd.context().close();
  await page.context().close();
}

async function checkUse(browser, file) {
  const page = await open(browser, file);
  await checkMarkup(page);
  await checkSort(page);
  await checkFilter(page);
  await checkTools(page);
  await checkSearch(page);
  await checkCalls(page);
  await checkNames(page);
  await checkFirstFinding(page);
  await checkEvidence(page);
  await checkTree(page);
  await checkKeys(page);
  await checkTimeline(page);
  await checkTheme(page);
  check(page.faults.length === 0, "no errors in the console", page.faults.join("; "));
  check(page.requests.every((url) => url.split("#")[0] === page.address),
    "no requests but for the page itself", page.requests.join(" "));
  await checkPolicy(page); /* last: it provokes errors */
  await page.context().close();
}

await run(async (browser, file, number) => {
  await checkUse(browser, file);
  await checkLook(browser, file);
  await checkWithoutScript(browser, file);
  if (number === 0) {
    await checkLinks(browser, file);
    await checkTimelineLinks(browser, file);
  }
});
