/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of a tree, who calls what: a row is folded into its caller until that one is opened.
 * Sorted or filtered it is a list as any other. */

/* Opened at first are the heaviest callers, until about so many rows are seen, and none below this
 * share of the whole. */
const branchRows = 24, branchLeast = 0.02;
/* Deeper rows are not moved any further to the right. */
const deepest = 30;
const placeKeys = ["node", "parent", "depth"], weightKeys = ["host_total_ns", "device_total_ns"];

class CallTable extends Table {
  static is(box) {
    return [...placeKeys, "name"].every((key) => box.querySelector(`thead th[data-key="${key}"]`));
  }

  /* Its shape says what these columns do. */
  static prepare(box) {
    const heads = all("thead th", box);
    heads.forEach((head, i) => {
      if (placeKeys.includes(head.dataset.key)) {
        [head, ...Array.from(box.querySelector("tbody").rows, (row) => row.cells[i])]
          .forEach((cell) => { cell.hidden = true; });
      }
    });
    return box;
  }

  constructor(box) {
    super(box);
    this.nameColumn = this.find("name");
    this.passesOn = Number(box.dataset.passes);
    this.opened = null;
    this.spelled = new Set();
    on(this.body, "click", (event) => this.onTwist(event.target.closest(".twist")));
    on(this.body, "keydown", (event) => this.onBranchKey(event));
  }

  /* Who calls whom, of all rows that are known by now. */
  link() {
    if (this.linked === this.rows.length) {
      return;
    }
    const [node, parent] = placeKeys.map((key) => this.find(key));
    const byNode = new Map(this.rows.map((row) => [row.values[node], row]));
    this.roots = [];
    this.rows.forEach((row) => { row.inner = []; });
    for (const row of this.rows) {
      row.caller = byNode.get(row.values[parent]) || null;
      (row.caller ? row.caller.inner : this.roots).push(row);
    }
    this.weights = weightKeys.map((key) => this.find(key)).filter((column) => column >= 0)
      .map((column) => [column, this.roots.reduce((sum, row) => sum + row.values[column], 0)]);
    if (!this.opened) {
      this.openHeaviest();
    }
    this.linked = this.rows.length;
  }

  shareOf(row) {
    return Math.max(0, ...this.weights.map(([column, sum]) => sum ? row.values[column] / sum : 0));
  }

  /* The call to which a call passes on nearly all of its time, by which it says nothing by itself:
   * a chain of such calls is skipped until it is asked for. */
  heirOf(row) {
    const isHeir = (one) => this.weights.every(([column]) =>
      one.values[column] >= this.passesOn * row.values[column]);
    return this.shareOf(row) > 0 ? row.inner.find(isHeir) : undefined;
  }

  /* What stands below a row: its callees, or the ends of chains that begin with them. */
  below(row) {
    return row.inner.map((first) => {
      let last = first, n = 0;
      for (let next; (next = this.heirOf(last)); last = next) {
        n++;
      }
      const isChain = n > 1 && !this.all && !this.spelled.has(row.index);
      const shown = isChain ? last : first;
      shown.skipped = isChain ? n : 0;
      shown.above = row;
      return shown;
    });
  }

  openHeaviest() {
    this.opened = new Set();
    let seen = this.roots.length;
    const waiting = this.roots.slice();
    while (seen < branchRows && waiting.length) {
      const row = waiting.reduce((a, b) => this.shareOf(b) > this.shareOf(a) ? b : a);
      waiting.splice(waiting.indexOf(row), 1);
      if (this.shareOf(row) < branchLeast) {
        break;
      }
      if (row.inner.length) {
        this.opened.add(row.index);
        const inner = this.below(row);
        seen += inner.length;
        waiting.push(...inner);
      }
    }
  }

  isList() {
    return this.column >= 0 || words(this.filter).length > 0 || words(state.q).length > 0;
  }

  shownOf(rows) {
    if (this.isList()) {
      return super.shownOf(rows);
    }
    this.load();
    this.link();
    const shown = [];
    const walk = (row, depth) => {
      row.depth = depth;
      shown.push(row);
      if (this.all || this.opened.has(row.index)) {
        this.below(row).forEach((inner) => walk(inner, depth + 1));
      }
    };
    this.roots.forEach((row) => walk(row, 0));
    return shown;
  }

  showBars(shown) {
    all(".share", this.body).forEach((cell) => cell.classList.remove("share"));
    const isList = this.isList();
    shown.forEach((row) => this.place(row, isList));
    if (isList) {
      super.showBars(shown);
      return;
    }
    for (const [column, sum] of this.weights) {
      shown.forEach((row) => this.showShare(row, column, sum));
    }
    all(".twist", this.body).forEach((twist, i) => { twist.tabIndex = i ? -1 : 0; });
  }

  /* A name to the right of its caller's, with what opens it. */
  place(row, isList) {
    const cell = row.element.cells[this.nameColumn];
    let twist = cell.querySelector(":scope > .twist");
    cell.classList.toggle("node", !isList);
    cell.style.setProperty("--depth", isList ? 0 : Math.min(row.depth, deepest));
    if (!isList && row.inner.length && !twist) {
      twist = button("", () => {}, { class: "twist" });
      cell.prepend(twist);
    }
    this.placeChain(row, cell, isList);
    if (twist) {
      twist.hidden = isList;
      set(twist, { "aria-label": "What it calls: " + row.values[this.nameColumn],
        "aria-expanded": this.all || this.opened.has(row.index) });
    }
  }

  /* How many calls are skipped above a row, and what shows them. */
  placeChain(row, cell, isList) {
    let chain = cell.querySelector(":scope > .chain");
    if (row.skipped && !isList && !chain) {
      chain = button("", () => {
        this.spelled.add(row.above.index);
        this.arrange();
        this.go(row);
      }, { class: "chain" });
      cell.prepend(chain);
    }
    if (chain) {
      const what = `${row.skipped} calls in between, which pass on all of it`;
      chain.hidden = isList || !row.skipped;
      set(chain, { "data-n": row.skipped, "data-tip": what, "aria-label": "Show " + what });
    }
  }

  onTwist(twist) {
    if (twist) {
      this.turn(this.rowOf(twist), twist.getAttribute("aria-expanded") !== "true");
    }
  }

  rowOf(twist) {
    const element = twist.closest("tr");
    return this.rows.find((row) => row.element === element);
  }

  turn(row, open) {
    if (this.all) { /* one by one from here on */
      this.all = false;
      this.opened = new Set(this.rows.filter((one) => one.inner.length).map((one) => one.index));
    }
    this.opened[open ? "add" : "delete"](row.index);
    this.arrange();
    this.go(row);
  }

  go(row) {
    const twist = row.element.querySelector(".twist");
    if (!twist) {
      return;
    }
    all(".twist", this.body).forEach((one) => { one.tabIndex = one === twist ? 0 : -1; });
    twist.focus();
  }

  onBranchKey(event) {
    const twist = event.target.closest(".twist");
    if (!twist || hasModifier(event)) {
      return;
    }
    const row = this.rowOf(twist), isOpen = twist.getAttribute("aria-expanded") === "true";
    const twists = all(".twist:not([hidden])", this.body), at = twists.indexOf(twist);
    const next = { ArrowDown: twists[at + 1], ArrowUp: twists[at - 1], Home: twists[0],
      End: twists[twists.length - 1] }[event.key];
    if (next) {
      this.go(this.rowOf(next));
    } else if (event.key === "ArrowRight" && !isOpen) {
      this.turn(row, true);
    } else if (event.key === "ArrowLeft" && isOpen) {
      this.turn(row, false);
    } else if (event.key === "ArrowLeft" && row.above) {
      this.go(row.above);
    } else if (!/^Arrow/.test(event.key)) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
