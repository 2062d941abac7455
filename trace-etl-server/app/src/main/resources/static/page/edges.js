// What the edges of the API mean: who calls, who answers, and which of them a picture shows.

const MOST_NODES = 150;
const MOST_PAIRS = 300;
// With more lines, only that of each node's largest caller is a major one.
const MOST_MAJOR = 60;
// Nodes with one neighbour are drawn apart up to this number, at the neighbour that is in focus up to the other.
const MOST_LEAVES = 10;
const MOST_LEAVES_IN_FOCUS = 40;
// Pairs of nearly the same rate do not take turns in the picture.
const PREFERENCE_OF_SHOWN = 1.5;

/** Values of an edge's `connection`, with the words for an edge and for a list of them. */
export const CONNECTIONS = new Map([
  ["none", ["direct", "Direct calls"]],
  ["messaging_system", ["messages", "Messages"]],
  ["database", ["database", "Databases"]],
  ["virtual_node", ["virtual node", "Virtual nodes"]],
]);

/** @param {{connection: ?string}} edge */
export const connection = (edge) => CONNECTIONS.get(edge.connection ?? "none")?.[0] ?? edge.connection;

/** @param {?string} name null for all servers of an overflow series */
export const nodeKey = (name) => (name === null ? "other" : `=${name}`);

export const pairKey = (client, server) => JSON.stringify([client, server]);

/** @returns {?number} from 0 to 1; null without calls */
export const errorRatio = (rates) => (rates.callsPerSecond === 0 ? null : rates.errorsPerSecond / rates.callsPerSecond);

/** @returns {?number} share of a service's spans whose other end is missing; null if it is unknown */
export const unpairedShare = (service) => (service?.paired ?? null) === null ? null : 1 - service.paired;

/**
 * Joins the edges from a client to a server, which differ by connection.
 *
 * @returns {Object[]} pairs with `edges` and the sum of their rates; those without calls are left out
 */
export function pairsOf(edges) {
  const pairs = new Map();
  for (const edge of edges) {
    const key = pairKey(edge.client, edge.server);
    let pair = pairs.get(key);
    if (pair === undefined) {
      pair = { key, client: edge.client, server: edge.server, from: nodeKey(edge.client), to: nodeKey(edge.server), edges: [], callsPerSecond: 0, errorsPerSecond: 0 };
      pairs.set(key, pair);
    }
    pair.edges.push(edge);
    pair.callsPerSecond += edge.callsPerSecond;
    pair.errorsPerSecond += edge.errorsPerSecond;
  }
  return [...pairs.values()].filter((pair) => pair.callsPerSecond > 0);
}

/**
 * Returns the pairs with the highest rates that fit into a picture, these first.
 *
 * @param {Set<string>} shown keys of the pairs in the picture so far
 */
export function largest(pairs, shown) {
  const weight = (pair) => pair.callsPerSecond * (shown.has(pair.key) ? PREFERENCE_OF_SHOWN : 1);
  const nodes = new Set();
  const chosen = [];
  for (const pair of [...pairs].sort((a, b) => weight(b) - weight(a))) {
    const added = new Set([pair.from, pair.to].filter((node) => !nodes.has(node)));
    if (nodes.size + added.size <= MOST_NODES && chosen.length < MOST_PAIRS) {
      added.forEach((node) => nodes.add(node));
      chosen.push(pair);
    }
  }
  return chosen;
}

/**
 * Joins the smallest callees that only one node calls, and the smallest callers that call only one node.
 *
 * @param {Object[]} pairs the largest first
 * @param {?string} focus key of the node whose neighbours are wanted
 * @returns {Object[]} pairs; one for several has `group`, "callees" or "callers", their number `size`, and
 *     the name of their neighbour, `hub`
 */
export function collapse(pairs, focus) {
  const lines = new Map();
  for (const node of pairs.flatMap((pair) => [pair.from, pair.to])) {
    lines.set(node, (lines.get(node) ?? 0) + 1);
  }
  const isLeaf = (node) => lines.get(node) === 1 && node !== focus;
  const groups = new Map();
  for (const pair of pairs) {
    const isCallee = isLeaf(pair.to);
    if (isLeaf(pair.from) !== isCallee) {
      const [group, hub] = isCallee ? ["callees", pair.from] : ["callers", pair.to];
      const key = `${group} of ${hub}`;
      const known = groups.get(key) ?? { key, group, hub, members: [] };
      known.members.push(pair);
      groups.set(key, known);
    }
  }
  const inGroups = new Set();
  const ofGroups = [];
  for (const { key, group, hub, members } of groups.values()) {
    const rest = members.slice(hub === focus ? MOST_LEAVES_IN_FOCUS : MOST_LEAVES);
    if (rest.length > 1) {
      rest.forEach((pair) => inGroups.add(pair));
      ofGroups.push(joined(key, group, rest));
    }
  }
  return [...pairs.filter((pair) => !inGroups.has(pair)), ...ofGroups];
}

function joined(key, group, members) {
  const isCallees = group === "callees";
  const [{ client, server, from, to }] = members;
  const sum = (rate) => members.reduce((total, pair) => total + pair[rate], 0);
  return {
    key,
    group,
    size: members.length,
    hub: isCallees ? client : server,
    client: isCallees ? client : null,
    server: isCallees ? null : server,
    from: isCallees ? from : key,
    to: isCallees ? key : to,
    edges: members.flatMap((pair) => pair.edges),
    callsPerSecond: sum("callsPerSecond"),
    errorsPerSecond: sum("errorsPerSecond"),
  };
}

/**
 * Returns the pairs that give a picture its structure: all of a few; of many, that of each server with its
 * largest client.
 *
 * @returns {Set<Object>}
 */
export function major(pairs) {
  if (pairs.length <= MOST_MAJOR) {
    return new Set(pairs);
  }
  const largest = new Map();
  for (const pair of pairs) {
    const other = largest.get(pair.to);
    if (pair.from !== pair.to && (other === undefined || other.callsPerSecond < pair.callsPerSecond)) {
      largest.set(pair.to, pair);
    }
  }
  return new Set(largest.values());
}

/** What a node is that sends no spans, by an edge to or from it. */
function kindWithoutSpans(edge, isServer) {
  if (isServer) {
    return edge.connection === "database" ? "database" : edge.connection === "virtual_node" ? "external" : "application";
  }
  return edge.connection === "virtual_node" ? "user" : "application";
}

/**
 * Returns the two ends of each pair, once.
 *
 * @param {Map<string, Object>} services those that send spans, by name
 * @returns {Map<string, {key: string, name: ?string, kind: string, label: ?string, service: ?Object}>} by
 *     key; a node without a name has a label
 */
export function nodesOf(pairs, services) {
  const nodes = new Map();
  const add = (key, name, edge, isServer) => {
    if (!nodes.has(key)) {
      const service = services.get(name) ?? null;
      const kind = name === null ? "other" : service !== null ? "application" : kindWithoutSpans(edge, isServer);
      nodes.set(key, { key, name, kind, label: name === null ? "other" : null, service });
    }
  };
  const addGroup = (key, pair) =>
    nodes.set(key, { key, name: null, kind: "group", label: `+${pair.size} ${pair.group}`, hub: pair.hub, service: null });
  for (const pair of pairs) {
    if (pair.group === "callers") {
      addGroup(pair.from, pair);
    } else {
      add(pair.from, pair.client, pair.edges[0], false);
    }
    if (pair.group === "callees") {
      addGroup(pair.to, pair);
    } else {
      add(pair.to, pair.server, pair.edges[0], true);
    }
  }
  return nodes;
}
