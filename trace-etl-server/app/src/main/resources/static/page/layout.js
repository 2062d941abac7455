// Where the nodes of a graph are: callers at the left of those that they call. What has a place keeps
// it while numbers change and a few nodes come and go.

export const BOX = { width: 152, height: 28 };
const GAP = { x: 106, y: 10, lines: 10 };
const STEP = { x: BOX.width + GAP.x, y: BOX.height + GAP.y };
// If a larger part of the nodes is new, all are arranged again.
const MOST_ADDED = 0.2;

/** Returns the entries of a map whose keys are present. */
function keep(map, present) {
  const keys = new Set(present.map(({ key }) => key));
  return new Map([...map].filter(([key]) => keys.has(key)));
}

/**
 * @typedef {Object} Arrangement
 * @property {Map<string, {x: number, y: number}>} places centres of the nodes' boxes
 * @property {boolean} rearranged whether no node kept its place
 * @property {Map<string, {x: number, y: number}[]>} routes where the line of a pair crosses the columns
 *     between its ends, from client to server
 */
export class Layout {
  #worker = null;
  #asked = 0;
  #waiting = new Map();

  /**
   * Gives each node a place.
   *
   * @param {{key: string}[]} nodes
   * @param {{key: string, from: string, to: string, isMinor: ?boolean}[]} pairs each once
   * @param {?Arrangement} before whose nodes keep their places; null for an arrangement of all
   * @returns {Promise<Arrangement>} `before` is not changed
   */
  async arrange(nodes, pairs, before) {
    const added = nodes.filter((node) => !before?.places.has(node.key));
    if (before === null || added.length > nodes.length * MOST_ADDED) {
      return this.#arrangeAll(nodes, pairs);
    }
    const places = keep(before.places, nodes);
    for (let waiting = added.map((node) => node.key); waiting.length > 0; ) {
      const rest = waiting.filter((key) => !placeBesideNeighbour(key, pairs, places));
      if (rest.length === waiting.length) {
        place(rest.shift(), { x: least(places, "x"), y: least(places, "y") }, places);
      }
      waiting = rest;
    }
    return { rearranged: false, places, routes: keep(before.routes, pairs) };
  }

  async #arrangeAll(nodes, pairs) {
    // Numbers, because dagre keeps IDs as keys of objects, and a name may be "__proto__".
    const numbers = new Map(nodes.map((node, i) => [node.key, i]));
    // Minor lines go where the others leave their ends.
    const lines = pairs.filter((pair) => pair.from !== pair.to && !pair.isMinor);
    const { places, routes } = await this.#ask({
      nodes: nodes.length,
      lines: lines.map((pair) => [numbers.get(pair.from), numbers.get(pair.to)]),
      box: BOX,
      gap: GAP,
    });
    return {
      rearranged: true,
      places: new Map(nodes.map((node, i) => [node.key, places[i]])),
      routes: new Map(lines.map((pair, i) => [pair.key, routes[i]])),
    };
  }

  #ask(request) {
    this.#worker ??= this.#start();
    const number = ++this.#asked;
    const { promise, resolve, reject } = Promise.withResolvers();
    this.#waiting.set(number, { resolve, reject });
    this.#worker.postMessage({ number, ...request });
    return promise;
  }

  #start() {
    const worker = new Worker(new URL("./placing.js", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }) => {
      this.#waiting.get(data.number).resolve(data);
      this.#waiting.delete(data.number);
    });
    worker.addEventListener("error", () => this.#end(new Error("The graph could not be arranged.")));
    return worker;
  }

  #end(error) {
    this.#worker?.terminate();
    this.#worker = null;
    for (const { reject } of this.#waiting.values()) {
      reject(error);
    }
    this.#waiting.clear();
  }

  close() {
    this.#end(new DOMException("The view is closed.", "AbortError"));
  }
}

function placeBesideNeighbour(key, pairs, places) {
  const called = pairs.find((pair) => pair.to === key && places.has(pair.from));
  const calling = pairs.find((pair) => pair.from === key && places.has(pair.to));
  if (called !== undefined) {
    const { x, y } = places.get(called.from);
    place(key, { x: x + STEP.x, y }, places);
  } else if (calling !== undefined) {
    const { x, y } = places.get(calling.to);
    place(key, { x: Math.max(least(places, "x"), x - STEP.x), y }, places);
  } else {
    return false;
  }
  return true;
}

/** Puts a node at the nearest free place of a column. */
function place(key, { x, y }, places) {
  const column = [...places.values()].filter((other) => Math.abs(other.x - x) < BOX.width);
  const isFree = (at) => column.every((other) => Math.abs(other.y - at) >= STEP.y);
  const top = least(places, "y");
  for (let away = 0; ; away += STEP.y / 2) {
    const at = [y + away, y - away].find((one) => one >= top && isFree(one));
    if (at !== undefined) {
      places.set(key, { x, y: at });
      return;
    }
  }
}

/** Nothing is placed beyond the first column and row, so that what is visible does not move. */
function least(places, axis) {
  return Math.min(...[...places.values()].map((at) => at[axis]));
}
