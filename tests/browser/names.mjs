/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A kernel is found by the search of the page in the form in which any output prints its name.
 *
 *   node names.mjs FOLDER...   each with report.html, report.json, report.txt (of -v), report.md,
 *                              report.pdf (of --paper-detail full) */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { check, open, run } from "./support.mjs";

const id = "kernels.by_name", most = 10;

/* Names of the kernels with most of the time, as they were recorded. */
function kernels(folder) {
  const report = JSON.parse(readFileSync(`${folder}/report.json`, "utf8"));
  const tables = report.sections.flatMap((section) => section.items);
  const table = tables.find((item) => item.kind === "table" && item.id === id);
  return { title: table.title, names: table.rows.slice(0, most).map((row) => row[0]) };
}

/* The lines of a table of the terminal, after its head and before the line about its rows. */
function inText(folder, title) {
  const block = readFileSync(`${folder}/report.txt`, "utf8").split("\n\n")
    .find((part) => part.startsWith(`${title}\n`)).split("\n");
  const head = block.findIndex((line) => line.startsWith("  Kernel "));
  return block.slice(head + 1).filter((line) => !/^ {2}\d+ of \d+ rows|^ {2}\S \S/.test(line))
    .map((line) => line.trim().split(/\s{2,}/)[0]);
}

const markup = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };

function inMarkdown(folder, title) {
  const rows = readFileSync(`${folder}/report.md`, "utf8").split(`\n### ${title}\n`)[1]
    .split("\n").filter((line) => line.startsWith("| "));
  return rows.slice(2, 2 + most).map((line) => line.split(" | ")[0].slice(2)
    .replace(/^`+ ?| ?`+$/g, "").replace(/\\(.)/g, "$1")
    .replace(/&(lt|gt|amp);/g, (entity) => markup[entity]));
}

/* The labels of the chart, of one line each, in the order of the table. */
function inPdf(folder) {
  let text;
  try {
    text = execFileSync("pdftotext", ["-raw", `${folder}/report.pdf`, "-"],
      { encoding: "utf8", maxBuffer: 1 << 28 });
  } catch (error) {
    if (error.code === "ENOENT") {
      return null;
    }
    throw error;
  }
  const lines = text.split("\n"), at = lines.indexOf("Total Cumulative");
  return lines.slice(at + 1, at + 1 + most)
    .map((line) => line.replace(/ [\d.]+.(ns|µs|ms|s) [\d.]+.%$/, ""));
}

/* Whether the search shows the row of the kernel. */
async function finds(page, printed, kernel) {
  await page.locator(".bar input[type=search]").fill(printed);
  return page.evaluate(([table, name]) => Array.from(
    document.querySelectorAll(`[id="t-${table}"] tbody tr`)).some((row) => {
    const cell = row.cells[0], full = cell.querySelector("[title]");
    return row.checkVisibility() && (full ? full.title : cell.textContent) === name;
  }), [id, kernel]);
}

await run(async (browser, folder) => {
  const { title, names } = kernels(folder);
  const page = await open(browser, `${folder}/report.html`);
  const forms = { "report.json and CSV": names, terminal: inText(folder, title),
    "report.md": inMarkdown(folder, title), PDF: inPdf(folder) };
  for (const [form, printed] of Object.entries(forms)) {
    if (!printed) {
      console.log("no pdftotext: names of the PDF are not looked for");
      continue;
    }
    check(printed.length >= Math.min(5, names.length), `${form} has names`, String(printed.length));
    for (const [i, name] of names.slice(0, printed.length).entries()) {
      check(await finds(page, printed[i], name), `${form}: “${printed[i].slice(0, 60)}” is found`,
        `${printed[i]} of ${name}`);
    }
  }
  await page.context().close();
});
