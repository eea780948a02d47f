/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Taking a table away as text: the rows and columns shown, with exact values. */

/* A text that a spreadsheet would run gets a leading apostrophe; numbers stay numbers. */
function harmless(value) {
  if (typeof value !== "string") {
    return value === null ? "" : String(value);
  }
  return /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r]/.test(value) ? "'" + value : value;
}

function toText(table, separator, titleOf, quote) {
  const columns = [...table.heads.keys()].filter((i) => !table.hidden.has(i));
  return [columns.map((i) => titleOf(table.heads[i])),
    ...table.matches().map((row) => columns.map((i) => row.values[i]))]
    .map((line) => line.map(quote).join(separator) + "\r\n").join("");
}

function toTsv(table) {
  return toText(table, "\t", (head) => {
    const { unit } = head.dataset;
    return head.textContent + (unit === "none" ? "" : ` (${unit})`);
  }, (value) => harmless(value).replace(/[\t\r\n]/g, " "));
}

function toCsv(table) {
  return toText(table, ",", (head) => head.dataset.key, (value) => {
    const text = harmless(value);
    return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  });
}
