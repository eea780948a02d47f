/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One picture of the timeline: its rows, what is chosen and marked, and the small map of it all. */

const miniHeight = 34, marksMost = 8;

function paintTimeline(timeline) {
  const { view, room, inks, painter: p } = timeline;
  const width = view.clientWidth, height = view.clientHeight, top = view.scrollTop;
  p.begin(width, height, Math.round(Math.min(230, width * 0.3)), inks);
  p.setView(timeline.from, timeline.to);
  room.style.marginTop = `${-height}px`;
  timeline.canvas.style.height = `${height}px`;
  const range = timeline.drawn || (timeline.range && [timeline.range.from, timeline.range.to]);
  if (range) {
    const [x, end] = range.map((time) => p.x(time));
    p.fill(inks.band, x, 0, Math.max(2, end - x), height);
  }
  p.ruler(timeline.to, height);
  for (const row of timeline.rows) {
    const y = row.y - top;
    if (y + row.height > rulerHeight && y < height) {
      paintHead(p, row, y);
      paintRow(timeline, row, y);
    }
  }
  p.within(p.left, 0, p.span, height, () => {
    if (timeline.chosen) {
      paintChosen(timeline, top);
    }
    timeline.arrows.forEach((arrow) => paintArrow(timeline, arrow, top));
  });
  p.fill(inks.paper, 0, 0, width, rulerHeight);
  p.ruler(timeline.to, rulerHeight - 5);
  if (range) {
    paintRange(p, range, height);
  }
  p.within(p.left, 0, p.span, height, () => paintMarks(p, timeline.marks, height));
  paintMini(timeline, width);
}

function waitingText({ waiting, showsWaiting }) {
  const n = waiting.length;
  return (showsWaiting ? "▾ " : "▸ ") +
    (n === 1 ? "1 thread that only waits" : n + " threads that only wait");
}

function depthText({ lanes }) {
  const folded = lanes.filter((lane) => lane.isCommon).length;
  return "▾ " + lanes.length + " deep" + (folded ? ", " + folded + " outer calls folded" : "");
}

/* What stands left of a row: its name, and below it what there is to know, in view as long as a part
 * of the row is. */
function paintHead(p, row, y) {
  const { file, track, counter, waits } = row, { inks } = p;
  const inner = track || counter || waits;
  const left = inner ? 18 : 6, room = inner ? p.left - 6 : p.width;
  if (row.left !== p.left) {
    row.left = p.left;
    const name = waits ? waitingText(file) : inner && inner.name;
    row.label = inner ? withoutMiddle(name, room - left,
      (part) => p.context.measureText(part).width) : `${file.open ? "▾" : "▸"} ${rankText(file)}`;
  }
  const head = Math.min(row.height, 40);
  const top = Math.max(y, Math.min(rulerHeight, y + row.height - head));
  p.within(0, y, room, row.height, () => {
    p.write(row.label, left, top + Math.min(row.height, 20) / 2, inks.text,
      inner ? inks.font : inks.strong);
    if (counter) {
      p.write([counter.least, counter.most].map((value) => valueText(value, counter.unit))
        .join(" to "), left, top + 26, inks.muted);
    } else if (track && hasMore(track)) {
      p.write(track.open ? "▴ fewer" : depthText(track), left, top + 26, inks.muted);
    } else if (!inner && file.open) {
      p.write(file.path, 90, top + 10, inks.muted);
    }
  });
}

function paintRow({ painter: p, wanted }, { file, track, counter, lanes, waits }, y) {
  const paint = (lane, top, bar) => {
    p.lane(lane, top, bar);
    if (wanted) {
      p.found(lane, lane.found, top, bar);
      p.found(lane, lane.launched, top, bar);
    }
  };
  if (counter) {
    p.counter(counter, y + 4);
  } else if (track) {
    lanes.forEach((lane, i) => paint(lane, y + i * laneHeight, laneHeight - 2));
  } else if (!waits && !file.open && file.main) {
    file.main.busy.forEach((lane) => paint(lane, y + 4, headHeight - 8));
  }
}

/* A frame around the chosen slice. */
function paintChosen(timeline, top) {
  const { painter: p, chosen } = timeline, { context } = p, box = timeline.boxOf(chosen);
  if (box) {
    const edge = Math.max(box.x, p.left);
    context.strokeStyle = p.inks.text;
    context.lineWidth = 2;
    context.strokeRect(edge, box.y - top, Math.max(3, Math.min(box.end, p.width) - edge),
      laneHeight - 2);
    context.lineWidth = 1;
  }
}

/* From a slice to one that follows from it. */
function paintArrow(timeline, slices, top) {
  const { painter: { context, inks } } = timeline;
  const [from, to] = slices.map((slice) => timeline.boxOf(slice));
  if (!from || !to) {
    return;
  }
  const y = from.y - top + laneHeight / 2, end = to.y - top + laneHeight / 2;
  const bend = Math.max(12, Math.abs(to.x - from.x) / 2);
  context.strokeStyle = context.fillStyle = inks.text;
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(from.x, y);
  context.bezierCurveTo(from.x + bend, y, to.x - bend, end, to.x, end);
  context.stroke();
  context.beginPath();
  context.moveTo(to.x, end);
  context.lineTo(to.x - 7, end - 4);
  context.lineTo(to.x - 7, end + 4);
  context.fill();
  context.lineWidth = 1;
}

/* The edges of a range, and how long it is on the ruler. */
function paintRange(p, range, height) {
  const [x, end] = range.map((time) => p.x(time)), text = timeText(range[1] - range[0]);
  const left = Math.max(x, p.left), width = p.context.measureText(text).width + 8;
  p.within(p.left, 0, p.span, height, () => {
    p.fill(p.inks.text, x - 1, 0, 1, height, 0.6);
    p.fill(p.inks.text, end, 0, 1, height, 0.6);
    p.fill(p.inks.band, left, 0, Math.max(end - left, width), rulerHeight - 5);
    p.write(text, Math.max(left, (left + Math.min(end, p.width) - width) / 2) + 4, rulerHeight / 2,
      p.inks.text);
  });
}

/* Flags on the ruler, each with its time: of the first one, of the others since the one before. */
function paintMarks(p, marks, height) {
  const { context, inks } = p;
  marks.forEach((time, i) => {
    const x = p.x(time);
    p.fill(inks.text, x, 0, 1, height);
    const text = i ? `+${timeText(time - marks[i - 1])}` : timeText(time);
    const width = context.measureText(text).width + 8;
    p.fill(inks.text, x, 0, width, rulerHeight - 5);
    p.write(text, x + 4, (rulerHeight - 5) / 2, inks.paper);
  });
}

function paintMini(timeline, width) {
  const { miniPainter: m, inks } = timeline;
  const tracks = timeline.files.map((file) => file.main).filter(Boolean);
  m.begin(width, miniHeight, timeline.painter.left, inks);
  m.setView(timeline.start, timeline.end);
  const high = Math.max(1, 28 / Math.max(1, tracks.length));
  tracks.slice(0, 28).forEach((track, i) => track.busy.forEach((lane) =>
    m.lane(lane, 3 + i * high, Math.max(1, high - (high > 3)))));
  const x = m.x(timeline.from), end = m.x(timeline.to);
  m.fill(inks.paper, m.left, 0, x - m.left, miniHeight, 0.7);
  m.fill(inks.paper, end, 0, width - end, miniHeight, 0.7);
  m.context.strokeStyle = inks.text;
  m.context.strokeRect(x + 0.5, 1, Math.max(2, end - x - 1), miniHeight - 2);
  m.write(timeText(timeline.to - timeline.from) + " shown", 6, 20, inks.muted);
}
