/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of tables, which stand in the markup or travel as data. */

/* What stands for a text without any character. */
const emptyText = "(empty)";

/* One row: its element, made when first shown, and its exact values, read when first needed. */
class Row {
  constructor(index, element, cells) {
    this.index = index;
    this.element = element;
    this.cells = cells;
  }

  get values() {
    this.known = this.known || this.read().map((cell) => cell[0]);
    return this.known;
  }

  get text() {
    this.words = this.words ||
      this.read().flatMap((cell) => cell.slice(1)).join("\n").toLowerCase();
    return this.words;
  }

  /* Of each cell its value, and then what a filter can find: a text as shown, and as programs
   * spell it. */
  read() {
    return this.cells ? this.cells.map(Row.readData) : Array.from(this.element.cells, Row.readCell);
  }

  static readCell(cell) {
    const { t, v } = cell.dataset, text = cell.textContent;
    const name = cell.querySelector(":scope > .name");
    if (name) {
      return [fullName(name), text, fullName(name)];
    }
    if (t !== undefined || v !== undefined) {
      return v === undefined ? [t, text, t] : [JSON.parse(v)];
    }
    return cell.classList.contains("nil") ? [null]
      : [cell.classList.contains("empty") ? "" : text, text];
  }

  static readData(cell) {
    if (cell === null) {
      return [null];
    }
    if (Array.isArray(cell)) {
      const [value, shown] = cell;
      return typeof value === "string" ? [visible(value), visible(shown), visible(value)] : [value];
    }
    const text = typeof cell === "string" ? visible(cell) : visible(cell.a + (cell.b || ""));
    return cell.t ? [visible(cell.t), text, visible(cell.t)] : [text, text || emptyText];
  }

  static cellOfData(cell, i, numeric) {
    const element = i ? make("td") : make("th", { scope: "row" });
    const [value, text] = Row.readData(cell);
    element.classList.toggle("n", numeric && typeof cell !== "string");
    element.classList.toggle("nil", value === null);
    element.classList.toggle("empty", value === "");
    if (Array.isArray(cell)) {
      const isWord = typeof value === "string";
      element.dataset[isWord ? "t" : "v"] = isWord ? value : JSON.stringify(value);
      element.textContent = visible(cell[1]);
    } else if (cell && typeof cell === "object") {
      element.append(make("span", { class: "name", title: cell.t ? visible(cell.t) : null },
        ...(cell.b ? [cell.a, cell.b].map((run) => make("span", {}, visible(run)))
          : [visible(cell.a)])));
    } else {
      element.textContent = value === null ? "–" : text;
    }
    return element;
  }
}
