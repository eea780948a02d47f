/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The timeline as readers use it: what of it is seen, chosen and found, and links to a place. */

const byNumber = new Intl.Collator("en", { numeric: true });

/* Lanes of a track that are drawn: those that tell its slices apart. */
function lanesOf({ open, lanes }) {
  return open ? lanes : lanes.filter((lane) => !lane.isCommon).slice(0, fewLanes);
}

function hasMore(track) {
  return track.lanes.length > fewLanes || track.lanes.some((lane) => lane.isCommon);
}

class Timeline {
  constructor(box, data) {
    const items = all(".kinds li", box);
    Object.assign(this, data, { box, chosen: null, peers: [], relatives: [],
      arrows: [], range: null, marks: [], wanted: null });
    this.kindInks = items.map((item) => item.dataset.ink);
    this.argNames = box.dataset.args.split("|");
    this.kindNames = items.map((item) => item.textContent);
    items.forEach((item, i) => { item.hidden = !this.labels.some((label) => label.kind === i); });
    this.end = Math.max(1, ...this.files.map((file) => file.end));
    this.start = Math.min(0, ...this.files.map((file) => file.start));
    this.home = densest(this.files, this.start, this.end);
    this.files.forEach((file, i) => this.arrange(file, i < 8));
    [this.from, this.to] = this.home;
    this.build();
    this.layOut();
    watchTimeline(this);
  }

  /* What the program does comes first, then devices; the one with most slices stands for a rank
   * that is closed. */
  arrange(file, mayOpen) {
    const size = (track) => track.lanes.reduce((n, lane) => n + lane.n, 0);
    file.open = mayOpen && file.start < this.home[1] && file.end > this.home[0];
    file.byNumber = file.tracks;
    file.tracks = file.tracks.filter((track) => track.lanes.length);
    file.all = [...file.tracks].sort((a, b) => isDevice(b) - isDevice(a) || a.device - b.device ||
      (isDevice(a) && byNumber.compare(a.tid, b.tid)));
    file.waiting = file.all.filter((track) => track.onlyWaits);
    file.all = file.all.filter((track) => !track.onlyWaits);
    file.main = file.all.reduce((a, b) => isDevice(a) === isDevice(b) && size(b) > size(a) ? b : a,
      file.all[0]);
    if (file.program.lanes.length) {
      file.tracks.push(file.program);
      file.all.unshift(file.program);
    }
  }

  /* ---- parts */

  build() {
    this.input = make("input", { type: "search", placeholder: "Find slices",
      "aria-label": "Find slices by name" });
    on(this.input, "input", () => this.find(this.input.value));
    on(this.input, "keydown", (event) => {
      if (event.key === "Enter") {
        this.step(event.shiftKey ? -1 : 1);
      }
    });
    this.count = make("span", { class: "count", role: "status" });
    const tools = make("div", { class: "tools" }, this.input, this.count,
      button("‹", () => this.step(-1), { "aria-label": "Previous slice found" }),
      button("›", () => this.step(1), { "aria-label": "Next slice found" }),
      button("−", () => this.zoom(2), { "aria-label": "Zoom out" }),
      button("+", () => this.zoom(0.5), { "aria-label": "Zoom in" }),
      button("All", () => this.showAll(), { "aria-label": "Show all time" }),
      button("Sums", () => this.selectShown(),
        { "data-tip": "What ran in the time that is shown, by class and name",
          "aria-label": "Sums of the time that is shown" }),
      ...(document.fullscreenEnabled ? [button("Full screen", () => this.toggleFull())] : []),
      button("Copy link", async () => {
        this.remember();
        announce(await copyText(location.href) ? "Link copied" : "The browser does not allow it");
      }));
    this.mini = make("canvas", { class: "mini", "aria-hidden": "true" });
    this.canvas = make("canvas", { tabindex: "0", role: "application",
      "aria-roledescription": "timeline", "aria-label": "Timeline. w and s zoom, a and d move, " +
      "[ and ] step through slices, Page Up and Page Down scroll, Enter zooms to the slice, r sums " +
      "up what is shown, m sets a marker, f fills the screen, Escape clears." });
    this.room = make("div");
    this.view = make("div", { class: "view" }, this.canvas, this.room);
    const partial = this.home[1] - this.home[0] < this.end - this.start;
    this.box.dataset.begins = partial ? "part" : "all";
    const others = "Recordings lie far apart: this is the one with most work, All shows the others. ";
    this.advice = make("p", {}, (partial ? others : "") + "Choose a slice to see what it is. Drag " +
      "moves, Ctrl and wheel zooms. Shift and drag, or a drag along the ruler, sums up a range; a " +
      "click on the ruler sets a marker.");
    this.details = make("div", { class: "details", "aria-live": "polite" }, this.advice);
    this.box.prepend(tools);
    this.box.append(this.mini, this.view, this.details, ...all("#timeline-note"));
    this.painter = new Painter(this.canvas, this.labels);
    this.miniPainter = new Painter(this.mini, this.labels);
  }

  layOut() {
    let y = rulerHeight;
    this.rows = [];
    const add = (row) => {
      this.rows.push({ ...row, y });
      y += row.height;
    };
    for (const file of this.files) {
      add({ file, height: headHeight });
      const addTrack = (track) => {
        const lanes = lanesOf(track), least = hasMore(track) ? headHeight + 14 : 0;
        add({ file, track, lanes, height: Math.max(lanes.length * laneHeight + rowGap, least) });
      };
      (file.open ? file.all : []).forEach(addTrack);
      if (file.open && file.waiting.length) {
        add({ file, waits: true, height: headHeight });
        (file.showsWaiting ? file.waiting : []).forEach(addTrack);
      }
      for (const counter of file.open ? file.counters : []) {
        add({ file, counter, height: counterHeight });
      }
    }
    this.room.style.height = `${y}px`;
    this.view.style.height = `${Math.min(y + 2, Math.max(260, innerHeight * 0.68))}px`;
    this.draw();
  }

  toggleFull() {
    if (document.fullscreenElement) {
      document.exitFullscreen();
    } else if (document.fullscreenEnabled) {
      this.box.requestFullscreen().catch(() => announce("The browser does not allow it"));
    }
  }

  draw() {
    this.waiting = this.waiting || requestAnimationFrame(() => {
      this.waiting = 0;
      if (this.view.clientWidth) {
        this.inks = this.inks || readInks(this.kindInks);
        paintTimeline(this);
      }
    });
  }

  /* Opens or closes what a row stands for. */
  press({ file, track, counter, waits }) {
    const part = track || (counter ? {} : file);
    if (waits) {
      file.showsWaiting = !file.showsWaiting;
    } else {
      part.open = !part.open;
    }
    this.layOut();
  }

  /* ---- places */

  boxOf({ lane, start, end }) {
    const row = this.rows.find((one) => one.track === lane.track);
    const at = row ? row.lanes.indexOf(lane) : -1;
    return at < 0 ? null : { x: this.painter.x(start), end: this.painter.x(end),
      y: row.y + at * laneHeight };
  }

  /* The slice under a point of the canvas; one within 3 pixels where slices are thin. */
  hit(x, y) {
    const below = y + this.view.scrollTop;
    const row = y < rulerHeight ? null
      : this.rows.find((one) => below >= one.y && below < one.y + one.height);
    const at = row && row.track ? Math.floor((below - row.y) / laneHeight) : -1;
    if (at < 0 || at >= row.lanes.length || x < this.painter.left) {
      return { row };
    }
    const lane = row.lanes[at], time = this.time(x), near = 3 / this.painter.perNs;
    let i = lane.after(time);
    if (i && (i === lane.n || lane.starts[i] > time) && time - lane.ends[i - 1] < near) {
      i--;
    }
    return { row, slice: i < lane.n && lane.starts[i] - near <= time ? sliceOf(lane, i) : null };
  }

  time(x) {
    return this.painter.time(x);
  }

  /* The row at a height of the canvas; below the ruler the first one that is seen. */
  rowAt(y) {
    const below = Math.max(y, rulerHeight) + this.view.scrollTop;
    return this.rows.find((one) => below < one.y + one.height) || this.rows[this.rows.length - 1];
  }

  show(from, to) {
    const most = this.end - this.start, span = Math.min(most, Math.max(20, to - from));
    this.from = Math.max(this.start, Math.min(from, this.end - span));
    this.to = span === most ? this.end : this.from + span;
    this.draw();
    clearTimeout(this.later);
    this.later = setTimeout(() => this.remember(), 300);
  }

  showAll() {
    this.show(this.start, this.end);
  }

  zoom(factor, at = (this.from + this.to) / 2) {
    this.show(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }

  pan(share) {
    const by = (this.to - this.from) * share;
    this.show(this.from + by, this.to + by);
  }

  /* ---- the address */

  remember() {
    const { chosen, range } = this, at = chosen || range, file = at ? at.file : this.files[0];
    const home = this.from === this.home[0] && this.to === this.home[1];
    const times = (...list) => list.map((time) => Math.round(time - file.start)).join();
    Object.assign(state, { s: "timeline", table: "", sort: "", f: "",
      t: home ? "" : times(this.from, this.to), track: chosen ? chosen.track.id : "",
      sel: chosen ? times(chosen.start, chosen.end) : range ? times(range.from, range.to) : "",
      m: times(...this.marks) });
    state.rank = at || ((state.t || state.m) && this.files.length > 1) ? String(file.rank) : "";
    writeAddress();
  }

  /* Goes to the place that the address names: `sel` is what is chosen, `t` what is seen. */
  go(why = "") {
    const file = this.files.find((one) => String(one.rank) === state.rank) || this.files[0];
    const timesOf = (text) => (/^-?\d+(,-?\d+)*$/.test(text) ? text.split(",") : [])
      .map((time) => Number(time) + file.start);
    const isThere = (row) => row.track && row.file === file && row.track.id === state.track;
    const { track, sel } = state, view = timesOf(state.t), chosen = timesOf(sel);
    this.find(state.find);
    this.marks = timesOf(state.m).slice(0, marksMost);
    file.showsWaiting = file.showsWaiting || file.waiting.some((one) => one.id === track);
    file.open = file.open || state.rank !== "";
    this.layOut();
    const row = this.rows.find(isThere) ||
      (state.rank && this.rows.find((one) => one.file === file));
    if (row) {
      this.view.scrollTop = row.y - rulerHeight;
    }
    if (chosen.length === 2) {
      const [from, to] = chosen, margin = (to - from) * 0.25;
      this.show(from - margin, to + margin);
      this.chooseAt(file, track, { file, from, to, why });
    } else if (state.find && !view.length) {
      this.land(state.rank ? [file] : this.files);
    }
    if (view.length === 2) {
      this.show(...view);
    }
    this.draw();
  }

  /* ---- finding */

  find(text) {
    const wanted = words(text), found = findSlices(this, wanted);
    if (this.input.value !== text) {
      this.input.value = text;
    }
    this.wanted = wanted.length ? found.lanes : null;
    state.find = text.trim();
    this.count.textContent = this.wanted ? foundText(found) : "";
    this.draw();
  }

  /* At a found slice of some ranks, with what is around it. */
  land(files) {
    const slice = typicalFound(files), around = 6;
    if (slice) {
      const margin = around * (slice.end - slice.start);
      this.show(slice.start - margin, slice.end + margin);
      this.choose(slice, true);
    }
  }

  /* The found slice behind or before the chosen one, else the first in view. */
  step(by) {
    const near = this.chosen ? this.chosen.start : this.from;
    let best = null, least = Infinity;
    for (const lane of this.wanted || []) {
      for (const i of lane.found) {
        const far = (lane.starts[i] - near) * by;
        if (far >= (this.chosen ? 1 : 0) && far < least) {
          best = sliceOf(lane, i);
          least = far;
        }
      }
    }
    if (best) {
      this.choose(best, true);
    }
  }

  /* ---- one slice */

  /* What a label stands for, by its ink: "runtime", "op". */
  kindOf(label) {
    return this.kindInks[this.labels[label].kind];
  }

  choose(slice, reveal) {
    Object.assign(this, { chosen: slice, range: null, peers: peersOf(this, slice) });
    this.relatives = relativesOf(this, slice, this.peers);
    this.arrows = this.relatives.map(([other, , isBehind]) =>
      isBehind ? [slice, other] : [other, slice]);
    if (reveal) {
      this.reveal(slice);
    }
    this.details.replaceChildren(...describeSlice(this, slice));
    this.remember();
    this.draw();
  }

  /* A stretch of time of a file instead of a slice. */
  select(range) {
    Object.assign(this, { chosen: null, range, arrows: [] });
    this.details.replaceChildren(...describeRange(this, range));
    this.remember();
    this.draw();
  }

  /* Of the file that is seen first. */
  selectShown() {
    const { file } = this.chosen || this.range || this.rowAt(0);
    this.select({ file, from: this.from, to: this.to });
  }

  clear() {
    Object.assign(this, { chosen: null, range: null, arrows: [] });
    this.details.replaceChildren(this.advice);
    this.remember();
    this.draw();
  }

  /* At the start of what is chosen, else in the middle of what is seen. */
  markHere() {
    const { chosen, range } = this;
    this.mark(Math.round(chosen ? chosen.start : range ? range.from : (this.from + this.to) / 2));
  }

  /* Sets a marker, or takes away the one that is there. */
  mark(time) {
    const near = 5 / this.painter.perNs;
    const others = this.marks.filter((one) => Math.abs(one - time) > near);
    this.marks = [...others, ...(others.length === this.marks.length ? [time] : [])]
      .sort((a, b) => a - b).slice(-marksMost);
    announce(`${this.marks.length} markers`);
    this.remember();
    this.draw();
  }

  /* The slice that a stretch of time is: of a track that is named, or the phase or step that lasts
   * so long; else what happens in it. */
  chooseAt(file, track, range) {
    const tracks = track ? file.tracks.filter((one) => one.id === track) : [file.program];
    for (const lane of tracks.flatMap((one) => one.lanes)) {
      let i = firstOf(lane.n, (k) => lane.starts[k] >= range.from);
      for (; i < lane.n && lane.starts[i] === range.from; i++) {
        if (lane.ends[i] === range.to) {
          this.choose(sliceOf(lane, i), Boolean(track));
          return;
        }
      }
    }
    this.select(range);
  }

  reveal({ lane, track, file, start, end }) {
    if (!this.rows.some((one) => one.track === track && one.lanes.includes(lane))) {
      file.open = true;
      file.showsWaiting = file.showsWaiting || track.onlyWaits;
      track.open = track.open || !lanesOf(track).includes(lane);
      this.layOut();
    }
    const row = this.rows.find((one) => one.track === track);
    const y = row.y + row.lanes.indexOf(lane) * laneHeight, top = this.view.scrollTop;
    if (y < top + rulerHeight || y + laneHeight > top + this.view.clientHeight) {
      this.view.scrollTop = y - this.view.clientHeight / 2;
    }
    if (start < this.from || end > this.to) {
      const span = Math.max(this.to - this.from, (end - start) * 1.5);
      this.show((start + end - span) / 2, (start + end + span) / 2);
    }
  }

  /* Along the lane of the chosen slice; the first in view when none is. */
  along(by) {
    const row = this.rows.find((one) => one.track && one.y >= this.view.scrollTop);
    const lane = this.chosen ? this.chosen.lane : row && row.lanes[0];
    const i = this.chosen ? this.chosen.i + by : lane && lane.after(this.from);
    if (lane && i >= 0 && i < lane.n) {
      this.choose(sliceOf(lane, i), true);
    }
  }
}

/* ---- start --------------------------------------------------------------------------------- */

let timeline = null;

async function startTimeline() {
  const box = document.querySelector(".timeline"), element = byId("timeline-data");
  if (!box || !element) {
    return;
  }
  try {
    const data = await loadTimeline(element);
    if (data) {
      timeline = new Timeline(box, data);
      all(".overview").forEach((overview) => { overview.open = false; });
      timeline.go();
      return;
    }
  } catch (error) {
    console.error(error);
  }
  box.append(make("p", { class: "missing" }, "This browser cannot unpack the slices of the " +
    "timeline; the overview below shows the whole run."));
}
