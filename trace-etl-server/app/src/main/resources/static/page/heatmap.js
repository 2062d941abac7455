// Calls by minute and duration, the darker the more; with the traces that are kept, where they belong.

import { colour, el, REASONS } from "./dom.js";
import * as format from "./format.js";

const LEFT = 62;
const RIGHT = 8;
const TOP = 8;
const BOTTOM = 24;
const ROW = 17;
const MINUTE = 60_000;
const REACH = 9;
const FONT_PIXELS = 11;

export class HeatMap {
  #minutes = [];
  #bounds = [];
  #low = 0;
  #high = 0;
  #most = 0;
  #traces = [];
  #deploys = [];
  #places = [];
  #cell = null;
  #observer;
  #onScheme = () => this.#draw();

  /**
   * @param {function(Object)} onPick of a trace that was pressed
   * @param {function(number, number)} onCompare of a cell with calls that was pressed: the least duration in
   *     milliseconds, and the start of its minute in milliseconds since 1970
   */
  constructor(onPick, onCompare) {
    this.onPick = onPick;
    this.onCompare = onCompare;
    this.canvas = el("canvas", {
      tabindex: "0",
      role: "application",
      "aria-roledescription": "heat map",
      onpointermove: (event) => this.#pointed(event),
      onpointerleave: () => this.#point(null),
      onclick: (event) => this.#pressed(event),
      onkeydown: (event) => this.#key(event),
      onblur: () => this.#point(null),
    });
    this.tip = el("p", { class: "tip", role: "status" });
    this.table = el("div", {});
    this.details = el(
      "details",
      { class: "numbers", ontoggle: () => this.#fillTable() },
      el("summary", {}, "Heat map as a table"),
      this.table,
    );
    this.element = el(
      "figure",
      { class: "chart heat" },
      el(
        "figcaption",
        {},
        el("h3", {}, "Calls by duration"),
        el(
          "span",
          { class: "keys" },
          ...[...REASONS.values()].map((reason) =>
            el("span", { class: "key" }, el("span", { class: `sign ${reason.kind}`, "aria-hidden": "true" }, reason.sign), ` ${reason.word}`),
          ),
          el("span", { class: "key" }, "few ", el("i", { class: "ramp", "aria-hidden": "true" }), " many calls"),
        ),
      ),
      el("div", { class: "plot" }, this.canvas),
      this.tip,
      this.details,
    );
    this.#observer = new ResizeObserver(() => this.#draw());
    this.#observer.observe(this.element);
    addEventListener("trace-etl-scheme", this.#onScheme);
  }

  /**
   * @param {Object[]} minutes with start (milliseconds since 1970) and buckets
   * @param {number[]} bounds upper bounds of the buckets but the last, milliseconds
   * @param {{start: number}[]} deploys to mark, start in milliseconds since 1970
   */
  update(minutes, bounds, deploys = []) {
    this.#deploys = deploys;
    this.#minutes = minutes;
    this.#bounds = bounds;
    const used = new Array(bounds.length + 1).fill(false);
    this.#most = 0;
    for (const minute of minutes) {
      minute.buckets.forEach((calls, i) => {
        used[i] ||= calls > 0;
        this.#most = Math.max(this.#most, calls);
      });
    }
    const first = used.indexOf(true);
    this.#low = Math.max(0, first - 1);
    this.#high = first < 0 ? Math.min(bounds.length, 5) : Math.min(bounds.length, used.lastIndexOf(true) + 1);
    this.canvas.setAttribute("aria-label", this.#told());
    this.#draw();
    this.#fillTable();
  }

  setTraces(traces) {
    this.#traces = traces;
    this.#draw();
  }

  #told() {
    const sums = new Array(this.#bounds.length + 1).fill(0);
    for (const minute of this.#minutes) {
      minute.buckets.forEach((calls, i) => (sums[i] += calls));
    }
    const most = sums.indexOf(Math.max(...sums));
    return `Heat map of calls by minute and duration. Most calls took ${this.#range(most)}. Arrow keys move between the cells; the table below lists all of them.`;
  }

  #range(bucket) {
    const upper = this.#bounds[bucket];
    if (bucket === 0) {
      return `up to ${format.duration(upper)}`;
    }
    const lower = format.duration(this.#bounds[bucket - 1]);
    return upper === undefined ? `more than ${lower}` : `${lower} to ${format.duration(upper)}`;
  }

  #size() {
    const width = Math.max(240, this.canvas.parentElement.clientWidth);
    const rows = this.#high - this.#low + 1;
    return { width, rows, height: TOP + rows * ROW + BOTTOM, cell: (width - LEFT - RIGHT) / Math.max(1, this.#minutes.length) };
  }

  #draw() {
    if (!this.canvas.isConnected || this.#minutes.length === 0) {
      return;
    }
    const { width, height, cell } = this.#size();
    const ratio = globalThis.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const g = this.canvas.getContext("2d");
    g.scale(ratio, ratio);
    g.font = `${FONT_PIXELS}px ${getComputedStyle(document.body).fontFamily}`;
    g.textBaseline = "middle";
    this.#drawCells(g, cell);
    this.#drawAxes(g, width, height, cell);
    this.#drawDeploys(g, cell);
    this.#drawTraces(g, cell);
    this.#drawCursor(g, cell);
  }

  #y(bucket) {
    return TOP + (this.#high - bucket) * ROW;
  }

  #drawCells(g, cell) {
    g.fillStyle = colour("--heat");
    const depth = Math.log1p(this.#most);
    this.#minutes.forEach((minute, x) => {
      for (let bucket = this.#low; bucket <= this.#high; bucket++) {
        const calls = minute.buckets[bucket];
        if (calls > 0) {
          g.globalAlpha = 0.1 + 0.9 * (Math.log1p(calls) / depth) ** 2;
          g.fillRect(LEFT + x * cell, this.#y(bucket), Math.max(1, cell - 1), ROW - 1);
        }
      }
    });
    g.globalAlpha = 1;
  }

  #drawAxes(g, width, height, cell) {
    g.fillStyle = colour("--muted");
    g.strokeStyle = colour("--line");
    g.textAlign = "right";
    g.lineWidth = 1;
    for (let bucket = this.#low; bucket <= this.#high; bucket++) {
      const y = this.#y(bucket);
      if (bucket < this.#bounds.length) {
        g.fillText(format.duration(this.#bounds[bucket]), LEFT - 6, y);
      }
      g.beginPath();
      g.moveTo(LEFT, y - 0.5);
      g.lineTo(width - RIGHT, y - 0.5);
      g.globalAlpha = 0.5;
      g.stroke();
      g.globalAlpha = 1;
    }
    g.textAlign = "center";
    const every = [1, 2].find((minutes) => minutes * cell >= 45) ?? Math.ceil(60 / cell / 5) * 5;
    this.#minutes.forEach((minute, x) => {
      if (Math.round(minute.start / MINUTE) % every === 0) {
        g.fillText(format.time(minute.start), Math.min(width - 18, LEFT + x * cell), height - BOTTOM / 2);
      }
    });
  }

  #drawDeploys(g, cell) {
    g.strokeStyle = colour("--muted");
    g.lineWidth = 1;
    for (const { start } of this.#deploys) {
      const minutes = (start - this.#minutes[0].start) / MINUTE;
      if (minutes >= 0 && minutes < this.#minutes.length) {
        g.beginPath();
        g.moveTo(LEFT + minutes * cell, TOP);
        g.lineTo(LEFT + minutes * cell, this.#y(this.#low) + ROW);
        g.stroke();
      }
    }
  }

  #drawTraces(g, cell) {
    this.#places = [];
    const begin = this.#minutes[0].start;
    const end = this.#minutes.at(-1).start + MINUTE;
    for (const trace of this.#traces) {
      const start = Date.parse(trace.start);
      if (!(start >= begin && start < end)) {
        continue;
      }
      const x = LEFT + ((start - begin) / MINUTE) * cell;
      const y = this.#yOf(trace.durationMillis);
      if (y === null) {
        continue;
      }
      this.#places.push({ x, y, trace });
      const kind = REASONS.get(trace.reason)?.kind ?? "plain";
      g.lineWidth = 4;
      g.strokeStyle = colour("--surface");
      shape(g, kind, x, y);
      g.lineWidth = 1.8;
      g.strokeStyle = colour(kind === "bad" ? "--bad" : kind === "warn" ? "--warn" : "--ink");
      shape(g, kind, x, y);
    }
  }

  /** Where in the map a duration is, null if outside. */
  #yOf(millis) {
    let bucket = this.#bounds.findIndex((bound) => millis <= bound);
    if (bucket < 0) {
      bucket = this.#bounds.length;
    }
    if (bucket < this.#low || bucket > this.#high) {
      return null;
    }
    const lower = bucket === 0 ? 0 : this.#bounds[bucket - 1];
    const upper = this.#bounds[bucket] ?? lower * 2;
    return this.#y(bucket) + ROW * (1 - Math.min(1, (millis - lower) / (upper - lower)));
  }

  #drawCursor(g, cell) {
    if (this.#cell === null) {
      return;
    }
    g.lineWidth = 2;
    g.strokeStyle = colour("--focus");
    g.strokeRect(LEFT + this.#cell.x * cell, this.#y(this.#cell.bucket), Math.max(2, cell - 1), ROW - 1);
  }

  #at(event) {
    const box = this.canvas.getBoundingClientRect();
    const { cell } = this.#size();
    const px = event.clientX - box.left;
    const py = event.clientY - box.top;
    const x = Math.floor((px - LEFT) / cell);
    const bucket = this.#high - Math.floor((py - TOP) / ROW);
    const near = this.#places
      .map((place) => ({ place, distance: Math.hypot(place.x - px, place.y - py) }))
      .filter(({ distance }) => distance <= REACH)
      .sort((a, b) => a.distance - b.distance)[0];
    return {
      trace: near?.place.trace ?? null,
      cell:
        x >= 0 && x < this.#minutes.length && bucket >= this.#low && bucket <= this.#high ? { x, bucket } : null,
    };
  }

  #pointed(event) {
    const { trace, cell } = this.#at(event);
    this.canvas.style.cursor = trace !== null || this.#isComparable(cell) ? "pointer" : "";
    this.#point(cell, trace);
  }

  #pressed(event) {
    const { trace, cell } = this.#at(event);
    if (trace !== null) {
      this.onPick(trace);
    } else {
      this.#compare(cell);
    }
  }

  /** Whether a cell has calls, and the calls of a lower one are faster by a millisecond or more. */
  #isComparable(cell) {
    return cell !== null && cell.bucket > 0 && this.#bounds[cell.bucket - 1] >= 1 && this.#minutes[cell.x].buckets[cell.bucket] > 0;
  }

  #compare(cell) {
    if (this.#isComparable(cell)) {
      this.onCompare(this.#bounds[cell.bucket - 1], this.#minutes[cell.x].start);
    }
  }

  #point(cell, trace = null) {
    if (cell?.x !== this.#cell?.x || cell?.bucket !== this.#cell?.bucket) {
      this.#cell = cell;
      this.#draw();
    }
    if (trace !== null) {
      const word = REASONS.get(trace.reason)?.word ?? trace.reason;
      this.tip.textContent = `${format.timeWithSeconds(Date.parse(trace.start))}: ${word} trace of ${format.duration(trace.durationMillis)}; press to find it in the list`;
    } else if (cell !== null) {
      const minute = this.#minutes[cell.x];
      this.tip.textContent = `${format.time(minute.start)}, ${this.#range(cell.bucket)}: ${format.plural(minute.buckets[cell.bucket], "call")}${minute.ended ? "" : " so far"}${this.#isComparable(cell) ? "; press to see why calls take so long" : ""}`;
    } else {
      this.tip.textContent = "";
    }
  }

  #key(event) {
    if (event.key === "Enter") {
      this.#compare(this.#cell);
      return;
    }
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (step === undefined || this.#minutes.length === 0) {
      return;
    }
    event.preventDefault();
    const from = this.#cell ?? { x: this.#minutes.length - 1, bucket: this.#low };
    const moved = this.#cell === null ? [0, 0] : step;
    this.#point({
      x: Math.min(this.#minutes.length - 1, Math.max(0, from.x + moved[0])),
      bucket: Math.min(this.#high, Math.max(this.#low, from.bucket + moved[1])),
    });
  }

  #fillTable() {
    if (!this.details.open) {
      this.table.replaceChildren();
      return;
    }
    const buckets = [];
    for (let bucket = this.#low; bucket <= this.#high; bucket++) {
      buckets.push(bucket);
    }
    this.table.replaceChildren(
      el(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": "Calls by minute and duration" },
        el(
          "table",
          {},
          el("caption", { class: "hidden" }, "Calls by minute and duration"),
          el(
            "thead",
            {},
            el("tr", {}, el("th", { scope: "col" }, "Minute"), ...buckets.map((b) => el("th", { scope: "col", class: "number" }, this.#range(b)))),
          ),
          el(
            "tbody",
            {},
            ...[...this.#minutes].reverse().map((minute) =>
              el(
                "tr",
                {},
                el("th", { scope: "row" }, format.time(minute.start)),
                ...buckets.map((b) => el("td", { class: "number" }, format.count(minute.buckets[b]))),
              ),
            ),
          ),
        ),
      ),
    );
  }

  close() {
    removeEventListener("trace-etl-scheme", this.#onScheme);
    this.#observer.disconnect();
  }
}

function shape(g, kind, x, y) {
  g.beginPath();
  if (kind === "bad") {
    g.moveTo(x - 3.5, y - 3.5);
    g.lineTo(x + 3.5, y + 3.5);
    g.moveTo(x + 3.5, y - 3.5);
    g.lineTo(x - 3.5, y + 3.5);
  } else if (kind === "warn") {
    g.moveTo(x, y - 4);
    g.lineTo(x + 4, y + 3);
    g.lineTo(x - 4, y + 3);
    g.closePath();
  } else {
    g.arc(x, y, 3, 0, 2 * Math.PI);
  }
  g.stroke();
}
