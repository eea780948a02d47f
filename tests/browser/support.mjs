/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the checks share: the browser, a page that notes what it should not do, and counting.
 *
 * TA_CHROMIUM names the browser, TA_NODE_MODULES the folder of install.py; without it the packages
 * of `npm ci` in this folder are used. */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const skipped = 77;
const browserPath = process.env.TA_CHROMIUM ||
  ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
const modules = process.env.TA_NODE_MODULES;
const require = createRequire(modules ? pathToFileURL(`${modules}/`) : import.meta.url);

export function skip(why) {
  console.log(`skipped: ${why}`);
  process.exit(skipped);
}

/* What a package exports; the test is skipped when it is not there. */
function load(name) {
  try {
    return require(modules ? `${modules}/${name}` : name);
  } catch (error) {
    if (error.code !== "MODULE_NOT_FOUND") {
      throw error;
    }
    return skip(`no ${name}; run tests/browser/install.py or \`npm ci\``);
  }
}

export function axeSource() {
  return readFileSync(require.resolve(modules ? `${modules}/axe-core/axe.min.js`
    : "axe-core/axe.min.js"), "utf8");
}

/* ---- counting ------------------------------------------------------------------------------- */

let failures = 0;
let last = performance.now();

/* Says how long it took when that was long. */
export function check(holds, what, detail = "") {
  const seconds = (performance.now() - last) / 1000;
  const slow = seconds > 1 ? ` (${seconds.toFixed(1)} s)` : "";
  last += seconds * 1000;
  failures += !holds;
  console.log(holds ? `ok    ${what}${slow}` : `FAIL  ${what}${detail ? `: ${detail}` : ""}`);
}

/* ---- a page that notes what it should not do ------------------------------------------------ */

export async function open(browser, file, { hash = "", init = null, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 },
    acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.faults = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") {
      page.faults.push(message.text());
    }
  });
  page.on("pageerror", (error) => page.faults.push(error.message));
  page.on("dialog", (dialog) => {
    page.faults.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.requests = [];
  page.on("request", (request) => {
    if (!/^(data|blob):/.test(request.url())) {
      page.requests.push(request.url());
    }
  });
  if (init) {
    await page.addInitScript(init);
  }
  page.address = pathToFileURL(file).href;
  await page.goto(page.address + hash);
  return page;
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Runs the checks of all reports of the command line and ends the program: 0 when all hold, 1 when
 * one does not, 77 when there is no browser to ask. */
export async function run(checkReport) {
  const reports = process.argv.slice(2);
  if (reports.length === 0) {
    console.error("usage: node SCRIPT REPORT.html...");
    process.exit(2);
  }
  if (!browserPath || !existsSync(browserPath)) {
    skip("no Chromium (set TA_CHROMIUM)");
  }
  const { chromium } = load("playwright-core");
  const browser = await chromium.launch({ executablePath: browserPath,
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"] });
  try {
    for (const [number, file] of reports.entries()) {
      console.log(`== ${file}`);
      await checkReport(browser, file, number);
    }
  } finally {
    await browser.close();
  }
  console.log(failures ? `${failures} checks failed` : "all checks hold");
  process.exit(failures ? 1 : 0);
}

/* Opens the finding that a link stands in: the first ones are folded. */
export async function unfold(link) {
  await link.evaluate((element) => {
    const folded = element.closest("details.again");
    if (folded) {
      folded.open = true;
    }
  });
  return link;
}
