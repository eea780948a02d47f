/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What happened in a stretch of the timeline: what devices ran by class and name, how long they
 * were idle, and what threads of the host did meanwhile. */

const rangeRows = 8;

/* Slices i of a lane that lie in a range, with how much of each does. */
function* within(lane, from, to) {
  for (let i = lane.after(from); i < lane.n && lane.starts[i] < to; i++) {
    yield [i, Math.min(to, lane.ends[i]) - Math.max(from, lane.starts[i])];
  }
}

function addTo(sums, key, time, calls) {
  const sum = sums.get(key) || { time: 0, calls: 0 };
  sums.set(key, { time: sum.time + time, calls: sum.calls + calls });
}

/* Adds a stretch to others that begin before it, in order and without overlap. */
function addStretch(stretches, start, end) {
  const last = stretches[stretches.length - 1];
  if (last && start <= last[1]) {
    last[1] = Math.max(last[1], end);
  } else {
    stretches.push([start, end]);
  }
}

/* Stretches of a range in which slices of some lanes run. */
function runsOf(lanes, from, to) {
  const runs = [];
  lanes.flatMap((lane) => Array.from(within(lane, from, to), ([i]) =>
    [Math.max(from, lane.starts[i]), Math.min(to, lane.ends[i])])).sort((a, b) => a[0] - b[0])
    .forEach(([start, end]) => addStretch(runs, start, end));
  return runs;
}

/* What was left out of a lane for its size, as far as it lies in a range. */
function leftOutOf({ bins, shares, track }, from, to) {
  const { binWidth } = track.file;
  return bins.reduce((sum, time, i) => sum + shares[i] *
    Math.max(0, Math.min(to, time + binWidth) - Math.max(from, time)), 0);
}

/* Two lists of stretches as one. */
function unite(a, b) {
  const stretches = [];
  for (let i = 0, k = 0; i < a.length || k < b.length;) {
    const isFirst = k === b.length || (i < a.length && a[i][0] <= b[k][0]);
    addStretch(stretches, ...(isFirst ? a[i++] : b[k++]));
  }
  return stretches;
}

/* Own times of what a thread does: without what is called in it, which is in the lanes below. */
function addThread(timeline, track, from, to, names) {
  let below = [];
  const isHost = (lane) => lane.n > 0 && hostKinds.includes(timeline.labels[lane.labels[0]].kind);
  for (const lane of track.lanes.filter(isHost).reverse()) {
    const own = [];
    let at = 0;
    for (const [i, time] of within(lane, from, to)) {
      const start = Math.max(from, lane.starts[i]), end = Math.min(to, lane.ends[i]);
      let inner = 0;
      while (at < below.length && below[at][1] <= start) {
        at++;
      }
      for (let k = at; k < below.length && below[k][0] < end; k++) {
        inner += Math.min(end, below[k][1]) - Math.max(start, below[k][0]);
      }
      addTo(names, lane.labels[i], time - inner, 1);
      own.push([start, end]);
    }
    below = unite(below, own);
  }
}

/* Of one file: sums by class and label of devices, by label of threads, and idle time. */
function sumRange(timeline, file, from, to) {
  const sums = { classes: new Map(), kernels: new Map(), host: new Map(), devices: 0, threads: 0,
    idle: 0, short: 0, gaps: [] };
  const devices = new Map();
  for (const track of file.tracks.filter((one) => one.busy && !one.onlyWaits)) {
    if (!isDevice(track)) {
      const before = sums.host.size;
      addThread(timeline, track, from, to, sums.host);
      sums.threads += sums.host.size > before;
      continue;
    }
    devices.set(track.device, [...(devices.get(track.device) || []), ...track.busy]);
    for (const lane of track.busy) {
      for (const [i, time] of within(lane, from, to)) {
        addTo(sums.classes, timeline.labels[lane.labels[i]].kind, time, 1);
        addTo(sums.kernels, lane.labels[i], time, 1);
      }
    }
  }
  sums.devices = devices.size;
  for (const lanes of devices.values()) {
    const busy = runsOf(lanes, from, to).reduce((sum, [start, end]) => sum + end - start, 0);
    const short = lanes.reduce((sum, lane) => sum + leftOutOf(lane, from, to), 0);
    sums.short += short;
    sums.idle += Math.max(0, to - from - busy - short);
  }
  return sums;
}

/* Sums by label as sums by name. */
function byName(timeline, sums) {
  const names = new Map();
  sums.forEach(({ time, calls }, label) => addTo(names, timeline.labels[label].brief, time, calls));
  return names;
}

/* A name that keeps its end where it is too long. */
function nameOf(text) {
  const at = text.length > 24 ? Math.floor(text.length * 0.6) : text.length;
  return make("span", { class: "name", "data-tip": text }, make("span", {}, text.slice(0, at)),
    make("span", {}, text.slice(at)));
}

/* The rows with most time, and the others as one. */
function rangeTable(caption, what, sums, whole) {
  const rows = [...sums].filter((row) => row[1].time > 0).sort((a, b) => b[1].time - a[1].time);
  const rest = rows.splice(rangeRows);
  const add = (key) => rest.reduce((sum, row) => sum + row[1][key], 0);
  if (rest.length) {
    rows.push([`${grouped(rest.length)} others`, { time: add("time"), calls: add("calls") }]);
  }
  const head = [what, "Slices", "Time", whole && "Share"].filter(Boolean);
  const row = ([name, { time, calls }]) => make("tr", {},
    make("th", { scope: "row" }, nameOf(name)),
    ...[calls ? grouped(calls) : "", timeText(time),
      whole && `${(time / whole * 100).toFixed(1)} %`].filter((text) => text !== 0)
      .map((text) => make("td", {}, text)));
  return rows.length ? [make("table", { class: "sums" }, make("caption", {}, caption),
    make("thead", {}, make("tr", {}, ...head.map((title) => make("th", { scope: "col" }, title)))),
    make("tbody", {}, ...rows.map(row)))] : [];
}

/* The work that ends an idle stretch of a device, after its launch. */
function endOfGap(timeline, file, from, to) {
  let first = null;
  for (const lane of file.tracks.filter(isDevice).flatMap((track) => track.busy)) {
    const i = lane.after(to);
    if (i < lane.n && lane.starts[i] >= (from + to) / 2 &&
        (!first || lane.starts[i] < first.start)) {
      first = sliceOf(lane, i);
    }
  }
  const launch = first && first.caller &&
    sliceAt(timeline, first.caller, first.start - first.delay, "runtime");
  return { first, launch };
}

/* Why devices did nothing: who is late with the work that ends it. */
function describeGap(timeline, { first, launch }) {
  const name = (slice) => timeline.labels[slice.label].brief;
  return first ? [make("p", {}, "All devices of the rank are idle here. It ends with ",
    make("b", {}, name(first)), launch ? `, which ${launch.track.name} launches ` +
      `${timeText(first.delay)} before, by ${name(launch)}.` : ".")] : [];
}

/* The sums of a stretch of time of a rank, with what can be done about it. */
function describeRange(timeline, { file, from, to, why }) {
  const sums = sumRange(timeline, file, from, to), span = to - from, whole = span * sums.devices;
  const of = `${timeText(span)}${sums.devices > 1 ? ` × ${sums.devices} devices` : ""}`;
  const classes = new Map([...sums.classes].map(([kind, sum]) => [timeline.kindNames[kind], sum]));
  addTo(classes, "Too short for this page", sums.short, 0);
  addTo(classes, "Idle", sums.idle, 0);
  const isGap = sums.devices > 0 && sums.idle > 0.9 * whole;
  const gap = isGap ? endOfGap(timeline, file, from, to) : {};
  timeline.arrows = gap.launch ? [[gap.launch, gap.first]] : [];
  const host = rangeTable("Host threads, own time", "Call", byName(timeline, sums.host),
    sums.threads > 1 ? 0 : span);
  const devices = [...rangeTable(`GPU time by class, share of ${of}`, "Class", classes, whole),
    ...rangeTable(`GPU time by name, share of ${of}`, "Name", byName(timeline, sums.kernels),
      whole)];
  return [make("p", { class: "name-full" },
    `${rankText(file)}: ${timeText(span)} from ${timeText(from - file.start)}`),
  ...(why ? [make("p", { class: "cause" }, why)] : []),
  ...(isGap ? describeGap(timeline, gap) : []),
  make("div", { class: "spent" }, ...(isGap ? [...host, ...devices] : [...devices, ...host])),
  make("div", { class: "tools" }, button("Zoom to it", () => timeline.show(from, to)),
    ...(gap.first ? [button("Go to what ends it", () => timeline.choose(gap.first, true))] : []),
    button("Clear", () => timeline.clear()))];
}
