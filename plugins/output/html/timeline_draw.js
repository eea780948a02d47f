/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drawing the timeline on its canvas: rows of lanes and counters over one axis of time.
 *
 * What is narrower than a pixel adds to the share of that pixel, whole blocks at a time; so a
 * picture costs about as much as it has pixels, however many slices there are. */

const laneHeight = 16, counterHeight = 40, headHeight = 24, rulerHeight = 22, rowGap = 6;
/* What says what others are about is pale; and what stands for slices that were left out. */
const paleKinds = [rangeKind, phaseKind], shortKind = 255;
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
  const probe = make("canvas").getContext("2d", { willReadFrequently: true });
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
  inks.short = color("--ink-muted");
  for (const name of ["muted", "grid", "paper", "band"]) {
    inks[name] = style.getPropertyValue(`--ink-${name}`);
  }
  return inks;
}

/* ---- lanes --------------------------------------------------------------------------------- */

/* Letter → width, in the font of slices. */
const letterWidths = new Map();

class Painter {
  constructor(canvas, labels) {
    this.canvas = canvas;
    this.labels = labels;
    this.context = canvas.getContext("2d");
    this.strip = make("canvas");
  }

  /* Fits the canvas to its box; `left` is where time begins. */
  begin(width, height, left, inks) {
    const scale = Math.min(devicePixelRatio || 1, 2);
    const own = [Math.round(width * scale), Math.round(height * scale)];
    if (this.canvas.width !== own[0] || this.canvas.height !== own[1]) {
      [this.canvas.width, this.canvas.height] = own;
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
    this.context.textBaseline = "middle";
    this.context.font = inks.font;
    this.fill(inks.paper, 0, 0, width, height);
  }

  setView(from, to) {
    this.from = from;
    this.perNs = this.span / (to - from);
  }

  x(time) {
    return this.left + (time - this.from) * this.perNs;
  }

  time(x) {
    return this.from + (x - this.left) / this.perNs;
  }

  /* Time that is too short for a mark of its own. */
  add(x, busy, kind) {
    const at = Math.floor(x - this.left);
    this.seen = true;
    if (at >= 0 && at < this.cover.length) {
      this.cover[at] += busy * this.perNs;
      if (busy > this.best[at]) {
        this.best[at] = busy;
        this.kinds[at] = kind;
      }
    }
  }

  /* A block of a lane: as one when it is narrow, else child by child. */
  walk(lane, level, i) {
    const width = fan ** level;
    const first = i * width, last = Math.min(first + width, lane.n) - 1;
    const x = this.x(lane.starts[first]), end = this.x(lane.ends[last]);
    if (end < this.left || x > this.width) {
      return;
    }
    const { busy, kinds } = lane.levels[level];
    if (end - x < 1) {
      this.add(x, busy[i], kinds[i]);
    } else if (level === 0) {
      this.slice(lane, i, x, end);
    } else {
      const stop = Math.min((i + 1) * fan, lane.levels[level - 1].busy.length);
      for (let child = i * fan; child < stop; child++) {
        this.walk(lane, level - 1, child);
      }
    }
  }

  fill(color, x, y, width, height, alpha = 1) {
    this.context.fillStyle = color;
    this.context.globalAlpha = alpha;
    this.context.fillRect(x, y, width, height);
    this.context.globalAlpha = 1;
  }

  write(text, x, y, color, font = this.inks.font) {
    this.context.fillStyle = color;
    this.context.font = font;
    this.context.fillText(text, x, y);
    this.context.font = this.inks.font;
  }

  /* Draws within a rectangle only. */
  within(x, y, width, height, action) {
    this.context.save();
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.context.clip();
    action();
    this.context.restore();
  }

  slice(lane, i, from, to) {
    const { inks, y, bar } = this;
    const x = Math.max(from, this.left - 2), width = Math.min(to, this.width + 2) - x;
    const label = this.labels[lane.labels[i]];
    const isPale = paleKinds.includes(label.kind);
    this.fill(inks.kinds[label.kind].css, x, y, Math.max(width - (width > 3 ? 0.5 : 0), 1), bar,
      isPale ? 0.25 : 1);
    const start = Math.max(x, this.left), room = Math.min(to, this.width) - start - 6;
    if (room > 22 && bar > 10) {
      const name = label.kind === phaseKind ? this.lastWords(label.name, room) : label.brief;
      this.write(this.fit(name, room), start + 3, y + bar / 2 + 0.5,
        isPale ? inks.text : inks.inside[label.kind]);
    }
  }

  /* As many words of the end of a name as there is room for: they tell steps apart. */
  lastWords(name, room) {
    const words = name.split(" "), width = (text) =>
      Array.from(text).reduce((sum, letter) => sum + this.widthOf(letter), 0);
    while (words.length > 1 && (words[0] === "·" || width(words.join(" ")) > room)) {
      words.shift();
    }
    return words.join(" ");
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
  leftOut(lane) {
    const { binWidth } = lane.track.file, width = binWidth * this.perNs;
    lane.bins.forEach((time, i) => {
      const x = this.x(time), high = Math.max(2, this.bar * lane.shares[i]);
      if (x + width < this.left || x > this.width) {
        return;
      }
      if (width < 1) {
        this.add(x, lane.shares[i] * binWidth * 0.999, shortKind);
      } else {
        this.fill(this.inks.short.css, x, this.y + this.bar - high, width, high, 0.35);
      }
    });
  }

  lane(lane, y, bar) {
    Object.assign(this, { y, bar, seen: false });
    this.within(this.left, y, this.span, bar, () => {
      this.leftOut(lane);
      const top = lane.levels.length - 1;
      for (let i = 0; i < lane.levels[top].busy.length; i++) {
        this.walk(lane, top, i);
      }
      if (this.seen) {
        this.flush();
      }
    });
  }

  /* The narrow ones: color by the longest in a pixel, strength by how much of it is busy. */
  flush() {
    const { cover, best, kinds, inks } = this, data = this.pixels.data;
    for (let i = 0; i < cover.length; i++) {
      data.set(kinds[i] === shortKind ? inks.short.rgb : inks.kinds[kinds[i]].rgb, i * 4);
      const most = paleKinds.includes(kinds[i]) ? 64 : 255;
      data[i * 4 + 3] = cover[i] > 0 ? most * (0.28 + 0.72 * Math.min(1, cover[i])) : 0;
    }
    this.pen.putImageData(this.pixels, 0, 0);
    cover.fill(0);
    best.fill(0);
    this.context.imageSmoothingEnabled = false;
    this.context.drawImage(this.strip, this.left, this.y, this.cover.length, this.bar);
  }

  /* Slices of found names over the others, which are dimmed. */
  found(lane, list, y, bar) {
    this.fill(this.inks.paper, this.left, y, this.span, bar, 0.72);
    Object.assign(this, { y, bar });
    let drawn = this.left - 1;
    for (const i of list) {
      const x = this.x(lane.starts[i]), end = this.x(lane.ends[i]);
      if (x > this.width) {
        break;
      }
      if (end >= drawn + 0.5) {
        drawn = Math.max(end, x + 1);
        this.slice(lane, i, x, drawn);
      }
    }
  }

  /* ---- counters, ruler */

  counter(counter, y) {
    const { context } = this, ink = this.inks.kinds[0].css, high = counterHeight - 8;
    const level = (value) => y + high - (counter.most > counter.least
      ? (value - counter.least) / (counter.most - counter.least) * high : 0);
    const first = Math.max(0, firstOf(counter.n, (i) => counter.times[i] >= this.from) - 1);
    this.within(this.left, y - 1, this.span, high + 2, () => {
      let x = this.left, end = this.x(counter.times[first] || 0);
      context.beginPath();
      context.moveTo(end, y + high);
      for (let i = first; i < counter.n && x <= this.width; i++) {
        x = this.x(counter.times[i]);
        if (Number.isFinite(counter.values[i])) {
          end = i + 1 < counter.n ? this.x(counter.times[i + 1]) : x + 4;
          context.lineTo(x, level(counter.values[i]));
          context.lineTo(end, level(counter.values[i]));
        }
      }
      context.lineTo(end, y + high);
      context.closePath();
      context.globalAlpha = 0.3;
      context.fillStyle = context.strokeStyle = ink;
      context.fill();
      context.globalAlpha = 1;
      context.stroke();
    });
  }

  ruler(to, bottom) {
    const step = niceStep((to - this.from) / Math.max(2, this.span / 110));
    const scale = Math.max(Math.abs(this.from), Math.abs(to));
    for (let time = Math.ceil(this.from / step) * step; time <= to; time += step) {
      const x = Math.round(this.x(time)) + 0.5;
      this.fill(this.inks.grid, x, rulerHeight - 5, 1, bottom);
      this.write(timeText(time, scale, step), x + 4, rulerHeight / 2, this.inks.muted);
    }
  }
}
