// A table whose rows stay the same elements while their numbers change, so that a refresh moves
// neither focus nor what is selected.

import { el } from "./dom.js";

/**
 * @typedef {Object} Column
 * @property {string} key
 * @property {string} label
 * @property {string=} hint said when the head is pointed at
 * @property {boolean=} numeric
 * @property {boolean=} head whether its cells head their rows
 * @property {string=} order what a first click sorts by, "asc" or "desc"; without it, none sorts
 * @property {boolean=} fixed whether a row's cell never changes
 * @property {string=} className
 * @property {function(Object): (string|Node|null)} cell
 * @property {function(Object): *=} value to sort by, where the table sorts itself
 */
export class Table {
  /**
   * @param {Object} options
   * @param {string} options.caption
   * @param {Column[]} options.columns
   * @param {function(Object): string} options.keyOf
   * @param {function(string, string)=} options.onSort column and order; without it, it sorts itself
   * @param {?string=} options.sort
   * @param {string=} options.order
   * @param {string=} options.className
   * @param {boolean=} options.captionHidden
   */
  constructor({ caption, columns, keyOf, onSort, sort, order, className, captionHidden = true }) {
    this.columns = columns;
    this.keyOf = keyOf;
    this.onSort = onSort ?? null;
    this.sort = sort ?? null;
    this.order = order ?? "asc";
    this.rows = [];
    this.shown = new Map();
    this.heads = new Map();
    this.caption = el("caption", { class: captionHidden ? "hidden" : null }, caption);
    this.body = el("tbody", {});
    this.table = el(
      "table",
      { class: className ?? null },
      this.caption,
      el("thead", {}, el("tr", {}, ...columns.map((column) => this.#head(column)))),
      this.body,
    );
    // Wide tables scroll by themselves, by keyboard as well.
    this.element = el(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
      this.table,
    );
    this.#markSorted();
  }

  #head(column) {
    const head = el("th", {
      scope: "col",
      class: [column.numeric ? "number" : "", column.className ?? ""].join(" ").trim() || null,
      title: column.hint ?? null,
    });
    if (column.order) {
      head.append(
        el(
          "button",
          { type: "button", onclick: () => this.#clicked(column) },
          el("span", {}, column.label),
          el("span", { class: "arrow", "aria-hidden": "true" }),
        ),
      );
    } else {
      head.append(column.label);
    }
    this.heads.set(column.key, head);
    return head;
  }

  #clicked(column) {
    const order =
      this.sort === column.key ? (this.order === "asc" ? "desc" : "asc") : column.order;
    if (this.onSort) {
      this.onSort(column.key, order);
      return;
    }
    this.sort = column.key;
    this.order = order;
    this.#markSorted();
    this.update(this.rows);
  }

  #markSorted() {
    for (const column of this.columns) {
      if (!column.order) {
        continue;
      }
      const head = this.heads.get(column.key);
      if (column.key === this.sort) {
        head.setAttribute("aria-sort", this.order === "asc" ? "ascending" : "descending");
      } else {
        head.removeAttribute("aria-sort");
      }
    }
  }

  setSort(sort, order) {
    this.sort = sort;
    this.order = order;
    this.#markSorted();
  }

  /** Shows these rows; those that were there already keep their elements. */
  update(rows) {
    this.rows = rows;
    const focused = document.activeElement;
    const seen = new Set();
    let before = this.body.firstElementChild;
    for (const row of this.#sorted(rows)) {
      let key = this.keyOf(row);
      while (seen.has(key)) {
        key += "\u0000";
      }
      seen.add(key);
      let shown = this.shown.get(key);
      if (shown === undefined) {
        shown = this.#make();
        this.shown.set(key, shown);
      }
      this.#fill(shown, row);
      if (shown.element === before) {
        before = before.nextElementSibling;
      } else {
        this.body.insertBefore(shown.element, before);
      }
    }
    for (const [key, shown] of this.shown) {
      if (!seen.has(key)) {
        shown.element.remove();
        this.shown.delete(key);
      }
    }
    // A row that was moved has lost it.
    if (focused !== document.activeElement && this.body.contains(focused)) {
      focused.focus({ preventScroll: true });
    }
  }

  /** The element of a row that is shown, by its key; undefined for none. */
  rowElement(key) {
    return this.shown.get(key)?.element;
  }

  #sorted(rows) {
    const column = this.onSort ? null : this.columns.find((c) => c.key === this.sort);
    if (!column?.value) {
      return rows;
    }
    const sign = this.order === "asc" ? 1 : -1;
    return [...rows].sort((a, b) => {
      const x = column.value(a);
      const y = column.value(b);
      // What is not known comes last either way.
      if (x === null || x === undefined || y === null || y === undefined) {
        return (x === null || x === undefined ? 1 : 0) - (y === null || y === undefined ? 1 : 0);
      }
      return sign * (x < y ? -1 : x > y ? 1 : 0);
    });
  }

  #make() {
    const cells = this.columns.map((column) =>
      el(column.head ? "th" : "td", {
        scope: column.head ? "row" : null,
        class: [column.numeric ? "number" : "", column.className ?? ""].join(" ").trim() || null,
      }),
    );
    return { element: el("tr", {}, ...cells), cells, contents: new Array(cells.length) };
  }

  #fill(shown, row) {
    for (let i = 0; i < this.columns.length; i++) {
      const column = this.columns[i];
      if (column.fixed && shown.contents[i] !== undefined) {
        continue;
      }
      const content = column.cell(row) ?? "";
      const old = shown.contents[i];
      if (typeof content === "string") {
        if (content !== old) {
          shown.cells[i].textContent = content;
          shown.contents[i] = content;
        }
      } else if (!(old instanceof Node) || !old.isEqualNode(content)) {
        shown.cells[i].replaceChildren(content);
        shown.contents[i] = content;
      }
    }
  }
}

/** Which rows these are, and buttons to those before and after. */
export class Pages {
  /**
   * @param {number} size rows of a page
   * @param {string} what they are, for the label
   * @param {function(number)} onOffset how many rows to leave out
   */
  constructor(size, what, onOffset) {
    this.size = size;
    this.offset = 0;
    this.text = el("span", {});
    this.previous = el(
      "button",
      { type: "button", onclick: () => onOffset(Math.max(0, this.offset - size)) },
      "Previous",
    );
    this.next = el("button", { type: "button", onclick: () => onOffset(this.offset + size) }, "Next");
    this.element = el("nav", { class: "pages", "aria-label": `Pages of ${what}` }, this.previous, this.text, this.next);
  }

  update(offset, shown, matching) {
    this.offset = offset;
    const number = new Intl.NumberFormat("en");
    this.text.textContent =
      shown === 0
        ? `0 of ${number.format(matching)}`
        : `${number.format(offset + 1)}–${number.format(offset + shown)} of ${number.format(matching)}`;
    this.#enable(this.previous, offset > 0, this.next);
    this.#enable(this.next, offset + shown < matching, this.previous);
    this.element.hidden = offset === 0 && shown >= matching;
  }

  #enable(button, enabled, other) {
    if (!enabled && document.activeElement === button) {
      other.disabled = false;
      other.focus();
    }
    button.disabled = !enabled;
  }
}
