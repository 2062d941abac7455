// Every application: how much it does, how much of it fails, how long it takes.

import * as address from "./address.js";
import * as api from "./api.js";
import { announce, choice, el, mark, name, nothing, searchField } from "./dom.js";
import * as format from "./format.js";
import { empty, Pane } from "./pane.js";
import { spark } from "./spark.js";
import { Pages, Table } from "./table.js";

const PAGE = 100;
export const MINUTES = [
  ["5", "5 min"],
  ["15", "15 min"],
  ["30", "30 min"],
  ["59", "59 min"],
];

/** Returns the first minute in which any of the applications had calls; the last one if none had. */
export function firstMinute(applications) {
  const firsts = applications.map((row) => row.spark.calls.findIndex((calls) => calls > 0)).filter((first) => first >= 0);
  return Math.min(59, ...firsts);
}

/** The rate of calls, with its bounds as a hint where they are estimated from a sample. */
function estimatedRate(row) {
  const rate = format.rate(row.callsPerSecond);
  const { calls, callsBounds: bounds, callsPerSecond } = row;
  if (!bounds || calls === 0) {
    return rate;
  }
  const at = (bound) => format.rate((bound / calls) * callsPerSecond);
  return el("span", { title: `Between ${at(bounds.lower)} and ${at(bounds.upper)} with 95 % confidence` }, `~${rate}`);
}

/** Columns of calls that applications and operations share. */
export function intervalColumns(frame) {
  const quantile = (key, label, share) => ({
    key,
    label,
    hint: `${share} of the calls took no longer`,
    numeric: true,
    order: "desc",
    cell: (row) => {
      const millis = row[`${key}Millis`];
      const text = format.duration(millis);
      return key === "p99" && millis !== null && millis >= (frame.status?.slowMillis ?? Infinity)
        ? mark("warn", "▲", text)
        : text;
    },
  });
  return [
    { key: "calls", label: "Rate", hint: "Calls per second", numeric: true, order: "desc", cell: estimatedRate },
    { key: "errors", label: "Errors", hint: "Failed calls per second", numeric: true, order: "desc", cell: (row) => (row.errors > 0 ? format.rate(row.errorsPerSecond) : nothing("0/s")) },
    {
      key: "error-ratio",
      label: "Error ratio",
      hint: `Failed calls divided by all calls; red above ${format.percent(format.HIGH_ERROR_RATIO)}`,
      numeric: true,
      order: "desc",
      cell: (row) => {
        const share = row.calls === 0 ? null : row.errors / row.calls;
        const text = format.percent(share);
        if (format.isHighErrorRatio(share)) {
          return mark("bad", "✕", text);
        }
        return row.errors > 0 ? text : nothing(text);
      },
    },
    quantile("p50", "p50", "Half"),
    quantile("p95", "p95", "95 %"),
    quantile("p99", "p99", "99 %"),
  ];
}

export const defaultOrder = (sort) => (sort === "name" ? "asc" : "desc");

/** Said where there are no spans at all. */
export function noSpans() {
  return empty(
    "No spans in the last hour.",
    "Point an OpenTelemetry SDK at the agent of its host: OTLP/gRPC on port 4317, OTLP/HTTP on port 4318. The application appears here after the next window.",
    el("span", {}, "If spans are already sent, check the ", el("a", { href: "#/pipeline" }, "pipeline"), ": it shows the agents, and who reads each queue."),
  );
}

/** Said where the history is switched off; null for another failure. */
export async function historyDisabled(error, frame) {
  await frame.statusRead;
  return error.kind === "absent" && frame.status?.upToDate === null
    ? empty(
        "The history of the last hour is disabled on this server.",
        "Without it the page cannot show applications. Prometheus has their metrics; traces, pipeline and configuration are available here.",
      )
    : null;
}

export function view(frame) {
  let state = null;

  const read = (parameters) => ({
    search: parameters.get("search") ?? "",
    filter: ["failing", "slow"].includes(parameters.get("filter")) ? parameters.get("filter") : "",
    minutes: MINUTES.some(([m]) => m === parameters.get("minutes")) ? parameters.get("minutes") : "5",
    sort: parameters.get("sort") ?? "calls",
    order: parameters.get("order") ?? defaultOrder(parameters.get("sort") ?? "calls"),
    offset: Math.max(0, Number.parseInt(parameters.get("offset") ?? "0", 10) || 0),
  });

  const go = (changed, replace = false) => {
    const next = { ...state, offset: 0, ...changed };
    address.go(
      address.link("overview", {
        search: next.search,
        filter: next.filter,
        minutes: next.minutes === "5" ? null : next.minutes,
        sort: next.sort === "calls" ? null : next.sort,
        order: next.order === defaultOrder(next.sort) ? null : next.order,
        offset: next.offset === 0 ? null : next.offset,
      }),
      replace,
    );
  };

  const search = searchField("Search applications", (text) => {
    if (text !== state.search) {
      go({ search: text }, state.search !== "");
    }
  });
  const filter = choice(
    "Show",
    [
      ["", "All"],
      ["failing", "Failing"],
      ["slow", "Slow"],
    ],
    (value) => go({ filter: value }),
  );
  const minutes = choice("Time range", MINUTES, (value) => go({ minutes: value }));
  const summary = el("p", { class: "summary" });
  const table = new Table({
    caption: "Applications",
    className: "applications",
    keyOf: (row) => row.application,
    onSort: (sort, order) => go({ sort, order }),
    columns: [
      {
        key: "name",
        label: "Application",
        head: true,
        order: "asc",
        fixed: true,
        className: "wide",
        cell: (row) =>
          el("a", { href: address.link("application", { name: row.application }) }, name(row.application)),
      },
      {
        key: "spark",
        label: "Last hour",
        hint: `Calls per minute since the first call, each line on its own scale; errors as bars, red if more than ${format.percent(format.HIGH_ERROR_RATIO)} failed`,
        className: "sparkline",
        cell: (row) => (row.spark ? spark(row.spark.calls.slice(row.begin), row.spark.errors.slice(row.begin)) : ""),
      },
      ...intervalColumns(frame),
    ],
  });
  const pages = new Pages(PAGE, "applications", (offset) => {
    go({ offset });
    element.scrollIntoView({ block: "start" });
  });
  let said = null;
  const pane = new Pane({
    title: null,
    skeleton: 12,
    content: [table.element, pages.element],
    load: async (signal) => {
      try {
        return await api.get(
          "applications",
          {
            minutes: state.minutes,
            search: state.search,
            filter: state.filter,
            sort: state.sort,
            order: state.order,
            limit: PAGE,
            offset: state.offset,
            spark: "true",
          },
          signal,
        );
      } catch (e) {
        const disabled = await historyDisabled(e, frame);
        if (disabled) {
          return disabled;
        }
        throw e;
      }
    },
    render: (data) => {
      if (data instanceof Node) {
        summary.textContent = "";
        return data;
      }
      const narrowed = state.search !== "" || state.filter !== "";
      summary.textContent = narrowed
        ? `${format.count(data.matching)} of ${format.plural(data.total, "application")}`
        : format.plural(data.total, "application");
      const saying = `${state.search}|${state.filter}|${state.minutes}|${state.sort}|${state.order}|${state.offset}`;
      if (said !== null && said !== saying) {
        announce(summary.textContent);
      }
      said = saying;
      table.setSort(state.sort, state.order);
      const begin = firstMinute(data.applications);
      table.update(data.applications.map((row) => ({ ...row, begin })));
      pages.update(state.offset, data.applications.length, data.matching);
      if (data.applications.length > 0) {
        return null;
      }
      if (data.total === 0) {
        return data.upToDate
          ? noSpans()
          : empty("No data yet.", "The last hour is still being read from the journal.");
      }
      if (state.offset > 0 && data.matching > 0) {
        return empty("The list ends before this page.", el("button", { type: "button", onclick: () => go({}) }, "First page"));
      }
      return empty(
        "No application matches.",
        state.filter === "failing"
          ? `No matching application had an error in the last ${state.minutes} minutes.`
          : state.filter === "slow"
            ? `No matching application had a p99 of ${format.duration(frame.status?.slowMillis)} or more in the last ${state.minutes} minutes.`
            : "No name contains the text.",
        el("button", { type: "button", onclick: () => go({ search: "", filter: "" }) }, "Show all"),
      );
    },
  });
  const element = el(
    "div",
    { class: "view" },
    el("div", { class: "title" }, el("h1", {}, "Applications"), summary),
    el("div", { class: "toolbar", role: "search", "aria-label": "Applications" }, search.element, filter.element, minutes.element),
    pane.element,
  );
  return {
    element,
    update: (parameters) => {
      state = read(parameters);
      search.set(state.search);
      filter.set(state.filter);
      minutes.set(state.minutes);
    },
    refresh: () => pane.refresh(JSON.stringify(state)),
    close: () => pane.close(),
  };
}
