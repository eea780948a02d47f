/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens a report that was written with --assets=split: from file://, and as a host serves it that
 * forbids scripts and any style that is not a file of its own.
 *
 *   node split.mjs REPORT.html... */
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

import { check, run } from "./support.mjs";

/* What Jenkins sends with files that builds left behind, unless it is told otherwise. */
const policy = "sandbox; default-src 'none'; img-src 'self'; style-src 'self';";
const host = "http://ci.invalid/";

async function look(browser, url, prepare) {
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
  const complaints = [];
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  await prepare(page);
  await page.goto(url);
  /* The navigation stands beside the report only when the style sheet was taken. */
  const seen = await page.evaluate(() => ({
    display: getComputedStyle(document.querySelector(".layout")).display,
    ink: getComputedStyle(document.documentElement).getPropertyValue("--ink-compute"),
    within: document.querySelectorAll("style, script:not([src], [type='application/json'])").length,
    buttons: document.querySelectorAll(".actions button").length,
  })).catch((error) => ({ error: String(error) }));
  await page.close();
  return { ...seen, complaints };
}

async function checkReport(browser, file) {
  const local = await look(browser, pathToFileURL(file).href, async () => {});
  check(local.display !== "block" && local.ink, "the style is that of the file",
    JSON.stringify(local));
  check(local.within === 0, "nothing of it is left in the page", local.within);
  check(local.buttons > 0 && local.complaints.length === 0, "the script runs",
    JSON.stringify(local));
  const hosted = await look(browser, host + basename(file), (page) =>
    page.route(host + "**", (route) => route.fulfill({
      path: join(dirname(file), basename(new URL(route.request().url()).pathname)),
      headers: { "Content-Security-Policy": policy },
    })));
  check(hosted.display === local.display && hosted.ink === local.ink,
    "it is styled where only files may style", JSON.stringify(hosted));
  check(hosted.buttons === 0, "and readable without the script", JSON.stringify(hosted));
}

run(checkReport);
