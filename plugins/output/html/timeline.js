/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The timeline as readers use it: zoom, pan, choose, find, follow launches, link to a place. */

const byNumber = new Intl.Collator("en", { numeric: true });

class Timeline {
  constructor(box, data) {
    Object.assign(this, data, { box, chosen: null, mark: null, wanted: null });
    this.kindInks = Array.from(box.querySelectorAll(".kinds li"), (item) => item.dataset.ink);
    this.kindNames = Array.from(box.querySelectorAll(".kinds li"), (item) => item.textContent);
    this.end = Math.max(1, ...this.files.map((file) => file.offset + file.end));
    this.start = Math.min(0, ...this.files.map((file) => file.offset));
    this.home = densest(this.files, this.start, this.end);
    this.files.forEach((file, i) => {
      file.open = i < 8 && file.offset < this.home[1] && file.offset + file.end > this.home[0];
      file.byNumber = file.tracks;
      file.tracks = file.tracks.filter((track) => track.lanes.length);
      file.all = [...file.tracks].sort((a, b) => (a.device === null) - (b.device === null) ||
        a.device - b.device || (a.device !== null && byNumber.compare(a.tid, b.tid)));
      file.main = file.all.reduce((a, b) => (a.device === null) === (b.device === null) &&
        b.lanes.reduce((n, lane) => n + lane.n, 0) > a.lanes.reduce((n, lane) => n + lane.n, 0)
        ? b : a, file.all[0]);
    });
    [this.from, this.to] = this.home;
    this.build();
    this.layOut();
    this.watch();
  }

  /* ---- parts */

  build() {
    const used = new Set(this.labels.map((label) => label.kind));
    this.box.querySelectorAll(".kinds li").forEach((item, i) => { item.hidden = !used.has(i); });
    this.input = make("input", { type: "search", placeholder: "Find slices",
      "aria-label": "Find slices by name" });
    this.input.addEventListener("input", () => this.find(this.input.value));
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        this.step(event.shiftKey ? -1 : 1);
      }
    });
    this.count = make("span", { class: "count", role: "status" });
    this.link = button("Copy link", async () => {
      this.remember();
      announce(await copyText(location.href) ? "Link copied" : "The browser does not allow it");
    });
    const tools = make("div", { class: "tools" }, this.input, this.count,
      button("‹", () => this.step(-1), { "aria-label": "Previous slice found" }),
      button("›", () => this.step(1), { "aria-label": "Next slice found" }),
      button("−", () => this.zoom(2), { "aria-label": "Zoom out" }),
      button("+", () => this.zoom(0.5), { "aria-label": "Zoom in" }),
      button("All", () => this.show(this.start, this.end), { "aria-label": "Show all time" }),
      this.link);
    this.mini = make("canvas", { class: "mini", "aria-hidden": "true" });
    this.canvas = make("canvas", { tabindex: "0", role: "application",
      "aria-roledescription": "timeline", "aria-label": "Timeline. w and s zoom, a and d move, " +
      "[ and ] step through slices, Page Up and Page Down scroll, Enter zooms to the slice." });
    this.room = make("div");
    this.view = make("div", { class: "view" }, this.canvas, this.room);
    const partial = this.home[1] - this.home[0] < this.end - this.start;
    this.box.dataset.begins = partial ? "part" : "all";
    this.details = make("div", { class: "details", "aria-live": "polite" },
      make("p", {}, `${partial ? "Recordings lie far apart: this is the one with most work, All " +
        "shows the others. " : ""}Choose a slice to see what it is. Drag moves, Ctrl and wheel ` +
        "zooms, Shift and drag zooms to a range."));
    this.box.prepend(tools);
    this.box.append(this.mini, this.view, this.details);
    const note = document.getElementById("timeline-note");
    this.box.append(...(note ? [note] : []));
    this.painter = new Painter(this.canvas);
    this.miniPainter = new Painter(this.mini);
    this.painter.labels = this.miniPainter.labels = this.labels;
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
      for (const track of file.open ? file.all : []) {
        const n = track.open ? track.lanes.length : Math.min(track.lanes.length, fewLanes);
        add({ file, track, n, height: n * laneHeight + rowGap });
      }
      for (const counter of file.open ? file.counters : []) {
        add({ file, counter, height: counterHeight });
      }
    }
    this.room.style.height = `${y}px`;
    this.view.style.height = `${Math.min(y + 2, Math.max(260, innerHeight * 0.68))}px`;
    this.draw();
  }

  /* ---- drawing */

  draw() {
    this.waiting = this.waiting || requestAnimationFrame(() => {
      this.waiting = 0;
      this.paint();
    });
  }

  paint() {
    const width = this.view.clientWidth, height = this.view.clientHeight;
    if (!width) {
      return;
    }
    this.inks = this.inks || readInks(this.kindInks);
    const p = this.painter, top = this.view.scrollTop;
    p.begin(width, height, Math.round(Math.min(230, width * 0.3)), this.inks);
    this.room.style.marginTop = `${-height}px`;
    p.setView(this.from, this.to);
    this.canvas.style.height = `${height}px`;
    this.paintMark(p);
    p.ruler(this.to, height);
    for (const row of this.rows) {
      const y = row.y - top;
      if (y + row.height > rulerHeight && y < height) {
        this.paintRow(p, row, y);
      }
    }
    this.paintChosen(p, top);
    p.context.fillStyle = this.inks.paper;
    p.context.fillRect(0, 0, width, rulerHeight);
    p.ruler(this.to, rulerHeight - 5);
    this.paintMini(width);
  }

  paintRow(p, row, y) {
    const { context } = p, { file } = row;
    context.textBaseline = "middle";
    context.fillStyle = this.inks.text;
    context.font = row.track || row.counter ? this.inks.font : this.inks.strong;
    const text = row.counter ? row.counter.name : row.track ? row.track.name
      : `${file.open ? "▾" : "▸"} Rank ${file.rank}`;
    context.save();
    context.beginPath();
    context.rect(0, y, row.track || row.counter ? p.left - 6 : p.width, row.height);
    context.clip();
    const left = row.track || row.counter ? 18 : 6;
    if (row.left !== p.left) {
      row.left = p.left;
      row.label = row.track || row.counter ? withoutMiddle(text, p.left - 6 - left,
        (part) => context.measureText(part).width) : text;
    }
    context.fillText(row.label, left, y + Math.min(row.height, 20) / 2);
    context.fillStyle = this.inks.muted;
    context.font = this.inks.font;
    if (row.counter) {
      context.fillText([row.counter.least, row.counter.most].map((value) =>
        valueText(value, row.counter.unit)).join(" to "), 18,
        y + 26);
    } else if (row.track && row.track.lanes.length > fewLanes) {
      context.fillText(row.track.open ? "▴ fewer" : `▾ ${row.track.lanes.length} deep`, 18, y + 26);
    } else if (!row.track && file.open) {
      context.fillText(file.path, 90, y + 10);
    }
    context.restore();
    if (row.counter) {
      p.counter(row.counter, file, y + 4);
    } else if (row.track) {
      row.track.lanes.slice(0, row.n).forEach((lane, i) =>
        this.paintLane(p, lane, file, y + i * laneHeight, laneHeight - 2));
    } else if (!file.open && file.main) {
      file.main.busy.forEach((lane) => this.paintLane(p, lane, file, y + 4, headHeight - 8));
    }
  }

  paintLane(p, lane, file, y, bar) {
    p.lane(lane, file, y, bar);
    if (this.wanted) {
      p.found(lane, file, lane.found || [], y, bar);
    }
  }

  paintMark(p) {
    if (this.mark) {
      const x = p.x(this.mark[0]);
      p.context.fillStyle = this.inks.band;
      p.context.fillRect(x, 0, Math.max(2, p.x(this.mark[1]) - x), p.height);
    }
  }

  paintChosen(p, top) {
    const { context } = p;
    const box = this.chosen && this.boxOf(this.chosen);
    if (!box) {
      return;
    }
    context.strokeStyle = this.inks.text;
    context.lineWidth = 2;
    const edge = Math.max(box.x, p.left);
    context.strokeRect(edge, box.y - top, Math.max(3, Math.min(box.end, p.width) - edge),
      laneHeight - 2);
    const call = this.callOf(this.chosen), from = call && this.boxOf(call);
    if (from) {
      context.beginPath();
      context.moveTo(from.x, from.y - top + laneHeight / 2);
      context.lineTo(box.x, box.y - top + laneHeight / 2);
      context.stroke();
    }
    context.lineWidth = 1;
  }

  paintMini(width) {
    const m = this.miniPainter;
    const rows = this.files.filter((file) => file.main).map((file) => [file, file.main]);
    m.begin(width, 34, this.painter.left, this.inks);
    m.setView(this.start, this.end);
    const high = Math.max(1, 28 / Math.max(1, rows.length));
    rows.slice(0, 28).forEach(([file, track], i) => track.busy.forEach((lane) =>
      m.lane(lane, file, 3 + i * high, Math.max(1, high - (high > 3)))));
    const x = m.x(this.from), end = m.x(this.to);
    m.context.fillStyle = this.inks.paper;
    m.context.globalAlpha = 0.7;
    m.context.fillRect(m.left, 0, x - m.left, 34);
    m.context.fillRect(end, 0, width - end, 34);
    m.context.globalAlpha = 1;
    m.context.strokeStyle = this.inks.text;
    m.context.strokeRect(x + 0.5, 1, Math.max(2, end - x - 1), 32);
    m.context.fillStyle = this.inks.muted;
    m.context.font = this.inks.font;
    m.context.fillText(timeText(this.to - this.from) + " shown", 6, 20);
  }

  /* ---- places */

  rowOf(track) {
    return this.rows.find((row) => row.track === track);
  }

  boxOf({ file, track, at, i }) {
    const row = this.rowOf(track), lane = track.lanes[at];
    return row && at < row.n ? { x: this.painter.x(lane.starts[i] + file.offset),
      end: this.painter.x(lane.ends[i] + file.offset), y: row.y + at * laneHeight } : null;
  }

  /* The slice under a point of the canvas; one within 3 pixels where slices are thin. */
  hit(x, y) {
    const below = y + this.view.scrollTop;
    const row = y < rulerHeight ? null
      : this.rows.find((one) => below >= one.y && below < one.y + one.height);
    const at = row && row.track ? Math.floor((below - row.y) / laneHeight) : -1;
    if (at < 0 || at >= row.n || x < this.painter.left) {
      return { row, x };
    }
    const lane = row.track.lanes[at];
    const time = this.time(x) - row.file.offset, near = 3 / this.painter.perNs;
    let i = lane.after(time);
    if (i && (i === lane.n || lane.starts[i] > time) && time - lane.ends[i - 1] < near) {
      i--;
    }
    const found = i < lane.n && lane.starts[i] - near <= time;
    return found ? { row, x, slice: { file: row.file, track: row.track, at, i } } : { row, x };
  }

  time(x) {
    return this.from + (x - this.painter.left) / this.painter.perNs;
  }

  show(from, to) {
    const most = this.end - this.start, span = Math.min(most, Math.max(20, to - from));
    this.from = Math.max(this.start, Math.min(from, this.end - span));
    this.to = span === most ? this.end : this.from + span;
    this.draw();
    clearTimeout(this.later);
    this.later = setTimeout(() => this.remember(), 300);
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
    const file = this.chosen ? this.chosen.file : this.files[0];
    const home = this.from === this.home[0] && this.to === this.home[1];
    state.s = "timeline";
    state.table = state.sort = state.f = "";
    state.t = home ? "" : `${Math.round(this.from - file.offset)},${Math.round(this.to -
      file.offset)}`;
    state.rank = this.chosen || (state.t && this.files.length > 1) ? String(file.rank) : "";
    state.track = this.chosen ? this.chosen.track.id : "";
    writeAddress();
  }

  /* Goes to the place that the address names. */
  go() {
    const file = this.files.find((one) => String(one.rank) === state.rank) || this.files[0];
    const times = /^(-?\d+),(-?\d+)$/.exec(state.t);
    const track = file.tracks.find((one) => one.id === state.track);
    this.input.value = state.find;
    this.find(state.find);
    if (state.rank && !file.open) {
      file.open = true;
      this.layOut();
    }
    const row = this.rowOf(track) || (state.rank && this.rows.find((one) => one.file === file));
    if (row) {
      this.view.scrollTop = row.y - rulerHeight;
    }
    this.mark = null;
    if (times) {
      const [from, to] = [Number(times[1]) + file.offset, Number(times[2]) + file.offset];
      const margin = (to - from) * 0.25;
      this.mark = [from, to];
      this.show(from - margin, to + margin);
    } else if (state.find) {
      this.step(1);
    }
    this.draw();
  }

  /* ---- finding */

  find(text) {
    const wanted = words(text);
    const hits = this.labels.map((label) => holdsAll(label.name.toLowerCase(), wanted));
    this.wanted = wanted.length ? hits : null;
    this.hits = [];
    state.find = text.trim();
    let n = 0, time = 0;
    for (const file of this.files) {
      for (const track of file.tracks) {
        track.lanes.forEach((lane, at) => {
          lane.found = [];
          for (let i = 0; this.wanted && i < lane.n; i++) {
            if (hits[lane.labels[i]]) {
              lane.found.push(i);
              time += lane.ends[i] - lane.starts[i];
            }
          }
          n += lane.found.length;
          if (lane.found.length) {
            this.hits.push({ file, track, at });
          }
        });
      }
    }
    this.count.textContent = this.wanted
      ? `${grouped(n)} found${n ? `, ${timeText(time)} in all` : ""}` : "";
    this.draw();
  }

  /* The found slice behind or before the chosen one, else the first in view. */
  step(by) {
    const near = this.chosen ? this.chosen.track.lanes[this.chosen.at].starts[this.chosen.i] +
      this.chosen.file.offset : this.from;
    let best = null;
    for (const hit of this.hits || []) {
      const lane = hit.track.lanes[hit.at];
      for (const i of lane.found) {
        const far = (lane.starts[i] + hit.file.offset - near) * by;
        if (far >= (this.chosen ? 1 : 0) && (!best || far < best.far)) {
          best = { ...hit, i, far };
        }
      }
    }
    if (best) {
      this.choose(best, true);
    }
  }

  /* ---- one slice */

  choose(slice, reveal) {
    this.chosen = slice;
    const { file, track, at, i } = slice, lane = track.lanes[at];
    if (reveal) {
      if (!file.open || (at >= fewLanes && !track.open)) {
        file.open = true;
        track.open = track.open || at >= fewLanes;
        this.layOut();
      }
      const y = this.rowOf(track).y + at * laneHeight, top = this.view.scrollTop;
      if (y < top + rulerHeight || y + laneHeight > top + this.view.clientHeight) {
        this.view.scrollTop = y - this.view.clientHeight / 2;
      }
      const from = lane.starts[i] + file.offset, to = lane.ends[i] + file.offset;
      if (from < this.from || to > this.to) {
        const span = Math.max(this.to - this.from, (to - from) * 1.5);
        this.show((from + to - span) / 2, (from + to + span) / 2);
      }
    }
    this.describe(slice);
    this.remember();
    this.draw();
  }

  callOf({ file, track, at, i }) {
    const lane = track.lanes[at];
    const caller = lane.calls && lane.calls[i] >= 0 ? file.byNumber[lane.calls[i]] : null;
    const time = caller && lane.starts[i] - lane.delays[i];
    for (let k = 0; caller && k < caller.lanes.length; k++) {
      const found = caller.lanes[k].starts.indexOf(time, Math.max(caller.lanes[k].after(time), 0));
      const label = found >= 0 && this.labels[caller.lanes[k].labels[found]];
      if (label && this.kindInks[label.kind] === "runtime") {
        return { file, track: caller, at: k, i: found };
      }
    }
    return null;
  }

  describe(slice) {
    const { file, track, at, i } = slice, lane = track.lanes[at];
    const label = this.labels[lane.labels[i]], dur = lane.ends[i] - lane.starts[i];
    const exact = (ns) => `${timeText(ns)} (${grouped(ns)} ns)`;
    const call = this.callOf(slice);
    const facts = [["Category", [this.kindNames[label.kind], label.category].filter(Boolean)
      .join(" · ")], ["Start", exact(lane.starts[i])], ["Duration", exact(dur)],
    ["Rank", file.rank], ["Track", track.name], ["Shapes", label.shapes],
    ["Launched", lane.calls && lane.calls[i] >= 0 ? `${timeText(lane.delays[i])} before` : ""]];
    const list = make("dl");
    for (const [title, text] of facts.filter((fact) => fact[1] || fact[1] === 0)) {
      list.append(make("div", {}, make("dt", {}, title), make("dd", {}, String(text))));
    }
    const buttons = make("div", { class: "tools" },
      button("Zoom to it", () => this.show(lane.starts[i] + file.offset - dur,
        lane.ends[i] + file.offset + dur)),
      button("Find all of this name", () => {
        this.input.value = label.name;
        this.find(label.name);
      }));
    if (call) {
      buttons.append(button("Go to its launch", () => this.choose(call, true)));
    }
    this.details.replaceChildren(make("p", { class: "name-full" }, label.name), list, buttons);
  }

  /* Along the lane of the chosen slice; the first in view when none is. */
  along(by) {
    const { file, track, at, i } = this.chosen || {};
    if (!track) {
      const row = this.rows.find((one) => one.track && one.y >= this.view.scrollTop);
      const lane = row && row.track.lanes[0], first = lane && lane.after(this.from);
      if (lane && first < lane.n) {
        this.choose({ file: row.file, track: row.track, at: 0, i: first }, true);
      }
    } else if (i + by >= 0 && i + by < track.lanes[at].n) {
      this.choose({ file, track, at, i: i + by }, true);
    }
  }

  /* ---- keys, pointer, size */

  onKey(event) {
    const actions = { w: () => this.zoom(0.6), s: () => this.zoom(1 / 0.6),
      a: () => this.pan(-0.2), d: () => this.pan(0.2), "[": () => this.along(-1),
      "]": () => this.along(1), PageDown: () => this.view.scrollBy(0, 200),
      PageUp: () => this.view.scrollBy(0, -200), Home: () => this.show(this.start, this.end),
      Enter: () => this.chosen && this.details.querySelector("button").click() };
    const same = { ArrowUp: "w", ArrowDown: "s", ArrowLeft: "a", ArrowRight: "d", "+": "w",
      "-": "s" };
    const action = actions[same[event.key] || event.key];
    if (action && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      event.stopPropagation();
      action();
    }
  }

  press(row) {
    if (row.track) {
      row.track.open = !row.track.open;
    } else if (!row.counter) {
      row.file.open = !row.file.open;
    }
    this.layOut();
  }

  hover(x, y, box) {
    const { row, slice } = this.hit(x, y);
    let text = "";
    if (slice) {
      const lane = slice.track.lanes[slice.at];
      text = `${this.labels[lane.labels[slice.i]].name} · ` +
        timeText(lane.ends[slice.i] - lane.starts[slice.i]);
    } else if (row && row.counter && x > this.painter.left) {
      const time = this.time(x) - row.file.offset;
      const at = row.counter.times.findLastIndex((one) => one <= time);
      text = at < 0 ? "" : `${row.counter.name}: ${valueText(row.counter.values[at],
        row.counter.unit)}`;
    } else if (row && x < this.painter.left) {
      text = (row.track || row.counter || { name: row.file.path }).name;
    }
    tip.textContent = text;
    tip.hidden = !text;
    tip.style.left = `${Math.min(box.left + x + 12, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${box.top + y + 18}px`;
  }

  watch() {
    let drag = null;
    const at = (event) => {
      const box = event.currentTarget.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top, box };
    };
    this.canvas.addEventListener("keydown", (event) => this.onKey(event));
    this.canvas.addEventListener("pointerdown", (event) => {
      const { x, y } = at(event);
      drag = { x, y, from: this.from, to: this.to, top: this.view.scrollTop, range: event.shiftKey };
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      const { x, y, box } = at(event);
      if (!drag) {
        this.hover(x, y, box);
      } else if (drag.range) {
        this.mark = [this.time(Math.min(x, drag.x)), this.time(Math.max(x, drag.x))];
        this.draw();
      } else if (drag.moved || Math.hypot(x - drag.x, y - drag.y) > 4) {
        drag.moved = true;
        const by = (drag.x - x) / this.painter.perNs;
        this.view.scrollTop = drag.top + drag.y - y;
        this.show(drag.from + by, drag.to + by);
      }
    });
    this.canvas.addEventListener("pointerup", (event) => {
      const { x, y } = at(event), { row, slice } = this.hit(x, y);
      if (drag && drag.range && this.mark) {
        this.show(...this.mark);
        this.mark = null;
      } else if (drag && !drag.moved && slice) {
        this.choose(slice, false);
      } else if (drag && !drag.moved && row && (x < this.painter.left || !row.track)) {
        this.press(row);
      }
      drag = null;
    });
    this.canvas.addEventListener("pointerleave", hideTip);
    this.canvas.addEventListener("dblclick", () => this.onKey(new KeyboardEvent("keydown",
      { key: "Enter" })));
    this.canvas.addEventListener("wheel", (event) => {
      const { x } = at(event);
      if (event.ctrlKey || event.metaKey) {
        this.zoom(Math.exp(event.deltaY / 240), this.time(x));
      } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        this.pan((event.deltaX || event.deltaY) / 1000);
      } else {
        return;
      }
      event.preventDefault();
    }, { passive: false });
    for (const kind of ["pointerdown", "pointermove"]) {
      this.mini.addEventListener(kind, (event) => {
        if (event.buttons) {
          const middle = this.miniPainter.from + (at(event).x - this.painter.left) /
            this.miniPainter.perNs, half = (this.to - this.from) / 2;
          this.show(middle - half, middle + half);
        }
      });
    }
    this.view.addEventListener("scroll", () => this.draw());
    const recolor = () => {
      this.inks = null;
      this.draw();
    };
    new MutationObserver(recolor).observe(root, { attributeFilter: ["data-theme"] });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolor);
    new ResizeObserver(() => this.draw()).observe(this.box);
  }
}

/* ---- start --------------------------------------------------------------------------------- */

let timeline = null;

async function startTimeline() {
  const box = document.querySelector(".timeline"), element = document.getElementById("timeline-data");
  if (!box || !element) {
    return;
  }
  try {
    const data = await loadTimeline(element);
    if (data) {
      timeline = new Timeline(box, data);
      const overview = document.querySelector(".overview");
      if (overview) {
        overview.open = false;
      }
      timeline.go();
      return;
    }
  } catch (error) {
    console.error(error);
  }
  box.append(make("p", { class: "missing" }, "This browser cannot unpack the slices of the " +
    "timeline; the overview below shows the whole run."));
}
