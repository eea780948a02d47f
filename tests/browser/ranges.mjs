/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the timeline says of a range, against a count over the events of the trace.
 *
 *   node ranges.mjs REPORT.html; TA_TRACE names the trace of its rank 0 */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

import { check, open, run } from "./support.mjs";
import { waitForTimeline } from "./timeline.mjs";

const ns = (us) => Math.round(us * 1000);
const units = { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9 };

const events = JSON.parse(gunzipSync(readFileSync(process.env.TA_TRACE))).traceEvents
  .filter((event) => event.ph === "X");
const origin = Math.min(...events.map((event) => ns(event.ts)));
const spans = events.map(({ cat, name, ts, dur, tid, pid }) =>
  ({ cat, name, thread: `${pid}/${tid}`, start: ns(ts) - origin, end: ns(ts) + ns(dur) - origin }));
const works = ["kernel", "gpu_memcpy", "gpu_memset"];
const end = Math.max(...spans.map((span) => span.end));

/* Of the spans that lie in a range: how long all of them are, by what `key` says. */
function sumBy(list, from, to, key) {
  const sums = new Map();
  for (const span of list.filter((one) => one.start < to && one.end > from)) {
    const sum = sums.get(key(span)) || { time: 0, calls: 0 };
    sum.time += Math.min(to, span.end) - Math.max(from, span.start);
    sum.calls++;
    sums.set(key(span), sum);
  }
  return sums;
}

/* Time of a range that no span of a list covers, event by event. */
function uncovered(list, from, to) {
  const edges = list.flatMap((span) => [[Math.max(from, Math.min(to, span.start)), 1],
    [Math.max(from, Math.min(to, span.end)), -1]]);
  edges.push([from, 0], [to, 0]);
  edges.sort((a, b) => a[0] - b[0]);
  let free = 0, depth = 0, last = from;
  for (const [time, step] of edges) {
    free += depth === 0 ? time - last : 0;
    depth += step;
    last = time;
  }
  return free;
}

/* Own time of the calls of a thread: instants belong to the innermost one, the latest to begin. */
function ownTimes(list, from, to) {
  const sums = new Map();
  const times = [...new Set([from, to, ...list.flatMap((span) => [span.start, span.end])])]
    .filter((time) => time >= from && time <= to).sort((a, b) => a - b);
  for (let i = 1; i < times.length; i++) {
    const inner = list.filter((span) => span.start <= times[i - 1] && span.end >= times[i])
      .sort((a, b) => b.start - a.start || a.end - b.end)[0];
    if (inner) {
      sums.set(inner.name, (sums.get(inner.name) || 0) + times[i] - times[i - 1]);
    }
  }
  return sums;
}

/* Caption → first column → { calls, time in ns }. */
async function tables(page) {
  const rows = await page.$$eval(".timeline .sums", (all) => all.flatMap((table) =>
    Array.from(table.tBodies[0].rows, (row) => [table.caption.textContent,
      ...Array.from(row.cells, (cell) => cell.textContent)])));
  return rows.map(([caption, name, calls, text]) => {
    const [number, unit] = text.split(" ");
    return { caption, name, calls: Number(calls.replace(/\u202f/g, "") || 0),
      time: Number(number) * units[unit] };
  });
}

function same(row, sum, what) {
  check(row && sum && row.calls === sum.calls && Math.abs(row.time - sum.time) <=
    sum.time / 1000 + 1, what, JSON.stringify([row, sum]));
}

/* The id that a slice shares with its launch is the recorded one. */
async function checkIds(browser, file) {
  const kernels = events.filter((event) => event.cat === "kernel");
  const page = await open(browser, file, { hash: "#s=timeline&rank=0" });
  await waitForTimeline(page);
  const box = page.getByRole("searchbox", { name: "Find slices by name" });
  for (const { name } of [0.1, 0.5, 0.9].map((at) => kernels[Math.floor(kernels.length * at)])) {
    await box.fill(name);
    let text = "";
    for (let i = 0; i < 8 && !/Rank0/.test(text); i++) {
      await box.press("Enter");
      text = (await page.locator(".timeline .details").textContent()).replace(/\u202f/g, "");
    }
    const start = Number((text.match(/Start[^(]*\((\d+) ns/) || [])[1]);
    const id = Number((text.match(/Correlation(\d+)/) || [])[1]);
    check(kernels.some((event) => ns(event.ts) - origin === start &&
      event.args.correlation === id), `${name} has its correlation id`, text);
  }
  await page.context().close();
}

run(async (browser, file) => {
  await checkIds(browser, file);
  for (const [a, b] of [[0, 1], [0.2, 0.25], [0.31, 0.3102], [0.5, 0.8]]) {
    const [from, to] = [Math.round(end * a), Math.round(end * b)];
    const page = await open(browser, file, { hash: `#s=timeline&rank=0&sel=${from},${to}` });
    await waitForTimeline(page);
    const rows = await tables(page), of = (caption, name) =>
      rows.find((row) => row.caption.startsWith(caption) && row.name === name);
    const device = spans.filter((span) => works.includes(span.cat));
    const idle = uncovered(device, from, to), shown = of("GPU time by class", "Idle");
    check(idle === 0 ? !shown : shown && Math.abs(shown.time - idle) <= idle / 1000 + 1,
      `${from} to ${to}: idle time`, JSON.stringify([shown, idle]));
    const byCat = sumBy(device, from, to, (span) => span.cat === "kernel"
      ? /nccl/i.test(span.name) ? "Communication" : "kernel" : span.cat);
    for (const [name, key] of [["Communication", "Communication"], ["Copy", "gpu_memcpy"]]) {
      if (byCat.has(key)) {
        same(of("GPU time by class", name), byCat.get(key), `${name} as in the trace`);
      }
    }
    const kernels = rows.filter((row) => row.caption.startsWith("GPU time by class") &&
      !["Idle", "Communication", "Copy", "Memory set"].includes(row.name));
    const sum = kernels.reduce((all, row) => ({ calls: all.calls + row.calls,
      time: all.time + row.time }), { calls: 0, time: 0 });
    same(byCat.get("kernel") ? sum : { calls: 0, time: 0 },
      byCat.get("kernel") || { calls: 0, time: 0 }, "classes of kernels are all of them");
    const names = sumBy(device, from, to, (span) => span.name);
    for (const row of rows.filter((one) => names.has(one.name))) {
      same(row, names.get(row.name), `${row.name} as in the trace`);
    }
    if (b - a < 0.1) {
      const host = ["cpu_op", "cuda_runtime", "cuda_driver", "python_function"];
      const own = new Map();
      for (const thread of new Set(spans.map((span) => span.thread))) {
        ownTimes(spans.filter((span) => span.thread === thread && host.includes(span.cat)), from, to)
          .forEach((time, name) => own.set(name, (own.get(name) || 0) + time));
      }
      const calls = rows.filter((row) => row.caption.startsWith("Host") && own.has(row.name));
      check(calls.length > 0, "calls of the host are listed");
      for (const row of calls) {
        check(Math.abs(row.time - own.get(row.name)) <= row.time / 1000 + 1,
          `own time of ${row.name}`, JSON.stringify([row, own.get(row.name)]));
      }
    }
    check(page.faults.length === 0, "no faults", page.faults.join("; "));
    await page.context().close();
  }
});
