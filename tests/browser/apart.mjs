/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of two recordings far apart the timeline begins with the one that has more work, and shows both
 * when asked to.
 *
 *   node apart.mjs REPORT.html... */
import { check, open, run } from "./support.mjs";
import { waitForTimeline } from "./timeline.mjs";

/* `timeline` is within the page's script; what is shown is in the address once it is not home. */
async function shown(page) {
  const text = await page.evaluate(() => new Promise((done) => setTimeout(() =>
    done(new URLSearchParams(location.hash.slice(1)).get("t")), 800)));
  return text ? text.split(",").map(Number) : null;
}

async function checkReport(browser, file) {
  const page = await open(browser, file);
  await waitForTimeline(page);
  const details = page.locator(".timeline .details");
  check(/Recordings lie far apart/.test(await details.textContent()), "it says what it shows");
  check(await shown(page) === null, "as long as nobody moves, the address says nothing");
  await page.getByRole("button", { name: "Zoom out" }).click();
  const near = await shown(page);
  check(near && near[0] > 199e9 && near[1] - near[0] < 3e6, "it begins with the second one",
    String(near));
  await page.getByRole("button", { name: "Show all time" }).click();
  const all = await shown(page);
  check(all && all[0] === 0 && all[1] > 199e9, "All shows both", String(all));
  check(page.faults.length === 0, "without a fault", page.faults.join("; "));
  await page.context().close();
}

await run(checkReport);
