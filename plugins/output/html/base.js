/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Small helpers, and the state of the page in its address.
 *
 * The files follow each other in the order of assets.c, inside one function.  Names in the data are
 * hostile: they reach the document as text only, never as markup.  The address is
 * #s=SECTION&table=ID&sort=COLUMN,desc&f=TEXT&q=TEXT&theme=dark&keys=off with f the filter of that
 * table and q the search over the whole page, and #t=START,END&sel=START,END&track=ID&rank=N&m=TIME
 * &find=TEXT of the timeline: what is seen, what is chosen and the markers in ns on the clock of
 * that rank. */
"use strict";

const root = document.documentElement;
root.classList.add("js");

/* ---- small helpers -------------------------------------------------------------------------- */

function all(selector, within = document) {
  return Array.from(within.querySelectorAll(selector));
}

function byId(id) {
  return document.getElementById(id);
}

/* Sets attributes; null takes one away. */
function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null) {
      element.removeAttribute(name);
    } else {
      element.setAttribute(name, value);
    }
  }
  return element;
}

function make(tag, attributes = {}, ...children) {
  const element = set(document.createElement(tag), attributes);
  element.append(...children);
  return element;
}

function draw(tag, attributes) {
  return set(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes);
}

/* Calls `action` at each of the events, whose names stand in one text. */
function on(target, events, action, options) {
  events.split(" ").forEach((event) => target.addEventListener(event, action, options));
}

function button(label, action, attributes = {}) {
  const element = make("button", { type: "button", ...attributes }, label);
  on(element, "click", action);
  return element;
}

/* Keys with these belong to the browser. */
function hasModifier(event) {
  return event.ctrlKey || event.metaKey || event.altKey;
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

/* What is looked for.  A name is found in the form in which any output has it: cut in its middle, or
 * with brackets that belong to the rest of it.  (A look behind would be shorter, but browsers that
 * have none would run nothing of the script.) */
function words(text) {
  return text.toLowerCase().split(/[\s…]+/).filter(Boolean)
    .map((word) => word.replace(/^[<([{"']+(?=.)/, "").replace(/(.)[>)\]}"',:]+$/, "$1"));
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

/* Base64 of deflated bytes to those; null where the browser cannot inflate. */
async function inflate(base64) {
  if (!globalThis.DecompressionStream) {
    return null;
  }
  const packed = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const utf8 = new TextDecoder();

/* ---- state in the address ------------------------------------------------------------------- */

const state = { s: "", table: "", sort: "", f: "", q: "", t: "", sel: "", track: "", rank: "",
  m: "", find: "", theme: "", keys: "" };

/* What an address says of the keys of the state; nothing of others. */
function takeAddress(hash, keys) {
  const given = new URLSearchParams(/^#[a-z]+=/.test(hash) ? hash.slice(1) : "");
  keys.forEach((key) => { state[key] = given.get(key) || ""; });
}

function writeAddress() {
  const params = new URLSearchParams(Object.entries(state).filter((entry) => entry[1]));
  const text = params.toString();
  history.replaceState(null, "", text ? "#" + text : location.pathname + location.search);
}

/* A text that keeps its ends: as many letters of it as `room` takes, by the widths of `widthOf`. */
function withoutMiddle(text, room, widthOf) {
  let shown = text;
  for (let keep = text.length, width; (width = widthOf(shown)) > room && keep > 1;) {
    keep = Math.min(keep - 1, Math.floor(keep * room / width));
    shown = `${text.slice(0, Math.ceil(keep / 2))}…${text.slice(text.length - (keep >> 1))}`;
  }
  return shown;
}
