/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drawing the timeline on its canvas: rows of lanes and counters over one axis of time.
 *
 * What is narrower than a pixel adds to the share of that pixel, whole blocks at a time; so a
 * picture costs about as much as it has pixels, however many slices there are. */

const laneHeight = 16, counterHeight = 40, headHeight = 24, rulerHeight = 22, rowGap = 6;
/* Annotations, which say what others are about; and what stands for slices that were left out. */
const rangeKind = 7, shortKind = 255;
/* Lanes of a track that is not opened. */
const fewLanes = 8;

/* ---- numbers ------------------------------------------------------------------------------- */

const timeUnits = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

/* A time with the unit that suits `scale`, and digits enough to tell steps of `step` apart. */
function timeText(ns, scale = Math.abs(ns), step = scale / 1000) {
  const [size, unit] = timeUnits.find(([least]) => scale >= least) || timeUnits[3];
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / size) - 1e-9)));
  return `${(ns / size).toFixed(size === 1 ? 0 : digits)} ${unit}`;
}

/* The step of 1, 2 or 5 that is at least `rough`. */
function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].find((n) => n * power >= rough) * power;
}

/* Units of counters: symbol, scale, base of the prefixes. */
const units = { bytes: ["B", 1, 1024], ratio: ["%", 100, 0], celsius: ["°C", 1, 0],
  watt: ["W", 1, 1000], per_s: ["/s", 1, 1000], hertz: ["Hz", 1, 1000] };

function valueText(value, unit) {
  const [symbol, scale, base] = units[unit] || ["", 1, 1000];
  const power = base && value ? Math.max(0, Math.min(4, Math.floor(Math.log(Math.abs(value)) /
    Math.log(base) + 1e-9))) : 0;
  const prefix = " kMGT"[power].trim() + (power && base === 1024 ? "i" : "");
  return `${Number((value * scale / (base || 1) ** power).toPrecision(4))} ${prefix}${symbol}`
    .trim();
}

/* ---- colors -------------------------------------------------------------------------------- */

/* The inks of the kinds of slices and of the frame, as the theme has them now. */
function readInks(kinds) {
  const style = getComputedStyle(root);
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const color = (name) => {
    probe.fillStyle = style.getPropertyValue(name);
    probe.fillRect(0, 0, 1, 1);
    return { css: style.getPropertyValue(name), rgb: probe.getImageData(0, 0, 1, 1).data };
  };
  const frame = getComputedStyle(document.querySelector(".timeline canvas"));
  const inks = { kinds: kinds.map((ink) => color(`--ink-${ink}`)),
    inside: kinds.map((ink) => style.getPropertyValue(`--on-${ink}`)),
    font: `11px ${frame.fontFamily}`, strong: `600 12px ${frame.fontFamily}` };
  probe.fillStyle = frame.color;
  inks.text = probe.fillStyle;
  inks.muted = color("--ink-muted").css;
  inks.grid = color("--ink-grid").css;
  inks.paper = color("--ink-paper").css;
  inks.band = color("--ink-band").css;
  inks.short = color("--ink-muted");
  return inks;
}

/* ---- lanes --------------------------------------------------------------------------------- */

/* Letter → width, in the font of slices. */
const letterWidths = new Map();

class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.strip = document.createElement("canvas");
  }

  /* Fits the canvas to its box; `left` is where time begins. */
  begin(width, height, left, inks) {
    const scale = Math.min(devicePixelRatio || 1, 2);
    if (this.canvas.width !== Math.round(width * scale) ||
        this.canvas.height !== Math.round(height * scale)) {
      this.canvas.width = Math.round(width * scale);
      this.canvas.height = Math.round(height * scale);
    }
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    Object.assign(this, { width, height, left, inks });
    this.span = Math.max(1, width - left);
    if (!this.cover || this.cover.length !== Math.ceil(this.span)) {
      this.cover = new Float64Array(Math.ceil(this.span));
      this.best = new Float64Array(this.cover.length);
      this.kinds = new Uint8Array(this.cover.length);
      this.strip.width = this.cover.length;
      this.strip.height = 1;
      this.pen = this.strip.getContext("2d", { willReadFrequently: true });
      this.pixels = this.pen.createImageData(this.cover.length, 1);
    }
    this.context.fillStyle = inks.paper;
    this.context.fillRect(0, 0, width, height);
  }

  setView(from, to) {
    this.from = from;
    this.perNs = this.span / (to - from);
  }

  x(time) {
    return this.left + (time - this.from) * this.perNs;
  }

  /* Time that is too short for a mark of its own. */
  add(x, busy, kind) {
    const at = Math.floor(x);
    if (at >= 0 && at < this.cover.length) {
      this.cover[at] += busy * this.perNs;
      if (busy > this.best[at]) {
        this.best[at] = busy;
        this.kinds[at] = kind;
      }
    }
  }

  /* A block of a lane: as one when it is narrow, else child by child. */
  walk(lane, level, i, offset) {
    const width = fan ** level;
    const first = i * width, last = Math.min(first + width, lane.n) - 1;
    const x = (lane.starts[first] + offset - this.from) * this.perNs;
    const end = (lane.ends[last] + offset - this.from) * this.perNs;
    if (end < 0 || x > this.span) {
      return;
    }
    const { busy, kinds } = lane.levels[level];
    if (end - x < 1) {
      this.add(x, busy[i], kinds[i]);
      this.seen = true;
    } else if (level === 0) {
      this.slice(lane, i, x, end);
    } else {
      const stop = Math.min((i + 1) * fan, lane.levels[level - 1].busy.length);
      for (let child = i * fan; child < stop; child++) {
        this.walk(lane, level - 1, child, offset);
      }
    }
  }

  slice(lane, i, from, to) {
    const { context, inks } = this;
    const x = Math.max(from, -2), width = Math.min(to, this.span + 2) - x;
    const label = this.labels[lane.labels[i]];
    const isPale = label.kind === rangeKind;
    context.fillStyle = inks.kinds[label.kind].css;
    context.globalAlpha = isPale ? 0.25 : 1;
    context.fillRect(this.left + x, this.y, Math.max(width - (width > 3 ? 0.5 : 0), 1),
      this.bar);
    context.globalAlpha = 1;
    const start = Math.max(x, 0), room = Math.min(to, this.span) - start - 6;
    if (room > 22 && this.bar > 10) {
      context.fillStyle = isPale ? inks.text : inks.inside[label.kind];
      context.font = inks.font;
      context.fillText(this.fit(label.name, room), this.left + start + 3,
        this.y + this.bar / 2 + 0.5);
    }
  }

  /* As much of a name as there is room for, with "…" where that is not all. */
  fit(name, room) {
    const dots = this.widthOf("…");
    let width = 0, kept = "";
    for (const letter of name) {
      width += this.widthOf(letter);
      if (width > room) {
        return kept + "…";
      }
      kept += width + dots <= room ? letter : "";
    }
    return name;
  }

  /* Of a letter in the one font of all slices, which is measured once. */
  widthOf(letter) {
    if (!letterWidths.has(letter)) {
      letterWidths.set(letter, this.context.measureText(letter).width);
    }
    return letterWidths.get(letter);
  }

  /* Slices that were left out, as the share of each bin that they filled. */
  leftOut(lane, file) {
    const width = file.binWidth * this.perNs;
    const first = (file.offset - this.from) * this.perNs;
    for (let i = 0; i < lane.bins.length; i++) {
      const x = first + lane.bins[i] * width;
      if (x + width < 0 || x > this.span) {
        continue;
      }
      if (width < 1) {
        this.add(x, lane.shares[i] * file.binWidth * 0.999, shortKind);
        this.seen = true;
      } else {
        const high = Math.max(2, this.bar * lane.shares[i]);
        this.context.fillStyle = this.inks.short.css;
        this.context.globalAlpha = 0.35;
        this.context.fillRect(this.left + x, this.y + this.bar - high, width, high);
        this.context.globalAlpha = 1;
      }
    }
  }

  lane(lane, file, y, bar) {
    const { context } = this;
    this.y = y;
    this.bar = bar;
    this.seen = false;
    context.save();
    context.beginPath();
    context.rect(this.left, y, this.span, bar);
    context.clip();
    context.font = this.inks.font;
    context.textBaseline = "middle";
    if (lane.leftOut) {
      this.leftOut(lane, file);
    }
    const top = lane.levels.length - 1;
    for (let i = 0; i < lane.levels[top].busy.length; i++) {
      this.walk(lane, top, i, file.offset);
    }
    if (this.seen) {
      this.flush();
    }
    context.restore();
  }

  /* The narrow ones: color by the longest in a pixel, strength by how much of it is busy. */
  flush() {
    const { cover, best, kinds, inks } = this, data = this.pixels.data;
    for (let i = 0, to = 0; i < cover.length; i++, to += 4) {
      const rgb = kinds[i] === shortKind ? inks.short.rgb : inks.kinds[kinds[i]].rgb;
      data[to] = rgb[0];
      data[to + 1] = rgb[1];
      data[to + 2] = rgb[2];
      const most = kinds[i] === rangeKind ? 64 : 255;
      data[to + 3] = cover[i] > 0 ? most * (0.28 + 0.72 * Math.min(1, cover[i])) : 0;
    }
    this.pen.putImageData(this.pixels, 0, 0);
    cover.fill(0);
    best.fill(0);
    this.context.imageSmoothingEnabled = false;
    this.context.drawImage(this.strip, this.left, this.y, this.cover.length, this.bar);
  }

  /* Slices of found names over the others, which are dimmed. */
  found(lane, file, list, y, bar) {
    const { context, inks } = this;
    context.fillStyle = inks.paper;
    context.globalAlpha = 0.72;
    context.fillRect(this.left, y, this.span, bar);
    context.globalAlpha = 1;
    let drawn = -1;
    for (const i of list) {
      const x = (lane.starts[i] + file.offset - this.from) * this.perNs;
      const end = (lane.ends[i] + file.offset - this.from) * this.perNs;
      if (end < 0 || end < drawn + 0.5) {
        continue;
      }
      if (x > this.span) {
        break;
      }
      this.y = y;
      this.bar = bar;
      drawn = Math.max(end, x + 1);
      this.slice(lane, i, x, drawn);
    }
  }

  /* ---- counters, ruler */

  counter(counter, file, y) {
    const { context, inks } = this, high = counterHeight - 8;
    const level = (value) => y + high - (counter.most > counter.least
      ? (value - counter.least) / (counter.most - counter.least) * high : 0);
    context.save();
    context.beginPath();
    context.rect(this.left, y - 1, this.span, high + 2);
    context.clip();
    context.beginPath();
    let low = 0, high2 = counter.n;
    while (low < high2) {
      const middle = (low + high2) >> 1;
      if (counter.times[middle] + file.offset < this.from) {
        low = middle + 1;
      } else {
        high2 = middle;
      }
    }
    let from = Math.max(low - 1, 0), lastX = this.left;
    context.moveTo(this.x((counter.times[from] || 0) + file.offset), y + high);
    for (let i = from; i < counter.n && lastX <= this.width; i++) {
      lastX = this.x(counter.times[i] + file.offset);
      const next = i + 1 < counter.n ? this.x(counter.times[i + 1] + file.offset) : lastX + 4;
      if (Number.isFinite(counter.values[i])) {
        context.lineTo(lastX, level(counter.values[i]));
        context.lineTo(next, level(counter.values[i]));
        from = next;
      }
    }
    context.lineTo(from, y + high);
    context.closePath();
    context.globalAlpha = 0.3;
    context.fillStyle = inks.kinds[0].css;
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = inks.kinds[0].css;
    context.stroke();
    context.restore();
  }

  ruler(to, bottom) {
    const { context, inks } = this;
    const step = niceStep((to - this.from) / Math.max(2, this.span / 110));
    const scale = Math.max(Math.abs(this.from), Math.abs(to));
    context.font = inks.font;
    context.textBaseline = "middle";
    for (let time = Math.ceil(this.from / step) * step; time <= to; time += step) {
      const x = Math.round(this.x(time)) + 0.5;
      context.fillStyle = inks.grid;
      context.fillRect(x, rulerHeight - 5, 1, bottom);
      context.fillStyle = inks.muted;
      context.fillText(timeText(time, scale, step), x + 4, rulerHeight / 2);
    }
  }
}
