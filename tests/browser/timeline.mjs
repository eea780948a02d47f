/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks of the timeline: it shows slices, zooms and moves, finds, links and says what it shows. */
import { check, open, unfold } from "./support.mjs";

const canvas = ".timeline .view canvas";

/* True once the timeline is drawn; false where the report has none. */
export async function waitForTimeline(page) {
  if (await page.locator(".timeline").count() === 0) {
    return false;
  }
  await page.locator(canvas).waitFor();
  await frame(page);
  return true;
}

/* Dumps have counters alone. */
async function hasSlices(page) {
  return /slice/.test(await page.locator("#s-timeline .prose").textContent());
}

/* Waits until what was asked for is on the canvas, and in the address. */
async function frame(page) {
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() =>
    requestAnimationFrame(done))));
}

/* The address is written when the view has been still for a while; the page itself waits, so that
 * a busy machine delays both. */
async function place(page) {
  await page.evaluate(() => new Promise((done) => setTimeout(() => requestAnimationFrame(() =>
    setTimeout(done, 400)), 50)));
  return new URLSearchParams(new URL(page.url()).hash.slice(1));
}

/* The stretch of time that is shown, as the address has it, or null for all of it. */
async function shown(page) {
  const times = (await place(page)).get("t");
  return times ? times.split(",").map(Number) : null;
}

/* Whether all time is shown. The address says nothing of where the page begins: of recordings far
 * apart that is one of them. */
async function showsAll(page) {
  const times = await shown(page);
  const begins = await page.locator(".timeline").getAttribute("data-begins");
  return times === null ? begins === "all" : begins === "part" && times[0] <= 0;
}

/* Hash of the picture, and how many colors besides the paper it has in the area of the slices. */
async function picture(page) {
  await frame(page);
  return page.evaluate((selector) => {
    const element = document.querySelector(selector);
    const { width, height } = element;
    const copy = Object.assign(document.createElement("canvas"), { width, height })
      .getContext("2d", { willReadFrequently: true });
    copy.drawImage(element, 0, 0);
    const data = copy.getImageData(0, 0, width, height).data;
    const colors = new Map();
    let hash = 0;
    for (let i = 0; i < data.length; i += 4) {
      const color = data[i] << 16 | data[i + 1] << 8 | data[i + 2];
      hash = (hash * 31 + color) >>> 0;
      if (i / 4 % width > width * 0.35) {
        colors.set(color, (colors.get(color) || 0) + 1);
      }
    }
    return { hash, colors: colors.size };
  }, canvas);
}

async function checkZoom(page) {
  const { colors } = await picture(page);
  check(colors > 3, "the timeline shows slices", `${colors} colors`);
  await page.locator(canvas).focus();
  await page.keyboard.press("Home");
  const all = await picture(page);
  await page.keyboard.press("w");
  await page.keyboard.press("w");
  const near = await shown(page);
  const closer = await picture(page);
  check(near !== null && closer.hash !== all.hash, "w zooms in", String(near));
  await page.keyboard.press("d");
  const moved = await shown(page);
  check(moved && moved[0] > near[0] && Math.abs(moved[1] - moved[0] - near[1] + near[0]) <= 2,
    "d moves on", `${near} ${moved}`);
  await page.keyboard.press("a");
  const back = await shown(page);
  check(back && Math.abs(back[0] - near[0]) <= 2, "a moves back", `${near} ${back}`);
  await page.keyboard.press("ArrowUp");
  const narrow = await shown(page);
  check(narrow && narrow[1] - narrow[0] < near[1] - near[0], "so do the arrows");
  await page.keyboard.press("Home");
  check(await showsAll(page) && (await picture(page)).hash === all.hash,
    "Home shows all again");
}

async function checkPointer(page) {
  const box = await page.locator(canvas).boundingBox();
  const x = box.x + box.width * 0.6, y = box.y + 60;
  await page.mouse.move(x, y);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -400);
  await page.keyboard.up("Control");
  /* Nobody waits for a wheel. */
  await page.waitForFunction(() => /[#&]t=/.test(location.hash), null, { timeout: 10000 })
    .catch(() => null);
  const near = await shown(page);
  check(near !== null, "Ctrl and the wheel zoom");
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x - 150, y, { steps: 4 });
  await page.mouse.up();
  const moved = await shown(page);
  check(moved && near && moved[0] > near[0], "dragging moves", `${near} ${moved}`);
  await page.keyboard.down("Shift");
  await page.mouse.move(x - 100, y);
  await page.mouse.down();
  await page.mouse.move(x + 100, y, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  const address = await place(page), range = (address.get("sel") || "").split(",").map(Number);
  const details = page.locator(".timeline .details");
  check(range.length === 2 && moved && range[0] >= moved[0] - 1 && range[1] <= moved[1] + 1,
    "Shift and dragging chooses a range", `${moved} ${range}`);
  check(/^Rank \d+: /.test(await details.textContent()), "which is summed up",
    await details.textContent());
  await page.getByRole("button", { name: "Zoom to it" }).click();
  const zoomed = await shown(page);
  check(zoomed && Math.abs(zoomed[0] - range[0]) <= 1 && Math.abs(zoomed[1] - range[1]) <= 1,
    "and can be zoomed to", `${zoomed} ${range}`);
  await page.locator(canvas).focus();
  await page.keyboard.press("Escape");
  check((await place(page)).get("sel") === null, "Escape clears it");
  await page.keyboard.press("m");
  check((await place(page)).get("m") !== null, "m sets a marker");
  await page.keyboard.press("m");
  check((await place(page)).get("m") === null, "and takes it away");
  /* The button has scrolled the page where the details are long. */
  await page.locator(canvas).scrollIntoViewIfNeeded();
  const ruler = (await page.locator(canvas).boundingBox()).y + 6;
  await page.mouse.click(x, ruler);
  check((await place(page)).get("m") !== null, "a click on the ruler sets one");
  await page.mouse.click(x, ruler);
  await page.getByRole("button", { name: "Show all time" }).click();
  check(await showsAll(page), "All shows everything");
}

async function checkChoice(page) {
  await page.locator(canvas).focus();
  await page.keyboard.press("]");
  const details = page.locator(".timeline .details");
  const first = await details.textContent();
  check(/Duration/.test(first) && /Start/.test(first) && /Rank/.test(first) && /Track/.test(first),
    "] chooses a slice and says what it is", first);
  const named = await place(page);
  check(named.get("track") && named.get("rank") !== null, "the address names its track",
    String(named));
  /* Slices may last as long as the run: all of it is shown then, and the next one is tried.  Of a
   * track with only such a slice nothing can be said. */
  let zoomed = false, last = false;
  for (let text = first; !zoomed && !last;) {
    await page.keyboard.press("Enter");
    zoomed = await shown(page) !== null;
    await page.keyboard.press("]");
    const next = await details.textContent();
    last = next === text;
    text = next;
  }
  check(zoomed || last, "Enter zooms to it", named.get("track"));
  const name = await details.locator(".name-full").textContent();
  await page.getByRole("button", { name: "Find all of this name" }).click();
  const count = await page.locator(".timeline .count").textContent();
  check(/^[1-9][\d\u202f]* found/.test(count), "all of its name are found", count);
  check((await place(page)).get("find") === null ||
    name.startsWith((await place(page)).get("find").slice(0, 20)), "the address holds the search");
  const find = page.getByRole("searchbox", { name: "Find slices by name" });
  await find.fill("no slice has this name");
  check(/^0 found/.test(await page.locator(".timeline .count").textContent()),
    "nothing is found where nothing is");
  await find.fill("");
  await page.locator(canvas).focus();
  await page.keyboard.press("Home");
}

/* A device slice leads to the call that launched it. */
async function checkLaunch(page) {
  const go = page.getByRole("button", { name: "Go to its launch" });
  const find = page.getByRole("searchbox", { name: "Find slices by name" });
  for (const word of ["kernel", "gemm", "cijk", "vectorized", "elementwise", "void"]) {
    await find.fill(word);
    await find.press("Enter");
    if (await go.count()) {
      await go.click();
      check(/Runtime call/.test(await page.locator(".timeline .details").textContent()),
        "a kernel leads to its launch");
      break;
    }
  }
  await find.fill("");
}

async function checkTheme(page) {
  const before = await picture(page);
  await page.getByRole("button", { name: "Light or dark" }).click();
  check((await picture(page)).hash !== before.hash, "the timeline follows the theme");
  await page.getByRole("button", { name: "Light or dark" }).click();
}

export async function checkTimeline(page) {
  if (!await waitForTimeline(page)) {
    return;
  }
  check(/^Timeline: /.test(await page.locator("#timeline-note").textContent()),
    "the page says which slices it holds");
  await checkZoom(page);
  await checkPointer(page);
  if (await hasSlices(page)) {
    await checkChoice(page);
    await checkLaunch(page);
  }
  await checkTheme(page);
}

/* ---- links and the page without its slices -------------------------------------------------- */

async function checkDeepLink(browser, file) {
  const page = await open(browser, file, { hash: "#s=timeline&t=1000,5000&rank=0" });
  await waitForTimeline(page);
  const box = await page.locator(canvas).boundingBox();
  check(box && box.y < 900, "a link to a time brings the timeline to the eye");
  await page.locator(canvas).focus();
  await page.keyboard.press("d");
  const times = await shown(page);
  check(times && times[0] >= 0 && times[1] <= 12000, "and shows that time", String(times));
  await page.context().close();
}

async function checkRowLinks(browser, file) {
  const page = await open(browser, file);
  await waitForTimeline(page);
  const link = page.locator("td a.timeline-link:visible, th a.timeline-link:visible").first();
  if (await link.count()) {
    const wanted = new URLSearchParams((await link.getAttribute("href")).slice(1));
    await link.click();
    await page.locator(canvas).focus();
    const [from, to] = wanted.get("sel").split(",").map(Number);
    const times = await shown(page);
    check(!times || (times[0] <= from && times[1] >= to), "a row leads to its time",
      `${wanted.get("sel")} ${times}`);
  }
  const cited = page.locator(".finding a.timeline-link").first();
  if (await cited.count()) {
    await page.evaluate(() => scrollTo(0, 0));
    await (await unfold(cited)).click();
    await frame(page);
    check(await page.locator(canvas).evaluate((element) => {
      const box = element.getBoundingClientRect();
      return box.top < innerHeight && box.bottom > 0;
    }), "a finding leads to the timeline");
  }
  check(page.faults.length === 0, "links of the timeline fail nowhere", page.faults.join("; "));
  await page.context().close();
}

/* Evidence with a name of slices, but no time of its own. */
async function checkNamedEvidence(browser, file) {
  const page = await open(browser, file);
  await waitForTimeline(page);
  const cited = page.locator(".finding a.timeline-link[href*='find=']").first();
  if (await cited.count()) {
    await (await unfold(cited)).click();
    await frame(page);
    check(/^[1-9][\d\u202f]* found/.test(await page.locator(".timeline .count").textContent()),
      "evidence with a name finds its slices");
    const details = await page.locator(".timeline .details").textContent();
    const times = await shown(page), { sel } = Object.fromEntries(await place(page));
    const [from, to] = (sel || "").split(",").map(Number);
    check(/Duration/.test(details) && to > from, "and chooses one of them", details);
    check(!times || (times[0] <= from && times[1] >= to), "which is in view", `${sel} ${times}`);
  }
  check(page.faults.length === 0, "such links fail nowhere", page.faults.join("; "));
  await page.context().close();
}

async function checkHostileLinks(browser, file) {
  for (const hash of ["#s=timeline&t=9e99,-1&rank=%3Cb%3E&track=x&find=%3Cimg%20src=x%3E",
    "#t=5,1&rank=0", "#t=99999999999999999999,999999999999999999999999"]) {
    const page = await open(browser, file, { hash });
    await waitForTimeline(page);
    await page.locator(canvas).focus();
    await page.keyboard.press("w");
    const times = await shown(page);
    check(page.faults.length === 0 && (!times || times.every(Number.isFinite)),
      `${hash.slice(0, 24)} does no harm`, page.faults.join("; ") + times);
    await page.context().close();
  }
}

async function checkOldBrowser(browser, file) {
  const page = await open(browser, file, { init: "delete globalThis.DecompressionStream" });
  await page.waitForFunction(() => document.querySelector(".timeline .missing"));
  check(await page.locator("#c-timeline svg").isVisible(),
    "a browser that cannot inflate shows the overview and says why");
  check(page.faults.length === 0, "and fails nowhere", page.faults.join("; "));
  await page.context().close();
}

async function hasOverview(page) {
  return await page.locator(".timeline").count() > 0 && await hasSlices(page);
}

/* Of a page without its script. */
export async function checkOverview(page) {
  if (await hasOverview(page)) {
    check(await page.locator("#c-timeline svg").isVisible() &&
      !await page.locator(".timeline").isVisible(), "without scripts the overview stands alone");
  }
}

const pagesMost = 8;

/* Of a page that is printed; it is on the screen again afterwards. */
export async function checkPaper(page) {
  if (await hasOverview(page)) {
    await page.emulateMedia({ media: "print" });
    check(!await page.locator("#s-timeline").isVisible() &&
      !await page.locator("#g-appendix").isVisible() && await page.locator("#g-findings").isVisible(),
    "paper shows the short form");
    await page.emulateMedia({ media: null });
  }
  const pages = (await page.pdf({ format: "A4" })).toString("latin1").match(/\/Type\s*\/Page\b/g);
  check(pages.length <= pagesMost, `print gives at most ${pagesMost} pages`, `${pages.length}`);
}

export async function checkTimelineLinks(browser, file) {
  const page = await open(browser, file);
  const has = await waitForTimeline(page) && await hasSlices(page);
  await page.context().close();
  if (!has) {
    return;
  }
  await checkDeepLink(browser, file);
  await checkChoiceLink(browser, file);
  await checkRowLinks(browser, file);
  await checkNamedEvidence(browser, file);
  await checkHostileLinks(browser, file);
  await checkOldBrowser(browser, file);
}

/* What is chosen is in the address: the page opened with it shows the same. */
async function checkChoiceLink(browser, file) {
  const page = await open(browser, file, { hash: "#s=timeline" });
  await waitForTimeline(page);
  for (const keys of ["r", "]"]) {
    await page.locator(canvas).focus();
    await page.keyboard.press("w");
    await page.keyboard.press(keys);
    await place(page);
    const wanted = await page.locator(".timeline .details").textContent();
    const again = await open(browser, file, { hash: new URL(page.url()).hash });
    await waitForTimeline(again);
    check(await again.locator(".timeline .details").textContent() === wanted,
      `what ${keys} chooses is in the address`, new URL(page.url()).hash);
    const { t } = Object.fromEntries(await place(again));
    check(t === (await place(page)).get("t"), "and what is seen", new URL(again.url()).hash);
    await again.context().close();
  }
  await page.context().close();
}
