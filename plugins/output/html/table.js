/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables: sorting, filtering, hiding columns, showing all rows. */

/* Below these sizes a table can be taken in at a glance and needs no such tool. */
const filterFrom = 10;
const chooserFrom = 6;
/* With more columns than this a table stands closer. */
const wideFrom = 9;

class Table {
  constructor(box) {
    this.box = box;
    this.id = box.id.slice(2);
    this.scroll = box.querySelector(".scroll");
    this.body = box.querySelector("tbody");
    this.data = box.querySelector(":scope > script");
    this.heads = all("thead th", box);
    this.hasRanges = this.heads.some((head) => head.dataset.range);
    this.title = this.scroll.getAttribute("aria-label");
    this.section = box.closest("section");
    this.fold = box.closest("details.fold");
    this.top = Number(box.dataset.top) || Infinity;
    this.total = Number(box.dataset.total);
    this.rows = Array.from(this.body.rows, (element) =>
      new Row(Number(element.id.split("-").pop()), element, null));
    this.rows.forEach((row) => row.element.classList.remove("x"));
    this.names = new Names(this.body);
    this.hidden = new Set([...this.heads.keys()].filter((i) => this.heads[i].hidden));
    this.column = -1;
    this.descending = false;
    this.filter = "";
    this.all = false;
    this.order = this.givenOrder();
    if (this.fold) {
      this.load();
    }
    this.addHeads();
    this.addTools();
    this.addFoot();
    this.scroll.classList.toggle("wide", this.heads.length - this.hidden.size > wideFrom);
  }

  isNumeric(column) {
    return this.heads[column].classList.contains("n");
  }

  find(key) {
    return this.heads.findIndex((head) => head.dataset.key === key);
  }

  /* The column by which the rows come sorted, largest first, if there is one.  Equal values at
   * the start are a coincidence, not an order; so are values each with a unit of its own. */
  givenOrder() {
    const sample = this.find("unit") < 0 ? this.rows.slice(0, 200) : [];
    for (let i = 0; sample.length > 2 && i < this.heads.length; i++) {
      if (!this.isNumeric(i)) {
        continue;
      }
      const values = sample.map((row) => row.element ? Row.readCell(row.element.cells[i])[0]
        : row.values[i]);
      const falls = values.every((value, k) => typeof value === "number" &&
        (k ? value < values[k - 1] || ((k > 9 || !value) && value === values[k - 1]) : value));
      if (falls) {
        return i;
      }
    }
    return -1;
  }

  /* Rows that travel as data join the others when something asks for more than the first ones, or
   * their table is unfolded. */
  load() {
    if (!this.data || isPacked(this.data)) {
      return;
    }
    for (const cells of JSON.parse(this.data.textContent)) {
      const index = cells.length > this.heads.length ? cells.pop() : this.rows.length;
      this.rows.push(new Row(index, null, cells));
    }
    this.data.remove();
    this.data = null;
    this.order = this.givenOrder();
  }

  /* Starts of stretches of time lead to the timeline. */
  linkRange(row) {
    this.heads.forEach((head, i) => {
      const [rank, dur] = (head.dataset.range || "").split(",").map((k) => row.values[k]);
      const start = row.values[i], cell = row.element.cells[i];
      if ([start, rank, dur].every(Number.isFinite)) {
        cell.replaceChildren(make("a", { class: "timeline-link",
          href: `#s=timeline&sel=${start},${start + dur}&rank=${rank}` }, cell.textContent));
      }
    });
    row.linked = true;
  }

  elementOf(row) {
    if (!row.element) {
      row.element = make("tr", {}, ...row.cells.map(
        (cell, i) => Row.cellOfData(cell, i, this.isNumeric(i))));
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
      head.replaceChildren(button(head.textContent, () => this.toggleSort(i),
        { "data-tip": head.title }));
      set(head, { title: null });
    });
  }

  addTools() {
    const tools = make("div", { class: "tools" });
    if (this.total > filterFrom) {
      this.input = make("input", { type: "search", placeholder: "Filter",
        "aria-label": "Filter " + this.title });
      on(this.input, "input", () => {
        this.filter = this.input.value;
        this.remember();
        this.arrange();
      });
      tools.append(this.input);
    }
    if (this.heads.length >= chooserFrom) {
      tools.append(this.makeChooser());
    }
    const copy = button("Copy", async () => {
      const done = await copyText(toTsv(this));
      copy.textContent = done ? "Copied" : "Not allowed";
      announce(done ? "Table copied" : "The browser does not allow copying");
      setTimeout(() => { copy.textContent = "Copy"; }, 1600);
    }, { "data-tip": "Copy the rows and columns shown as tab-separated values",
      "aria-label": "Copy " + this.title });
    const csv = button("CSV", () => download(this.id + ".csv", "text/csv", toCsv(this)),
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
      on(box, "change", () => this.showColumn(i, box.checked));
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

  showColumn(column, shown) {
    this.hidden[shown ? "delete" : "add"](column);
    this.heads[column].hidden = !shown;
    for (const row of this.rows) {
      if (row.element) {
        row.element.cells[column].hidden = !shown;
      }
    }
    this.names.fit();
  }

  writeFilter(text) {
    this.filter = text;
    if (this.input) {
      this.input.value = text;
    }
  }

  /* What the table shows goes into the address. */
  remember() {
    state.table = this.id;
    state.s = this.section.id.slice(2);
    state.f = this.filter.trim();
    state.sort = this.column < 0 ? ""
      : this.heads[this.column].dataset.key + (this.descending ? ",desc" : ",asc");
    writeAddress();
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
    this.remember();
  }

  sortBy(column, descending) {
    this.column = column;
    this.descending = descending;
    this.arrange();
  }

  matches() {
    const wanted = words(this.filter).concat(words(state.q));
    if (this.fold || wanted.length || this.column >= 0 || this.all) {
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
        return sign * ((x > y) - (x < y)) || a.index - b.index;
      });
    }
    return rows;
  }

  shownOf(rows) {
    return this.all ? rows : rows.slice(0, this.top);
  }

  arrange() {
    const rows = this.matches();
    const shown = this.shownOf(rows);
    this.body.replaceChildren(...shown.map((row) => this.elementOf(row)));
    this.scroll.classList.toggle("tall", shown.length > 60);
    this.showSort();
    this.showBars(shown);
    this.showCounts(rows.length, shown.length);
    this.names.fit();
    return rows.length;
  }

  showSort() {
    const column = this.column >= 0 ? this.column : this.order;
    const down = this.column >= 0 ? this.descending : true;
    this.heads.forEach((head, i) => set(head,
      { "aria-sort": i === column ? down ? "descending" : "ascending" : null }));
  }

  /* The column of the order shows each value as a share of its largest one. */
  showBars(shown) {
    const column = this.column >= 0 ? this.column : this.order;
    all(".share", this.body).forEach((cell) => cell.classList.remove("share"));
    if (column < 1 || !this.isNumeric(column)) {
      return;
    }
    const values = shown.map((row) => row.values[column]);
    const largest = Math.max(...values);
    if (!(largest > 0) || values.some((value) => value < 0)) {
      return;
    }
    shown.forEach((row) => this.showShare(row, column, largest));
  }

  showShare(row, column, whole) {
    const value = row.values[column], cell = row.element.cells[column];
    if (value !== null && whole > 0) {
      cell.style.setProperty("--share", (value / whole).toFixed(4));
      cell.classList.add("share");
    }
  }

  showCounts(matching, shown) {
    const carried = this.data ? this.total : this.rows.length;
    const searched = Boolean(this.filter.trim() || state.q);
    const found = searched ? matching : carried;
    this.note.textContent = searched
      ? `${grouped(shown)} of ${grouped(matching)} matching rows`
      : `${grouped(shown)} of ${grouped(this.total)} rows`
        + (this.column < 0 && shown < this.total ? this.box.dataset.which : "");
    this.more.hidden = found <= this.top;
    this.more.textContent = this.all ? `Show first ${grouped(this.top)}`
      : `Show all ${grouped(found)}`;
    this.note.parentElement.hidden = !searched && found <= this.top;
    if (this.data && this.fold) {
      this.note.textContent = "This browser cannot unpack the rows; report.json has them.";
      this.note.parentElement.hidden = false;
    }
  }

  unfold() {
    if (this.fold && !this.fold.open) {
      this.fold.open = true;
      this.arrange();
    }
  }

  /* While something is looked for, folded tables that hold it are open. */
  showFold(found) {
    if (this.fold && (found || this.found)) {
      this.fold.open = found;
      this.found = found;
    }
  }

  /* Brings a row to the eye and marks the cells that were cited. */
  reveal(index, key) {
    this.unfold();
    this.writeFilter("");
    const row = this.rows.find((one) => one.index === index);
    if (!row) {
      return;
    }
    if (!this.matches().slice(0, this.top).includes(row)) {
      this.all = true;
    }
    this.arrange();
    all(".cited").forEach((element) => element.classList.remove("cited"));
    row.element.classList.add("cited");
    this.heads.forEach((head, i) => row.element.cells[i].classList.toggle("cited",
      (key || "").split(",").includes(head.dataset.key)));
    row.element.tabIndex = -1;
    row.element.focus({ preventScroll: true });
    row.element.scrollIntoView({ block: "center", inline: "nearest" });
  }
}

/* Rows of long tables travel as a text of deflated bytes. */
function isPacked(data) {
  return data.textContent.startsWith('"');
}

async function unpackTables() {
  await Promise.all(all(".table > script").filter(isPacked).map(async (data) => {
    const bytes = await inflate(JSON.parse(data.textContent));
    if (bytes) {
      data.textContent = utf8.decode(bytes);
    }
  }));
}

/* Folded tables are made when they are opened, or when something is looked for. */
function tableOf(id) {
  const box = byId("t-" + id);
  if (box && !tables.has(id)) {
    tables.set(id, CallTable.is(box) ? new CallTable(CallTable.prepare(box)) : new Table(box));
  }
  return tables.get(id);
}

function idOf(box) {
  return box.id.slice(2);
}

function makeFolds() {
  for (const fold of all("details.fold")) {
    on(fold, "toggle", () => {
      if (fold.open) {
        tableOf(idOf(fold.querySelector(".table"))).arrange();
      }
    });
  }
}
