// What slow or failed spans of an application have in common, by the spans that the broker retains.

import * as api from "./api.js";
import { announce, el, name, svg, uniqueId, visible } from "./dom.js";
import * as format from "./format.js";
import { Run } from "./run.js";
import { Table } from "./table.js";
import { traceId } from "./traces.js";

const WITHIN_MILLIS = 90_000;
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const INTERVALS = [
  ["5m", "5 minutes", 5 * MINUTE],
  ["10m", "10 minutes", 10 * MINUTE],
  ["30m", "30 minutes", 30 * MINUTE],
  ["60m", "60 minutes", 60 * MINUTE],
];
const BASELINES = [
  ["rest", "their other spans"],
  ["1h", "all spans an hour before"],
  ["1d", "all spans a day before"],
];
const VALUE_CHARACTERS = 80;
const WIDTH = 100;
const HEIGHT = 8;

/** "key = value" or "key is absent", or two of these. */
function values(attributes) {
  return attributes.flatMap(({ key, value }, i) => [
    i === 0 ? "" : " and ",
    name(key, VALUE_CHARACTERS),
    ...(value === null ? [" is absent"] : [" = ", name(value, VALUE_CHARACTERS)]),
  ]);
}

/** A bar, and the interval that it may be in. The text beside it says the same. */
function bar(className, share, low = share, high = share) {
  const rect = (kind, from, to) => svg("rect", { class: kind, x: WIDTH * from, y: 0, width: WIDTH * (to - from), height: HEIGHT });
  return svg(
    "svg",
    { class: `share ${className}`, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" },
    rect("whole", 0, 1),
    rect("part", 0, share),
    rect("bounds", low, high),
  );
}

function shares(cause, words) {
  const percent = format.percent;
  const bounds = `${percent(cause.baselineLow)} to ${percent(cause.baselineHigh)}`;
  return el(
    "dl",
    { class: "shares" },
    el("dt", {}, words.selection),
    el("dd", {}, bar("selection", cause.selectionShare), el("span", {}, `${percent(cause.selectionShare)}, ${format.plural(cause.selectionTraces, "trace")}`)),
    el("dt", {}, words.baseline),
    el(
      "dd",
      {},
      bar("baseline", cause.baselineShare, cause.baselineLow, cause.baselineHigh),
      el("span", {}, `${percent(cause.baselineShare)} (${bounds}), ${format.plural(cause.baselineTraces, "trace")}`),
    ),
  );
}

function times(cause) {
  const figure = (ratio) => `${format.short(ratio)} times`;
  return cause.lift === null ? `At least ${figure(cause.leastLift)} as frequent` : `${figure(cause.lift)} as frequent, at least ${figure(cause.leastLift)}`;
}

function correlated(others) {
  return others.length === 0
    ? null
    : el(
        "details",
        {},
        el("summary", {}, `${format.plural(others.length, "value")} with it`),
        el(
          "ul",
          {},
          ...others.map((other) =>
            el("li", {}, ...values(other.attributes), `: ${format.percent(other.selectionShare)}, else ${format.percent(other.baselineShare)}`),
          ),
        ),
      );
}

function item(frame, application, cause, words) {
  return el(
    "li",
    { class: "cause" },
    el("h4", {}, ...values(cause.attributes)),
    shares(cause, words),
    el("p", {}, `${times(cause)}; explains ${format.percent(cause.explained)} of them.`),
    el("p", { class: "examples" }, "Traces: ", ...cause.traces.flatMap((trace) => [traceId(frame, { ...trace, application }), " "])),
    correlated(cause.correlated),
  );
}

function list(frame, answer, title, causes, words) {
  return causes.length === 0
    ? null
    : el(
        "section",
        { "aria-label": title },
        el("h3", {}, title),
        el("ol", { class: "causes" }, ...causes.map((cause) => item(frame, answer.application, cause, words))),
      );
}

function operations(answer) {
  const table = new Table({
    caption: "Operations with such spans",
    className: "costs",
    captionHidden: false,
    keyOf: (row) => `${row.operation}\n${row.kind}`,
    columns: [
      { key: "operation", label: "Operation", head: true, cell: (row) => name(row.operation, VALUE_CHARACTERS) },
      { key: "kind", label: "Kind", cell: (row) => format.kind(row.kind) },
      { key: "selected", label: "Such spans", numeric: true, cell: (row) => format.count(row.selectedSpans) },
      { key: "spans", label: "Spans", numeric: true, cell: (row) => format.count(row.spans) },
      { key: "share", label: "Share", numeric: true, cell: (row) => format.percent(row.spans === 0 ? null : row.selectedSpans / row.spans) },
    ],
  });
  table.update(answer.operations);
  return table.element;
}

/** The callees of which calls take longer, or fail more often, than in the minutes before. */
function callees(growth, isSlow) {
  if (growth === null || growth.callees.length === 0) {
    return null;
  }
  const change = (before, now, show) => `${show(before)} → ${show(now)}`;
  const p95 = (durations) => format.duration(durations?.p95Millis);
  const since = (text) => format.time(Date.parse(text));
  const table = new Table({
    caption:
      `${since(growth.from)} to ${since(growth.to)} compared with the minutes from ${since(growth.baselineFrom)} on, ` +
      "calls of all operations, the largest growth first. Small differences may be chance.",
    className: "costs",
    captionHidden: false,
    keyOf: (row) => `${row.server}\n${row.connection}`,
    columns: [
      { key: "server", label: "Callee", head: true, cell: (row) => (row.server === null ? "other" : name(row.server, VALUE_CHARACTERS)) },
      { key: "calls", label: "Calls", numeric: true, cell: (row) => change(row.baselineCallsPerSecond, row.callsPerSecond, format.rate) },
      { key: "errors", label: "Failed", numeric: true, cell: (row) => change(row.baselineErrorRatio, row.errorRatio, format.percent) },
      { key: "p95", label: "p95 at the caller", numeric: true, cell: (row) => change(row.baselineClientMs, row.clientMs, p95) },
      isSlow
        ? { key: "more", label: "More time", hint: "of all calls of a second", numeric: true, cell: (row) => `${format.duration(row.moreMillisPerSecond)}/s` }
        : { key: "more", label: "More failed", numeric: true, cell: (row) => format.rate(row.moreErrorsPerSecond) },
    ],
  });
  table.update(growth.callees);
  const title = isSlow ? "Callees that take longer" : "Callees that fail more often";
  return el("section", { "aria-label": title }, el("h3", {}, title), table.element);
}

/** What an answer says of itself: what it was made of. */
function extent(answer, askedMillis) {
  const fromMillis = Date.parse(answer.from);
  const notes = [
    `${format.plural(answer.selectedSpans, "such span")} of ${format.count(answer.spans)} since ${format.dateAndTime(fromMillis)}. ` +
      `Compared, by operation: ${format.plural(answer.selectionTraces, "trace")} with ${format.count(answer.baselineTraces)} others` +
      `${answer.spansPerSample > 1 ? `, a sample of 1 in ${format.count(Math.round(answer.spansPerSample))}` : ""}.`,
  ];
  if (answer.source === "index") {
    notes.push("The broker no longer has messages of one of both times, so slow and failed spans of the index are compared with those before.");
  }
  if (answer.sampled) {
    notes.push("The spans are below the servers' threshold of slow spans, so only those of the sample have attributes.");
  }
  if (fromMillis - askedMillis > MINUTE) {
    notes.push("Earlier messages were not read, because they are too many.");
  }
  if (!answer.complete) {
    notes.push("Not all messages were read, because time did not suffice.");
  }
  if (answer.causes.length === 0) {
    notes.push(
      answer.selectionTraces === 0 || answer.baselineTraces === 0
        ? `No span ${answer.selectionTraces === 0 ? "of these" : "to compare them with"} has attributes here, so nothing can be compared.`
        : `No attribute value is more frequent in them than by chance (${format.count(answer.valuesTested)} were tested).`,
    );
  } else {
    notes.push(`If these spans differ in nothing, the probability that an answer lists a value is at most ${format.percent(answer.errorRate)}.`);
  }
  return notes.map((note) => el("p", {}, note));
}

/** The form and its result. It does nothing before a person submits it. */
export class Why {
  #frame;
  #subject = null;
  #run = new Run("Compare");

  constructor(frame) {
    this.#frame = frame;
    const problemId = uniqueId("problem");
    const options = (choices) => choices.map(([value, label]) => el("option", { value }, label));
    this.which = el(
      "select",
      { onchange: () => this.#showThreshold() },
      ...options([
        ["failed", "failed"],
        ["slow", "slower than …"],
      ]),
    );
    this.millis = el("input", { type: "number", min: "1", max: "86400000", step: "1", required: true, "aria-describedby": problemId });
    this.threshold = el("label", { class: "field" }, el("span", {}, "Milliseconds"), this.millis);
    this.interval = el("select", {}, ...options(INTERVALS));
    this.interval.value = "10m";
    this.baseline = el("select", {}, ...options(BASELINES));
    this.problem = el("div", { id: problemId, role: "alert" });
    this.result = el("div", { class: "result" });
    this.element = el(
      "section",
      { class: "preview", "aria-label": "Why slow or failed?" },
      el(
        "details",
        {},
        el("summary", {}, el("h2", {}, "Why slow or failed?")),
        el(
          "form",
          {
            onsubmit: (event) => {
              event.preventDefault();
              this.#submit();
            },
          },
          el(
            "p",
            { class: "muted" },
            "Lists the attribute values that these spans have more often than others. It reads spans that the broker retains, and changes nothing.",
          ),
          el(
            "div",
            { class: "toolbar fields" },
            el("label", { class: "field" }, el("span", {}, "Spans that are"), this.which),
            this.threshold,
            el("label", { class: "field" }, el("span", {}, "Of the last"), this.interval),
            el("label", { class: "field" }, el("span", {}, "Compared with"), this.baseline),
            ...this.#run.parts,
          ),
          this.problem,
        ),
        this.result,
      ),
    );
    this.#showThreshold();
  }

  #showThreshold() {
    const isSlow = this.which.value === "slow";
    this.threshold.hidden = !isSlow;
    this.millis.disabled = !isSlow;
    if (isSlow && this.millis.value === "") {
      this.millis.value = String(Math.max(1, Math.round(this.#frame.status?.slowMillis ?? SECOND)));
    }
  }

  /** Sets the application, and the operation if it is about one. */
  set(application, operation, kind) {
    const subject = { application, operation, kind };
    if (JSON.stringify(subject) === JSON.stringify(this.#subject)) {
      return;
    }
    this.#run.stop();
    this.#subject = subject;
    this.problem.replaceChildren();
    this.result.replaceChildren();
  }

  /** Compares spans of at least a duration, in the shortest interval that includes a time. */
  compareSlow(millis, timeMillis) {
    this.which.value = "slow";
    this.#showThreshold();
    this.millis.value = String(Math.round(millis));
    this.interval.value = (INTERVALS.find(([, , length]) => Date.now() - length <= timeMillis) ?? INTERVALS.at(-1))[0];
    this.baseline.value = "rest";
    this.element.querySelector("details").open = true;
    this.element.scrollIntoView({ block: "start" });
    this.#submit();
  }

  #submit() {
    const untilMillis = Date.now();
    const fromMillis = untilMillis - INTERVALS.find(([value]) => value === this.interval.value)[2];
    const isSlow = this.which.value === "slow";
    const words = {
      selection: isSlow ? `Slower than ${format.duration(Number(this.millis.value))}` : "Failed",
      baseline: BASELINES.find(([value]) => value === this.baseline.value)[1].replace("their o", "O").replace(/^a/, "A"),
    };
    const question = {
      ...this.#subject,
      failed: isSlow ? null : "true",
      slowerThan: isSlow ? `${this.millis.value}ms` : null,
      from: fromMillis,
      to: untilMillis,
      baseline: this.baseline.value,
    };
    this.problem.replaceChildren();
    this.result.replaceChildren();
    this.#run.begin(
      (signal) => Promise.all([api.get("why", question, signal, WITHIN_MILLIS), this.#growth(fromMillis, untilMillis, isSlow, signal)]),
      ([answer, growth]) => this.#show(answer, fromMillis, words, callees(growth, isSlow)),
      (e) => this.problem.replaceChildren(el("p", { class: "note bad" }, visible(e.message))),
    );
  }

  /** Returns what grew among its callees; null without a service graph. */
  async #growth(from, to, isSlow, signal) {
    try {
      const { application } = this.#subject;
      return await api.get("services/growth", { application, from, to, sort: isSlow ? "latency" : "errors" }, signal);
    } catch (e) {
      if (e.name !== "ApiError") {
        throw e;
      }
      return null;
    }
  }

  #show(answer, askedMillis, words, grown) {
    this.result.replaceChildren(
      ...[
        ...extent(answer, askedMillis),
        list(this.#frame, answer, "Causes", answer.causes, words),
        list(this.#frame, answer, "How they ended", answer.outcomes, words),
        grown,
        answer.operations.length === 0 ? null : operations(answer),
      ].filter((part) => part !== null),
    );
    announce(`${format.plural(answer.causes.length, "cause")} found`);
  }

  close() {
    this.#run.stop();
  }
}
