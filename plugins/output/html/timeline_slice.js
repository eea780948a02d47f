/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What there is to know about one slice of the timeline, and which others belong to it. */

/* Arrows that leave a slice, and calls of a stack that are named, at most. */
const arrowsMost = 64, stackMost = 12;

/* Slice i of a lane.  Its caller is the thread of the call that launched it, or of the operator
 * whose backward pass it is. */
function sliceOf(lane, i) {
  const { track, calls } = lane, { file } = track;
  return { lane, i, track, file, start: lane.starts[i], end: lane.ends[i], label: lane.labels[i],
    caller: calls && calls[i] >= 0 ? file.byNumber[calls[i]] : null,
    delay: calls ? lane.delays[i] : 0, correlation: calls ? lane.correlations[i] : 0 };
}

/* The innermost slice of a kind that begins at a time of a track. */
function sliceAt(timeline, track, time, kind) {
  for (const lane of [...track.lanes].reverse()) {
    let i = firstOf(lane.n, (k) => lane.starts[k] >= time);
    for (; i < lane.n && lane.starts[i] === time; i++) {
      if (timeline.kindOf(lane.labels[i]) === kind) {
        return sliceOf(lane, i);
      }
    }
  }
  return null;
}

/* What the backward pass does for an operator of the forward pass. */
function backwardOf({ file, track, start }) {
  const number = file.byNumber.indexOf(track);
  for (const lane of file.tracks.filter((one) => !isDevice(one)).flatMap((one) => one.lanes)) {
    const i = lane.calls ? lane.calls.findIndex((call, k) => call === number &&
      lane.starts[k] - lane.delays[k] === start) : -1;
    if (i >= 0) {
      return sliceOf(lane, i);
    }
  }
  return null;
}

/* What a call of the host launched, in the order in which devices did it. */
function launchedBy({ file, track, start, end }) {
  const number = file.byNumber.indexOf(track), found = [];
  for (const lane of file.tracks.filter(isDevice).flatMap((one) => one.busy)) {
    for (let i = lane.calls ? firstOf(lane.n, (k) => lane.starts[k] >= start) : lane.n;
      i < lane.n && found.length < arrowsMost; i++) {
      const call = lane.starts[i] - lane.delays[i];
      if (lane.calls[i] === number && call >= start && call < end) {
        found.push(sliceOf(lane, i));
      }
    }
  }
  return found.sort((a, b) => a.start - b.start);
}

/* Slices of a name and a group of ranks on the devices of a file, by start. */
function sameCalls(timeline, file, { name, args }) {
  const isSame = timeline.labels.map((label) => label.name === name &&
    label.args[groupArg] === args[groupArg]);
  return file.tracks.filter(isDevice).flatMap((track) => track.busy).flatMap((lane) =>
    Array.from({ length: lane.n }, (none, i) => i).filter((i) => isSame[lane.labels[i]])
      .map((i) => [lane, i])).sort((a, b) => a[0].starts[a[1]] - b[0].starts[b[1]]);
}

/* The same collective on the other ranks of its group: as many calls were before it there.  None
 * where their numbers differ. */
function peersOf(timeline, slice) {
  const label = timeline.labels[slice.label];
  if (timeline.files.length < 2 || timeline.kindOf(slice.label) !== "comm") {
    return [];
  }
  const group = label.args[groupArg], ranks = group ? group.match(/\d+/g) || [] : null;
  const own = sameCalls(timeline, slice.file, label);
  const at = own.findIndex(([lane, i]) => lane === slice.lane && i === slice.i);
  const others = timeline.files.filter((file) => file !== slice.file && file.rank !== null &&
    (!ranks || ranks.includes(String(file.rank))))
    .map((file) => sameCalls(timeline, file, label));
  return at >= 0 && others.every((calls) => calls.length === own.length)
    ? others.map((calls) => sliceOf(...calls[at])) : [];
}

/* Slices that belong to one, and the words that lead there: its origin first, then what follows. */
function relativesOf(timeline, slice, peers) {
  const { caller, track } = slice, kind = timeline.kindOf(slice.label);
  const origin = caller && sliceAt(timeline, caller, slice.start - slice.delay,
    isDevice(track) ? "runtime" : "op");
  const backward = kind === "op" && backwardOf(slice);
  const launched = ["op", "runtime"].includes(kind) ? launchedBy(slice) : [];
  return [[origin, isDevice(track) ? "Go to its launch" : "Go to its forward pass"],
    [backward, "Go to its backward pass", true], [launched[0], "Go to what it launched", true],
    ...launched.slice(1).map((one) => [one, "", true]),
    ...peers.map((one) => [one, "", true])].filter((one) => one[0]);
}

/* The calls around a moment of a thread, from the outermost on, and the innermost ones of many. */
function stackAt({ labels }, track, time) {
  const calls = track.lanes
    .filter((lane) => lane.n && hostKinds.includes(labels[lane.labels[0]].kind))
    .map((lane) => [lane, lane.after(time)])
    .filter(([lane, i]) => i < lane.n && lane.starts[i] <= time)
    .map(([lane, i]) => labels[lane.labels[i]].brief);
  return calls.length > stackMost ? ["…", ...calls.slice(-stackMost)] : calls;
}

/* When the ranks of a collective begin it. */
function describePeers(slice, peers) {
  const calls = [slice, ...peers].sort((a, b) => a.start - b.start);
  const first = calls[0], last = calls[calls.length - 1];
  return peers.length ? `Rank ${first.file.rank} begins it first, rank ${last.file.rank} last, ` +
    `${timeText(last.start - first.start)} later` : "";
}

function argText(text, arg) {
  const isBytes = arg === bytesArg && /^\d+$/.test(text);
  return isBytes ? `${valueText(Number(text), "bytes")} (${grouped(text)})` : text;
}

/* The facts of a slice as a list, with what can be done about it. */
function describeSlice(timeline, slice) {
  const { file, track, start, end, caller } = slice, label = timeline.labels[slice.label];
  const exact = (ns) => `${timeText(ns)} (${grouped(ns)} ns)`;
  const stack = isDevice(track) ? (caller ? stackAt(timeline, caller, start - slice.delay) : [])
    : stackAt(timeline, track, start).slice(0, -1);
  const facts = { Category: [timeline.kindNames[label.kind], label.category].filter(Boolean)
    .join(" · "), Start: exact(start - file.start), Duration: exact(end - start),
  Rank: file.rank === null ? "" : String(file.rank), Track: track.name, Shapes: label.shapes,
  ...Object.fromEntries(timeline.argNames.map((title, i) =>
    [title, argText(label.args[i], i)])),
  [isDevice(track) ? "Launched" : "Forward pass"]: caller ? `${timeText(slice.delay)} before` : "",
  Correlation: slice.correlation ? String(slice.correlation) : "",
  Ranks: describePeers(slice, timeline.peers),
  [isDevice(track) ? "Launched in" : "Called in"]: stack.join(" › ") };
  const list = Object.entries(facts).filter((fact) => fact[1]).map(([title, text]) =>
    make("div", {}, make("dt", {}, title), make("dd", {}, text)));
  return [make("p", { class: "name-full" }, label.name), make("dl", {}, ...list),
    make("div", { class: "tools" },
      button("Zoom to it", () => timeline.show(2 * start - end, 2 * end - start)),
      button("Find all of this name", () => timeline.find(label.name)),
      ...timeline.relatives.filter((one) => one[1]).map(([other, title]) =>
        button(title, () => timeline.choose(other, true))))];
}
