/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Interaction for a report that is complete without it: tables, search, links, theme, keys.
 *
 * Names in the data are hostile: they reach the document as text only, never as markup.
 * The state of the page is its address: #s=SECTION&table=ID&sort=COLUMN,desc&f=TEXT&q=TEXT&theme=dark
 * with f the filter of that table and q the search over the whole page. */
(() => {
"use strict";

const root = document.documentElement;
root.classList.add("js");

/* ---- small helpers ---------------------------------------------------------------------- */

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function button(label, action, attributes = {}) {
  const element = make("button", { type: "button", ...attributes }, label);
  element.addEventListener("click", action);
  return element;
}

function icon(path) {
  const ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const drawing = document.createElementNS(ns, "path");
  drawing.setAttribute("d", path);
  svg.append(drawing);
  return svg;
}

/* Control and bidirectional characters as visible escapes, like the markup of the page. */
const acting = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

function visible(text) {
  return text.replace(acting, (c) => {
    const hex = c.charCodeAt(0).toString(16);
    return c < "\u0080" ? "\\x" + hex.padStart(2, "0") : "\\u" + hex.padStart(4, "0");
  });
}

/* Groups of three digits, as everywhere in the page. */
function grouped(n) {
  return String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

function words(text) {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}

function holdsAll(text, wanted) {
  return wanted.every((word) => text.includes(word));
}

/* Says something to assistive technology. */
const announcer = make("p", { class: "sr", role: "status" });

function announce(text) {
  announcer.textContent = text;
}

function download(name, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = make("textarea", { class: "sr", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/* ---- state in the address ------------------------------------------------------------------ */

const state = { s: "", table: "", sort: "", f: "", q: "", theme: "", keys: "" };

function readAddress() {
  const given = /^#[a-z]+=/.test(location.hash)
    ? new URLSearchParams(location.hash.slice(1)) : new URLSearchParams();
  for (const key of Object.keys(state)) {
    state[key] = given.get(key) || "";
  }
}

function writeAddress() {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(state)) {
    if (value) {
      params.set(key, value);
    }
  }
  const text = params.toString();
  history.replaceState(null, "", text ? "#" + text : location.pathname + location.search);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Below these sizes a table can be taken in at a glance and needs no such tool. */
const filterFrom = 10;
const chooserFrom = 6;

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
      this.words = this.values.filter((value) => typeof value === "string").join("\n").toLowerCase();
    }
    return this.words;
  }

  static valueOfCell(cell) {
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
    return Array.isArray(cell) ? cell[0] : visible(cell.a) + visible(cell.b);
  }

  static cellOfData(cell, i, numeric) {
    const element = i ? make("td") : make("th", { scope: "row" });
    element.classList.toggle("n", numeric && typeof cell !== "string");
    if (cell === null) {
      element.classList.add("nil");
      element.textContent = "–";
    } else if (cell === "") {
      element.classList.add("empty");
      element.textContent = "(empty)";
    } else if (typeof cell === "string") {
      element.textContent = visible(cell);
    } else if (Array.isArray(cell)) {
      element.dataset.v = JSON.stringify(cell[0]);
      element.textContent = cell[1];
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
    this.title = this.scroll.getAttribute("aria-label");
    this.section = box.closest("section");
    this.top = Number(box.dataset.top) || Infinity;
    this.total = Number(box.dataset.total);
    this.rows = Array.from(this.body.rows, (element, i) => new Row(i, element, null));
    this.rows.forEach((row) => row.element.classList.remove("x"));
    this.hidden = new Set();
    this.column = -1;
    this.descending = false;
    this.filter = "";
    this.all = false;
    this.order = this.givenOrder();
    this.addHeads();
    this.addTools();
    this.addFoot();
    this.addNames();
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

  elementOf(row) {
    if (!row.element) {
      row.element = make("tr", {}, ...row.cells.map(
        (cell, i) => Row.cellOfData(cell, i, row.numeric[i])));
      this.hidden.forEach((i) => { row.element.cells[i].hidden = true; });
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
      box.checked = true;
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
      const names = Array.from(this.body.querySelectorAll(".name"));
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

  prepareNames() {
    this.body.querySelectorAll(".name").forEach((name, i) => {
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
    this.more.textContent = this.all ? `Show first ${grouped(this.top)}` : `Show all ${grouped(found)}`;
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

/* ---- tooltips ---------------------------------------------------------------------------------- */

const tip = make("div", { class: "tip", id: "tip", role: "tooltip", hidden: "" });
let tipped = null;

/* What an element has to say: a note, the rest of a name that is cut, or a mark of a chart,
 * whose <title> is taken over so that the browser does not show it a second time. */
function tipOf(target) {
  const noted = target.closest("[data-tip]");
  if (noted) {
    return [noted, noted.dataset.tip];
  }
  const name = target.closest(".name:not(.open)");
  if (name && name.firstChild.scrollWidth > name.firstChild.clientWidth) {
    return [name, name.textContent];
  }
  const title = target.closest(".chart *") && target.querySelector(":scope > title");
  if (title) {
    target.dataset.tip = title.textContent;
    title.remove();
    return [target, target.dataset.tip];
  }
  return [null, ""];
}

function showTip(event) {
  const [element, text] = event.target.closest ? tipOf(event.target) : [null, ""];
  if (!element || !text) {
    hideTip();
    return;
  }
  hideTip();
  tipped = element;
  tip.textContent = text;
  tip.hidden = false;
  if (event.type === "focusin") {
    element.setAttribute("aria-describedby", "tip");
  }
  const box = element.getBoundingClientRect();
  const own = tip.getBoundingClientRect();
  const left = Math.min(Math.max(8, box.left), innerWidth - own.width - 8);
  const above = box.top - own.height - 6;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${above > 8 ? above : box.bottom + 6}px`;
}

function hideTip() {
  if (tipped) {
    tipped.removeAttribute("aria-describedby");
  }
  tipped = null;
  tip.hidden = true;
}

/* ---- search over the page ------------------------------------------------------------------------ */

const tables = new Map();
let searchBox = null;
const results = make("p", { class: "results", hidden: "" });

function markFound(wanted) {
  if (!globalThis.Highlight) {
    return;
  }
  CSS.highlights.delete("found");
  const ranges = [];
  for (const row of wanted.length ? document.querySelectorAll("main tbody tr, .finding") : []) {
    const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
    while (walker.nextNode() && ranges.length < 4000) {
      const text = walker.currentNode.data.toLowerCase();
      for (const word of wanted) {
        for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
          const range = new Range();
          range.setStart(walker.currentNode, at);
          range.setEnd(walker.currentNode, Math.min(at + word.length, walker.currentNode.length));
          ranges.push(range);
        }
      }
    }
  }
  if (ranges.length) {
    CSS.highlights.set("found", new Highlight(...ranges));
  }
}

function search(text) {
  state.q = text.trim();
  const wanted = words(state.q);
  root.classList.toggle("searching", wanted.length > 0);
  let rows = 0, findings = 0;
  for (const table of tables.values()) {
    const found = table.arrange();
    table.box.classList.toggle("unmatched", wanted.length > 0 && !found);
    rows += found;
  }
  for (const finding of document.querySelectorAll(".finding")) {
    const found = holdsAll(finding.textContent.toLowerCase(), wanted);
    finding.classList.toggle("unmatched", !found);
    findings += found;
  }
  for (const section of document.querySelectorAll("section")) {
    const empty = wanted.length > 0 &&
      !section.querySelector(".table:not(.unmatched), .finding:not(.unmatched)");
    section.classList.toggle("unmatched", empty);
    const link = document.querySelector(`nav a[href="#${CSS.escape(section.id)}"]`);
    if (link) {
      link.parentElement.classList.toggle("unmatched", empty);
    }
  }
  const line = `${grouped(rows)} ${rows === 1 ? "row" : "rows"} and ${grouped(findings)} ` +
    `${findings === 1 ? "finding" : "findings"} match “${state.q}”`;
  results.hidden = wanted.length === 0;
  results.textContent = line;
  if (wanted.length) {
    announce(line);
  }
  markFound(wanted);
}

function setSearch(text) {
  searchBox.value = text;
  search(text);
  writeAddress();
}

/* ---- theme, keys, help, print ----------------------------------------------------------------------- */

const preset = root.dataset.theme;

function applyTheme() {
  const theme = state.theme || preset;
  if (theme === "light" || theme === "dark") {
    root.dataset.theme = theme;
  } else {
    delete root.dataset.theme;
  }
}

function toggleTheme() {
  const now = root.dataset.theme ||
    (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  state.theme = now === "dark" ? "light" : "dark";
  applyTheme();
  writeAddress();
}

function makeHelp() {
  const keys = [["/", "Search all tables and findings"], ["j  k", "Next and previous section"],
    ["t", "Light or dark"], ["?", "This help"], ["Esc", "Close or clear"],
    ["↑  ↓", "Walk through long names of a table"], ["Enter", "Show a long name in full"]];
  const list = make("dl");
  for (const [key, meaning] of keys) {
    list.append(make("dt", {}, ...key.split("  ").flatMap((k) => [make("kbd", {}, k), " "])),
      make("dd", {}, meaning));
  }
  const single = make("input", { type: "checkbox" });
  single.checked = state.keys !== "off";
  single.addEventListener("change", () => {
    state.keys = single.checked ? "" : "off";
    writeAddress();
  });
  const dialog = make("dialog", { "aria-labelledby": "help-title" },
    make("h2", { id: "help-title" }, "Keys"), list);
  dialog.append(make("div", { class: "row" }, make("label", {}, single, "Single-key shortcuts"),
    button("Close", () => dialog.close())));
  document.body.append(dialog);
  return dialog;
}

let help = null;

function showHelp() {
  help = help || makeHelp();
  if (!help.open) {
    help.showModal();
  }
}

function stepSection(step) {
  const sections = Array.from(document.querySelectorAll("main > section:not(.unmatched)"));
  const margin = parseFloat(getComputedStyle(root).scrollPaddingTop) + 4;
  const tops = sections.map((section) => section.getBoundingClientRect().top);
  const next = step > 0 ? sections.find((section, i) => tops[i] > margin)
    : sections.filter((section, i) => tops[i] < margin - 8).pop();
  if (next) {
    next.scrollIntoView();
  } else if (step < 0) {
    scrollTo(0, 0);
  }
}

function onKey(event) {
  if (event.key === "Escape") {
    onEscape(event.target);
    return;
  }
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName) && event.target.type !== "checkbox";
  if (typing || event.ctrlKey || event.metaKey || event.altKey || state.keys === "off" ||
      (help && help.open)) {
    return;
  }
  const action = { "/": () => searchBox.focus(), "?": showHelp, t: toggleTheme,
    j: () => stepSection(1), k: () => stepSection(-1) }[event.key];
  if (action) {
    event.preventDefault();
    action();
  }
}

function onEscape(target) {
  hideTip();
  const menu = target.closest && target.closest(".menu[open]");
  if (menu) {
    menu.open = false;
    menu.firstChild.focus();
  } else if (target === searchBox) {
    setSearch("");
    searchBox.blur();
  } else if (target.type === "search") {
    target.value = "";
    target.dispatchEvent(new Event("input"));
  }
}

/* On paper everything is open and light. */
function preparePrint() {
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = Array.from(document.querySelectorAll("#s-method details:not([open])"));
    opened.forEach((details) => { details.open = true; });
    root.dataset.theme = "light";
  });
  addEventListener("afterprint", () => {
    opened.forEach((details) => { details.open = false; });
    applyTheme();
  });
}

/* ---- the bar, links, start --------------------------------------------------------------------------- */

function fillBar() {
  searchBox = make("input", { type: "search", placeholder: "Search",
    "aria-label": "Search all tables and findings" });
  searchBox.addEventListener("input", () => {
    search(searchBox.value);
    writeAddress();
  });
  const data = document.getElementById("traceanalyze-report");
  document.querySelector(".actions").append(
    make("div", { class: "find", role: "search" }, searchBox, make("kbd", { "aria-hidden": "true" }, "/")),
    button("JSON", () => download("report-summary.json", "application/json", data.textContent),
      { class: "wide", "data-tip": "Download the summary in this page as JSON",
        "aria-label": "Download the summary as JSON" }),
    button("Print", () => print(), { class: "wide" }),
    button(icon("M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11"), toggleTheme,
      { "aria-label": "Light or dark", "data-tip": "Light or dark" }),
    button("?", showHelp, { "aria-label": "Keys", "data-tip": "Keys" }));
}

function addSectionLinks() {
  for (const title of document.querySelectorAll("main > section > h2")) {
    const id = title.parentElement.id.slice(2);
    title.append(make("a", { class: "anchor", href: "#s=" + encodeURIComponent(id),
      "aria-label": "Link to " + title.textContent }, "#"));
  }
}

/* Links inside the page: leave the search, bring a cited row to the eye. */
function onLink(event) {
  const link = event.target.closest('a[href^="#"]');
  if (!link) {
    return;
  }
  if (state.q) {
    setSearch("");
  }
  if (revealRow(link.getAttribute("href"), link.dataset.column)) {
    event.preventDefault();
  }
}

function revealRow(hash, column) {
  const parts = /^#r-(.+)-(\d+)$/.exec(hash);
  const table = parts && tables.get(parts[1]);
  if (table) {
    table.reveal(Number(parts[2]), column);
  }
  return Boolean(table);
}

function applyAddress() {
  readAddress();
  applyTheme();
  searchBox.value = state.q;
  const table = tables.get(state.table) ||
    Array.from(tables.values()).find((one) => one.section.id === "s-" + state.s);
  if (table) {
    const [key, way] = state.sort.split(",");
    table.column = table.heads.findIndex((head) => head.dataset.key === key);
    table.descending = way === "desc";
    table.filter = state.f;
    if (table.input) {
      table.input.value = state.f;
    }
  }
  search(state.q);
  const place = tables.has(state.table) ? document.getElementById("t-" + state.table)
    : document.getElementById("s-" + state.s);
  if (place) {
    place.scrollIntoView();
  } else {
    revealRow(decodeURIComponent(location.hash));
  }
}

/* Keeps the navigation at the section that is being read. */
function followSections() {
  const nav = document.querySelector("nav");
  const links = new Map(Array.from(document.querySelectorAll("nav a"),
    (link) => [link.getAttribute("href").slice(1), link]));
  const inView = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      inView[entry.isIntersecting ? "add" : "delete"](entry.target.id);
    }
    const now = Array.from(links.keys()).find((id) => inView.has(id));
    links.forEach((link, id) => {
      if (id === now) {
        link.setAttribute("aria-current", "true");
        nav.scrollTo({ left: link.offsetLeft - nav.clientWidth / 3 });
      } else {
        link.removeAttribute("aria-current");
      }
    });
  }, { rootMargin: "-112px 0px -55% 0px" });
  document.querySelectorAll("main > section").forEach((section) => observer.observe(section));
}

function start() {
  fillBar();
  for (const box of document.querySelectorAll(".table")) {
    const table = new Table(box);
    tables.set(table.id, table);
  }
  document.body.append(tip, announcer);
  document.querySelector(".hero").after(results);
  addSectionLinks();
  preparePrint();
  applyAddress();
  followSections();
  addEventListener("hashchange", () => {
    if (/^#[a-z]+=/.test(location.hash)) {
      applyAddress();
    }
  });
  document.addEventListener("click", onLink);
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll(".menu[open]")) {
      menu.open = menu.contains(event.target);
    }
  });
  document.addEventListener("keydown", onKey);
  document.addEventListener("pointerover", showTip);
  document.addEventListener("focusin", showTip);
  document.addEventListener("focusout", hideTip);
  document.addEventListener("scroll", hideTip, { capture: true, passive: true });
}

if (document.readyState === "loading") {
  document.addEventListener("DOMContentLoaded", start);
} else {
  start();
}
})();
