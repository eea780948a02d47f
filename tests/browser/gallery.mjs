/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes the pictures of a report that gallery.py shows, beside the page: its first screen at two
 * widths in both themes, each section, and what a reader makes of it.
 *
 *   node gallery.mjs REPORT.html... */
import { dirname, join } from "node:path";

import { open, run, unfold } from "./support.mjs";

const widths = [1280, 400], themes = ["light", "dark"];
const above = 80;     /* pixels of the page's head, which stays */
const tallest = 6000; /* more of a section says nothing new */

/* The window grows to a section's height: a picture of the whole page would be drawn each time. */
async function sections(page, picture) {
  const ids = await page.$$eval("main section[id]", (all) => all.map((section) => section.id));
  for (const id of ids) {
    const section = page.locator(`[id="${id}"]`);
    const box = await section.boundingBox();
    if (!box || box.height < 1) {
      continue;
    }
    await page.setViewportSize({ width: widths[0],
      height: Math.round(Math.min(box.height + above, tallest)) });
    await section.evaluate((element) => element.scrollIntoView());
    await page.screenshot({ path: picture(`section-${id}`) });
  }
}

/* What is there to see when something is done; a page without that has no such picture. */
const states = {
  async search(page) {
    await page.keyboard.press("/");
    await page.keyboard.type("attention");
  },
  async "search-nothing"(page) {
    await page.keyboard.press("/");
    await page.keyboard.type("no such thing");
  },
  async help(page) {
    await page.keyboard.press("?");
  },
  async "timeline-choice"(page) {
    const canvas = page.locator(".timeline .view canvas");
    await canvas.focus();
    await page.keyboard.press("]");
    await page.keyboard.press("w");
  },
  async "timeline-range"(page) {
    await page.locator(".timeline .view canvas").focus();
    for (const key of ["w", "w", "m", "r"]) {
      await page.keyboard.press(key);
    }
    await page.locator(".timeline .view").evaluate((view) => view.scrollIntoView());
  },
  async "timeline-full"(page) {
    await page.locator(".timeline .view canvas").focus();
    await page.keyboard.press("f");
    await page.keyboard.press("r");
  },
  async "timeline-hover"(page) {
    const canvas = page.locator(".timeline .view canvas");
    await canvas.scrollIntoViewIfNeeded();
    const box = await canvas.boundingBox();
    await page.mouse.move(box.x + box.width * 0.5, box.y + box.height * 0.4);
  },
  async "table-sorted"(page) {
    await page.locator(".table thead button").nth(1).click();
  },
  async "finding-followed"(page) {
    await (await unfold(page.locator(".finding .timeline-link").first())).click();
  },
};

run(async (browser, file) => {
  const picture = (name) => join(dirname(file), `${name}.png`);
  for (const width of widths) {
    for (const colorScheme of themes) {
      const page = await open(browser, file, { viewport: { width, height: 800 }, colorScheme });
      await page.waitForTimeout(500);
      await page.screenshot({ path: picture(`first-${width}-${colorScheme}`) });
      if (width === widths[0] && colorScheme === themes[0]) {
        await sections(page, picture);
      }
      await page.context().close();
    }
  }
  for (const [name, reach] of Object.entries(states)) {
    const page = await open(browser, file, { viewport: { width: widths[0], height: 800 } });
    page.setDefaultTimeout(2000);
    try {
      await page.waitForTimeout(500);
      await reach(page);
      await page.waitForTimeout(500);
      await page.screenshot({ path: picture(`state-${name}`) });
    } catch (error) {
      console.log(`no ${name}: ${error.message.split("\n")[0]}`);
    }
    await page.context().close();
  }
});
