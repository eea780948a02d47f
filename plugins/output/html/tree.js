/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trees drawn as nested boxes: a click or Enter makes a box as wide as the drawing.
 *
 * The markup is the whole drawing; the script moves its boxes and writes their names anew where
 * they have become wider. */

/* As in src/render/chart/tree.c: boxes wider than three gaps have one at their right. */
const leastLabel = 40, labelInset = 4, gap = 1;

class Tree {
  constructor(svg) {
    this.svg = svg;
    this.width = svg.viewBox.baseVal.width;
    this.boxes = all("rect", svg).map(Tree.box).filter(Boolean);
    this.root = this.boxes[0];
    if (!this.root) {
      return;
    }
    this.link();
    this.top = this.root;
    this.bar = make("p", { class: "path", role: "status" });
    svg.parentElement.after(this.bar);
    svg.setAttribute("role", "group");
    this.boxes.forEach((box) => this.prepare(box));
    set(this.root.rect, { tabindex: 0 });
    on(svg, "click", (event) => this.onClick(event));
    on(svg, "keydown", (event) => this.onKey(event));
    this.say();
  }

  static box(rect) {
    const title = rect.querySelector("title");
    if (!title) {
      return null;
    }
    const at = (name) => Number(rect.getAttribute(name));
    const next = rect.nextElementSibling;
    const label = next && next.tagName === "text" && !next.querySelector("title") ? next : null;
    const tip = title.textContent;
    title.remove();
    const width = at("width") + (at("width") > 2 * gap ? gap : 0);
    return { rect, label, tip, name: tip.split(" · ")[0], x: at("x"), y: at("y"), width,
      written: label ? label.textContent : "", inner: [], outer: null };
  }

  /* A box is part of the one above it that its middle lies below. */
  link() {
    const rows = new Map();
    for (const box of this.boxes) {
      rows.set(box.y, [...(rows.get(box.y) || []), box]);
    }
    const tops = Array.from(rows.keys()).sort((a, b) => a - b);
    tops.forEach((y, i) => {
      rows.get(y).sort((a, b) => a.x - b.x);
      for (const box of i ? rows.get(y) : []) {
        const middle = box.x + box.width / 2;
        box.outer = rows.get(tops[i - 1]).findLast((other) => other.x <= middle) || this.root;
        box.outer.inner.push(box);
      }
    });
  }

  prepare(box) {
    set(box.rect, { "data-tip": box.tip, role: "button", "aria-label": box.tip, tabindex: -1 });
  }

  encloses(outer, box) {
    for (let one = box; one; one = one.outer) {
      if (one === outer) {
        return true;
      }
    }
    return false;
  }

  zoom(top) {
    const scale = this.width / top.width;
    this.top = top;
    for (const box of this.boxes) {
      const above = box !== top && this.encloses(box, top);
      const shown = above || this.encloses(top, box);
      const x = above ? 0 : (box.x - top.x) * scale;
      const width = above ? this.width : Math.min(box.width * scale, this.width - x);
      box.rect.classList.toggle("above", above);
      set(box.rect, { visibility: shown ? "visible" : "hidden", x,
        width: Math.max(width > 3 * gap ? width - gap : width, 0) });
      this.write(box, shown, x, width);
    }
    this.say();
  }

  write(box, shown, x, width) {
    const written = shown && width >= leastLabel;
    if (written) {
      box.label = box.label || this.newLabel(box);
      box.label.textContent = (this.top === this.root || box === this.root) && box.written ||
        this.fit(box, width - 2 * labelInset);
    }
    if (box.label) {
      set(box.label, { visibility: written ? "visible" : "hidden", x: x + labelInset });
    }
  }

  newLabel(box) {
    const ink = /ink-(\S+)/.exec(box.rect.getAttribute("class"))[1];
    const label = draw("text", { class: `fill face-small on-${ink}`,
      y: box.y + Number(this.root.label.getAttribute("y")) - this.root.y });
    box.rect.after(label);
    return label;
  }

  /* The name, without folders and then without its middle where it does not fit. */
  fit(box, room) {
    const length = (text) => {
      box.label.textContent = text;
      return box.label.getComputedTextLength();
    };
    if (length(box.name) <= room) {
      return box.name;
    }
    return withoutMiddle(box.name.replace(/^[^ <]*\/(?=.)/, ""), room, length);
  }

  say() {
    const zoomed = this.top !== this.root;
    this.bar.replaceChildren(zoomed ? this.top.tip : "Click a box, or walk with the arrow keys " +
      "and press Enter, to zoom in.");
    if (zoomed) {
      this.bar.append(" ", button("Zoom out", () => this.zoom(this.root)));
    }
  }

  onClick(event) {
    const box = this.boxes.find((one) => one.rect === event.target || one.label === event.target);
    if (box) {
      this.zoomTo(box);
    }
  }

  /* To a box; out of one that is as wide as the drawing. */
  zoomTo(box) {
    this.zoom(box === this.top && box.outer || box);
  }

  /* The boxes that are seen on the level of one, from left to right. */
  beside(box) {
    return this.boxes.filter((one) => one.y === box.y &&
      one.rect.getAttribute("visibility") !== "hidden").sort((a, b) => a.x - b.x);
  }

  onKey(event) {
    const box = this.boxes.find((one) => one.rect === event.target);
    if (!box || hasModifier(event)) {
      return;
    }
    const level = this.beside(box), i = level.indexOf(box);
    const widest = (boxes) => boxes.reduce((a, b) => b.width > a.width ? b : a, boxes[0]);
    const next = { ArrowLeft: level[i - 1], ArrowRight: level[i + 1], ArrowUp: box.outer,
      ArrowDown: widest(box.inner), Home: this.root }[event.key];
    if (event.key === "Enter" || event.key === " ") {
      this.zoomTo(box);
    } else if (event.key === "Escape" && this.top.outer) {
      this.zoom(this.top.outer);
    } else if (next) {
      this.focus(box, next);
    } else if (!event.key.startsWith("Arrow")) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  focus(from, to) {
    set(from.rect, { tabindex: -1 });
    set(to.rect, { tabindex: 0 });
    to.rect.focus();
  }
}
