/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tooltips: what columns mean, names that are cut, marks of charts. */

const tip = make("div", { class: "tip", id: "tip", role: "tooltip", hidden: "" });
let tipped = null;

/* What an element has to say: a note, the rest of a name that is cut, or a mark of a chart,
 * whose <title> is taken over so that the browser does not show it a second time. */
function tipOf(target) {
  const noted = target.closest("[data-tip]");
  if (noted) {
    return [noted, noted.dataset.tip];
  }
  const name = target.closest(".name:not(.open)"), first = name && name.firstElementChild;
  if (name && name.title) {
    name.dataset.full = name.title;
    name.removeAttribute("title");
  }
  if (name && (name.dataset.full || (first && first.scrollWidth > first.clientWidth))) {
    return [name, fullName(name)];
  }
  const title = target.closest(".chart *") && target.querySelector(":scope > title");
  if (title) {
    target.dataset.tip = title.textContent;
    title.remove();
    return [target, target.dataset.tip];
  }
  return [];
}

function showTip(event) {
  const [element, text] = event.target.closest ? tipOf(event.target) : [];
  hideTip();
  if (!text) {
    return;
  }
  tipped = element;
  placeTip(text, 0, 0);
  if (event.type === "focusin") {
    element.setAttribute("aria-describedby", "tip");
  }
  const box = element.getBoundingClientRect(), above = box.top - tip.offsetHeight - 6;
  placeTip(text, box.left, above > 8 ? above : box.bottom + 6);
}

/* Within the window. */
function placeTip(text, left, top) {
  tip.textContent = text;
  tip.hidden = !text;
  tip.style.left = `${Math.max(8, Math.min(left, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${top}px`;
}

function hideTip() {
  if (tipped) {
    tipped.removeAttribute("aria-describedby");
  }
  tipped = null;
  tip.hidden = true;
}
