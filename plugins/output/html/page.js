/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Theme, keys, help, print, links and the start of it all. */

/* ---- theme, keys, help, print --------------------------------------------------------------- */

const preset = root.dataset.theme;

function applyTheme() {
  const theme = state.theme || preset;
  set(root, { "data-theme": /^(light|dark)$/.test(theme) ? theme : null });
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
    ["w  s", "In the timeline: zoom in and out"], ["a  d", "In the timeline: move"],
    ["[  ]", "In the timeline: previous and next slice"],
    ["r  m", "In the timeline: sum up what is shown, set a marker"],
    ["f", "In the timeline: full screen"],
    ["↑  ↓", "Walk through long names of a table"], ["Enter", "Show a long name in full"]];
  const list = make("dl", {}, ...keys.flatMap(([key, meaning]) => [
    make("dt", {}, ...key.split("  ").flatMap((k) => [make("kbd", {}, k), " "])),
    make("dd", {}, meaning)]));
  const single = make("input", { type: "checkbox" });
  single.checked = state.keys !== "off";
  on(single, "change", () => {
    state.keys = single.checked ? "" : "off";
    writeAddress();
  });
  const dialog = make("dialog", { "aria-labelledby": "help-title" },
    make("h2", { id: "help-title" }, "Keys"), list, make("div", { class: "row" },
      make("label", {}, single, "Single-key shortcuts"), button("Close", () => dialog.close())));
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
  const sections = all("main > section:not(.unmatched)");
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
  const typing = event.target.tagName === "INPUT" && event.target.type !== "checkbox";
  if (typing || hasModifier(event) || state.keys === "off" || (help && help.open)) {
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

/* Paper is light. */
function preparePrint() {
  on(window, "beforeprint", () => { root.dataset.theme = "light"; });
  on(window, "afterprint", applyTheme);
}

/* ---- the bar, links, start ------------------------------------------------------------------ */

function fillBar() {
  searchBox = make("input", { type: "search", placeholder: "Search",
    "aria-label": "Search all tables and findings" });
  on(searchBox, "input", () => {
    search(searchBox.value);
    writeAddress();
  });
  const data = byId("traceanalyze-report");
  const moon = draw("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" });
  moon.append(draw("path", { d: "M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11" }));
  document.querySelector(".actions").append(
    make("div", { class: "find", role: "search" }, searchBox,
      make("kbd", { "aria-hidden": "true" }, "/")),
    button("JSON", () => download("report-summary.json", "application/json", data.textContent),
      { class: "wide", "data-tip": "Download the summary in this page as JSON",
        "aria-label": "Download the summary as JSON" }),
    button("Print", () => print(), { class: "wide" }),
    button(moon, toggleTheme, { "aria-label": "Light or dark", "data-tip": "Light or dark" }),
    button("?", showHelp, { "aria-label": "Keys", "data-tip": "Keys" }));
}

function addSectionLinks() {
  for (const title of all("main > section > h2")) {
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
  if (link.classList.contains("timeline-link")) {
    event.preventDefault();
    takeAddress(link.hash, ["t", "sel", "track", "rank", "m", "find"]);
    byId("s-timeline").scrollIntoView();
    if (timeline) {
      timeline.go(whyOf(link));
    }
  } else if (revealRow(link.getAttribute("href"), link.dataset.column)) {
    event.preventDefault();
  } else {
    unfoldFor(byId(link.hash.slice(1)));
  }
}

/* What the line that a link to the timeline stands in says: a finding, or the texts of a row. */
function whyOf(link) {
  const finding = link.closest(".finding"), row = link.closest("tr");
  const table = row && tableOf(idOf(row.closest(".table")));
  const texts = table ? Array.from(row.cells, (cell, i) => [table.heads[i], cell])
    .filter(([head, cell]) => head && !/^[\d\s.,%–—-]*\S{0,3}$/.test(cell.textContent))
    .map(([head, cell]) => `${head.textContent.trim()}: ${cell.textContent.trim()}`) : [];
  return [finding && finding.querySelector("h3 > span:last-child").textContent,
    link.dataset.why, ...texts].filter(Boolean).join(" · ");
}

/* Opens the folded table or finding that a link leads to. */
function unfoldFor(place) {
  const again = place && place.querySelector(":scope > .again");
  if (again) {
    again.open = true;
  } else if (place && place.closest(".fold")) {
    tableOf(idOf(place.closest(".fold").querySelector(".table"))).unfold();
  }
}

function revealRow(hash, column) {
  const parts = /^#r-(.+)-(\d+)$/.exec(hash);
  const table = parts && tableOf(parts[1]);
  if (table) {
    table.reveal(Number(parts[2]), column);
  }
  return Boolean(table);
}

function applyAddress() {
  takeAddress(location.hash, Object.keys(state));
  applyTheme();
  searchBox.value = state.q;
  const table = tableOf(state.table) ||
    [...tables.values()].find((one) => one.section.id === "s-" + state.s);
  if (table) {
    const [key, way] = state.sort.split(",");
    table.unfold();
    table.column = table.find(key);
    table.descending = way === "desc";
    table.writeFilter(state.f);
  }
  search(state.q);
  if (timeline) {
    timeline.go();
  }
  const place = byId(tables.has(state.table) ? "t-" + state.table
    : "s-" + (state.s || (state.t && "timeline"))) || byId("g-" + state.s);
  if (place) {
    place.scrollIntoView();
  } else {
    const hash = decodeURIComponent(location.hash);
    if (!revealRow(hash) && byId(hash.slice(1))) {
      unfoldFor(byId(hash.slice(1)));
    }
  }
}

/* Keeps the navigation at the section that is being read. */
function followSections() {
  const nav = document.querySelector("nav");
  const links = new Map(all("nav a").map((link) => [link.hash.slice(1), link]));
  const inView = new Set();
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      inView[entry.isIntersecting ? "add" : "delete"](entry.target.id);
    }
    const now = [...links.keys()].find((id) => inView.has(id));
    links.forEach((link, id) => set(link, { "aria-current": id === now ? "true" : null }));
    if (now) {
      nav.scrollTo({ left: links.get(now).offsetLeft - nav.clientWidth / 3 });
    }
  }, { rootMargin: "-112px 0px -55% 0px" });
  all("main > section").forEach((section) => observer.observe(section));
}

function start() {
  fillBar();
  all(".table:not(.fold *)").forEach((box) => tableOf(idOf(box)));
  makeFolds();
  for (const body of all("figure tbody")) { /* they make room once the chart's data is unfolded */
    const names = new Names(body);
    on(body.closest("details"), "toggle", () => names.fit());
  }
  all(".chart.nested").forEach((svg) => new Tree(svg));
  document.body.append(tip, announcer);
  document.querySelector(".hero").after(results);
  addSectionLinks();
  preparePrint();
  applyAddress();
  followSections();
  startTimeline();
  unpackTables().then(() => {
    if (state.q || state.table || /^#[rt]-/.test(location.hash)) {
      applyAddress();
    } else {
      tables.forEach((table) => table.data && table.arrange());
    }
  });
  on(window, "hashchange", () => {
    if (/^#[a-z]+=/.test(location.hash)) {
      applyAddress();
    }
  });
  on(document, "click", onLink);
  on(document, "click", (event) => {
    for (const menu of all(".menu[open]")) {
      menu.open = menu.contains(event.target);
    }
  });
  on(document, "keydown", onKey);
  on(document, "pointerover focusin", showTip);
  on(document, "focusout", hideTip);
  on(document, "scroll", hideTip, { capture: true, passive: true });
}

if (document.readyState === "loading") {
  on(document, "DOMContentLoaded", start);
} else {
  start();
}
