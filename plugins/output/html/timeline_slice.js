/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What there is to know about one slice of the timeline, and which others belong to it. */

/* Slice i of a lane.  Its caller is the thread of the call that launched it, or of the operator
 * whose backward pass it is. */
function sliceOf(lane, i) {
  const { track, calls } = lane, { file } = track;
  return { lane, i, track, file, start: lane.starts[i], end: lane.ends[i], label: lane.labels[i],
    caller: calls && calls[i] >= 0 ? file.byNumber[calls[i]] : null,
    delay: calls ? lane.delays[i] : 0 };
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

/* Slices that belong to one, and how to say so. */
function relativesOf(timeline, slice) {
  const { caller, track } = slice, isOp = timeline.kindOf(slice.label) === "op";
  const origin = caller && sliceAt(timeline, caller, slice.start - slice.delay,
    isDevice(track) ? "runtime" : "op");
  const backward = isOp && backwardOf(slice);
  return [[origin, isDevice(track) ? "Go to its launch" : "Go to its forward pass"],
    [backward, "Go to its backward pass", true]].filter((one) => one[0]);
}

/* The facts of a slice as a list, with what can be done about it. */
function describeSlice(timeline, slice) {
  const { file, track, start, end } = slice, label = timeline.labels[slice.label];
  const exact = (ns) => `${timeText(ns)} (${grouped(ns)} ns)`;
  const facts = { Category: [timeline.kindNames[label.kind], label.category].filter(Boolean)
    .join(" · "), Start: exact(start - file.start), Duration: exact(end - start),
  Rank: String(file.rank), Track: track.name, Shapes: label.shapes,
  [isDevice(track) ? "Launched" : "Forward pass"]:
    slice.caller ? `${timeText(slice.delay)} before` : "" };
  const list = Object.entries(facts).filter((fact) => fact[1]).map(([title, text]) =>
    make("div", {}, make("dt", {}, title), make("dd", {}, text)));
  return [make("p", { class: "name-full" }, label.name), make("dl", {}, ...list),
    make("div", { class: "tools" },
      button("Zoom to it", () => timeline.show(2 * start - end, 2 * end - start)),
      button("Find all of this name", () => timeline.find(label.name)),
      ...timeline.relatives.map(([other, title]) =>
        button(title, () => timeline.choose(other, true))))];
}
