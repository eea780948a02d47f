/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys, pointer, wheel and size of the timeline. */

function onTimelineKey(timeline, event) {
  const hasChoice = timeline.chosen || timeline.range;
  const actions = { w: () => timeline.zoom(0.6), s: () => timeline.zoom(1 / 0.6),
    a: () => timeline.pan(-0.2), d: () => timeline.pan(0.2), "[": () => timeline.along(-1),
    "]": () => timeline.along(1), PageDown: () => timeline.view.scrollBy(0, 200),
    PageUp: () => timeline.view.scrollBy(0, -200), Home: () => timeline.showAll(),
    r: () => timeline.selectShown(), f: () => timeline.toggleFull(), m: () => timeline.markHere(),
    Enter: () => hasChoice && timeline.details.querySelector("button").click() };
  const same = { ArrowUp: "w", ArrowDown: "s", ArrowLeft: "a", ArrowRight: "d", "+": "w",
    "-": "s" };
  if (hasChoice) {
    actions.Escape = () => timeline.clear();
  }
  const action = actions[same[event.key] || event.key];
  if (action && !hasModifier(event)) {
    event.preventDefault();
    event.stopPropagation();
    action();
  }
}

function hoverTimeline(timeline, x, y, box) {
  const { row, slice } = timeline.hit(x, y), inHead = x < timeline.painter.left;
  let text = "";
  if (slice) {
    text = `${timeline.labels[slice.label].brief} · ${timeText(slice.end - slice.start)}`;
  } else if (row && inHead) {
    text = row.waits ? "Monitors, readers of queues and the like: a click shows them"
      : (row.counter || row.track || { name: row.file.path }).name;
  } else if (row && row.counter) {
    const { n, times, values, name, unit } = row.counter, time = timeline.time(x);
    const at = firstOf(n, (i) => times[i] > time) - 1;
    text = at < 0 ? "" : `${name}: ${valueText(values[at], unit)}`;
  }
  placeTip(text, box.left + x + 12, box.top + y + 18);
}

/* Where an event is on its element. */
function placeOf(event) {
  const box = event.currentTarget.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top, box };
}

/* Drag moves; Shift and drag, or a drag along the ruler, chooses a range; a click chooses a slice,
 * or sets a marker on the ruler. */
function watchPointer(timeline, canvas) {
  let drag = null;
  on(canvas, "pointerdown", (event) => {
    const place = placeOf(event), isRuler = place.y < rulerHeight;
    drag = { ...place, from: timeline.from, to: timeline.to, top: timeline.view.scrollTop, isRuler,
      range: (event.shiftKey || isRuler) && place.x >= timeline.painter.left };
    canvas.setPointerCapture(event.pointerId);
  });
  on(canvas, "pointermove", (event) => {
    const { x, y, box } = placeOf(event);
    if (!drag) {
      hoverTimeline(timeline, x, y, box);
      return;
    }
    drag.moved = drag.moved || Math.hypot(x - drag.x, y - drag.y) > 4;
    if (drag.range && drag.moved) {
      timeline.drawn = [timeline.time(Math.max(timeline.painter.left, Math.min(x, drag.x))),
        timeline.time(Math.max(x, drag.x))];
      timeline.draw();
    } else if (drag.moved) {
      const by = (drag.x - x) / timeline.painter.perNs;
      timeline.view.scrollTop = drag.top + drag.y - y;
      timeline.show(drag.from + by, drag.to + by);
    }
  });
  on(canvas, "pointerup", (event) => {
    const { x, y } = placeOf(event), { row, slice } = timeline.hit(x, y);
    if (drag && timeline.drawn) {
      const [from, to] = timeline.drawn.map(Math.round), at = timeline.rowAt(drag.y);
      timeline.drawn = null;
      timeline.select({ file: at.file, from, to: Math.max(to, from + 1) });
    } else if (drag && !drag.moved && drag.isRuler && drag.range) {
      timeline.mark(Math.round(timeline.time(x)));
    } else if (drag && !drag.moved && slice) {
      timeline.choose(slice, false);
    } else if (drag && !drag.moved && row && (x < timeline.painter.left || !row.track)) {
      timeline.press(row);
    }
    drag = null;
  });
  on(canvas, "pointercancel", () => {
    drag = timeline.drawn = null;
    timeline.draw();
  });
  on(canvas, "pointerleave", hideTip);
  on(canvas, "dblclick", () => canvas.dispatchEvent(new KeyboardEvent("keydown",
    { key: "Enter" })));
}

function watchTimeline(timeline) {
  const { canvas, mini, miniPainter } = timeline;
  on(canvas, "keydown", (event) => onTimelineKey(timeline, event));
  watchPointer(timeline, canvas);
  on(canvas, "wheel", (event) => {
    if (event.ctrlKey || event.metaKey) {
      timeline.zoom(Math.exp(event.deltaY / 240), timeline.time(placeOf(event).x));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      timeline.pan((event.deltaX || event.deltaY) / 1000);
    } else {
      return;
    }
    event.preventDefault();
  }, { passive: false });
  on(mini, "pointerdown pointermove", (event) => {
    if (event.buttons) {
      const middle = miniPainter.time(placeOf(event).x);
      const half = (timeline.to - timeline.from) / 2;
      timeline.show(middle - half, middle + half);
    }
  });
  on(timeline.view, "scroll", () => timeline.draw());
  const recolor = () => {
    timeline.inks = null;
    timeline.draw();
  };
  new MutationObserver(recolor).observe(root, { attributeFilter: ["data-theme"] });
  on(matchMedia("(prefers-color-scheme: dark)"), "change", recolor);
  const resized = new ResizeObserver(() => timeline.draw());
  resized.observe(timeline.box);
  resized.observe(timeline.view);
  on(document, "fullscreenchange", () => (document.fullscreenElement || document.body)
    .append(tip, announcer));
}
