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

  /* For the names that are shown now.  Makes a table that is wider than the page narrower: its
   * names, and everything else. */
  fit() {
    const box = this.scroll;
    this.shown().forEach((name, i) => set(name, { role: "button", tabindex: i ? -1 : 0,
      "aria-expanded": name.classList.contains("open") }));
    box.classList.remove("tight");
    if (this.narrow() < nameGood || box.scrollWidth > box.clientWidth) {
      box.classList.add("tight");
      this.narrow();
    }
  }

  /* Returns how wide the names may be. */
  narrow() {
    const box = this.scroll;
    let widest = Infinity;
    box.style.removeProperty("--name");
    const names = this.shown().filter((name) => !name.classList.contains("open"));
    const columns = new Set(names.map((name) => name.parentElement.cellIndex)).size;
    while (columns && box.scrollWidth > box.clientWidth) {
      const now = Math.max(...names.map((name) => name.offsetWidth));
      if (now > widest || now <= nameLeast) {
        break;
      }
      widest = Math.max(now - Math.ceil((box.scrollWidth - box.clientWidth) / columns), nameLeast);
      box.style.setProperty("--name", widest + "px");
    }
    return widest;
  }
}
