/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What there is to know about one slice of the timeline, and which others belong to it. */

/* A slice is number i of a lane. */
class Slice {
  constructor(lane, i) {
    this.lane = lane;
    this.i = i;
  }

  get start() {
    return this.lane.starts[this.i];
  }

  get end() {
    return this.lane.ends[this.i];
  }

  get label() {
    return this.lane.labels[this.i];
  }

  get track() {
    return this.lane.track;
  }

  get file() {
    return this.lane.track.file;
  }

  /* The call that launched it, where it is a device activity: its thread. */
  get caller() {
    const { calls } = this.lane;
    return calls && calls[this.i] >= 0 ? this.file.byNumber[calls[this.i]] : null;
  }

  get delay() {
    return this.lane.delays[this.i];
  }
}

/* The slice of a track that begins at a time and has the wanted label. */
function sliceAt(track, time, isWanted) {
  for (const lane of track.lanes) {
    let i = firstOf(lane.n, (k) => lane.starts[k] >= time);
    for (; i < lane.n && lane.starts[i] === time; i++) {
      if (isWanted(lane.labels[i])) {
        return new Slice(lane, i);
      }
    }
  }
  return null;
}

function relativesOf(slice, isCall) {
  const launch = slice.caller && sliceAt(slice.caller, slice.start - slice.delay, isCall);
  return launch ? [{ slice: launch, title: "Go to its launch" }] : [];
}

/* The facts of a slice as a list, with what can be done about it. */
function describeSlice(timeline, slice) {
  const { file, track, start, end } = slice, label = timeline.labels[slice.label];
  const exact = (ns) => `${timeText(ns)} (${grouped(ns)} ns)`;
  const facts = { Category: [timeline.kindNames[label.kind], label.category].filter(Boolean)
    .join(" · "), Start: exact(start - file.start), Duration: exact(end - start),
  Rank: String(file.rank), Track: track.name, Shapes: label.shapes,
  Launched: slice.caller ? `${timeText(slice.delay)} before` : "" };
  const list = Object.entries(facts).filter((fact) => fact[1]).map(([title, text]) =>
    make("div", {}, make("dt", {}, title), make("dd", {}, text)));
  return [make("p", { class: "name-full" }, label.name), make("dl", {}, ...list),
    make("div", { class: "tools" },
      button("Zoom to it", () => timeline.show(2 * start - end, 2 * end - start)),
      button("Find all of this name", () => timeline.find(label.name)),
      ...timeline.relatives.map((other) =>
        button(other.title, () => timeline.choose(other.slice, true))))];
}
