// The picture of a graph: nodes as boxes, calls as lines from client to server. It shows text and
// numbers for the pointer; keyboards and screen readers have the tables beside it.

import { el, name, svg, visible } from "./dom.js";
import * as format from "./format.js";
import { BOX } from "./layout.js";

const MARGIN = 36;
const THINNEST = 1;
const THICKEST = 4.5;
// At most: rates that differ little have lines that differ little.
const LOWEST_OF_HIGHEST = 0.01;
const MINOR = 0.6;
const ARROW = 7;
const SMALLEST_ARROW = 3.5;
const BULGE = 48;
const LOOP = 20;
const ABOVE_LINE = 5;
// Where the label of a line is, as the curve's parameter: in the middle of a gap between columns.
const OF_ONE_GAP = 0.5;
const OF_SEVERAL_GAPS = 0.9;
// With more lines, rates are shown of the line that is pointed at or selected.
const MOST_LABELS = 40;
const NAME_CHARACTERS = 60;
// At first names are legible; a person may go further.
const LEGIBLE = 0.72;
const SCALES = { least: 0.12, most: 3, first: 1.15 };
const ZOOM = 1.3;
// The style sheet has a little more, for the border.
const HEIGHT_OF_WINDOW = 0.65;
const LEAST_HEIGHT = 220;
const DRAG_PIXELS = 4;

/** Signs of nodes that are not applications, in a square of 14 pixels. */
const SIGNS = new Map([
  ["database", "M2 3.5a5 2 0 0 1 10 0v7a5 2 0 0 1-10 0zM2 3.5a5 2 0 0 0 10 0"],
  ["external", "M5 3H2.5v8.5H11V9M8 2.5h3.5V6M11.5 2.5 6.5 7.5"],
  ["user", "M7 7a2.4 2.4 0 1 0 0-4.8A2.4 2.4 0 0 0 7 7zM2.2 12.2a4.8 4 0 0 1 9.6 0"],
  ["other", "M2.5 7h.01M7 7h.01M11.5 7h.01"],
]);

/** The sign of a kind of node; null for an application. */
export function nodeSign(kind) {
  return SIGNS.has(kind) ? svg("path", { class: kind === "other" ? "glyph dots" : "glyph", d: SIGNS.get(kind) }) : null;
}

/** A curve through points, level at each. */
function curve([first, ...rest]) {
  let d = `M${first.x},${first.y}`;
  let from = first;
  for (const to of rest) {
    const middle = (from.x + to.x) / 2;
    d += from.y === to.y ? `H${to.x}` : `C${middle},${from.y} ${middle},${to.y} ${to.x},${to.y}`;
    from = to;
  }
  return d;
}

/** A point of the curve between two points. */
function onCurve(from, to, t) {
  return {
    x: from.x + (to.x - from.x) * (1.5 * t * (1 - t) + t ** 3),
    y: from.y + (to.y - from.y) * (3 * t ** 2 - 2 * t ** 3),
  };
}

/**
 * The line of a pair.
 *
 * @returns {{d: string, tip: {x: number, y: number}, angle: number, label: {x: number, y: number}}} with
 *     the arrow's tip and its angle in degrees
 */
function lineOf(from, to, route) {
  const half = BOX.width / 2;
  if (from === to) {
    const [x, top] = [from.x + half - 2 * LOOP, from.y - BOX.height / 2];
    return {
      d: `M${x},${top}C${x},${top - LOOP} ${x + LOOP},${top - LOOP} ${x + LOOP},${top - ARROW}`,
      tip: { x: x + LOOP, y: top },
      angle: 90,
      label: { x: x + LOOP / 2, y: top - LOOP },
    };
  }
  const way = Math.sign(to.x - from.x);
  if (way === 0) {
    const x = from.x + half;
    return {
      d: `M${x},${from.y}C${x + BULGE},${from.y} ${x + BULGE},${to.y} ${x + ARROW},${to.y}`,
      tip: { x, y: to.y },
      angle: 180,
      label: { x: x + BULGE * 0.75, y: (from.y + to.y) / 2 },
    };
  }
  const points = [
    { x: from.x + way * half, y: from.y },
    // Through a column straight, so that the line keeps clear of its boxes.
    ...route.flatMap(({ x, y }) => [{ x: x - way * half, y }, { x: x + way * half, y }]),
    { x: to.x - way * (half + ARROW), y: to.y },
  ];
  const [last, end] = points.slice(-2);
  return {
    d: curve(points),
    tip: { x: to.x - way * half, y: to.y },
    angle: way > 0 ? 0 : 180,
    label: onCurve(last, end, Math.abs(end.x - last.x) < BOX.width ? OF_ONE_GAP : OF_SEVERAL_GAPS),
  };
}

/** Returns a function that gives the width of a line by its rate. */
function widths(pairs) {
  const rates = pairs.map((pair) => pair.callsPerSecond);
  const highest = Math.max(...rates);
  const lowest = Math.min(highest * LOWEST_OF_HIGHEST, ...rates);
  return (pair) => {
    const width = THINNEST + ((THICKEST - THINNEST) * Math.log(pair.callsPerSecond / lowest)) / Math.log(highest / lowest);
    return pair.isMinor ? width * MINOR : width;
  };
}

const clamp = (value, least, most) => Math.min(most, Math.max(least, value));

export class Picture {
  #nodes = new Map();
  #lines = new Map();
  #parts = new WeakMap();
  #bounds = { x: 0, y: 0, width: 1, height: 1 };
  #scale = 1;
  #width = 0;
  /** Whether a person has chosen the scale. */
  #zoomed = false;
  #selected = null;
  #data = { nodes: new Map(), pairs: [], focus: null };
  #arrangement = { places: new Map(), routes: new Map() };
  #observer;

  /**
   * @param {function(?{node: ?string, pair: ?string})} onSelect a key, or null for nothing
   * @param {function()} onArrange
   */
  constructor(onSelect, onArrange) {
    this.lines = svg("g", {});
    this.nodes = svg("g", {});
    this.labels = svg("g", {});
    this.drawing = svg("svg", { role: "img" }, this.lines, this.labels, this.nodes);
    this.box = el("div", { class: "canvas", tabindex: "0", role: "region", "aria-label": "Picture of the graph" }, this.drawing);
    const button = (text, title, onclick, label = null) => el("button", { type: "button", title, "aria-label": label, onclick }, text);
    this.tools = el(
      "div",
      { class: "zoom", role: "group", "aria-label": "Picture" },
      button("+", "Zoom in", () => this.#zoom(ZOOM), "Zoom in"),
      button("−", "Zoom out", () => this.#zoom(1 / ZOOM), "Zoom out"),
      button("Fit", "Show all of the graph", () => this.#fit(SCALES.least, true)),
      button("Arrange", "Place all nodes again", onArrange),
    );
    this.#listen(onSelect);
    this.#observer = new ResizeObserver(() => {
      // The height depends on the scale.
      if (this.box.clientWidth !== this.#width) {
        this.#width = this.box.clientWidth;
        if (!this.#zoomed) {
          this.#fit(LEGIBLE, false);
        }
      }
    });
    this.#observer.observe(this.box);
  }

  #listen(onSelect) {
    let dragged = 0;
    this.drawing.addEventListener("click", (event) => {
      if (dragged < DRAG_PIXELS) {
        onSelect(this.#parts.get(event.target.closest(".node, .line")) ?? null);
      }
    });
    let pointedAt = null;
    this.drawing.addEventListener("pointerover", (event) => {
      pointedAt?.classList.remove("pointed");
      pointedAt = this.#lines.get(this.#parts.get(event.target.closest(".line"))?.pair)?.label ?? null;
      pointedAt?.classList.add("pointed");
    });
    this.box.addEventListener("pointerdown", () => (dragged = 0));
    // Touch scrolls by itself.
    this.box.addEventListener("pointermove", (event) => {
      if (event.pointerType === "mouse" && (event.buttons & 1) === 1) {
        dragged += Math.abs(event.movementX) + Math.abs(event.movementY);
        this.box.scrollBy(-event.movementX, -event.movementY);
      }
    });
    this.box.addEventListener(
      "wheel",
      (event) => {
        if (event.ctrlKey) {
          event.preventDefault();
          const { left, top } = this.box.getBoundingClientRect();
          this.#zoom(event.deltaY < 0 ? ZOOM : 1 / ZOOM, { x: event.clientX - left, y: event.clientY - top });
        }
      },
      { passive: false },
    );
  }

  /**
   * Draws a graph. It has to be in the page, because its size is measured.
   *
   * @param {Object} data
   * @param {Map<string, {key: string, name: ?string, label: ?string, kind: string,
   *     manyUnpaired: boolean, text: string}>} data.nodes those without a name have a label
   * @param {{key: string, from: string, to: string, callsPerSecond: number, errorRatio: ?number,
   *     isFailing: boolean, isMessaging: boolean, isMinor: boolean, text: string}[]} data.pairs those with
   *     the most calls first
   * @param {?string} data.focus key of the node to mark
   * @param {Arrangement} arrangement
   * @param {boolean} other whether the part that is visible is chosen again
   */
  update(data, arrangement, other) {
    const { nodes, pairs, focus } = data;
    this.box.hidden = nodes.size === 0;
    if (this.box.hidden) {
      return;
    }
    this.#data = data;
    this.#arrangement = arrangement;
    this.drawing.classList.toggle("labelled", pairs.length <= MOST_LABELS);
    this.drawing.setAttribute(
      "aria-label",
      `${format.plural(nodes.size, "node")} and ${format.plural(pairs.length, "line")}. The tables have the same edges.`,
    );
    this.#keep(this.#nodes, nodes.values(), this.nodes, (node) => this.#makeNode(node));
    this.#keep(this.#lines, pairs, this.lines, (pair) => this.#makeLine(pair));
    for (const node of nodes.values()) {
      this.#fillNode(this.#nodes.get(node.key), node, node.key === focus);
    }
    const widthOf = widths(pairs);
    for (const pair of pairs) {
      this.#fillLine(this.#lines.get(pair.key), pair, widthOf(pair));
    }
    this.#measure();
    if (other) {
      this.#fit(LEGIBLE, false);
    }
    this.#markSelected();
  }

  /** @param {?{node: ?string, pair: ?string}} selected keys; null for nothing */
  select(selected) {
    this.#selected = selected;
    this.#markSelected();
  }

  /** Adds parts that are missing from the picture, and removes those of others. */
  #keep(shown, wanted, parent, make) {
    const left = new Set(shown.keys());
    for (const one of wanted) {
      if (!left.delete(one.key)) {
        const part = make(one);
        shown.set(one.key, part);
        parent.append(part.element);
      }
    }
    for (const key of left) {
      shown.get(key).element.remove();
      shown.get(key).label?.remove();
      shown.delete(key);
    }
  }

  #makeNode(node) {
    const { width, height } = BOX;
    const title = svg("title", {});
    const mark = el("span", { class: "mark warn", "aria-hidden": "true" });
    const text = node.name === null ? el("i", { class: "name" }) : name(node.name, NAME_CHARACTERS);
    text.removeAttribute("title");
    const label = el("div", { class: "label" }, text, mark);
    const element = svg(
      "g",
      {},
      title,
      svg("rect", { x: -width / 2, y: -height / 2, width, height, rx: 6 }),
      svg("g", { class: "icon", transform: `translate(${8 - width / 2} -7)` }),
      svg("foreignObject", { x: -width / 2, y: -height / 2, width, height }, label),
    );
    this.#parts.set(element, { node: node.key, pair: null });
    return { element, title, text, mark, icon: element.querySelector(".icon"), kind: null };
  }

  #fillNode(part, node, isFocus) {
    const { x, y } = this.#arrangement.places.get(node.key);
    part.element.setAttribute("transform", `translate(${x} ${y})`);
    part.element.setAttribute("class", `node ${node.kind}${isFocus ? " focus" : ""}`);
    if (part.kind !== node.kind) {
      const sign = nodeSign(node.kind);
      part.icon.replaceChildren(...(sign === null ? [] : [sign]));
      part.kind = node.kind;
    }
    if (node.label !== null) {
      part.text.textContent = node.label;
    }
    part.mark.textContent = node.manyUnpaired ? "▲" : "";
    part.title.textContent = visible(node.text);
  }

  #makeLine(pair) {
    const title = svg("title", {});
    const [hit, stroke, arrow] = [svg("path", { class: "hit" }), svg("path", { class: "stroke" }), svg("path", { class: "arrow" })];
    const [rate, failed] = [svg("tspan", { class: "rate" }), svg("tspan", { class: "failed", dx: 4 })];
    // Above all lines, below all names.
    const label = svg("text", {}, rate, failed);
    this.labels.append(label);
    const element = svg("g", {}, title, hit, stroke, arrow);
    this.#parts.set(element, { node: null, pair: pair.key });
    return { element, title, hit, stroke, arrow, label, rate, failed };
  }

  #fillLine(part, pair, width) {
    const { places, routes } = this.#arrangement;
    const { d, tip, angle, label } = lineOf(places.get(pair.from), places.get(pair.to), routes.get(pair.key) ?? []);
    const half = SMALLEST_ARROW + width / 2;
    part.element.setAttribute("class", `line${pair.isMinor ? " minor" : ""}${pair.isFailing ? " failing" : ""}${pair.isMessaging ? " messaging" : ""}`);
    part.hit.setAttribute("d", d);
    part.stroke.setAttribute("d", d);
    part.stroke.setAttribute("stroke-width", width.toFixed(1));
    part.arrow.setAttribute("d", `M0,0L${-ARROW - 2},${-half}V${half}z`);
    part.arrow.setAttribute("transform", `translate(${tip.x} ${tip.y}) rotate(${angle})`);
    part.label.setAttribute("x", label.x);
    part.label.setAttribute("y", label.y - ABOVE_LINE);
    part.rate.textContent = format.rate(pair.callsPerSecond);
    part.failed.textContent = pair.isFailing ? `✕ ${format.percent(pair.errorRatio)}` : "";
    part.title.textContent = visible(pair.text);
  }

  #markSelected() {
    const { node = null, pair = null } = this.#selected ?? {};
    const near = new Set();
    const isShown = node !== null ? this.#nodes.has(node) : pair !== null && this.#lines.has(pair);
    for (const one of this.#data.pairs) {
      const isNear = isShown && (one.key === pair || (node !== null && (one.from === node || one.to === node)));
      const { element, label } = this.#lines.get(one.key);
      element.classList.toggle("near", isNear);
      label.classList.toggle("near", isNear);
      if (isNear) {
        near.add(one.from).add(one.to);
        // Above the lines that it crosses.
        this.lines.append(element);
      }
    }
    for (const [key, { element }] of this.#nodes) {
      element.classList.toggle("near", near.has(key) || key === node);
      element.classList.toggle("selected", key === node);
    }
    this.drawing.classList.toggle("selecting", isShown);
  }

  // ---- the part that is visible

  #measure() {
    const places = [...this.#arrangement.places.values()];
    const routed = [...this.#arrangement.routes.values()].flat();
    const range = (axis, half) => {
      const least = Math.min(...places.map((place) => place[axis] - half), ...routed.map((point) => point[axis]));
      const most = Math.max(...places.map((place) => place[axis] + half), ...routed.map((point) => point[axis]));
      return [least - MARGIN, most - least + 2 * MARGIN];
    };
    const [x, width] = range("x", BOX.width / 2);
    const [y, height] = range("y", BOX.height / 2);
    this.#bounds = { x, y, width, height };
    this.drawing.setAttribute("viewBox", `${x} ${y} ${width} ${height}`);
    this.#setScale(this.#scale);
  }

  #setScale(scale) {
    this.#scale = scale;
    this.drawing.setAttribute("width", Math.round(this.#bounds.width * scale));
    this.drawing.setAttribute("height", Math.round(this.#bounds.height * scale));
  }

  /** Shows all of it if that is possible at a scale; else what is selected, the marked node, or where most calls begin. */
  #fit(least, zoomed) {
    const { x, y, width, height } = this.#bounds;
    const room = Math.max(LEAST_HEIGHT, innerHeight * HEIGHT_OF_WINDOW);
    this.#zoomed = zoomed;
    this.#setScale(clamp(Math.min(this.box.clientWidth / width, room / height), least, SCALES.first));
    const { places } = this.#arrangement;
    const selected = this.#selected?.node ?? this.#data.pairs.find((pair) => pair.key === this.#selected?.pair)?.from;
    const wanted = places.get(selected) ?? places.get(this.#data.focus);
    const at = wanted ?? places.get(this.#data.pairs[0]?.from) ?? { x, y };
    const left = wanted === undefined ? 0 : (at.x - x) * this.#scale - this.box.clientWidth / 2;
    this.box.scrollTo(left, (at.y - y) * this.#scale - this.box.clientHeight / 2);
  }

  #zoom(factor, at = { x: this.box.clientWidth / 2, y: this.box.clientHeight / 2 }) {
    const scale = clamp(this.#scale * factor, SCALES.least, SCALES.most);
    const ratio = scale / this.#scale;
    const [x, y] = [(this.box.scrollLeft + at.x) * ratio - at.x, (this.box.scrollTop + at.y) * ratio - at.y];
    this.#zoomed = true;
    this.#setScale(scale);
    this.box.scrollTo(x, y);
  }

  close() {
    this.#observer.disconnect();
  }
}
