// What is known of a selected edge or node of the service graph, and where it leads.

import { cut, el, mark, name, nothing, visible } from "./dom.js";
import { connection, errorRatio, nodeKey, unpairedShare } from "./edges.js";
import * as format from "./format.js";

/** A larger share of unpaired spans is marked. */
export const MANY_UNPAIRED = 0.1;
export const KINDS = new Map([
  ["application", "application"],
  ["database", "database"],
  ["external", "virtual node, which sends no spans"],
  ["user", "callers that send no spans"],
  ["other", "servers of overflow series"],
  ["group", "the smallest with one neighbour"],
]);
const CHARACTERS = 60;
/** A longer name is cut where it is only read out or pointed at. */
export const CHARACTERS_IN_LABEL = 160;
const SIDES = [
  ["clientMs", "Client"],
  ["serverMs", "Server"],
  ["betweenMs", "Between"],
];

/**
 * @typedef {Object} Ways
 * @property {function(?string): ?Object} service of a name; undefined if it sends no spans
 * @property {function(string): string} application address of its view
 * @property {function(string): string} neighbourhood address of its neighbourhood
 * @property {function(string, string): string} traces address of its traces of a reason
 * @property {function()} clear selects nothing
 */

/** @param {?number} share */
export const hasManyUnpaired = (share) => share !== null && share > MANY_UNPAIRED;

export function unpairedMark(service) {
  const share = unpairedShare(service);
  return hasManyUnpaired(share) ? mark("warn", "▲", format.percent(share)) : format.percent(share);
}

/** @param {?string} text null for servers of an overflow series */
export const nodeName = (text, characters) => (text === null ? el("i", { class: "muted" }, "other") : name(text, characters));

/** The error ratio of an edge. */
export function ratio(rates) {
  const share = errorRatio(rates);
  const text = format.percent(share);
  if (format.isHighErrorRatio(share)) {
    return mark("bad", "✕", text);
  }
  return rates.errorsPerSecond > 0 ? text : nothing(text);
}

const fact = (label, ...values) => el("div", {}, el("dt", {}, label), el("dd", {}, ...values));

const head = (ways, ...children) =>
  el(
    "div",
    { class: "panel-head" },
    el("h3", { tabindex: "-1" }, ...children),
    el("button", { type: "button", class: "quiet", onclick: ways.clear }, "Clear"),
  );

function links(text, ways) {
  if (text === null) {
    return el("p", { class: "muted" }, "Servers beyond a limit of series count together.");
  }
  const isService = ways.service(text) !== undefined;
  const found = isService
    ? [
        ["Application", ways.application(text)],
        ["Neighbourhood", ways.neighbourhood(text)],
        ["Failed traces", ways.traces(text, "error")],
        ["Slow traces", ways.traces(text, "slow")],
      ]
    : [["Neighbourhood", ways.neighbourhood(text)]];
  return el(
    "ul",
    { class: "links" },
    ...found.map(([label, href]) => el("li", {}, el("a", { href, "aria-label": `${label} of ${visible(cut(text, CHARACTERS_IN_LABEL))}` }, label))),
    isService ? null : el("li", { class: "muted" }, "sends no spans"),
  );
}

function quantiles(edge) {
  const sides = SIDES.filter(([side]) => edge[side]);
  return el(
    "table",
    { class: "quantiles" },
    el("caption", { class: "hidden" }, "Durations at either end, and their difference"),
    el("thead", {}, el("tr", {}, el("td", {}), ...["p50", "p95", "p99"].map((label) => el("th", { scope: "col", class: "number" }, label)))),
    el(
      "tbody",
      {},
      ...sides.map(([side, label]) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, label),
          ...["p50Millis", "p95Millis", "p99Millis"].map((key) => el("td", { class: "number" }, format.duration(edge[side][key]))),
        ),
      ),
    ),
  );
}

/**
 * @param {?string} server null for all servers of an overflow series
 * @param {Object[]} edges among which its own are
 * @param {Ways} ways
 * @returns {Node[]}
 */
export function aboutEdge(client, server, edges, ways) {
  const own = edges.filter((edge) => edge.client === client && edge.server === server);
  return [
    head(ways, nodeName(client, CHARACTERS), el("span", { "aria-hidden": "true" }, " → "), el("span", { class: "hidden" }, " to "), nodeName(server, CHARACTERS)),
    ...(own.length === 0 ? [el("p", { class: "muted" }, "This edge is neither in the picture nor on this page of the table.")] : []),
    ...own.flatMap((edge) => [
      el(
        "dl",
        { class: "facts" },
        fact("Connection", connection(edge)),
        fact("Rate", format.rate(edge.callsPerSecond)),
        fact("Errors", format.rate(edge.errorsPerSecond)),
        fact("Error ratio", ratio(edge)),
      ),
      quantiles(edge),
    ]),
    el("h4", {}, "Client ", nodeName(client, CHARACTERS)),
    links(client, ways),
    el("h4", {}, "Server ", nodeName(server, CHARACTERS)),
    links(server, ways),
  ];
}

/**
 * @param {Object=} node of the picture; undefined if it is not in the picture
 * @param {Object[]} pairs of the picture
 * @param {Ways} ways
 * @returns {Node[]}
 */
export function aboutNode(text, node, pairs, ways) {
  const count = (end) => pairs.filter((pair) => pair[end] === nodeKey(text)).reduce((sum, pair) => sum + (pair.size ?? 1), 0);
  const service = ways.service(text);
  return [
    head(ways, nodeName(text, CHARACTERS)),
    el(
      "dl",
      { class: "facts" },
      fact("Kind", node === undefined ? "not in the picture" : KINDS.get(node.kind)),
      fact("In the picture", `${format.plural(count("to"), "caller")}, ${format.plural(count("from"), "callee")}`),
      ...(service === undefined
        ? []
        : [
            fact("Unpaired", unpairedMark(service)),
            fact("As client", format.rate(service.unpairedClients)),
            fact("As server", format.rate(service.unpairedServers)),
          ]),
    ),
    links(text, ways),
  ];
}
