/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Long names in tables: as narrow as the page needs them, in full where one is opened. */

/* In a table without room names become as narrow as this, in pixels; below the other width
 * everything else stands closer first. */
const nameLeast = 150, nameGood = 230;

/* What a name stands for: what it says, or more. */
function fullName(name) {
  return name.dataset.full || name.title || name.textContent;
}

/* Shows it in full, or in short again. */
function writeName(name) {
  if (name.said) {
    name.replaceChildren(...name.said);
    name.said = null;
  } else if (fullName(name) !== name.textContent) {
    name.said = [...name.childNodes];
    name.replaceChildren(fullName(name));
  }
}

function toggleName(name) {
  if (!name.classList.contains("open")) {
    name.style.setProperty("--opened", `${name.getBoundingClientRect().width}px`);
  }
  set(name, { "aria-expanded": name.classList.toggle("open") });
  writeName(name);
  hideTip();
}

/* The names of a table are one stop of the Tab key; arrows walk through them, Enter opens one. */
class Names {
  constructor(body) {
    this.body = body;
    this.scroll = body.closest(".scroll");
    on(body, "click", (event) => {
      const name = event.target.closest(".name");
      if (name && String(getSelection()) === "") {
        toggleName(name);
      }
    });
    on(body, "keydown", (event) => this.onKey(event, event.target.closest(".name")));
    on(window, "resize", () => this.fit());
  }

  onKey(event, name) {
    const names = name ? this.shown() : [];
    const next = names[names.indexOf(name) + { ArrowDown: 1, ArrowUp: -1 }[event.key]];
    if (name && (event.key === "Enter" || event.key === " ")) {
      toggleName(name);
    } else if (next) {
      name.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    } else {
      return;
    }
    event.preventDefault();
  }

  shown() {
    return all(":is(th, td):not([hidden]) > .name", this.body);
  }

  /* For the names that are shown now: makes a table that is wider than the page narrower, with
   * all others that ask for it at the same time. */
  fit() {
    if (!waiting.size) {
      queueMicrotask(fitAll);
    }
    waiting.add(this);
  }

  prepare() {
    this.names = this.shown();
    this.names.forEach((name, i) => set(name, { role: "button", tabindex: i ? -1 : 0,
      "aria-expanded": name.classList.contains("open") }));
    this.scroll.classList.remove("tight");
    this.scroll.style.removeProperty("--name");
  }

  /* By how much the table is too wide, and how wide the names of each column are. */
  measure() {
    const widest = new Map();
    this.over = this.scroll.scrollWidth - this.scroll.clientWidth;
    for (const name of this.over > 0 ? this.names : []) {
      const column = name.parentElement.cellIndex;
      if (!name.classList.contains("open")) {
        widest.set(column, Math.max(widest.get(column) || 0, name.offsetWidth));
      }
    }
    this.widths = [...widest.values()].sort((a, b) => b - a);
  }

  /* How wide names may be for the table to fit: the widest columns give way first.  Widths are
   * rounded, so together they may be short of a pixel. */
  room() {
    let sum = -1;
    for (let i = 0; i < this.widths.length; i++) {
      sum += this.widths[i];
      const most = Math.floor((sum - this.over) / (i + 1));
      if (most >= (this.widths[i + 1] || 0)) {
        return Math.max(most, nameLeast);
      }
    }
    return nameLeast;
  }

  narrow() {
    if (this.over > 0) {
      this.scroll.style.setProperty("--name", this.room() + "px");
    }
  }
}

/* Whose names wait to be fitted.  All are written, then all are read, then written again: reading
 * one after each is written would lay the whole page out for each. */
const waiting = new Set();

function fitAll() {
  let list = [...waiting].filter((names) => names.scroll.offsetParent);
  waiting.forEach((names) => names.prepare());
  waiting.clear();
  list.forEach((names) => names.measure());
  list = list.filter((names) => names.over > 0);
  const close = list.filter((names) => names.room() < nameGood);
  close.forEach((names) => names.scroll.classList.add("tight"));
  close.forEach((names) => names.measure());
  list.forEach((names) => names.narrow());
}
