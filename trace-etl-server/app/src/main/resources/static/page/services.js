// Who calls whom: the graph of the fleet or of the neighbourhood of one application, and its edges as a
// table.

import * as address from "./address.js";
import * as api from "./api.js";
import { announce, choice, cut, el, mark, name, nothing, searchField, svg, visible } from "./dom.js";
import { collapse, connection, CONNECTIONS, errorRatio, largest, major, nodeKey, nodesOf, pairKey, pairsOf, unpairedShare } from "./edges.js";
import * as format from "./format.js";
import { nodeSign, Picture } from "./graph.js";
import { Layout } from "./layout.js";
import { MINUTES } from "./overview.js";
import { empty, Pane } from "./pane.js";
import { aboutEdge, aboutNode, CHARACTERS_IN_LABEL, hasManyUnpaired, KINDS, MANY_UNPAIRED, nodeName, ratio, unpairedMark } from "./selection.js";
import { Pages, Table } from "./table.js";

const PAGE = 100;
// From the edges with the highest rates, the picture takes those that fit.
const EDGES_FOR_PICTURE = 500;
const NAME_IN_HEADING = 120;
// A longer one is no suggestion.
const NAME_IN_LIST = 200;
const MOST_MINUTES_OF_TRACES = 15;
const STEPS = [
  ["1", "1 step"],
  ["2", "2 steps"],
];
const NOTHING = { node: null, client: null, server: null };

const defaultOrder = (sort) => (["client", "server"].includes(sort) ? "asc" : "desc");
const isMessaging = (edge) => edge.connection === "messaging_system";
const inLabel = (text) => (text === null ? "other" : cut(text, CHARACTERS_IN_LABEL));
const edgeKey = (edge) => JSON.stringify([edge.client, edge.server, edge.connection]);

function disabled() {
  return empty(
    "The service graph is disabled on this server.",
    "To enable it, create the topics trace-edges and trace-edge-windows, and set trace-etl.edges.enabled to true on all servers.",
  );
}

function noEdges(minutes) {
  return empty(
    `No edges in the last ${minutes} minutes.`,
    "Edges appear about a minute after trace-etl.edges.enabled is true on all servers and applications send client or server spans.",
    el("span", {}, "If they do, check the ", el("a", { href: "#/pipeline" }, "pipeline"), ": it shows the agents, and what is missing."),
  );
}

export function view() {
  let state = null;
  // Of the newest answer.
  let edges = new Map();
  let services = new Map();
  let pairs = new Map();
  let nodes = new Map();
  // Of the graph in the picture; null if all of it is to be arranged.
  let arrangement = null;
  let graphShown = null;

  const read = (parameters) => {
    const application = parameters.get("application") ?? "";
    const sort = parameters.get("sort") ?? "calls";
    return {
      minutes: MINUTES.some(([m]) => m === parameters.get("minutes")) ? parameters.get("minutes") : "5",
      search: parameters.get("search") ?? "",
      application,
      steps: application !== "" && parameters.get("steps") === "2" ? "2" : "1",
      connection: CONNECTIONS.has(parameters.get("connection")) ? parameters.get("connection") : "",
      sort,
      order: parameters.get("order") ?? defaultOrder(sort),
      offset: Math.max(0, Number.parseInt(parameters.get("offset") ?? "0", 10) || 0),
      // What is selected: a node, or an edge; a client without a server is the edge to "other".
      node: parameters.get("node"),
      client: parameters.get("client"),
      server: parameters.get("server"),
    };
  };
  const link = (changed) => {
    const next = { ...state, offset: 0, ...changed };
    return address.link("services", {
      minutes: next.minutes === "5" ? null : next.minutes,
      search: next.search,
      application: next.application,
      steps: next.application === "" || next.steps === "1" ? null : next.steps,
      connection: next.connection,
      sort: next.sort === "calls" ? null : next.sort,
      order: next.order === defaultOrder(next.sort) ? null : next.order,
      offset: next.offset === 0 ? null : next.offset,
      node: next.node,
      client: next.client,
      server: next.server,
    });
  };
  const go = (changed, replace = false) => address.go(link(changed), replace);
  const select = (selected) => go({ offset: state.offset, ...NOTHING, ...selected }, true);
  const neighbourhood = (text) => link({ ...NOTHING, search: "", connection: "", application: text });
  /** Of the graph, without what is selected and how the table is sorted. */
  const query = () => ({
    minutes: state.minutes,
    search: state.search,
    application: state.application,
    steps: state.application === "" ? null : state.steps,
    connection: state.connection,
  });

  // ---- what is shown

  const search = searchField("Search edges", (text) => {
    if (text !== state.search) {
      go({ search: text }, state.search !== "");
    }
  });
  const suggestions = el("datalist", { id: "services-names" });
  const application = el("input", {
    type: "search",
    maxlength: "20000",
    spellcheck: "false",
    autocomplete: "off",
    placeholder: "all applications",
    list: suggestions.id,
    onchange: () => {
      if (application.value !== state.application) {
        go({ ...NOTHING, application: application.value });
      }
    },
  });
  const connectionSelect = el(
    "select",
    { onchange: () => go({ connection: connectionSelect.value }) },
    el("option", { value: "" }, "All"),
    ...[...CONNECTIONS].map(([value, [, label]]) => el("option", { value }, label)),
  );
  const steps = choice("Steps of the neighbourhood", STEPS, (value) => go({ steps: value }));
  const minutes = choice("Time range", MINUTES, (value) => go({ minutes: value }));
  const field = (label, ...controls) => el("label", { class: "field" }, el("span", {}, label), ...controls);

  // ---- the picture

  const layout = new Layout();
  const picture = new Picture(
    (selected) => {
      const part = nodes.get(selected?.node) ?? pairs.get(selected?.pair) ?? null;
      if (part === null) {
        select({});
      } else if (part.hub != null) {
        address.go(neighbourhood(part.hub));
      } else {
        select(selected.node !== null ? { node: part.name } : { client: part.client, server: part.server });
      }
    },
    () => {
      graphShown = null;
      refresh();
    },
  );
  const drawn = el("p", { class: "summary" });
  const panel = el("section", { class: "panel", tabindex: "-1", "aria-label": "Selection" });
  const lineKey = (className, text) => {
    const line = svg("svg", { class: "key-line", viewBox: "0 0 28 14", width: 28, height: 14, "aria-hidden": "true" });
    line.append(svg("g", { class: `line ${className}` }, svg("path", { class: "stroke", d: "M0,7H20", "stroke-width": 2 }), svg("path", { class: "arrow", d: "M28,7L20,3V11z" })));
    return el("li", {}, line, text);
  };
  const nodeKeyOf = (kind) =>
    el("li", {}, svg("svg", { class: "key-node", viewBox: "0 0 14 14", width: 14, height: 14, "aria-hidden": "true" }, nodeSign(kind)), KINDS.get(kind));
  const legend = el(
    "ul",
    { class: "legend", "aria-label": "Signs" },
    lineKey("", "calls; wider: more of them"),
    lineKey("failing", `✕ more than ${format.percent(format.HIGH_ERROR_RATIO)} failed`),
    lineKey("messaging", "messages"),
    nodeKeyOf("database"),
    nodeKeyOf("external"),
    nodeKeyOf("user"),
    nodeKeyOf("other"),
    el("li", {}, el("i", {}, "+n"), KINDS.get("group")),
    el("li", {}, mark("warn", "▲", ""), `more than ${format.percent(MANY_UNPAIRED)} of its spans are unpaired`),
  );

  // ---- the tables

  const endCell = (text) =>
    services.has(text) ? el("a", { href: address.link("application", { name: text }) }, name(text, 80)) : nodeName(text, 80);
  const p95 = (side) => (edge) => {
    const millis = edge[side]?.p95Millis ?? null;
    return millis === null ? nothing(format.duration(null)) : format.duration(millis);
  };
  const table = new Table({
    caption: "Edges",
    className: "edges",
    keyOf: edgeKey,
    onSort: (sort, order) => go({ sort, order }),
    columns: [
      { key: "client", label: "Client", head: true, order: "asc", className: "mid", cell: (edge) => endCell(edge.client) },
      { key: "server", label: "Server", order: "asc", className: "mid", cell: (edge) => endCell(edge.server) },
      { key: "connection", label: "Connection", cell: (edge) => el("span", { class: "kind" }, connection(edge)) },
      { key: "calls", label: "Rate", hint: "Calls per second", numeric: true, order: "desc", cell: (edge) => format.rate(edge.callsPerSecond) },
      { key: "errors", label: "Errors", hint: "Failed calls per second", numeric: true, order: "desc", cell: (edge) => (edge.errorsPerSecond > 0 ? format.rate(edge.errorsPerSecond) : nothing("0/s")) },
      { key: "error-ratio", label: "Error ratio", hint: `Failed calls divided by all calls; red above ${format.percent(format.HIGH_ERROR_RATIO)}`, numeric: true, order: "desc", cell: ratio },
      { key: "clientP95", label: "p95 client", hint: "95 % of the calls took no longer, as the client measured", numeric: true, cell: p95("clientMs") },
      { key: "p95", label: "p95 server", hint: "95 % of the calls took no longer, as the server measured; sorted by the client's where the server sends no spans", numeric: true, order: "desc", cell: p95("serverMs") },
      {
        key: "details",
        label: "Details",
        fixed: true,
        cell: (edge) =>
          el(
            "button",
            {
              type: "button",
              class: "quiet",
              "aria-label": `Details of ${visible(inLabel(edge.client))} to ${visible(inLabel(edge.server))}`,
              onclick: () => {
                select({ client: edge.client, server: edge.server });
                panel.querySelector("h3").focus();
              },
            },
            "Details",
          ),
      },
    ],
  });
  const pages = new Pages(PAGE, "edges", (offset) => {
    go({ offset });
    tableHead.scrollIntoView({ block: "start" });
  });
  const matching = el("span", { class: "summary" });
  const tableHead = el("div", { class: "head" }, el("h2", {}, "Edges"), matching);
  const unpaired = new Table({
    caption: "Unpaired spans of the applications in the picture",
    keyOf: (service) => service.name,
    sort: "share",
    order: "desc",
    columns: [
      { key: "name", label: "Application", head: true, order: "asc", fixed: true, className: "wide", cell: (service) => endCell(service.name), value: (service) => service.name },
      {
        key: "share",
        label: "Unpaired",
        hint: "Share of the spans to and from other processes whose other end is missing",
        numeric: true,
        order: "desc",
        cell: unpairedMark,
        value: unpairedShare,
      },
      { key: "clients", label: "As client", hint: "Unpaired client and producer spans per second", numeric: true, order: "desc", cell: (service) => format.rate(service.unpairedClients), value: (service) => service.unpairedClients },
      { key: "servers", label: "As server", hint: "Unpaired server and consumer spans per second", numeric: true, order: "desc", cell: (service) => format.rate(service.unpairedServers), value: (service) => service.unpairedServers },
    ],
  });
  let unpairedShown = [];
  const unpairedDetails = el(
    "details",
    { class: "numbers", ontoggle: () => unpaired.update(unpairedDetails.open ? unpairedShown : []) },
    el("summary", {}, "Unpaired spans by application"),
    unpaired.element,
  );
  const tooLow = el("p", { class: "notice warn" }, "▲ The edges are still being read from the journal. Until that is done, rates are too low.");

  // ---- what is selected

  const ways = {
    service: (text) => services.get(text),
    application: (text) => address.link("application", { name: text, minutes: state.minutes === "5" ? null : state.minutes }),
    neighbourhood,
    traces: (text, reason) => address.link("traces", { application: text, reason, range: Number(state.minutes) <= MOST_MINUTES_OF_TRACES ? "15m" : null }),
    clear: () => select({}),
  };

  function showSelection() {
    const isEdge = state.client !== null;
    const selected = state.node !== null ? { node: nodeKey(state.node), pair: null } : isEdge ? { node: null, pair: pairKey(state.client, state.server) } : null;
    const content =
      state.node !== null
        ? aboutNode(state.node, nodes.get(nodeKey(state.node)), [...pairs.values()], ways)
        : isEdge
          ? aboutEdge(state.client, state.server, [...edges.values()], ways)
          : [el("p", { class: "muted" }, "Select an application or a line, or ", el("em", {}, "Details"), " in the table.")];
    const next = el("div", {}, ...content);
    // What has the focus or is selected as text stays when a refresh changes nothing.
    if (!panel.firstElementChild?.isEqualNode(next)) {
      const focused = panel.contains(document.activeElement) ? [...panel.querySelectorAll("a, button, h3")].indexOf(document.activeElement) : -1;
      panel.replaceChildren(next);
      if (focused >= 0) {
        (panel.querySelectorAll("a, button, h3")[focused] ?? panel).focus({ preventScroll: true });
      }
    }
    picture.select(selected);
    for (const [key, edge] of edges) {
      table.rowElement(key)?.classList.toggle("found", isEdge && edge.client === state.client && edge.server === state.server);
    }
  }

  // ---- the answer

  function describe(pair, isMinor) {
    pair.isMinor = isMinor;
    pair.errorRatio = errorRatio(pair);
    pair.isFailing = format.isHighErrorRatio(pair.errorRatio);
    pair.isMessaging = pair.edges.every(isMessaging);
    const who = pair.group ? `${pair.size} ${pair.group} of ${inLabel(pair.hub)}` : `${inLabel(pair.client)} → ${inLabel(pair.server)}`;
    const durations = (pair.group ? [] : pair.edges).map(
      (edge) => `p95 ${format.duration(edge.clientMs?.p95Millis)} at the client, ${format.duration(edge.serverMs?.p95Millis)} at the server`,
    );
    pair.text = [who, `${format.rate(pair.callsPerSecond)}, ${format.percent(pair.errorRatio)} failed`, ...durations].join("\n");
  }

  function describeNode(node) {
    const share = unpairedShare(node.service);
    node.manyUnpaired = hasManyUnpaired(share);
    node.text = [node.label ?? inLabel(node.name), KINDS.get(node.kind), ...(share === null ? [] : [`${format.percent(share)} unpaired`])].join("\n");
  }

  /** Chooses what fits into a picture, and arranges it. */
  async function arrange(answer, known) {
    const graph = JSON.stringify(query());
    const isOther = graph !== graphShown;
    const focus = state.application === "" ? null : nodeKey(state.application);
    const chosen = collapse(largest(pairsOf(answer.edges), new Set(isOther ? [] : pairs.keys())), focus);
    const majors = major(chosen);
    chosen.forEach((pair) => describe(pair, !majors.has(pair)));
    const ends = nodesOf(chosen, known);
    ends.forEach(describeNode);
    return { graph, isOther, focus, chosen, ends, arrangement: await layout.arrange([...ends.values()], chosen, isOther ? null : arrangement) };
  }

  function showPicture({ graph, isOther, focus, chosen, ends, arrangement: arranged }, matchingEdges) {
    pairs = new Map(chosen.map((pair) => [pair.key, pair]));
    nodes = ends;
    arrangement = arranged;
    graphShown = graph;
    picture.update({ nodes, pairs: chosen, focus }, arrangement, isOther || arrangement.rearranged);
    const drawnEdges = chosen.reduce((sum, pair) => sum + pair.edges.length, 0);
    const hidden = matchingEdges - drawnEdges;
    drawn.textContent =
      hidden <= 0
        ? `${format.plural(nodes.size, "node")}, ${format.plural(drawnEdges, "edge")}`
        : `The largest part: ${format.plural(nodes.size, "node")}, ${format.plural(drawnEdges, "edge")}. ${format.plural(hidden, "edge is", "edges are")} not shown; search, or choose an application.`;
    suggestions.replaceChildren(...[...nodes.values()].filter((node) => node.name !== null && node.name.length <= NAME_IN_LIST).map((node) => el("option", { value: node.name })));
    unpairedShown = [...nodes.values()].flatMap((node) => (node.service === null ? [] : [node.service]));
    if (unpairedDetails.open) {
      unpaired.update(unpairedShown);
    }
  }

  let said = null;
  const pane = new Pane({
    title: null,
    skeleton: 14,
    content: [
      tooLow,
      el("div", { class: "head" }, el("h2", {}, "Graph"), drawn, picture.tools),
      el("div", { class: "service-graph" }, el("div", {}, picture.box, legend), panel),
      tableHead,
      table.element,
      pages.element,
      unpairedDetails,
    ],
    load: async (signal) => {
      const of = (parameters) => api.get("services", { ...query(), ...parameters }, signal);
      try {
        const isBeginning = state.sort === "calls" && state.order === "desc" && state.offset === 0;
        const [graph, other] = await Promise.all([
          of({ sort: "calls", order: "desc", limit: EDGES_FOR_PICTURE }),
          isBeginning ? null : of({ sort: state.sort, order: state.order, limit: PAGE, offset: state.offset }),
        ]);
        const page = other ?? { ...graph, edges: graph.edges.slice(0, PAGE) };
        const known = new Map([...graph.services, ...page.services].map((service) => [service.name, service]));
        return { graph, page, known, picture: await arrange(graph, known) };
      } catch (e) {
        if (e.kind === "absent") {
          return disabled();
        }
        throw e;
      }
    },
    render: (data) => {
      if (data instanceof Node) {
        return data;
      }
      const { graph, page } = data;
      tooLow.hidden = page.upToDate;
      const isNarrowed = state.search !== "" || state.application !== "" || state.connection !== "";
      matching.textContent = isNarrowed ? `${format.count(page.matching)} of ${format.plural(page.total, "edge")}` : format.plural(page.matching, "edge");
      const saying = JSON.stringify([query(), state.sort, state.order, state.offset]);
      if (said !== null && said !== saying) {
        announce(matching.textContent);
      }
      said = saying;
      if (page.edges.length === 0) {
        if (page.matching > 0) {
          return empty("The list ends before this page.", el("button", { type: "button", onclick: () => go({}) }, "First page"));
        }
        if (!page.upToDate) {
          return empty("No data yet.", "The edges are still being read from the journal.");
        }
        return isNarrowed
          ? empty(
              "No edge matches.",
              state.application === "" ? "No client or server has such a name or connection." : "No request to or from this application matches in this time. Its name must match exactly.",
              el("button", { type: "button", onclick: () => go({ ...NOTHING, search: "", application: "", connection: "" }) }, "Show all"),
            )
          : noEdges(state.minutes);
      }
      services = data.known;
      edges = new Map([...graph.edges, ...page.edges].map((edge) => [edgeKey(edge), edge]));
      table.setSort(state.sort, state.order);
      table.update(page.edges);
      pages.update(state.offset, page.edges.length, page.matching);
      // The picture is measured when it is drawn: it has to be in the page by then.
      pane.content.hidden = false;
      showPicture(data.picture, graph.matching);
      showSelection();
      return null;
    },
  });

  const refresh = () => pane.refresh(JSON.stringify([query(), state.sort, state.order, state.offset]));
  const crumbs = el("nav", { class: "crumbs", "aria-label": "Breadcrumb" });
  const title = el("h1", {});
  const showHead = () => {
    const isFleet = state.application === "";
    crumbs.hidden = isFleet;
    crumbs.replaceChildren(el("ol", {}, el("li", {}, el("a", { href: link({ ...NOTHING, application: "" }) }, "Services"))));
    title.replaceChildren(...(isFleet ? ["Services"] : [name(state.application, NAME_IN_HEADING), el("span", { class: "kind" }, "neighbourhood")]));
  };
  const element = el(
    "div",
    { class: "view" },
    crumbs,
    el("div", { class: "title" }, title),
    el(
      "div",
      { class: "toolbar fields", role: "search", "aria-label": "Services" },
      field("Search", search.element),
      field("Neighbourhood of", application, suggestions),
      field("Connection", connectionSelect),
      steps.element,
      minutes.element,
    ),
    pane.element,
  );
  return {
    element,
    title: () => (state.application === "" ? "Services" : `Neighbourhood of ${state.application}`),
    update: (parameters) => {
      const before = state;
      state = read(parameters);
      showHead();
      search.set(state.search);
      if (document.activeElement !== application) {
        application.value = state.application;
      }
      steps.set(state.steps);
      steps.element.hidden = state.application === "";
      connectionSelect.value = state.connection;
      minutes.set(state.minutes);
      showSelection();
      return before !== null && before.application !== state.application ? "moved" : undefined;
    },
    refresh,
    close: () => {
      pane.close();
      layout.close();
      picture.close();
    },
  };
}
