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
