// The keys that this server runs by, and where each was told.

import * as address from "./address.js";
import * as api from "./api.js";
import { announce, choice, el, name, searchField, visible } from "./dom.js";
import * as format from "./format.js";
import { empty, Pane } from "./pane.js";
import { Table } from "./table.js";

const SECRET = "***";

export function view() {
  let state = null;
  let keys = null;
  const go = (changed, replace = false) => {
    const next = { ...state, ...changed };
    address.go(address.link("configuration", { search: next.search, show: next.given ? "given" : null }), replace);
  };
  const search = searchField("Search keys and values", (text) => {
    if (text !== state.search) {
      go({ search: text }, state.search !== "");
    }
  });
  const given = choice(
    "Show",
    [
      ["", "All keys"],
      ["given", "Configured keys"],
    ],
    (value) => go({ given: value === "given" }),
  );
  const summary = el("p", { class: "summary" });
  const table = new Table({
    caption: "Configuration in force",
    className: "configuration",
    keyOf: (row) => row.key,
    columns: [
      { key: "key", label: "Key", head: true, className: "wide", cell: (row) => el("code", {}, visible(row.key)) },
      {
        key: "value",
        label: "Value",
        className: "wide",
        cell: (row) =>
          row.value === null
            ? el("i", { class: "muted" }, "none")
            : row.value === SECRET
              ? el("span", { class: "secret" }, SECRET, el("span", { class: "muted" }, " secret, not shown"))
              : row.value === ""
                ? el("i", { class: "muted" }, "empty")
                : el("code", {}, name(row.value, 400)),
      },
      {
        key: "from",
        label: "From",
        className: "mid",
        cell: (row) => (row.given ? el("span", {}, name(row.from ?? "given", 200)) : el("span", { class: "muted" }, "default")),
      },
    ],
  });
  const show = () => {
    const wanted = state.search.toLowerCase();
    const matching = keys.filter(
      (row) =>
        (!state.given || row.given) &&
        (row.key.toLowerCase().includes(wanted) || (row.value ?? "").toLowerCase().includes(wanted)),
    );
    summary.textContent =
      matching.length === keys.length
        ? format.plural(keys.length, "key")
        : `${format.count(matching.length)} of ${format.plural(keys.length, "key")}`;
    table.update(matching);
    return matching.length > 0
      ? null
      : empty("No key matches.", el("button", { type: "button", onclick: () => go({ search: "", given: false }) }, "Show all"));
  };
  let said = null;
  const pane = new Pane({
    title: null,
    skeleton: 12,
    content: [table.element],
    load: (signal) => api.get("configuration", {}, signal),
    render: (data) => {
      keys = data.keys;
      const instead = show();
      const saying = JSON.stringify(state);
      if (said !== null && said !== saying) {
        announce(summary.textContent);
      }
      said = saying;
      return instead;
    },
  });
  return {
    element: el(
      "div",
      { class: "view" },
      el("div", { class: "title" }, el("h1", {}, "Configuration"), summary),
      el("div", { class: "toolbar", role: "search", "aria-label": "Configuration" }, search.element, given.element),
      pane.element,
    ),
    update: (parameters) => {
      state = { search: parameters.get("search") ?? "", given: parameters.get("show") === "given" };
      search.set(state.search);
      given.set(state.given ? "given" : "");
    },
    refresh: () => pane.refresh(JSON.stringify(state)),
    close: () => pane.close(),
  };
}
