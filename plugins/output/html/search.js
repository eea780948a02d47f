/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Search over the page: results take the place of the summary. */

const tables = new Map();
let searchBox = null;
const results = make("p", { class: "results", hidden: "" });

function markFound(wanted) {
  if (!globalThis.Highlight) {
    return;
  }
  CSS.highlights.delete("found");
  const ranges = [];
  for (const row of wanted.length ? all("main tbody tr, .finding") : []) {
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

/* Findings of the first screen are open while something is found in them. */
function showAgain(again, found) {
  if (found || again.dataset.found) {
    again.open = found;
    again.dataset.found = found ? "yes" : "";
  }
}

function counted(n, one, many) {
  return `${grouped(n)} ${n === 1 ? one : many}`;
}

function search(text) {
  state.q = text.trim();
  const wanted = words(state.q), searching = wanted.length > 0;
  const mark = (element, unmatched) => element.classList.toggle("unmatched", unmatched);
  root.classList.toggle("searching", searching);
  let rows = 0, findings = 0;
  all(searching ? ".fold .table" : ".none").forEach((box) => tableOf(idOf(box)));
  for (const table of tables.values()) {
    const found = table.arrange();
    mark(table.fold || table.box, searching && !found);
    table.showFold(searching && found > 0);
    rows += found;
  }
  for (const finding of all(".finding")) {
    const found = !mark(finding, !holdsAll(finding.textContent.toLowerCase(), wanted));
    all(".again", finding).forEach((again) => showAgain(again, searching && found));
    findings += found;
  }
  for (const section of all("section")) {
    const empty = searching &&
      !section.querySelector(".fold:not(.unmatched), .table:not(.unmatched, .fold *), .finding:not(.unmatched)");
    mark(section, empty);
    all(`nav a[href="#${CSS.escape(section.id)}"]`).forEach((a) => mark(a.parentElement, empty));
  }
  results.hidden = !searching;
  results.textContent = `${counted(rows, "row", "rows")} and ` +
    `${counted(findings, "finding", "findings")} match “${state.q}”`;
  if (searching) {
    announce(results.textContent);
  }
  markFound(wanted);
}

function setSearch(text) {
  searchBox.value = text;
  search(text);
  writeAddress();
}
