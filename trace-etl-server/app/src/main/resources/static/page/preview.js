// What an application's series would cost by other rules. The text of the rules is sent for the
// comparison alone: nothing applies or keeps it.

import * as api from "./api.js";
import { announce, el, name, uniqueId, visible } from "./dom.js";
import * as format from "./format.js";
import { Run } from "./run.js";
import { Table } from "./table.js";

const WITHIN_MILLIS = 90_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const SINCE = [
  ["15m", "15 minutes", 15 * MINUTE],
  ["1h", "1 hour", HOUR],
  ["6h", "6 hours", 6 * HOUR],
  ["1d", "1 day", 24 * HOUR],
];
const VALUE_CHARACTERS = 60;

const example = (application) => `revision: 1
applications:
  - application: ${JSON.stringify(application)}
    series:
      dimensions:
        - attribute: http.route
        - attribute: cloud.region
          label: region
          from: resource
`;

const isEstimated = (cost) => cost.lacking.length > 0;

/** A figure that needs all dimensions: marked if it is estimated. */
function figure(cost, text, estimated = isEstimated(cost)) {
  return !estimated ? text : cost.errorFactor === null ? "unknown" : `~${text}`;
}

/** A number of series or values, with its bounds if it is estimated. */
function bounded(cost, number, estimated = isEstimated(cost)) {
  const text = figure(cost, format.count(number), estimated);
  return estimated && cost.errorFactor !== null
    ? `${text} (${format.count(Math.floor(number / cost.errorFactor))} to ${format.count(Math.ceil(number * cost.errorFactor))})`
    : text;
}

const FIGURES = [
  ["Series", (cost) => bounded(cost, cost.series)],
  ["Series on all queues", (cost) => bounded(cost, cost.seriesOnQueues)],
  ["Of these above the limit of a queue", (cost) => figure(cost, format.count(cost.overflowing))],
  ["Queues above the limit", (cost) => figure(cost, format.count(cost.fullQueues))],
  ["Memory without native buckets", (cost) => figure(cost, format.bytes(cost.memoryBytes))],
  ["OpenMetrics page", (cost) => figure(cost, format.bytes(cost.pageBytes))],
  ["Samples a scrape (text page)", (cost) => figure(cost, format.count(cost.samples))],
];

function costTable({ inForce, proposed }) {
  const table = new Table({
    caption: "Cost of the series, now and then",
    className: "costs",
    captionHidden: false,
    keyOf: ([label]) => label,
    columns: [
      { key: "figure", label: "Figure", head: true, cell: ([label]) => label },
      { key: "now", label: `Now (${inForce.rules})`, numeric: true, cell: ([, show]) => show(inForce) },
      { key: "then", label: `Then (${proposed.rules})`, numeric: true, cell: ([, show]) => show(proposed) },
    ],
  });
  table.update(FIGURES);
  return table.element;
}

function labelTable(cost, when) {
  const table = new Table({
    caption: `Labels ${when} (${cost.rules})`,
    className: "costs",
    captionHidden: false,
    keyOf: (label) => label.label,
    columns: [
      { key: "label", label: "Label", head: true, cell: (label) => name(label.label, VALUE_CHARACTERS) },
      { key: "values", label: "Values", numeric: true, cell: (label) => bounded(cost, label.values, label.valuesEstimated) },
      {
        key: "without",
        label: "Series without it",
        numeric: true,
        cell: (label) => bounded(cost, label.seriesWithout, label.seriesWithoutEstimated),
      },
      {
        key: "top",
        label: "Values with most series",
        className: "wide",
        cell: (label) =>
          el(
            "ol",
            { class: "top-values" },
            ...label.top.map(({ value, series }) => el("li", {}, name(value, VALUE_CHARACTERS), ` (${figure(cost, format.count(series))})`)),
          ),
      },
    ],
  });
  table.update(cost.labels);
  return table.element;
}

function measureTable(cost, when) {
  if (cost.measures.length === 0) {
    return null;
  }
  const shown = (figureOf) => (measure) => figure(cost, figureOf(measure), measure.estimated);
  const table = new Table({
    caption: `Measures ${when} (${cost.rules})`,
    className: "costs",
    captionHidden: false,
    keyOf: (measure) => measure.metric,
    columns: [
      { key: "metric", label: "Measure", head: true, cell: (measure) => name(measure.metric, VALUE_CHARACTERS) },
      { key: "series", label: "Series", numeric: true, cell: (measure) => bounded(cost, measure.series, measure.estimated) },
      { key: "queues", label: "On all queues", numeric: true, cell: (measure) => bounded(cost, measure.seriesOnQueues, measure.estimated) },
      { key: "memory", label: "Memory", numeric: true, cell: shown((measure) => format.bytes(measure.memoryBytes)) },
      { key: "page", label: "OpenMetrics page", numeric: true, cell: shown((measure) => format.bytes(measure.pageBytes)) },
      { key: "samples", label: "Samples a scrape", numeric: true, cell: shown((measure) => format.count(measure.samples)) },
    ],
  });
  table.update(cost.measures);
  return table.element;
}

function explanation(cost) {
  if (!isEstimated(cost)) {
    return null;
  }
  const lacking = visible(cost.lacking.join(", "));
  const groups = `Agents sent ${format.plural(cost.incompleteSpans, "span")} in groups without ${lacking}`;
  return el(
    "p",
    { class: "muted" },
    cost.errorFactor === null
      ? `${cost.rules}: unknown, because the sample is empty. ${groups}, and none of them whole. Read more messages, or set detail.sample-ratio of the agents.`
      : `~ ${cost.rules}: estimated from a sample. ${groups}, and ${format.count(cost.wholeSpans)} of them also whole. In parentheses are the bounds. Series above the limit, a difference, may be wrong by more.`,
  );
}

/** What a comparison says of itself: what it was made of. */
function extent(comparison, askedMillis) {
  const fromMillis = Date.parse(comparison.from);
  const notes = [
    `${format.count(comparison.applicationMessages)} of ${format.plural(comparison.messages, "message")} since ${format.dateAndTime(fromMillis)}, ` +
      `${format.plural(comparison.spans, "span")}, ${format.plural(comparison.queues, "queue")}. ` +
      `The limit of a queue is ${format.count(comparison.maxPerApplication)} series.`,
  ];
  if (fromMillis - askedMillis > MINUTE) {
    notes.push("Earlier messages were not read, because they are too many.");
  }
  if (!comparison.complete) {
    notes.push("Not all messages were read, because memory or time did not suffice. The figures cover only those that were read.");
  }
  return notes.map((note) => el("p", {}, note));
}

/** Splits the refusal of rules into its problems. A problem of no line has the line null. */
function problems(text) {
  return text.split("\n").map((problem) => {
    const [, line] = /rules\.yaml:(\d+)/.exec(problem) ?? [null, null];
    return {
      line: line === null ? null : Number(line),
      text: problem.replace(/; rules\.yaml:\d+$/, "").replace(/^body = rules\.yaml(:\d+)?: /, "The text "),
    };
  });
}

/** The form and its result. It does nothing before a person submits it. */
export class RulesPreview {
  #application = null;
  #example = null;
  #run = new Run("Preview");

  constructor() {
    const problemsId = uniqueId("problems");
    this.rules = el("textarea", {
      rows: "12",
      spellcheck: "false",
      autocomplete: "off",
      autocapitalize: "off",
      "aria-describedby": problemsId,
    });
    this.since = el("select", {}, ...SINCE.map(([value, label]) => el("option", { value }, label)));
    this.since.value = "1h";
    this.problems = el("div", { id: problemsId, role: "alert" });
    this.result = el("div", { class: "result" });
    this.element = el(
      "section",
      { class: "preview", "aria-label": "Preview rules" },
      el(
        "details",
        {},
        el("summary", {}, el("h2", {}, "Preview rules")),
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
            "Compares what the series of this application cost now, by the rules in force, and by other rules. It counts spans that the broker retains, and changes nothing.",
          ),
          el("label", { class: "field" }, el("span", {}, "Rules (YAML)"), this.rules),
          el(
            "div",
            { class: "toolbar fields" },
            el("label", { class: "field" }, el("span", {}, "Messages of the last"), this.since),
            ...this.#run.parts,
          ),
          this.problems,
        ),
        this.result,
      ),
    );
  }

  /** Sets the application. Text that a person has changed stays. */
  set(application) {
    if (application === this.#application) {
      return;
    }
    this.#run.stop();
    this.#application = application;
    if (this.rules.value === (this.#example ?? "")) {
      this.rules.value = example(application);
    }
    this.#example = example(application);
    this.problems.replaceChildren();
    this.rules.removeAttribute("aria-invalid");
    this.result.replaceChildren();
  }

  #submit() {
    const sinceMillis = Date.now() - SINCE.find(([value]) => value === this.since.value)[2];
    this.problems.replaceChildren();
    this.rules.removeAttribute("aria-invalid");
    this.result.replaceChildren();
    this.#run.begin(
      (signal) =>
        api.post(
          "preview",
          { application: this.#application, since: this.since.value },
          { body: this.rules.value, type: "application/yaml", withinMillis: WITHIN_MILLIS },
          signal,
        ),
      (comparison) => this.#show(comparison, sinceMillis),
      (e) => this.#refuse(e),
    );
  }

  #show(comparison, askedMillis) {
    const { inForce, proposed } = comparison;
    this.result.replaceChildren(
      ...[
        ...extent(comparison, askedMillis),
        costTable(comparison),
        measureTable(inForce, "now"),
        measureTable(proposed, "then"),
        labelTable(inForce, "now"),
        labelTable(proposed, "then"),
        explanation(inForce),
        explanation(proposed),
      ].filter((part) => part !== null),
    );
    announce(`Series now ${figure(inForce, format.count(inForce.series))}, then ${figure(proposed, format.count(proposed.series))}`);
  }

  #refuse(e) {
    const found = problems(e.message);
    if (found.some(({ line }) => line !== null)) {
      this.rules.setAttribute("aria-invalid", "true");
    }
    this.problems.replaceChildren(
      el(
        "ul",
        { class: "note bad" },
        ...found.map(({ line, text }) =>
          el(
            "li",
            {},
            line === null ? null : el("button", { type: "button", class: "quiet", onclick: () => this.#select(line) }, `Line ${line}`),
            line === null ? null : " ",
            visible(text),
          ),
        ),
      ),
    );
  }

  /** Selects a line of the rules. */
  #select(line) {
    const lines = this.rules.value.split("\n");
    const before = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    this.rules.focus();
    this.rules.setSelectionRange(before, before + (lines[line - 1] ?? "").length);
    this.rules.scrollTop = (this.rules.scrollHeight / lines.length) * Math.max(0, line - 3);
  }

  close() {
    this.#run.stop();
  }
}
