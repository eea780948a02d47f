/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One picture of the timeline: its rows, what is chosen and marked, and the small map of it all. */

const miniHeight = 34;

function paintTimeline(timeline) {
  const { view, room, inks, painter: p } = timeline;
  const width = view.clientWidth, height = view.clientHeight, top = view.scrollTop;
  p.begin(width, height, Math.round(Math.min(230, width * 0.3)), inks);
  p.setView(timeline.from, timeline.to);
  room.style.marginTop = `${-height}px`;
  timeline.canvas.style.height = `${height}px`;
  if (timeline.mark) {
    const [x, end] = timeline.mark.map((time) => p.x(time));
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
  if (timeline.chosen) {
    paintChosen(timeline, top);
  }
  p.fill(inks.paper, 0, 0, width, rulerHeight);
  p.ruler(timeline.to, rulerHeight - 5);
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

/* What stands left of a row: its name, and below it what there is to know. */
function paintHead(p, row, y) {
  const { file, track, counter, waits } = row, { inks } = p;
  const inner = track || counter || waits;
  const left = inner ? 18 : 6, room = inner ? p.left - 6 : p.width;
  if (row.left !== p.left) {
    row.left = p.left;
    const name = waits ? waitingText(file) : inner && inner.name;
    row.label = inner ? withoutMiddle(name, room - left,
      (part) => p.context.measureText(part).width) : `${file.open ? "▾" : "▸"} Rank ${file.rank}`;
  }
  p.within(0, y, room, row.height, () => {
    p.write(row.label, left, y + Math.min(row.height, 20) / 2, inks.text,
      inner ? inks.font : inks.strong);
    if (counter) {
      p.write([counter.least, counter.most].map((value) => valueText(value, counter.unit))
        .join(" to "), left, y + 26, inks.muted);
    } else if (track && hasMore(track)) {
      p.write(track.open ? "▴ fewer" : depthText(track), left, y + 26, inks.muted);
    } else if (!inner && file.open) {
      p.write(file.path, 90, y + 10, inks.muted);
    }
  });
}

function paintRow({ painter: p, wanted }, { file, track, counter, lanes, waits }, y) {
  const paint = (lane, top, bar) => {
    p.lane(lane, top, bar);
    if (wanted) {
      p.found(lane, lane.found, top, bar);
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

/* A frame around the chosen slice, and lines to those it belongs to. */
function paintChosen(timeline, top) {
  const { painter: p, chosen } = timeline, { context } = p, box = timeline.boxOf(chosen);
  if (!box) {
    return;
  }
  const edge = Math.max(box.x, p.left);
  context.strokeStyle = p.inks.text;
  context.lineWidth = 2;
  context.strokeRect(edge, box.y - top, Math.max(3, Math.min(box.end, p.width) - edge),
    laneHeight - 2);
  for (const [other] of timeline.relatives) {
    const far = timeline.boxOf(other);
    if (far) {
      context.beginPath();
      context.moveTo(far.x, far.y - top + laneHeight / 2);
      context.lineTo(box.x, box.y - top + laneHeight / 2);
      context.stroke();
    }
  }
  context.lineWidth = 1;
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
