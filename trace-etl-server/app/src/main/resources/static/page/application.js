// One application, or one of its operations: its last hour minute by minute, what it is made of, and
// the traces that were kept of it.

import * as address from "./address.js";
import * as api from "./api.js";
import { Chart, loadPlot } from "./chart.js";
import { Deploys, readDeploys } from "./deploys.js";
import { announce, choice, el, mark, name, searchField, wholeName } from "./dom.js";
import * as format from "./format.js";
import { HeatMap } from "./heatmap.js";
import { defaultOrder, historyDisabled, intervalColumns, MINUTES } from "./overview.js";
import { Objectives } from "./objectives.js";
import { empty, Pane } from "./pane.js";
import { RulesPreview } from "./preview.js";
import { Pages, Table } from "./table.js";
import { noIndex, traceColumns, traceKey } from "./traces.js";
import { Why } from "./why.js";

const PAGE = 100;
const TRACES_OF_A_REASON = 3;
const SLICES = 12;
// Spans begin before the minute in which they count.
const BEFORE_FIRST_MINUTE = 300_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const NAME_IN_HEADING = 120;

export function view(frame) {
  let state = null;
  let traces = [];
  let subjectAsked = null;

  const read = (parameters) => {
    const sort = parameters.get("sort") ?? "calls";
    return {
      name: parameters.get("name") ?? "",
      operation: parameters.get("operation"),
      kind: parameters.get("kind"),
      minutes: MINUTES.some(([m]) => m === parameters.get("minutes")) ? parameters.get("minutes") : "5",
      search: parameters.get("search") ?? "",
      sort,
      order: parameters.get("order") ?? defaultOrder(sort),
      offset: Math.max(0, Number.parseInt(parameters.get("offset") ?? "0", 10) || 0),
    };
  };
  const go = (changed, replace = false) => {
    const next = { ...state, offset: 0, ...changed };
    address.go(
      address.link("application", {
        name: next.name,
        operation: next.operation,
        kind: next.kind,
        minutes: next.minutes === "5" ? null : next.minutes,
        search: next.search,
        sort: next.sort === "calls" ? null : next.sort,
        order: next.order === defaultOrder(next.sort) ? null : next.order,
        offset: next.offset === 0 ? null : next.offset,
      }),
      replace,
    );
  };
  const isOperation = () => state.operation !== null && state.kind !== null;

  // ---- the last hour

  const rateChart = new Chart({
    title: "Rate",
    show: format.rate,
    series: [
      { label: "calls", colour: "--accent", area: true },
      { label: "errors", colour: "--bad", dash: [4, 3] },
    ],
  });
  const errorChart = new Chart({
    title: "Error ratio",
    show: format.percent,
    series: [
      { label: "failed", colour: "--quiet" },
      { label: `failed, where above ${format.percent(format.HIGH_ERROR_RATIO)}`, colour: "--bad" },
    ],
  });
  const durationChart = new Chart({
    title: "Duration",
    show: format.duration,
    series: [
      { label: "p50", colour: "--quiet" },
      { label: "p95", colour: "--accent", dash: [6, 3] },
      { label: "p99", colour: "--warn", dash: [2, 2] },
    ],
  });
  const charts = [rateChart, errorChart, durationChart];
  const heat = new HeatMap(
    (trace) => find(trace),
    (millis, minute) => why.compareSlow(millis, minute),
  );
  const deploys = new Deploys();
  const tiles = el("dl", { class: "tiles" });
  const minuteTable = new Table({
    caption: "Minute by minute",
    keyOf: (minute) => String(minute.start),
    columns: [
      { key: "start", label: "Minute", head: true, cell: (m) => format.time(m.start) + (!m.ended ? " (not ended)" : m.provisional ? " (may still rise)" : "") },
      { key: "calls", label: "Calls", numeric: true, hint: "In parentheses: where sampled, the true number is between these with 95 % confidence", cell: (m) => format.estimate(m.calls, m.callsBounds) },
      { key: "errors", label: "Errors", numeric: true, cell: (m) => format.count(m.errors) },
      { key: "ratio", label: "Error ratio", numeric: true, cell: (m) => format.percent(m.calls === 0 ? null : m.errors / m.calls) },
      { key: "mean", label: "Mean", numeric: true, cell: (m) => format.duration(m.calls === 0 ? null : m.durationMillis / m.calls) },
      { key: "p50", label: "p50", numeric: true, cell: (m) => format.duration(m.p50Millis) },
      { key: "p95", label: "p95", numeric: true, cell: (m) => format.duration(m.p95Millis) },
      { key: "p99", label: "p99", numeric: true, cell: (m) => format.duration(m.p99Millis) },
    ],
  });
  let minutesShown = [];
  // Milliseconds since 1970; null until the minutes of this application or operation are shown.
  let heatFrom = null;
  let minutesKnown = null;
  const minuteDetails = el(
    "details",
    {
      class: "numbers",
      ontoggle: () => minuteTable.update(minuteDetails.open ? minutesShown : []),
    },
    el("summary", {}, "Minute by minute"),
    minuteTable.element,
  );
  const provisionalNote = el("p", { class: "provisional muted" });
  const historyPane = new Pane({
    title: null,
    skeleton: 9,
    content: [
      tiles,
      deploys.element,
      el("div", { class: "charts" }, ...charts.map((chart) => chart.element)),
      minuteDetails,
      heat.element,
      provisionalNote,
    ],
    load: async (signal) => {
      try {
        const [history, completeness, deployed] = await Promise.all([
          api.get(
            "history",
            { application: state.name, operation: isOperation() ? state.operation : null, kind: isOperation() ? state.kind : null, buckets: "true" },
            signal,
          ),
          readCompleteness(signal),
          readDeploys(state.name, signal),
          loadPlot(),
        ]);
        return { ...history, completeness, deploys: deployed };
      } catch (e) {
        const disabled = e.name === "ApiError" ? await historyDisabled(e, frame) : null;
        if (disabled) {
          return disabled;
        }
        if (e.kind === "absent") {
          return empty(
            isOperation() ? "This operation had no calls in the last hour." : "This application had no spans in the last hour.",
            "An application disappears from this page an hour after its last span. Prometheus keeps its metrics longer.",
            el("a", { href: "#/" }, "All applications"),
          );
        }
        throw e;
      }
    },
    render: (data) => {
      if (data instanceof Node) {
        return data;
      }
      // Charts are measured when they are drawn: they have to be in the page by then.
      historyPane.content.hidden = false;
      showMinutes(data);
      return null;
    },
  });

  /** Until when the counts of this application are complete; null if that is not known. */
  async function readCompleteness(signal) {
    try {
      const { applications } = await api.get("completeness", { application: state.name }, signal);
      return applications[0] ?? null;
    } catch (e) {
      if (e.name !== "ApiError") {
        throw e;
      }
      // The charts are right without it, and their own request reports a server that fails.
      return null;
    }
  }

  function showProvisional(first, completeness) {
    const hosts = (agents) => agents.flatMap(({ host }, i) => [i === 0 ? "" : ", ", name(host, 60)]);
    const heldBackBy = first === undefined ? [] : (completeness?.heldBackBy ?? []);
    const excluded = completeness?.excluded ?? [];
    provisionalNote.replaceChildren(
      ...(completeness?.completeUntil === null ? ["It is unknown until when these counts are complete. "] : []),
      ...(first === undefined ? [] : [`Counts from ${format.time(first.start)} on may still rise. `]),
      ...(heldBackBy.length === 0 ? [] : ["Waiting for spans of ", ...hosts(heldBackBy), ". "]),
      ...(excluded.length === 0 ? [] : ["Not waiting for silent ", ...hosts(excluded), "."]),
    );
  }

  function showMinutes(data) {
    const completeMillis = data.completeness?.completeUntil ? Date.parse(data.completeness.completeUntil) : Infinity;
    // Before the first spans of the fleet there is nothing to show.
    const minutes = data.minutes
      .filter((minute) => !minute.ended || minute.observedSeconds > 0)
      .map((minute) => {
        const start = Date.parse(minute.start);
        return { ...minute, start, provisional: start + MINUTE > completeMillis };
      });
    const ended = minutes.filter((minute) => minute.ended);
    const starts = ended.map((minute) => minute.start);
    const firstProvisional = ended.find((minute) => minute.provisional);
    const provisional = firstProvisional?.start ?? null;
    showProvisional(firstProvisional, data.completeness);
    deploys.update(data.deploys);
    rateChart.update(
      starts,
      [ended.map((m) => m.calls / m.observedSeconds), ended.map((m) => m.errors / m.observedSeconds)],
      provisional,
      data.deploys,
    );
    const ratios = ended.map((m) => (m.calls === 0 ? null : m.errors / m.calls));
    errorChart.update(
      starts,
      [ratios, ratios.map((ratio) => (format.isHighErrorRatio(ratio) ? ratio : null))],
      provisional,
      data.deploys,
    );
    durationChart.update(
      starts,
      [ended.map((m) => m.p50Millis), ended.map((m) => m.p95Millis), ended.map((m) => m.p99Millis)],
      provisional,
      data.deploys,
    );
    heat.element.hidden = !data.boundsMillis;
    if (data.boundsMillis) {
      heat.update(
        minutes.map((m) => ({ ...m, buckets: m.buckets ?? new Array(data.boundsMillis.length + 1).fill(0) })),
        data.boundsMillis,
        data.deploys,
      );
    }
    minutesShown = [...minutes].reverse();
    heatFrom = minutes[0]?.start ?? null;
    if (minuteDetails.open) {
      minuteTable.update(minutesShown);
    }
    const last = ended.at(-1);
    const lastRatio = ratios.at(-1) ?? null;
    const calls = ended.reduce((sum, m) => sum + m.calls, 0);
    const errors = ended.reduce((sum, m) => sum + m.errors, 0);
    const tile = (label, value, hint) => el("div", { title: hint ?? null }, el("dt", {}, label), el("dd", {}, value));
    tiles.replaceChildren(
      tile("Rate", format.rate(last ? last.calls / last.observedSeconds : null), "In the last complete minute"),
      tile(
        "Error ratio",
        format.isHighErrorRatio(lastRatio) ? mark("bad", "✕", format.percent(lastRatio)) : format.percent(lastRatio),
        `In the last complete minute; red above ${format.percent(format.HIGH_ERROR_RATIO)}`,
      ),
      tile("p50", format.duration(last?.p50Millis ?? null)),
      tile("p95", format.duration(last?.p95Millis ?? null)),
      tile("p99", format.duration(last?.p99Millis ?? null)),
      tile("Calls, last hour", format.short(calls)),
      tile("Errors, last hour", format.short(errors)),
    );
  }

  // ---- what it is made of

  const search = searchField("Search operations", (text) => {
    if (text !== state.search) {
      go({ search: text }, state.search !== "");
    }
  });
  const minutes = choice("Time range", MINUTES, (value) => go({ minutes: value }));
  const operations = new Table({
    caption: "Operations",
    className: "operations",
    keyOf: (row) => `${state.name}\n${row.kind}\n${row.operation}`,
    onSort: (sort, order) => go({ sort, order }),
    columns: [
      {
        key: "name",
        label: "Operation",
        head: true,
        order: "asc",
        fixed: true,
        className: "wide",
        cell: (row) =>
          el(
            "a",
            { href: address.link("application", { name: state.name, operation: row.operation, kind: row.kind }) },
            name(row.operation),
          ),
      },
      { key: "kind", label: "Kind", cell: (row) => el("span", { class: "kind" }, name(format.kind(row.kind), 40)) },
      ...intervalColumns(frame),
    ],
  });
  const operationPages = new Pages(PAGE, "operations", (offset) => {
    go({ offset });
    operationsPane.element.scrollIntoView({ block: "start" });
  });
  const operationSummary = el("span", { class: "summary" });
  let said = null;
  const operationsPane = new Pane({
    title: "Operations",
    tools: [operationSummary, search.element, minutes.element],
    content: [operations.element, operationPages.element],
    load: async (signal) => {
      try {
        return await api.get(
          "operations",
          {
            application: state.name,
            minutes: state.minutes,
            search: state.search,
            sort: state.sort,
            order: state.order,
            limit: PAGE,
            offset: state.offset,
          },
          signal,
        );
      } catch (e) {
        if (e.kind === "absent") {
          return el("p", { class: "muted" }, "No operations in the last hour.");
        }
        throw e;
      }
    },
    render: (data) => {
      if (data instanceof Node) {
        operationSummary.textContent = "";
        return data;
      }
      operationSummary.textContent =
        state.search === ""
          ? format.plural(data.total, "operation")
          : `${format.count(data.matching)} of ${format.plural(data.total, "operation")}`;
      const saying = JSON.stringify([state.search, state.minutes, state.sort, state.order, state.offset]);
      if (said !== null && said !== saying) {
        announce(operationSummary.textContent);
      }
      said = saying;
      operations.setSort(state.sort, state.order);
      operations.update(data.operations);
      operationPages.update(state.offset, data.operations.length, data.matching);
      return data.operations.length > 0
        ? null
        : data.total === 0
          ? empty("No operations in the last hour.")
          : empty("No operation matches.", el("button", { type: "button", onclick: () => go({ search: "" }) }, "Show all"));
    },
  });

  // ---- the traces of it

  const makeTraces = (withOperation) =>
    new Table({
      caption: "Indexed traces, newest first",
      className: "traces",
      keyOf: traceKey,
      columns: traceColumns(frame, { application: false, operation: withOperation }),
    });
  const tracesOfAll = makeTraces(true);
  const tracesOfOne = makeTraces(false);
  const allTraces = el("a", {}, "All traces");
  const tracesPane = new Pane({
    className: "bounded",
    title: "Failed, slow and exemplar spans of the last hour",
    tools: [allTraces],
    content: [tracesOfAll.element, tracesOfOne.element],
    load: async (signal) => {
      // Spread over the time of the heat map, which must be known: the newest alone would crowd its last minute.
      await minutesKnown;
      const to = Date.now();
      const from = Math.max(to - HOUR, (heatFrom ?? 0) - BEFORE_FIRST_MINUTE);
      const ask = (reason) =>
        api.get(
          "traces",
          { application: state.name, operation: isOperation() ? state.operation : null, reason, from: String(from), to: String(to), limit: TRACES_OF_A_REASON, slices: SLICES },
          signal,
        );
      try {
        const [found] = await Promise.all([Promise.all(["error", "slow", "exemplar"].map(ask)), frame.statusRead]);
        return found.flatMap((page) => page.traces);
      } catch (e) {
        await frame.statusRead;
        const none = noIndex(frame.status);
        if (none !== null && e.name === "ApiError") {
          return none;
        }
        throw e;
      }
    },
    render: (data) => {
      if (data instanceof Node) {
        traces = [];
        heat.setTraces(traces);
        return data;
      }
      traces = data
        .filter((trace) => !isOperation() || format.kind(trace.kind) === format.kind(state.kind))
        .sort((a, b) => Date.parse(b.start) - Date.parse(a.start));
      heat.setTraces(traces);
      tracesOfAll.element.hidden = isOperation();
      tracesOfOne.element.hidden = !isOperation();
      (isOperation() ? tracesOfOne : tracesOfAll).update(traces);
      return traces.length > 0
        ? null
        : (noIndex(frame.status) ??
            empty(
              "No trace was slow or failed in the last hour.",
              `A span is slow if it takes ${format.duration(frame.status?.slowMillis)} or more, unless its application has its own threshold.`,
            ));
    },
  });

  function find(trace) {
    const table = isOperation() ? tracesOfOne : tracesOfAll;
    const row = table.rowElement(traceKey(trace));
    if (row) {
      for (const other of table.body.querySelectorAll(".found")) {
        other.classList.remove("found");
      }
      row.classList.add("found");
      row.scrollIntoView({ block: "center" });
      row.querySelector("a, button")?.focus({ preventScroll: true });
    }
  }

  const objectives = new Objectives();

  // ---- what slow or failed spans have in common

  const why = new Why(frame);

  // ---- what other rules would cost

  const preview = new RulesPreview();
  preview.element.hidden = true;
  /** Profile ozhera has rules of its own. */
  const showPreview = async () => {
    await frame.statusRead;
    const profile = frame.status?.profile ?? null;
    preview.element.hidden = isOperation() || profile === null || profile === "ozhera" || frame.status?.restricted === true;
    preview.set(state.name);
  };

  const crumbs = el("nav", { class: "crumbs", "aria-label": "Breadcrumb" });
  const heading = el("h1", {});
  const neighbourhood = el("a", {}, "Callers and callees");
  const whole = el("div", {});
  const element = el(
    "div",
    { class: "view" },
    crumbs,
    el("div", { class: "title" }, heading, neighbourhood),
    whole,
    historyPane.element,
    objectives.element,
    operationsPane.element,
    tracesPane.element,
    why.element,
    preview.element,
  );

  const showHead = () => {
    const steps = [el("a", { href: "#/" }, "Applications")];
    if (isOperation()) {
      steps.push(el("a", { href: address.link("application", { name: state.name }) }, name(state.name, 60)));
    }
    crumbs.replaceChildren(el("ol", {}, ...steps.map((step) => el("li", {}, step))));
    const shown = isOperation() ? state.operation : state.name;
    heading.replaceChildren(name(shown, NAME_IN_HEADING), ...(isOperation() ? [el("span", { class: "kind" }, name(format.kind(state.kind), 40))] : []));
    whole.replaceChildren(...(shown.length > NAME_IN_HEADING ? [wholeName(shown)] : []));
    neighbourhood.hidden = isOperation();
    neighbourhood.href = address.link("services", { application: state.name });
    operationsPane.element.hidden = isOperation();
    why.set(state.name, isOperation() ? state.operation : null, isOperation() ? state.kind : null);
    allTraces.href = address.link("traces", { application: state.name, operation: isOperation() ? state.operation : null });
  };

  return {
    element,
    title: () => (isOperation() ? `${state.operation} · ${state.name}` : state.name),
    update: (parameters) => {
      const before = state;
      state = read(parameters);
      search.set(state.search);
      minutes.set(state.minutes);
      showHead();
      const moved =
        before !== null &&
        (before.name !== state.name || before.operation !== state.operation || before.kind !== state.kind);
      return moved ? "moved" : undefined;
    },
    refresh: () => {
      const subject = JSON.stringify([state.name, state.operation, state.kind]);
      const history = historyPane.refresh(subject);
      if (subject !== subjectAsked) {
        subjectAsked = subject;
        heatFrom = null;
      }
      minutesKnown = heatFrom === null ? history : null;
      return Promise.all([
        history,
        objectives.refresh(isOperation() ? null : state.name),
        isOperation() ? null : operationsPane.refresh(JSON.stringify(state)),
        tracesPane.refresh(subject),
        showPreview(),
      ]);
    },
    close: () => {
      for (const part of [historyPane, objectives, operationsPane, tracesPane, why, preview, heat, ...charts]) {
        part.close();
      }
    },
  };
}
