/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The slices of the timeline: from the bytes of timeline_pack.c to lanes that can be drawn, with
 * all times on the clock of the timeline. */

/* Of numbers near 0, whose sign is their lowest bit. */
function unzigzag(value) {
  return value % 2 ? -(value + 1) / 2 : value / 2;
}

/* Numbers in seven bits a byte.  Times are whole ns, exact up to 2^53. */
class Bytes {
  constructor(bytes, at) {
    this.bytes = bytes;
    this.at = at;
  }

  number() {
    let byte = this.bytes[this.at++];
    let value = byte & 127;
    for (let scale = 128; byte > 127; scale *= 128) {
      byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
    }
    return value;
  }

  signed() {
    return unzigzag(this.number());
  }

  text() {
    const n = this.number();
    this.at += n;
    return visible(utf8.decode(this.bytes.subarray(this.at - n, this.at)));
  }

  list(read) {
    return Array.from({ length: this.number() }, read);
  }
}

/* Numbers of enum ta_timeline_arg and enum ta_slice_kind, which timeline_pack.c checks.  Arguments
 * of a label, among them bytes and the ranks of a collective; kinds of slices: what devices do
 * first, then operators, runtime calls and other code of the host; annotations; phases, which say
 * what others are about. */
const labelArgs = 7, bytesArg = 3, groupArg = 6;
const deviceKinds = 12, hostKinds = [12, 13, 14], rangeKind = 15, phaseKind = 17;
/* Children of a block; blocks of blocks make a tree over the slices of a lane. */
const fan = 8;

/* The first of n for which a condition holds that holds for all behind it, too. */
function firstOf(n, holds) {
  let low = 0, high = n;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/* A row of slices that do not overlap, by start. */
class Lane {
  constructor(bytes, track, at) {
    this.track = track;
    this.at = at;
    this.n = bytes.number();
    this.leftOut = bytes.number();
    this.busySize = bytes.number();
    this.starts = new Float64Array(this.n);
    this.ends = new Float64Array(this.n);
    this.labels = new Uint32Array(this.n);
  }

  /* How long the slices of each block are in all, and of what kind most of that is. */
  build(labels) {
    let busy = new Float64Array(this.n), kinds = new Uint8Array(this.n);
    for (let i = 0; i < this.n; i++) {
      busy[i] = this.ends[i] - this.starts[i];
      kinds[i] = labels[this.labels[i]].kind;
    }
    this.levels = [{ busy, kinds }];
    while (busy.length > fan) {
      const sums = new Float64Array(Math.ceil(busy.length / fan));
      const most = new Uint8Array(sums.length), share = new Float64Array(16);
      for (let i = 0; i < sums.length; i++) {
        const end = Math.min((i + 1) * fan, busy.length);
        let sum = 0, best = -1;
        share.fill(0);
        for (let k = i * fan; k < end; k++) {
          const kind = kinds[k], own = share[kind] += busy[k];
          sum += busy[k];
          if (own > best) {
            best = own;
            most[i] = kind;
          }
        }
        sums[i] = sum;
      }
      busy = sums;
      kinds = most;
      this.levels.push({ busy, kinds });
    }
  }

  /* The first slice that ends after a time. */
  after(time) {
    return firstOf(this.n, (i) => this.ends[i] > time);
  }
}

/* Device activity, as against what threads of the host do. */
function isDevice(track) {
  return track.device !== null;
}

function readTrack(bytes, texts, file) {
  const text = () => texts[bytes.number()] || "";
  const track = { file, process: text(), thread: text(), pid: text(), tid: text() };
  const device = bytes.number();
  track.device = device ? (device % 2 ? (device - 1) / 2 : -device / 2) : null;
  const flags = bytes.number();
  track.hasLaunches = flags % 2 === 1;
  track.onlyWaits = flags > 1;
  track.lanes = bytes.list((none, at) => new Lane(bytes, track, at));
  const thread = track.thread || (isDevice(track) ? "stream " : "thread ") + track.tid;
  const process = isDevice(track) && track.device >= 0 ? `GPU ${track.device}`
    : [track.process, track.pid].filter(Boolean).join(" ");
  track.name = process ? `${process} · ${thread}` : thread;
  track.id = `${track.pid}/${track.tid}`;
  return track;
}

function readCounter(bytes, texts) {
  const text = () => texts[bytes.number()] || "";
  const counter = { process: text(), name: text(), series: text(), unit: text() };
  counter.n = bytes.number();
  counter.recorded = bytes.number();
  counter.integral = bytes.number() === 1;
  counter.times = new Float64Array(counter.n);
  counter.values = new Float64Array(counter.n);
  const own = counter.series && counter.series !== counter.name ? ` · ${counter.series}` : "";
  counter.id = `${counter.process}/${counter.name}${own}`;
  counter.name = [counter.process, counter.name + own].filter(Boolean).join(" · ");
  return counter;
}

/* Of files that tell no rank it is null. */
function rankText({ rank }) {
  return rank === null ? "No rank" : `Rank ${rank}`;
}

function readFile(bytes, texts) {
  const rank = bytes.signed(), path = texts[bytes.number()] || "";
  const file = { rank: Number.isSafeInteger(rank) ? rank : null, path };
  file.start = bytes.signed();
  file.end = file.start + bytes.number();
  file.binWidth = bytes.number();
  file.program = readTrack(bytes, texts, file);
  file.tracks = bytes.list(() => readTrack(bytes, texts, file));
  file.counters = bytes.list(() => readCounter(bytes, texts));
  return file;
}

function fillLane(lane, { hasLaunches, file }, columns) {
  const [gaps, durations, labels, calls, delays, correlations, busy] = columns;
  lane.calls = hasLaunches ? new Int32Array(lane.n) : null;
  lane.delays = hasLaunches ? new Float64Array(lane.n) : null;
  lane.correlations = hasLaunches ? new Float64Array(lane.n) : null;
  for (let i = 0, now = file.start, id = 0; i < lane.n; i++) {
    lane.starts[i] = now + gaps.number();
    lane.ends[i] = now = lane.starts[i] + durations.number();
    lane.labels[i] = labels.number();
    if (hasLaunches) {
      lane.calls[i] = calls.number() - 1;
      if (lane.calls[i] >= 0) {
        lane.delays[i] = delays.signed();
        const change = correlations.number();
        lane.correlations[i] = change ? id += unzigzag(change - 1) : 0;
      }
    }
  }
  lane.bins = [];
  lane.shares = [];
  for (let bin = -1, end = busy.at + lane.busySize; busy.at < end;) {
    bin += busy.number() + 1;
    lane.bins.push(file.start + bin * file.binWidth);
    lane.shares.push(busy.bytes[busy.at++] / 255);
  }
}

function fillCounter(counter, start, times, values) {
  const view = new DataView(values.bytes.buffer);
  for (let i = 0, time = start, value = 0; i < counter.n; i++) {
    counter.times[i] = time += times.signed();
    if (counter.integral) {
      counter.values[i] = value += values.signed();
    } else {
      counter.values[i] = view.getFloat64(values.at, true);
      values.at += 8;
    }
  }
  const finite = counter.values.filter(Number.isFinite);
  counter.least = finite.reduce((a, b) => Math.min(a, b), 0);
  counter.most = finite.reduce((a, b) => Math.max(a, b), counter.least);
}

/* A call around nearly all that a thread does tells nothing apart, nor do the few short ones beside
 * it: others are inside. */
function foldAncestors(track, labels) {
  const { lanes } = track, mostOf = 0.9;
  const isHost = (lane) => lane && lane.n > 0 &&
    [hostKinds[0], hostKinds[2]].includes(labels[lane.labels[0]].kind);
  const used = lanes.filter((lane) => lane.n);
  const from = Math.min(...used.map((lane) => lane.starts[0]));
  const to = Math.max(...used.map((lane) => lane.ends[lane.n - 1]));
  const isAround = (lane) => lane.ends.some((end, i) =>
    end - lane.starts[i] >= mostOf * (to - from));
  const last = isDevice(track) ? -1 : lanes.findLastIndex((lane, i) => isHost(lane) &&
    isHost(lanes[i + 1]) && isAround(lane));
  lanes.forEach((lane, i) => { lane.isCommon = i <= last && isHost(lane); });
}

function readTimeline(packed) {
  const bytes = new Bytes(packed, 0);
  const texts = [null, ...bytes.list(() => bytes.text())];
  const labels = bytes.list(() => {
    const name = texts[bytes.number()] || "(no name)", brief = texts[bytes.number()] || name;
    return { name, brief, category: texts[bytes.number()], shapes: texts[bytes.number()],
      args: Array.from({ length: labelArgs }, () => texts[bytes.number()]), kind: bytes.number() };
  });
  const files = bytes.list(() => readFile(bytes, texts));
  const columns = [];
  while (bytes.at < packed.length) {
    const n = bytes.number();
    columns.push(new Bytes(packed, bytes.at));
    bytes.at += n;
  }
  const [times, values] = columns.slice(-2);
  for (const file of files) {
    for (const track of [file.program, ...file.tracks]) {
      for (const lane of track.lanes) {
        fillLane(lane, track, columns);
        lane.build(labels);
      }
      /* What stands for the track where there is room for one row: the work of a device, the
       * outermost calls of a thread. */
      foldAncestors(track, labels);
      track.busy = isDevice(track)
        ? track.lanes.filter((lane) => lane.n && labels[lane.labels[0]].kind < deviceKinds)
        : track.lanes.slice(0, 1);
    }
    file.counters.forEach((one) => fillCounter(one, file.start, times, values));
  }
  return { labels, files };
}

/* ---- where to begin ------------------------------------------------------------------------ */

/* What lies in each of so many parts of a range: whether anything, counters between their first and
 * last sample too, and how long the work of devices is, of threads where there are none. */
function spread(files, from, to, bins) {
  const tracks = files.flatMap((file) => file.tracks), hasDevice = tracks.some(isDevice);
  const used = new Uint8Array(bins), work = new Float64Array(bins), perNs = bins / (to - from);
  const use = (start, end) => {
    const first = Math.max(0, Math.floor((start - from) * perNs));
    if (end >= from && start < to) {
      used.fill(1, first, Math.max(first + 1, Math.ceil((end - from) * perNs)));
    }
    return first;
  };
  for (const track of tracks) {
    for (const { n, starts, ends } of track.busy) {
      for (let i = 0; i < n; i++) {
        const first = use(starts[i], ends[i]);
        if (hasDevice === isDevice(track) && ends[i] >= from && starts[i] < to) {
          work[first] += ends[i] - starts[i];
        }
      }
    }
  }
  files.flatMap((file) => file.counters).forEach(({ times, n }) => use(times[0], times[n - 1]));
  return { used, work };
}

/* All of a range, but where most of it is one gap in which nothing was recorded: the side of that
 * with more work. */
function densest(files, from, to) {
  const bins = 2048, mostlyGap = 0.8;
  while (to - from > bins) {
    const { used, work } = spread(files, from, to, bins);
    let gap = 0, end = 0;
    for (let i = 0, run = 0; i < bins; i++) {
      run = used[i] ? 0 : run + 1;
      [gap, end] = run > gap ? [run, i + 1] : [gap, end];
    }
    if (gap < bins * mostlyGap) {
      break;
    }
    const sum = (part) => part.reduce((a, b) => a + b, 0);
    const isBefore = sum(work.subarray(0, end - gap)) >= sum(work.subarray(end));
    const at = (bin) => from + bin * (to - from) / bins;
    [from, to] = isBefore ? [from, at(end - gap)] : [at(end), to];
  }
  return [from, to];
}

/* ---- loading ------------------------------------------------------------------------------- */

/* The timeline; null where the browser cannot inflate. */
async function loadTimeline(element) {
  const bytes = await inflate(JSON.parse(element.textContent));
  if (bytes) {
    element.remove();
  }
  return bytes && readTimeline(bytes);
}
