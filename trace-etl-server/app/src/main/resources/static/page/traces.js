// Slow and failed spans, and those that stand for others: find, open elsewhere, copy, take along.

import * as address from "./address.js";
import * as api from "./api.js";
import { announce, el, moment, name, reason, visible } from "./dom.js";
import * as format from "./format.js";
import { empty, Pane } from "./pane.js";
import { Table } from "./table.js";

const PAGE = 100;
const EXPORTED = 1000;
const MINUTE = 60_000;
const RANGES = new Map([
  ["15m", ["Last 15 minutes", 15 * MINUTE]],
  ["1h", ["Last hour", 60 * MINUTE]],
  ["6h", ["Last 6 hours", 6 * 60 * MINUTE]],
  ["24h", ["Last 24 hours", 24 * 60 * MINUTE]],
  ["7d", ["Last 7 days", 7 * 24 * 60 * MINUTE]],
  ["all", ["Any time", null]],
  ["between", ["Between …", null]],
]);

/** Where a trace can be seen; null where nobody said, or what was said is no address of the web. */
export function traceAddress(template, trace) {
  if (typeof template !== "string" || !/^https?:\/\//i.test(template)) {
    return null;
  }
  const start = Date.parse(trace.start);
  const values = new Map([
    ["traceId", trace.traceId],
    ["spanId", trace.spanId],
    ["application", trace.application],
    ["start", String(Math.floor(start))],
    ["end", String(Math.ceil(start + trace.durationMillis))],
  ]);
  const filled = template.replace(/\{(\w+)\}/g, (whole, key) =>
    values.has(key) ? encodeURIComponent(values.get(key).replace(/\p{Surrogate}/gu, "\ufffd")) : whole,
  );
  try {
    const url = new URL(filled);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : null;
  } catch {
    return null;
  }
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without TLS there is no clipboard but this one.
    const field = el("textarea", { class: "hidden", "aria-hidden": "true" });
    const before = document.activeElement;
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    before?.focus({ preventScroll: true });
    return done;
  }
}

/** The ID of a trace, with its address and a button to copy it. */
export function traceId(frame, trace) {
  const url = traceAddress(frame.status?.traceUrl, trace);
  const text = el("code", { title: visible(trace.traceId) }, visible(trace.traceId));
  const button = el(
    "button",
    {
      type: "button",
      class: "quiet",
      "aria-label": `Copy trace ID ${visible(trace.traceId)}`,
      onclick: async () => {
        const done = await copy(trace.traceId);
        button.textContent = done ? "Copied" : "Not copied";
        announce(done ? "Trace ID copied" : "The trace ID could not be copied");
        setTimeout(() => (button.textContent = "Copy"), 2000);
      },
    },
    "Copy",
  );
  return el(
    "span",
    { class: "trace-id" },
    url === null
      ? text
      : el("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, text, el("span", { class: "hidden" }, ", in a new window")),
    " ",
    button,
  );
}

function attributes(trace) {
  const entries = Object.entries(trace.attributes);
  if (entries.length === 0 && !trace.statusMessage) {
    return "";
  }
  return el(
    "details",
    { class: "attributes" },
    el("summary", {}, entries.length === 0 ? "message" : format.plural(entries.length, "attribute")),
    el(
      "dl",
      {},
      el("dt", {}, "span ID"),
      el("dd", {}, el("code", {}, visible(trace.spanId))),
      ...(trace.statusMessage ? [el("dt", {}, "status message"), el("dd", {}, name(trace.statusMessage, 2000))] : []),
      ...entries.flatMap(([key, value]) => [el("dt", {}, name(key, 200)), el("dd", {}, name(String(value), 2000))]),
    ),
  );
}

export const traceKey = (trace) => `${trace.traceId}/${trace.spanId}/${trace.reason}`;

/** @param {{application: boolean, operation: boolean}} shown which of the columns */
export function traceColumns(frame, shown) {
  const columns = [
    { key: "start", label: "Start", head: true, className: "start", cell: (t) => moment(t.start, format.dateAndTime), value: (t) => t.start },
    { key: "reason", label: "Why kept", cell: (t) => reason(t.reason), value: (t) => t.reason },
    { key: "duration", label: "Duration", numeric: true, cell: (t) => format.duration(t.durationMillis), value: (t) => t.durationMillis },
  ];
  if (shown.application) {
    columns.push({
      key: "application",
      label: "Application",
      className: "mid",
      cell: (t) => el("a", { href: address.link("application", { name: t.application }) }, name(t.application, 80)),
    });
  }
  if (shown.operation) {
    columns.push({
      key: "operation",
      label: "Operation",
      className: "wide",
      cell: (t) =>
        el("span", { class: "kinded" }, name(t.operation, 80), el("span", { class: "kind" }, format.kind(t.kind))),
    });
  }
  columns.push(
    {
      key: "status",
      label: "Status",
      className: "mid",
      cell: (t) =>
        el("span", { class: "status-message" }, el("span", {}, visible(t.status)), t.statusMessage ? el("span", { class: "message muted" }, name(t.statusMessage, 80)) : null),
    },
    { key: "trace", label: "Trace ID", className: "trace", cell: (t) => traceId(frame, t) },
    { key: "attributes", label: "Details", cell: (t) => attributes(t) },
  );
  // A document never changes, and what was opened stays open.
  return columns.map((column) => ({ ...column, fixed: true }));
}

/** Said where no documents are kept; null where they are. */
export function noIndex(status) {
  return status?.index.type === "none"
    ? empty(
        "No traces are kept.",
        "trace-etl.index.type is none. With lucene or elasticsearch, this server keeps the trace IDs of slow and failed spans.",
      )
    : null;
}

function localTime(text) {
  const millis = /^\d+$/.test(text) ? Number(text) : Date.parse(text);
  const date = new Date(millis);
  if (Number.isNaN(date.getTime())) {
    return "";
  }
  return new Date(millis - date.getTimezoneOffset() * MINUTE).toISOString().slice(0, 19);
}

export function view(frame) {
  let state = null;

  const read = (parameters) => {
    const from = parameters.get("from") ?? "";
    const to = parameters.get("to") ?? "";
    const range = parameters.get("range") ?? (from !== "" || to !== "" ? "between" : "1h");
    return {
      application: parameters.get("application") ?? "",
      operation: parameters.get("operation") ?? "",
      reason: parameters.get("reason") ?? "",
      range: RANGES.has(range) ? range : "1h",
      from,
      to,
      at: parameters.get("at") ?? "",
      cursor: parameters.get("cursor") ?? "",
    };
  };

  const link = (changed) => {
    const next = { ...state, at: "", cursor: "", ...changed };
    const between = next.range === "between";
    return address.link("traces", {
      application: next.application,
      operation: next.operation,
      reason: next.reason,
      range: next.range === "1h" ? null : next.range,
      from: between ? next.from : null,
      to: between ? next.to : null,
      at: next.at,
      cursor: next.cursor,
    });
  };
  const go = (changed) => address.go(link(changed));

  /** Of the API; a later page asks for the same time as the first one. */
  const query = () => {
    const at = state.cursor === "" ? Date.now() : Number(state.at) || Date.now();
    const length = RANGES.get(state.range)[1];
    return {
      at,
      application: state.application,
      operation: state.operation,
      reason: state.reason,
      from: length !== null ? String(at - length) : state.range === "between" ? state.from : "",
      to: state.range === "between" ? state.to : "",
    };
  };

  const field = (label, key, list) => {
    const input = el("input", {
      type: "search",
      maxlength: "20000",
      spellcheck: "false",
      autocomplete: "off",
      placeholder: "any",
      onchange: () => {
        if (input.value !== state[key]) {
          go({ [key]: input.value });
        }
      },
    });
    return { input, element: el("label", { class: "field" }, el("span", {}, label), input, list ?? null) };
  };
  const application = field("Application", "application");
  const operation = field("Operation", "operation");
  const select = (label, key, options) => {
    const input = el(
      "select",
      { onchange: () => go({ [key]: input.value }) },
      ...options.map(([value, text]) => el("option", { value }, text)),
    );
    return { input, element: el("label", { class: "field" }, el("span", {}, label), input) };
  };
  const why = select("Why kept", "reason", [
    ["", "Any reason"],
    ["error", "Failed"],
    ["slow", "Slow"],
    ["exemplar", "Exemplar"],
  ]);
  const range = select(
    "Time",
    "range",
    [...RANGES].map(([value, [label]]) => [value, label]),
  );
  const bound = (label, key) => {
    const input = el("input", {
      type: "datetime-local",
      step: "1",
      onchange: () => {
        const millis = new Date(input.value).getTime();
        go({ range: "between", [key]: Number.isNaN(millis) ? "" : new Date(millis).toISOString() });
      },
    });
    return { input, element: el("label", { class: "field" }, el("span", {}, label), input) };
  };
  const from = bound("From", "from");
  const to = bound("Before", "to");

  const table = new Table({
    caption: "Failed, slow and exemplar spans, newest first",
    className: "traces",
    keyOf: traceKey,
    columns: traceColumns(frame, { application: true, operation: true }),
  });
  const first = el("a", { class: "button" }, "Newest");
  const older = el("a", { class: "button" }, "Older");
  const pages = el("nav", { class: "pages", "aria-label": "Pages of traces" }, first, older);
  const exported = (format, label) => {
    const anchor = el("a", { class: "button", download: `traces.${format}` }, label);
    anchor.addEventListener("click", async (event) => {
      // A link of its own shows no token.
      if (!api.hasToken()) {
        return;
      }
      event.preventDefault();
      try {
        const url = URL.createObjectURL(await api.getBlob("traces", { ...exportQuery(), format }));
        const file = el("a", { href: url, download: `traces.${format}` });
        file.click();
        setTimeout(() => URL.revokeObjectURL(url), MINUTE);
      } catch (e) {
        announce(`Not exported. ${e.message}`);
      }
    });
    return anchor;
  };
  const exportQuery = () => {
    const { at, ...rest } = query();
    return { ...rest, limit: EXPORTED, cursor: state.cursor };
  };
  const csv = exported("csv", "Export CSV");
  const json = exported("json", "Export JSON");
  const exports = el("div", { class: "exports", title: `Up to ${EXPORTED} spans, starting with the first on this page` }, csv, json);
  const summary = el("p", { class: "summary" });
  let said = null;

  const pane = new Pane({
    title: null,
    skeleton: 10,
    content: [table.element, pages],
    load: async (signal) => {
      const { at, ...asked } = query();
      const [data] = await Promise.all([
        api.get("traces", { ...asked, limit: PAGE, cursor: state.cursor }, signal).catch(async (e) => {
          await frame.statusRead;
          const none = noIndex(frame.status);
          if (none === null || e.name !== "ApiError") {
            throw e;
          }
          return { traces: [], next: null };
        }),
        frame.statusRead,
      ]);
      return { ...data, at };
    },
    render: (data) => {
      const shown = data.traces.length;
      summary.textContent = shown === 0 ? "" : `${format.plural(shown, "span")}${data.next === null && state.cursor === "" ? "" : " on this page"}`;
      const key = JSON.stringify(state);
      if (said !== null && said !== key) {
        announce(shown === 0 ? "No traces match" : summary.textContent);
      }
      said = key;
      table.update(data.traces);
      first.hidden = state.cursor === "";
      first.href = link({});
      older.hidden = data.next === null;
      older.href = data.next === null ? "#/traces" : link({ cursor: data.next, at: data.at });
      csv.href = api.address("traces", { ...exportQuery(), format: "csv" });
      json.href = api.address("traces", exportQuery());
      exports.hidden = shown === 0;
      if (shown > 0) {
        return null;
      }
      const none = noIndex(frame.status);
      if (none !== null) {
        return none;
      }
      const narrowed = state.application !== "" || state.operation !== "" || state.reason !== "";
      return narrowed
        ? empty(
            "No trace matches.",
            "A name must match exactly. Spans are indexed if they failed or were slow, at most ten per series and window.",
            el("button", { type: "button", onclick: () => go({ application: "", operation: "", reason: "", range: "all" }) }, "Show all"),
          )
        : empty(
            "No trace was slow or failed in this time.",
            `A span is slow if it takes ${format.duration(frame.status?.slowMillis)} or more, unless its application has its own threshold.`,
            state.range === "all" ? "" : el("button", { type: "button", onclick: () => go({ range: "all" }) }, "Any time"),
          );
    },
  });

  const element = el(
    "div",
    { class: "view" },
    el("div", { class: "title" }, el("h1", {}, "Failed, slow and exemplar spans"), summary),
    el(
      "div",
      { class: "toolbar fields", role: "search", "aria-label": "Traces" },
      application.element,
      operation.element,
      why.element,
      range.element,
      from.element,
      to.element,
      exports,
    ),
    pane.element,
  );
  exports.hidden = true;
  const set = (input, value) => {
    if (document.activeElement !== input || input.type !== "search") {
      input.value = value;
    }
  };
  return {
    element,
    update: (parameters) => {
      const before = state;
      state = read(parameters);
      set(application.input, state.application);
      set(operation.input, state.operation);
      why.input.value = state.reason;
      range.input.value = state.range;
      from.element.hidden = state.range !== "between";
      to.element.hidden = state.range !== "between";
      set(from.input, localTime(state.from));
      set(to.input, localTime(state.to));
      return before !== null && before.cursor !== state.cursor ? "moved" : undefined;
    },
    refresh: () => pane.refresh(JSON.stringify(state)),
    close: () => pane.close(),
  };
}
