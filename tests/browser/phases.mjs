/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Phases, blocks and steps of a diffusion stand above the lanes of its ranks; rows of tables and
 * findings about them lead there.
 *
 *   node phases.mjs REPORT.html... */
import { check, open, run, unfold } from "./support.mjs";
import { waitForTimeline } from "./timeline.mjs";

const details = ".timeline .details", name = ".timeline .name-full";

/* Chooses the first slice of a name. */
async function find(page, text) {
  const box = page.getByRole("searchbox", { name: "Find slices by name" });
  await box.fill(text);
  await box.press("Enter");
  const count = await page.locator(".timeline .count").textContent();
  return Number(count.split(" ")[0]);
}

/* Of the report: 4 ranks, each with 4 blocks of 4 steps, which are decoded one by one. */
async function checkSlices(page) {
  for (const [text, n] of [["denoising step 3", 16], ["block 4", 4]]) {
    check(await find(page, text) === n, `${text} is there ${n} times`);
    check(await page.locator(name).textContent() === text, `${text} is found by its name`);
    check(/Track\s*Phases and steps/.test(await page.locator(details).textContent()),
      `${text} has a track of its own`, await page.locator(details).textContent());
  }
  check(await page.locator(".kinds li", { hasText: "Phase or step" }).isVisible(),
    "the legend names them");
}

/* They come first: the top lanes of the first rank are theirs. */
async function checkPlace(page) {
  await page.getByRole("searchbox", { name: "Find slices by name" }).fill("");
  await page.getByRole("button", { name: "Show all time" }).click();
  await page.locator(".timeline .view").evaluate((view) => { view.scrollTop = 0; });
  const canvas = page.locator(".timeline .view canvas");
  await canvas.scrollIntoViewIfNeeded();
  const box = await canvas.boundingBox();
  for (const [lane, wanted] of [[0, /^(denoise|VAE decode)$/], [1, /^block \d$/],
    [2, /^denoising step \d$/]]) {
    await page.mouse.click(box.x + box.width * 0.36, box.y + 22 + 24 + 8 + lane * 16);
    check(wanted.test(await page.locator(name).textContent()), `lane ${lane} has its kind`,
      await page.locator(name).textContent());
  }
}

/* The cell of a row that leads to where the device works. */
async function follow(page, table, row, wanted) {
  await page.evaluate((id) => {
    const fold = document.getElementById(id).closest("details.fold");
    if (fold)
      fold.open = true;
  }, `t-${table}`);
  const link = page.locator(`[id="t-${table}"] tbody tr`, { hasText: row }).first()
    .locator("a.timeline-link").last();
  await link.click();
  check(await page.locator(name).textContent() === wanted, `a row of ${table} leads to ${wanted}`,
    await page.locator(name).textContent());
}

async function checkLinks(page) {
  await follow(page, "phases.stages", "VAE decode", "VAE decode");
  await follow(page, "phases.stages", "denoise", "denoise");
  await follow(page, "diffusion.calls", "denoise", "denoising step 1");
  const cited = page.locator('.finding[id="f-rule.decoding"] a.timeline-link').first();
  check(/&sel=\d+,\d+/.test(await cited.getAttribute("href")), "a finding about a phase has its time",
    await cited.getAttribute("href"));
  await (await unfold(cited)).click();
  check(await page.locator(name).textContent() === "VAE decode", "and leads to the phase");
}

async function checkReport(browser, file) {
  const page = await open(browser, file);
  await waitForTimeline(page);
  await checkSlices(page);
  await checkPlace(page);
  await checkLinks(page);
  check(page.faults.length === 0, "without a fault", page.faults.join("; "));
  await page.context().close();
}

await run(checkReport);
