// Whether the service itself is well: this server, the books, queues, hotspots, limits, agents.

import * as address from "./address.js";
import * as api from "./api.js";
import { announce, choice, el, mark, moment, name, nothing, searchField, visible } from "./dom.js";
import * as format from "./format.js";
import { empty, Pane } from "./pane.js";
import { Pages, Table } from "./table.js";

const PAGE = 100;
const BOOKS_PAGE = 20;
const WINDOWS_TO_BE_SILENT = 4;
const LEAST_SILENT_MILLIS = 60_000;
const NEAR = 0.8;
const BOOKS_MINUTES = [
  ["5", "5 min"],
  ["15", "15 min"],
  ["60", "60 min"],
];
const STATES = new Map([
  ["no-topic", "The topic for decisions does not exist: each application stays on the queues that its name gives."],
  ["away", "The topic for decisions cannot be read; the last known decisions apply."],
  ["follower", "Another server decides; this server follows."],
  ["decider", "This server decides."],
  ["disabled", "Hotspots are disabled: each application stays on the queues that its name gives."],
]);

const rejected = (books) => Object.values(books.rejected).reduce((sum, number) => sum + number, 0);

/** How many of the received spans are missing from the others; 0 when the books balance. */
export const missingFromBooks = (books) =>
  books.received - books.recorded - books.overflowed - books.filtered - books.duplicate - rejected(books);

const balance = (books) => {
  const missing = missingFromBooks(books);
  return missing === 0 ? mark("good", "✓", "balances") : mark("bad", "✕", `off by ${format.count(missing)}`);
};

const meter = (value, most, label) =>
  el(
    "span",
    { class: "meter" },
    el("meter", { min: 0, max: Math.max(1, most), value, high: most * NEAR, "aria-label": label }),
    ` ${format.short(value)} of ${format.short(most)}`,
  );

const ago = (text) => (text === null ? "never" : moment(text, (millis) => `${format.age(Date.now() - millis)} ago`));

const applicationLink = (text) =>
  text === ""
    ? el("i", { class: "muted" }, "(not known)")
    : el("a", { href: address.link("application", { name: text }) }, name(text, 80));

export function view(frame) {
  let state = null;
  const read = (parameters) => ({
    search: parameters.get("search") ?? "",
    minutes: BOOKS_MINUTES.some(([m]) => m === parameters.get("minutes")) ? parameters.get("minutes") : "5",
    offset: Math.max(0, Number.parseInt(parameters.get("offset") ?? "0", 10) || 0),
    agents: Math.max(0, Number.parseInt(parameters.get("agents") ?? "0", 10) || 0),
  });
  const go = (changed, replace = false) => {
    const next = { ...state, ...changed };
    address.go(
      address.link("pipeline", {
        search: next.search,
        minutes: next.minutes === "5" ? null : next.minutes,
        offset: next.offset === 0 ? null : next.offset,
        agents: next.agents === 0 ? null : next.agents,
      }),
      replace,
    );
  };
  const silentAfter = () =>
    Math.max(LEAST_SILENT_MILLIS, WINDOWS_TO_BE_SILENT * (frame.status?.windowMillis ?? 0));
  const isSilent = (text) => text !== null && Date.now() - Date.parse(text) > silentAfter();

  /** Data of a part that the history gives; where it is disabled, what says so. */
  const ofHistory = async (path, parameters, signal) => {
    try {
      return await api.get(path, parameters, signal);
    } catch (e) {
      await frame.statusRead;
      if (e.kind === "absent" && frame.status?.upToDate === null) {
        return el("p", { class: "muted" }, "Unknown: the history is disabled on this server.");
      }
      throw e;
    }
  };

  // ---- this server

  const facts = el("dl", { class: "facts" });
  const servers = el("ul", { class: "servers" });
  const timings = new Table({
    caption: "Durations of this server's steps since its start",
    keyOf: (row) => row.name,
    sort: "name",
    columns: [
      { key: "name", label: "Step", head: true, order: "asc", cell: (row) => name(row.name), value: (row) => row.name },
      { key: "count", label: "Times", numeric: true, order: "desc", cell: (row) => format.count(row.count), value: (row) => row.count },
      { key: "mean", label: "Mean", numeric: true, order: "desc", cell: (row) => format.duration(row.meanMillis), value: (row) => row.meanMillis },
      { key: "max", label: "Longest", numeric: true, order: "desc", cell: (row) => format.duration(row.maxMillis), value: (row) => row.maxMillis },
    ],
  });
  const statusPane = new Pane({
    title: "This server",
    content: [
      el(
        "div",
        { class: "columns" },
        facts,
        el("div", {}, el("h3", {}, "Servers of the fleet"), servers),
        el("div", {}, el("h3", {}, "Durations of steps"), timings.element),
      ),
    ],
    load: async () => {
      await frame.statusRead;
      if (frame.statusError !== null) {
        throw frame.statusError;
      }
      return frame.status;
    },
    render: (status) => {
      const fact = (label, ...values) => el("div", {}, el("dt", {}, label), el("dd", {}, ...values));
      facts.replaceChildren(
        fact("Pipeline", status.alive ? mark("good", "✓", "runs") : mark("bad", "✕", "stopped")),
        fact(
          "Ready",
          status.ready ? mark("good", "✓", "yes") : mark("warn", "▲", "no"),
          ...Object.entries(status.missing).map(([what, why]) => el("p", { class: "why" }, visible(`${what}: ${why}`))),
        ),
        fact(
          "History",
          status.upToDate === null ? "disabled" : status.upToDate ? mark("good", "✓", "up to date") : mark("warn", "▲", "being read"),
        ),
        fact(
          "Trace index",
          status.index.type === "none" ? "none" : status.index.healthy ? mark("good", "✓", status.index.type) : mark("bad", "✕", `${status.index.type} does not answer`),
        ),
        fact("Version", visible(status.version)),
        fact("Address", status.server === null ? "not yet" : visible(status.server)),
        fact("Uptime", format.age(Date.parse(status.now) - Date.parse(status.started))),
        fact("Window", format.duration(status.windowMillis)),
        fact("Slow threshold", format.duration(status.slowMillis)),
        fact("Profile", visible(`${status.profile}, ${status.unit}`)),
      );
      servers.replaceChildren(
        ...(status.servers === null
          ? [el("li", {}, "No broker has answered yet.")]
          : status.servers.length === 0
            ? [el("li", {}, "No servers are known.")]
            : status.servers.map((server) =>
                el("li", {}, el("code", {}, visible(server)), server === status.server ? el("span", { class: "muted" }, " this one") : null),
              )),
      );
      timings.update(status.timings);
      return null;
    },
  });

  // ---- the books

  const equation = el("div", { class: "equation" });
  const bookSearch = searchField("Search applications", (text) => {
    if (text !== state.search) {
      go({ search: text, offset: 0 }, state.search !== "");
    }
  });
  const bookMinutes = choice("Time range of the books", BOOKS_MINUTES, (value) => go({ minutes: value, offset: 0 }));
  const number = (key, label, of = (row) => row[key], hint = null) => ({
    key,
    label,
    hint,
    numeric: true,
    cell: (row) => (of(row) === 0 ? nothing("0") : format.count(of(row))),
  });
  const books = new Table({
    caption: "What became of each application's spans",
    keyOf: (row) => row.application,
    columns: [
      { key: "application", label: "Application", head: true, fixed: true, className: "mid", cell: (row) => applicationLink(row.application) },
      number("received", "Received"),
      number("recorded", "Recorded"),
      number("overflowed", "Overflowed", undefined, "Counted in the overflow series"),
      number("filtered", "Filtered"),
      number("duplicate", "Duplicate"),
      {
        key: "rejected",
        label: "Rejected",
        numeric: true,
        cell: (row) => {
          const reasons = Object.entries(row.rejected).map(([why, spans]) => `${why} ${format.count(spans)}`);
          return el("span", { title: reasons.length === 0 ? null : visible(reasons.join(", ")), class: reasons.length === 0 ? "muted" : null }, format.count(rejected(row)));
        },
      },
      number("heldBack", "Held back", undefined, "Slow or failed spans that were not indexed"),
      { key: "balance", label: "Books", cell: balance },
    ],
  });
  const bookPages = new Pages(BOOKS_PAGE, "books", (offset) => go({ offset }));
  let said = null;
  const booksPane = new Pane({
    title: "Books",
    tools: [bookSearch.element, bookMinutes.element],
    content: [equation, books.element, bookPages.element],
    load: (signal) =>
      ofHistory("books", { minutes: state.minutes, search: state.search, limit: BOOKS_PAGE, offset: state.offset }, signal),
    render: (data) => {
      if (data instanceof Node) {
        return data;
      }
      const all = data.fleet;
      const term = (label, value, title = null) =>
        el("span", { class: "term", title }, el("b", {}, format.count(value)), el("span", {}, label));
      const sign = (text) => el("span", { class: "sign" }, text);
      const reasons = Object.entries(all.rejected).map(([why, spans]) => `${why} ${format.count(spans)}`);
      equation.replaceChildren(
        term("received", all.received),
        sign("="),
        term("recorded", all.recorded),
        sign("+"),
        term("overflowed", all.overflowed),
        sign("+"),
        term("filtered", all.filtered),
        sign("+"),
        term("duplicate", all.duplicate),
        sign("+"),
        term("rejected", rejected(all), visible(reasons.join(", ")) || null),
        balance(all),
      );
      const saying = JSON.stringify(state);
      if (said !== null && said !== saying) {
        announce(`Books of ${format.plural(data.matching, "application")}`);
      }
      said = saying;
      books.update(data.applications);
      bookPages.update(state.offset, data.applications.length, data.matching);
      books.element.hidden = data.applications.length === 0;
      return all.received === 0 && data.total === 0 ? empty("No spans were received in this time.") : null;
    },
  });

  // ---- the queues

  const serverSeries = el("p", { class: "summary" });
  const queues = new Table({
    caption: "Queues of the fleet",
    keyOf: (row) => row.queue,
    sort: "queue",
    columns: [
      { key: "queue", label: "Queue", head: true, order: "asc", cell: (row) => el("code", {}, visible(row.queue)), value: (row) => row.queue },
      {
        key: "owner",
        label: "Read by",
        order: "asc",
        cell: (row) =>
          row.owner === null
            ? mark("warn", "▲", "nobody known")
            : el("span", {}, el("code", {}, visible(row.owner)), row.own ? el("span", { class: "muted" }, " this one") : null),
        value: (row) => row.owner,
      },
      { key: "rate", label: "Spans", numeric: true, order: "desc", hint: "Received, in the last five minutes", cell: (row) => format.rate(row.spansPerSecond), value: (row) => row.spansPerSecond },
      { key: "lag", label: "Lag", numeric: true, order: "desc", hint: "Messages not yet in the journal", cell: (row) => (row.lagMessages === null ? "–" : format.plural(row.lagMessages, "message")), value: (row) => row.lagMessages },
      {
        key: "state",
        label: "State",
        cell: (row) =>
          row.growing
            ? mark("bad", "✕", "falls behind")
            : isSilent(row.lastWindow)
              ? mark("warn", "▲", "no new window")
              : row.lastWindow === null
                ? el("span", { class: "muted" }, "nothing yet")
                : mark("good", "✓", "keeps up"),
      },
      { key: "window", label: "Last window", numeric: true, order: "desc", cell: (row) => ago(row.lastWindow), value: (row) => row.lastWindow },
      { key: "applications", label: "Applications", numeric: true, order: "desc", cell: (row) => format.count(row.applications), value: (row) => row.applications },
      { key: "series", label: "Series", numeric: true, order: "desc", cell: (row) => format.count(row.series), value: (row) => row.series },
      { key: "agents", label: "Agents", numeric: true, order: "desc", cell: (row) => format.count(row.agents), value: (row) => row.agents },
    ],
  });
  const queuesPane = new Pane({
    title: "Queues",
    tools: [serverSeries],
    content: [queues.element],
    load: (signal) => ofHistory("queues", {}, signal),
    render: (data) => {
      if (data instanceof Node) {
        return data;
      }
      serverSeries.replaceChildren("Series of this server ", meter(data.series, data.maxSeries, "Series of this server"));
      queues.update(data.queues);
      return data.queues.length === 0 ? empty("No queues are known.", "No broker has answered which queues the topic has.") : null;
    },
  });

  // ---- hotspots

  const hotspotState = el("p", {});
  const hotspots = new Table({
    caption: "Applications on more than one queue",
    keyOf: (row) => row.application,
    sort: "rate",
    order: "desc",
    columns: [
      { key: "application", label: "Application", head: true, order: "asc", className: "mid", cell: (row) => applicationLink(row.application), value: (row) => row.application },
      { key: "rate", label: "Spans", numeric: true, order: "desc", cell: (row) => format.rate(row.spansPerSecond), value: (row) => row.spansPerSecond },
      { key: "share", label: "Share", numeric: true, order: "desc", cell: (row) => format.percent(row.share), value: (row) => row.share },
      { key: "queues", label: "Queues used", numeric: true, order: "desc", cell: (row) => `${row.usedQueues} of ${row.queues}`, value: (row) => row.queues },
      { key: "heaviest", label: "Heaviest queue", numeric: true, order: "desc", cell: (row) => format.rate(row.heaviestQueueSpansPerSecond), value: (row) => row.heaviestQueueSpansPerSecond },
      { key: "spread", label: "Spread by", cell: (row) => visible(row.spread) },
      { key: "since", label: "Since", cell: (row) => (row.since === null ? "–" : moment(row.since, format.dateAndTime)) },
      {
        key: "state",
        label: "State",
        cell: (row) => (row.stuck ? mark("bad", "✕", "spreading does not help") : row.pinned ? mark("plain", "●", "pinned") : ""),
      },
      { key: "lag", label: "Lag", numeric: true, order: "desc", cell: (row) => format.plural(Math.round(row.lagSpans), "span"), value: (row) => row.lagSpans },
    ],
  });
  const behind = new Table({
    caption: "Queues that are behind",
    captionHidden: false,
    keyOf: (row) => row.queue,
    sort: "lag",
    order: "desc",
    columns: [
      { key: "queue", label: "Queue", head: true, order: "asc", cell: (row) => el("code", {}, visible(row.queue)), value: (row) => row.queue },
      { key: "rate", label: "Received", numeric: true, order: "desc", cell: (row) => format.rate(row.spansPerSecond), value: (row) => row.spansPerSecond },
      { key: "recorded", label: "Recorded", numeric: true, order: "desc", cell: (row) => format.rate(row.recordedSpansPerSecond), value: (row) => row.recordedSpansPerSecond },
      { key: "lag", label: "Lag", numeric: true, order: "desc", cell: (row) => format.plural(row.lagMessages, "message"), value: (row) => row.lagMessages },
      { key: "spans", label: "Lag in spans", numeric: true, order: "desc", cell: (row) => format.short(row.lagSpans), value: (row) => row.lagSpans },
      { key: "state", label: "State", cell: (row) => (row.growing ? mark("bad", "✕", "grows") : mark("warn", "▲", "behind")) },
    ],
  });
  const hotspotsPane = new Pane({
    title: "Hotspots",
    content: [hotspotState, hotspots.element, behind.element],
    load: async (signal) => {
      try {
        return await api.get("hotspots", {}, signal);
      } catch (e) {
        if (e.kind === "absent") {
          return el("p", { class: "muted" }, STATES.get("disabled"));
        }
        throw e;
      }
    },
    render: (data) => {
      if (data instanceof Node) {
        return data;
      }
      const parts = [STATES.get(data.state) ?? visible(data.state)];
      // A server without decisions answers with the state alone.
      const measured = !["disabled", "no-topic"].includes(data.state);
      if (measured && data.maxToMean !== null) {
        parts.push(`The heaviest of ${format.plural(data.queues, "queue")} has ${format.short(data.maxToMean)} times the mean.`);
      }
      if (measured && data.decided) {
        parts.push(`Decision ${data.epoch} of ${format.dateAndTime(Date.parse(data.decided))}.`);
      }
      if (measured && data.applications.length === 0) {
        parts.push("No application needs more than one queue.");
      }
      hotspotState.textContent = parts.join(" ");
      hotspots.element.hidden = data.applications.length === 0;
      hotspots.update(data.applications);
      behind.element.hidden = data.behind.length === 0;
      behind.update(data.behind);
      return null;
    },
  });

  // ---- series against limits

  const limits = new Table({
    caption: "Applications near or at a limit of series",
    className: "limits",
    keyOf: (row) => `${row.application}\n${row.queue}\n${row.limit}`,
    columns: [
      { key: "application", label: "Application", head: true, className: "mid", cell: (row) => applicationLink(row.application) },
      { key: "queue", label: "Queue", cell: (row) => el("code", {}, visible(row.queue)) },
      { key: "series", label: "Series", cell: (row) => meter(row.series, row.max, "Series against the limit") },
      { key: "limit", label: "Limit", cell: (row) => el("code", {}, visible(`trace-etl.series.${row.limit.replace(/^trace-etl\.series\./, "")}`)) },
      {
        key: "overflowed",
        label: "Overflowed spans",
        numeric: true,
        hint: "Counted in the overflow series, without their labels",
        cell: (row) => (row.overflowedSpans > 0 ? mark("bad", "✕", format.count(row.overflowedSpans)) : "0"),
      },
      { key: "culprit", label: "Culprit label", cell: (row) => el("b", {}, name(row.culprit, 60)) },
      {
        key: "values",
        label: "Values by label",
        className: "mid",
        cell: (row) =>
          el(
            "span",
            { class: "muted" },
            ...Object.entries(row.values).flatMap(([label, values], i) => [i === 0 ? "" : ", ", name(label, 60), ` ${format.count(values)}`]),
          ),
      },
      {
        key: "examples",
        label: "Examples",
        className: "mid",
        cell: (row) => el("span", {}, ...row.examples.flatMap((example, i) => [i === 0 ? "" : ", ", name(example, 60)])),
      },
    ],
  });
  const rules = new Table({
    caption: "Rules by which span names are joined",
    captionHidden: false,
    keyOf: (row) => `${row.application}\n${row.rule}`,
    columns: [
      { key: "application", label: "Application", head: true, className: "mid", cell: (row) => applicationLink(row.application) },
      { key: "rule", label: "Rule", className: "mid", cell: (row) => el("code", {}, name(row.rule)) },
      { key: "values", label: "Values", numeric: true, cell: (row) => format.count(row.values) },
      { key: "since", label: "Since", cell: (row) => moment(row.since, format.dateAndTime) },
    ],
  });
  const noLimits = el("p", {}, "No application on this server's queues is near a limit of series.");
  const limitsPane = new Pane({
    title: "Series against limits",
    content: [noLimits, limits.element, rules.element],
    load: (signal) => api.get("cardinality", { limit: PAGE }, signal),
    render: (data) => {
      noLimits.hidden = data.applications.length > 0;
      limits.element.hidden = data.applications.length === 0;
      limits.update(data.applications);
      rules.element.hidden = data.learntNames.rules.length === 0;
      rules.update(data.learntNames.rules);
      return null;
    },
  });

  // ---- agents

  const agentSummary = el("p", { class: "summary" });
  const agents = new Table({
    caption: "Agents, the least recently seen first",
    keyOf: (row) => row.agent,
    columns: [
      { key: "agent", label: "Agent", head: true, cell: (row) => el("code", {}, visible(row.agent)) },
      {
        key: "state",
        label: "State",
        cell: (row) => (isSilent(row.lastSeen) ? mark("warn", "▲", "silent") : mark("good", "✓", "sends")),
      },
      { key: "seen", label: "Last seen", numeric: true, cell: (row) => ago(row.lastSeen) },
      { key: "started", label: "Started", cell: (row) => (row.started === null ? "–" : moment(row.started, format.dateAndTime)) },
      { key: "batches", label: "Batches, last hour", numeric: true, cell: (row) => format.count(row.batches) },
      { key: "queues", label: "Queues", numeric: true, cell: (row) => format.count(row.queues) },
    ],
  });
  const agentPages = new Pages(PAGE, "agents", (offset) => go({ agents: offset }));
  const agentsPane = new Pane({
    title: "Agents",
    tools: [agentSummary],
    content: [agents.element, agentPages.element],
    load: (signal) => ofHistory("agents", { limit: PAGE, offset: state.agents }, signal),
    render: (data) => {
      if (data instanceof Node) {
        return data;
      }
      agentSummary.textContent = format.plural(data.total, "agent") + (data.leftOut ? "; there are more than are kept" : "");
      agents.update(data.agents);
      agentPages.update(state.agents, data.agents.length, data.total);
      return data.total === 0
        ? empty("No agent was seen in the last hour.", "An agent appears here once its first batch is counted. Its log and its /metrics show whether it reaches the broker.")
        : null;
    },
  });

  const panes = [statusPane, booksPane, queuesPane, hotspotsPane, limitsPane, agentsPane];
  return {
    element: el("div", { class: "view" }, el("div", { class: "title" }, el("h1", {}, "Pipeline")), ...panes.map((pane) => pane.element)),
    update: (parameters) => {
      state = read(parameters);
      bookSearch.set(state.search);
      bookMinutes.set(state.minutes);
    },
    refresh: () =>
      Promise.all([
        statusPane.refresh(),
        booksPane.refresh(JSON.stringify([state.search, state.minutes, state.offset])),
        queuesPane.refresh(),
        hotspotsPane.refresh(),
        limitsPane.refresh(),
        agentsPane.refresh(String(state.agents)),
      ]),
    close: () => panes.forEach((pane) => pane.close()),
  };
}
