/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How fast a timeline of a million slices is: from the bytes of the page to the first picture, each
 * picture at every zoom, and a search.  Times are those of the script alone, the best of several
 * loads, since other programs share the machine. */
import { check, open, run } from "./support.mjs";

const slicesLeast = 1e6, decodeMost = 2000, frameMost = 33, loads = 3, steps = 60;
/* The page is seen before it is read to its end and its script has worked. */
const paintMost = 0.75;
/* A search looks at each name once and at each slice once: it may take this share of the decoding,
 * and a picture, which draws what a screen holds, this share. */
const searchMost = 0.5, pictureMost = 0.05;

/* Measures every callback of requestAnimationFrame, and marks when the first one of the timeline
 * ends. */
const init = () => {
  globalThis.frames_ms = [];
  const request = globalThis.requestAnimationFrame.bind(globalThis);
  globalThis.requestAnimationFrame = (callback) => request((time) => {
    const start = performance.now();
    callback(time);
    globalThis.frames_ms.push(performance.now() - start);
    performance.mark("painted");
  });
  const inflate = globalThis.DecompressionStream;
  globalThis.DecompressionStream = class extends inflate {
    constructor(...given) {
      super(...given);
      performance.mark("inflate");
    }
  };
};

async function measure(page) {
  const canvas = page.locator(".timeline .view canvas");
  await canvas.waitFor({ timeout: 60000 });
  await page.waitForFunction(() => performance.getEntriesByName("painted").length > 0);
  const decode = await page.evaluate(() => performance.getEntriesByName("painted")[0].startTime -
    performance.getEntriesByName("inflate")[0].startTime);
  await canvas.focus();
  await page.evaluate(() => { globalThis.frames_ms = []; });
  for (let i = 0; i < steps; i++) {
    await page.keyboard.press(i < steps / 2 ? "w" : i % 3 ? "d" : "s");
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
  }
  const search = await page.getByRole("searchbox", { name: "Find slices by name" })
    .evaluate((box) => {
      const start = performance.now();
      box.value = "e";
      box.dispatchEvent(new Event("input", { bubbles: true }));
      return performance.now() - start;
    });
  const found = Number((await page.locator(".timeline .count").textContent())
    .replace(/\u202f/g, "").match(/^\d+/)[0]);
  const paint = await page.evaluate(() =>
    performance.getEntriesByName("first-contentful-paint")[0].startTime /
    performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd);
  const frames = await page.evaluate(() => globalThis.frames_ms);
  frames.sort((a, b) => a - b);
  return { decode, paint, search, found, frame: frames[Math.floor(frames.length * 0.95)] };
}

await run(async (browser, file) => {
  const best = { decode: Infinity, frame: Infinity, paint: Infinity, search: Infinity };
  let slices = 0, found = 0;
  for (let i = 0; i < loads; i++) {
    const page = await open(browser, file, { init, hash: "#s=timeline" });
    const times = await measure(page);
    slices = Number((await page.locator("#s-timeline .prose").textContent())
      .replace(/\u202f/g, "").match(/^\d+/)[0]);
    best.decode = Math.min(best.decode, times.decode);
    best.paint = Math.min(best.paint, times.paint);
    best.frame = Math.min(best.frame, times.frame);
    best.search = Math.min(best.search, times.search);
    found = times.found;
    check(page.faults.length === 0, "no errors in the console", page.faults.join("; "));
    await page.context().close();
  }
  check(slices >= slicesLeast, "the page has a million slices", String(slices));
  check(best.paint < paintMost, `first paint within ${paintMost} of the time until it is ready`,
    best.paint.toFixed(2));
  check(best.decode < decodeMost, `decoded and drawn within ${decodeMost} ms`,
    `${best.decode.toFixed(0)} ms`);
  check(best.frame < frameMost, `19 of 20 pictures within ${frameMost} ms`,
    `${best.frame.toFixed(1)} ms`);
  check(best.frame < pictureMost * best.decode, `and ${pictureMost} of the decoding`,
    (best.frame / best.decode).toFixed(3));
  check(found > slices / 2, "a search finds most of them", String(found));
  check(best.search < searchMost * best.decode, `it takes less than ${searchMost} of the decoding`,
    (best.search / best.decode).toFixed(3));
  console.log(`search ${best.search.toFixed(0)} ms, decode ${best.decode.toFixed(0)} ms, picture ${best.frame.toFixed(1)} ms (p95)`);
});
