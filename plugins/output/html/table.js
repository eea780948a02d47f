/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables: sorting, filtering, hiding columns, showing all rows, taking them away. */

/* Below these sizes a table can be taken in at a glance and needs no such tool. */
const filterFrom = 10;
const chooserFrom = 6;
/* With more columns than this a table stands closer. */
const wideFrom = 9;
/* In a table without room names become as narrow as this, in pixels. */
const nameLeast = 150;
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
    if (!this.known) {
      this.known = this.cells ? this.cells.map(Row.valueOfData)
        : Array.from(this.element.cells, Row.valueOfCell);
    }
    return this.known;
  }

  get text() {
    if (this.words === undefined) {
      const cells = this.cells || Array.from(this.element.cells);
      const read = this.cells ? Row.textsOfData : Row.textsOfCell;
      this.words = cells.flatMap(read).join("\n").toLowerCase();
    }
    return this.words;
  }

  /* What a filter can find in a cell: its text as shown, and as programs spell it. */
  static textsOfCell(cell) {
    if (cell.dataset.t !== undefined) {
      return [cell.textContent, cell.dataset.t];
    }
    return cell.dataset.v !== undefined || cell.classList.contains("nil") ? []
      : [cell.textContent];
  }

  static textsOfData(cell) {
    if (cell === null || (Array.isArray(cell) && typeof cell[0] !== "string")) {
      return [];
    }
    if (Array.isArray(cell)) {
      return [visible(cell[1]), visible(cell[0])];
    }
    return [cell === "" ? emptyText : Row.valueOfData(cell)];
  }

  static valueOfCell(cell) {
    if (cell.dataset.t !== undefined) {
      return cell.dataset.t;
    }
    if (cell.dataset.v !== undefined) {
      return JSON.parse(cell.dataset.v);
    }
    if (cell.classList.contains("nil")) {
      return null;
    }
    return cell.classList.contains("empty") ? "" : cell.textContent;
  }

  static valueOfData(cell) {
    if (cell === null || typeof cell === "string") {
      return cell === null ? null : visible(cell);
    }
    if (Array.isArray(cell)) {
      return typeof cell[0] === "string" ? visible(cell[0]) : cell[0];
    }
    return visible(cell.a) + visible(cell.b);
  }

  static cellOfData(cell, i, numeric) {
    const element = i ? make("td") : make("th", { scope: "row" });
    element.classList.toggle("n", numeric && typeof cell !== "string");
    if (cell === null) {
      element.classList.add("nil");
      element.textContent = "–";
    } else if (cell === "") {
      element.classList.add("empty");
      element.textContent = emptyText;
    } else if (typeof cell === "string") {
      element.textContent = visible(cell);
    } else if (Array.isArray(cell)) {
      const isWord = typeof cell[0] === "string";
      element.dataset[isWord ? "t" : "v"] = isWord ? visible(cell[0]) : JSON.stringify(cell[0]);
      element.textContent = visible(cell[1]);
    } else {
      element.append(make("span", { class: "name" }, make("span", {}, visible(cell.a)),
        make("span", {}, visible(cell.b))));
    }
    return element;
  }
}

function compareValues(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

class Table {
  constructor(box) {
    this.box = box;
    this.id = box.id.slice(2);
    this.scroll = box.querySelector(".scroll");
    this.body = box.querySelector("tbody");
    this.data = box.querySelector(":scope > script");
    this.heads = Array.from(box.querySelectorAll("thead th"));
    this.hasRanges = this.heads.some((head) => head.dataset.range);
    this.title = this.scroll.getAttribute("aria-label");
    this.section = box.closest("section");
    this.top = Number(box.dataset.top) || Infinity;
    this.total = Number(box.dataset.total);
    this.rows = Array.from(this.body.rows, (element, i) => new Row(i, element, null));
    this.rows.forEach((row) => row.element.classList.remove("x"));
    this.hidden = new Set(this.heads.map((head, i) => i).filter((i) => this.heads[i].hidden));
    this.column = -1;
    this.descending = false;
    this.filter = "";
    this.all = false;
    this.order = this.givenOrder();
    this.addHeads();
    this.addTools();
    this.addFoot();
    this.addNames();
    this.scroll.classList.toggle("wide", this.heads.length - this.hidden.size > wideFrom);
  }

  isNumeric(column) {
    return this.heads[column].classList.contains("n");
  }

  key(column) {
    return this.heads[column].dataset.key;
  }

  /* The column by which the rows come sorted, largest first, if there is one.  Equal values at
   * the start are a coincidence, not an order. */
  givenOrder() {
    const sample = this.rows.slice(0, 200);
    for (let i = 0; sample.length > 2 && i < this.heads.length; i++) {
      if (!this.isNumeric(i)) {
        continue;
      }
      const values = sample.map((row) => Row.valueOfCell(row.element.cells[i]));
      const falls = values.every((value, k) => typeof value === "number" &&
        (k === 0 || value < values[k - 1] || (k > 9 && value === values[k - 1])));
      if (falls) {
        return i;
      }
    }
    return -1;
  }

  /* Rows that travel as data join the others when something asks for more than the first ones. */
  load() {
    if (!this.data) {
      return;
    }
    const numeric = this.heads.map((head, i) => this.isNumeric(i));
    for (const cells of JSON.parse(this.data.textContent)) {
      const row = new Row(this.rows.length, null, cells);
      row.numeric = numeric;
      this.rows.push(row);
    }
    this.data.remove();
    this.data = null;
  }

  /* Starts of stretches of time lead to the timeline. */
  linkRange(row) {
    this.heads.forEach((head, i) => {
      const [rank, dur] = (head.dataset.range || "").split(",").map((k) => row.values[k]);
      const start = row.values[i], cell = row.element.cells[i];
      if (typeof start === "number" && typeof rank === "number" && typeof dur === "number") {
        cell.replaceChildren(make("a", { class: "timeline-link",
          href: `#s=timeline&t=${start},${start + dur}&rank=${rank}` }, cell.textContent));
      }
    });
    row.linked = true;
  }

  elementOf(row) {
    if (!row.element) {
      row.element = make("tr", {}, ...row.cells.map(
        (cell, i) => Row.cellOfData(cell, i, row.numeric[i])));
      this.heads.forEach((head, i) => {
        row.element.cells[i].classList.toggle("s", head.classList.contains("s"));
      });
      this.hidden.forEach((i) => { row.element.cells[i].hidden = true; });
    }
    if (this.hasRanges && !row.linked) {
      this.linkRange(row);
    }
    return row.element;
  }

  addHeads() {
    this.heads.forEach((head, i) => {
      const sorter = button(head.textContent, () => this.toggleSort(i));
      sorter.dataset.tip = head.title;
      head.removeAttribute("title");
      head.replaceChildren(sorter);
    });
  }

  addTools() {
    const tools = make("div", { class: "tools" });
    if (this.total > filterFrom) {
      this.input = make("input", { type: "search", placeholder: "Filter",
        "aria-label": "Filter " + this.title });
      this.input.addEventListener("input", () => this.setFilter(this.input.value));
      tools.append(this.input);
    }
    if (this.heads.length >= chooserFrom) {
      tools.append(this.makeChooser());
    }
    const copy = button("Copy", async () => {
      const done = await copyText(this.toTsv());
      copy.textContent = done ? "Copied" : "Not allowed";
      announce(done ? "Table copied" : "The browser does not allow copying");
      setTimeout(() => { copy.textContent = "Copy"; }, 1600);
    }, { "data-tip": "Copy the rows and columns shown as tab-separated values",
      "aria-label": "Copy " + this.title });
    const csv = button("CSV", () => download(this.id + ".csv", "text/csv", this.toCsv()),
      { "data-tip": "Download the rows and columns shown as CSV with exact values",
        "aria-label": "Download " + this.title + " as CSV" });
    tools.append(copy, csv);
    this.box.insertBefore(tools, this.scroll);
  }

  makeChooser() {
    const list = make("div");
    this.heads.forEach((head, i) => {
      const box = make("input", { type: "checkbox" });
      box.checked = !head.hidden;
      box.addEventListener("change", () => this.showColumn(i, box.checked));
      list.append(make("label", {}, box, head.textContent));
    });
    return make("details", { class: "menu" },
      make("summary", { "aria-label": "Columns of " + this.title }, "Columns"), list);
  }

  addFoot() {
    this.note = make("span");
    this.more = button("", () => {
      this.all = !this.all;
      this.arrange();
    });
    this.scroll.after(make("div", { class: "foot" }, this.note, this.more));
  }

  /* Names are one stop of the Tab key; arrows walk through them, Enter opens one. */
  addNames() {
    this.body.addEventListener("click", (event) => {
      const name = event.target.closest(".name");
      if (name && String(getSelection()) === "") {
        toggleName(name);
      }
    });
    this.body.addEventListener("keydown", (event) => {
      const name = event.target.closest(".name");
      if (!name) {
        return;
      }
      const names = this.shownNames();
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === "Enter" || event.key === " ") {
        toggleName(name);
      } else if (step && names[names.indexOf(name) + step]) {
        const next = names[names.indexOf(name) + step];
        name.tabIndex = -1;
        next.tabIndex = 0;
        next.focus();
      } else {
        return;
      }
      event.preventDefault();
    });
  }

  shownNames() {
    return Array.from(this.body.querySelectorAll(":is(th, td):not([hidden]) > .name"));
  }

  prepareNames() {
    this.shownNames().forEach((name, i) => {
      name.setAttribute("role", "button");
      name.setAttribute("aria-expanded", name.classList.contains("open"));
      name.tabIndex = i ? -1 : 0;
    });
  }

  showColumn(column, shown) {
    this.hidden[shown ? "delete" : "add"](column);
    this.heads[column].hidden = !shown;
    for (const row of this.rows) {
      if (row.element) {
        row.element.cells[column].hidden = !shown;
      }
    }
    this.fit();
  }

  /* Makes a table that is wider than the page narrower: first its names, then everything. */
  fit() {
    const box = this.scroll;
    box.classList.remove("tight");
    box.style.removeProperty("--name");
    this.narrowNames();
    if (box.scrollWidth > box.clientWidth) {
      box.classList.add("tight");
      box.style.removeProperty("--name");
      this.narrowNames();
    }
  }

  narrowNames() {
    const box = this.scroll;
    const names = this.shownNames().filter((name) => !name.classList.contains("open"));
    const columns = new Set(names.map((name) => name.parentElement.cellIndex)).size;
    for (let widest = Infinity; columns && box.scrollWidth > box.clientWidth;) {
      const now = Math.max(...names.map((name) => name.offsetWidth));
      const next = now - Math.ceil((box.scrollWidth - box.clientWidth) / columns);
      if (now >= widest || now <= nameLeast) {
        return;
      }
      widest = now;
      box.style.setProperty("--name", Math.max(next, nameLeast) + "px");
    }
  }

  setFilter(text) {
    this.filter = text;
    state.table = this.id;
    state.s = this.section.id.slice(2);
    state.f = text.trim();
    state.sort = this.sortText();
    writeAddress();
    this.arrange();
  }

  /* First the better half of the work: largest numbers, first names; then the other way; then
   * the order in which the report gives the rows. */
  toggleSort(column) {
    const first = this.isNumeric(column);
    if (this.column !== column) {
      this.sortBy(column, this.order === column && first ? !first : first);
    } else if (this.descending === first && this.order !== column) {
      this.sortBy(column, !first);
    } else {
      this.sortBy(-1, false);
    }
    state.table = this.id;
    state.s = this.section.id.slice(2);
    state.sort = this.sortText();
    state.f = this.filter.trim();
    writeAddress();
  }

  sortText() {
    return this.column < 0 ? "" : this.key(this.column) + (this.descending ? ",desc" : ",asc");
  }

  sortBy(column, descending) {
    this.column = column;
    this.descending = descending;
    this.arrange();
  }

  matches() {
    const wanted = words(this.filter).concat(words(state.q));
    if (wanted.length || this.column >= 0 || this.all) {
      this.load();
    }
    let rows = wanted.length ? this.rows.filter((row) => holdsAll(row.text, wanted))
      : this.rows.slice();
    const column = this.column;
    if (column >= 0) {
      const sign = this.descending ? -1 : 1;
      rows.sort((a, b) => {
        const x = a.values[column], y = b.values[column];
        if (x === null || y === null) {
          return (x === null) - (y === null) || a.index - b.index;
        }
        return sign * compareValues(x, y) || a.index - b.index;
      });
    }
    return rows;
  }

  arrange() {
    const rows = this.matches();
    const shown = this.all ? rows : rows.slice(0, this.top);
    this.body.replaceChildren(...shown.map((row) => this.elementOf(row)));
    this.scroll.classList.toggle("tall", shown.length > 60);
    this.showSort();
    this.showBars(shown);
    this.showCounts(rows.length, shown.length);
    this.prepareNames();
    this.fit();
    this.matched = rows.length;
    return rows.length;
  }

  showSort() {
    const column = this.column >= 0 ? this.column : this.order;
    const down = this.column >= 0 ? this.descending : true;
    this.heads.forEach((head, i) => {
      if (i === column) {
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
      } else {
        head.removeAttribute("aria-sort");
      }
    });
  }

  /* The column of the order shows each value as a share of its largest one. */
  showBars(shown) {
    const column = this.column >= 0 ? this.column : this.order;
    for (const cell of this.body.querySelectorAll(".share")) {
      cell.classList.remove("share");
    }
    if (column < 1 || !this.isNumeric(column)) {
      return;
    }
    const values = shown.map((row) => row.values[column]);
    const largest = Math.max(...values);
    if (!(largest > 0) || values.some((value) => value < 0)) {
      return;
    }
    shown.forEach((row, i) => {
      if (values[i] !== null) {
        const cell = row.element.cells[column];
        cell.style.setProperty("--share", (values[i] / largest).toFixed(4));
        cell.classList.add("share");
      }
    });
  }

  showCounts(matching, shown) {
    const carried = this.data ? this.total : this.rows.length;
    const searched = Boolean(this.filter.trim() || state.q);
    const found = searched ? matching : carried;
    this.note.textContent = searched
      ? `${grouped(shown)} of ${grouped(matching)} matching rows`
      : `${grouped(shown)} of ${grouped(this.total)} rows`;
    this.more.hidden = found <= this.top;
    this.more.textContent = this.all ? `Show first ${grouped(this.top)}`
      : `Show all ${grouped(found)}`;
    this.note.parentElement.hidden = !searched && found <= this.top;
  }

  /* Brings a row to the eye and marks the cell that was cited. */
  reveal(index, key) {
    this.filter = "";
    if (this.input) {
      this.input.value = "";
    }
    const row = this.rows[index];
    if (!row) {
      return;
    }
    if (!this.matches().slice(0, this.top).includes(row)) {
      this.all = true;
    }
    this.arrange();
    document.querySelectorAll(".cited").forEach((element) => element.classList.remove("cited"));
    row.element.classList.add("cited");
    const column = this.heads.findIndex((head) => head.dataset.key === key);
    if (column >= 0) {
      row.element.cells[column].classList.add("cited");
    }
    row.element.tabIndex = -1;
    row.element.focus({ preventScroll: true });
    row.element.scrollIntoView({ block: "center", inline: "nearest" });
  }

  /* ---- taking the table away */

  shownColumns() {
    return this.heads.map((head, i) => i).filter((i) => !this.hidden.has(i));
  }

  toText(separator, titles, quote) {
    const columns = this.shownColumns();
    const lines = [columns.map((i) => quote(titles(i)))];
    for (const row of this.matches()) {
      lines.push(columns.map((i) => quote(row.values[i])));
    }
    return lines.map((line) => line.join(separator)).join("\r\n") + "\r\n";
  }

  toTsv() {
    const title = (i) => {
      const unit = this.heads[i].dataset.unit;
      return this.heads[i].textContent + (unit === "none" ? "" : ` (${unit})`);
    };
    return this.toText("\t", title, (value) => harmless(value).replace(/[\t\r\n]/g, " "));
  }

  toCsv() {
    return this.toText(",", (i) => this.key(i), (value) => {
      const text = harmless(value);
      return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
    });
  }
}

/* A text that a spreadsheet would run gets a leading apostrophe; numbers stay numbers. */
function harmless(value) {
  if (typeof value !== "string") {
    return value === null ? "" : String(value);
  }
  return /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r]/.test(value) ? "'" + value : value;
}

function toggleName(name) {
  name.setAttribute("aria-expanded", name.classList.toggle("open"));
  hideTip();
}
