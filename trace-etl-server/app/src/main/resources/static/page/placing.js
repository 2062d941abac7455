// Arranges a graph with dagre. It runs in a worker, because it may take a second.

import { Graph, layout } from "./vendor/dagre/dagre.esm.js";

/**
 * @param {Object} request
 * @param {number} request.nodes number of boxes
 * @param {number[][]} request.lines from box to box; different pairs, no loops
 * @param {{width: number, height: number}} request.box size of each
 * @param {{x: number, y: number, lines: number}} request.gap between columns, boxes and lines
 * @returns {{places: {x: number, y: number}[], routes: {x: number, y: number}[][]}} centres of the boxes,
 *     and where each line crosses the columns between its ends
 */
function arrange({ nodes, lines, box, gap }) {
  const graph = new Graph();
  graph.setGraph({ rankdir: "LR", nodesep: gap.y, edgesep: gap.lines, ranksep: gap.x, acyclicer: "greedy" });
  for (let node = 0; node < nodes; node++) {
    graph.setNode(String(node), { ...box });
  }
  for (const [from, to] of lines) {
    graph.setEdge(String(from), String(to), { labelpos: "c" });
  }
  layout(graph);
  const places = Array.from({ length: nodes }, (_, node) => {
    const { x, y } = graph.node(String(node));
    return { x, y };
  });
  const columns = new Set(places.map(({ x }) => Math.round(x)));
  const routes = lines.map(([from, to]) =>
    graph
      .edge(String(from), String(to))
      .points.slice(1, -1)
      .filter(({ x }) => columns.has(Math.round(x))),
  );
  return { places, routes };
}

addEventListener("message", ({ data }) => postMessage({ number: data.number, ...arrange(data) }));
