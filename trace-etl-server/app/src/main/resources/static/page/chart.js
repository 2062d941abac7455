// Lines over the minutes of the last hour, drawn by uPlot, which is loaded when the first one is.

import { colour, cut, el } from "./dom.js";
import * as format from "./format.js";

const HEIGHT = 170;
const MINUTE_SECONDS = 60;
const HATCH_PIXELS = 7;
const VERSION_PIXELS = 3;
const VERSION_CHARACTERS = 20;
const FONT_PIXELS = 11;
const STEPS = [1, 2, 5, 10, 15, 30, 60].map((minutes) => minutes * MINUTE_SECONDS);
const VENDOR = new URL("./vendor/uplot/", import.meta.url);

let loading = null;

/** Makes uPlot known. */
export function loadPlot() {
  loading ??= new Promise((resolve, reject) => {
    document.head.append(
      el("link", { rel: "stylesheet", href: new URL("uPlot.min.css", VENDOR).href }),
      el("script", {
        src: new URL("uPlot.iife.min.js", VENDOR).href,
        onload: () => resolve(globalThis.uPlot),
        onerror: () => {
          loading = null;
          reject(new Error("The chart library could not be loaded."));
        },
      }),
    );
  });
  return loading;
}

/** Returns the indexes of values without a neighbour, which no line reaches. */
export function lonePoints(values) {
  const isKnown = (i) => values[i] !== null && values[i] !== undefined;
  return [...values.keys()].filter((i) => isKnown(i) && !isKnown(i - 1) && !isKnown(i + 1));
}

/** Returns the first and the last time to show; a lone minute is in the middle. */
function range(seconds) {
  const [from, to] = [seconds.at(0), seconds.at(-1)];
  return seconds.length === 0 ? [null, null] : from < to ? [from, to] : [from - MINUTE_SECONDS, to + MINUTE_SECONDS];
}

/** Draws a line at each deploy, with the version at its top. */
function markDeploys(plot, deploys, ink, font) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.strokeStyle = ink;
  ctx.fillStyle = ink;
  ctx.lineWidth = devicePixelRatio;
  ctx.font = font;
  ctx.textBaseline = "top";
  for (const { start, version } of deploys) {
    const x = plot.valToPos(start / 1000, "x", true);
    const isLate = x > bbox.left + bbox.width / 2;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.textAlign = isLate ? "right" : "left";
    ctx.fillText(cut(version, VERSION_CHARACTERS), x + (isLate ? -1 : 1) * VERSION_PIXELS * devicePixelRatio, bbox.top);
  }
  ctx.restore();
}

/** Hatches the part of a plot from a time on, behind its lines. */
function hatch(plot, fromSeconds, ink) {
  const { ctx, bbox } = plot;
  const left = Math.max(bbox.left, plot.valToPos(fromSeconds, "x", true));
  const right = bbox.left + bbox.width;
  const step = HATCH_PIXELS * devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, bbox.top, right - left, bbox.height);
  ctx.clip();
  ctx.beginPath();
  for (let x = left - bbox.height; x < right; x += step) {
    ctx.moveTo(x, bbox.top + bbox.height);
    ctx.lineTo(x + bbox.height, bbox.top);
  }
  ctx.strokeStyle = ink;
  ctx.lineWidth = devicePixelRatio;
  ctx.stroke();
  ctx.restore();
}

export class Chart {
  #plot = null;
  #data = null;
  #provisionalSeconds = null;
  #deploys = [];
  #observer;
  #onScheme = () => this.#make();

  /**
   * @param {Object} options
   * @param {string} options.title
   * @param {function(?number): string} options.show a value with its unit
   * @param {{label: string, colour: string, dash: ?number[], area: ?boolean}[]} options.series
   */
  constructor({ title, show, series }) {
    this.title = title;
    this.show = show;
    this.series = series;
    this.values = series.map(() => el("b", {}));
    this.at = el("span", { class: "at muted" });
    this.box = el("div", { class: "plot", role: "img" });
    this.element = el(
      "figure",
      { class: "chart" },
      el(
        "figcaption",
        {},
        el("h3", {}, title),
        this.at,
        el(
          "span",
          { class: "keys" },
          ...series.map((line, i) =>
            el(
              "span",
              { class: "key" },
              el("i", { class: `swatch ${line.colour.slice(2)}${line.dash ? ` dash${line.dash[0]}` : ""}`, "aria-hidden": "true" }),
              `${line.label} `,
              this.values[i],
            ),
          ),
        ),
      ),
      this.box,
    );
    this.#observer = new ResizeObserver(() => {
      const width = this.box.clientWidth;
      if (this.#plot !== null && width > 0 && width !== this.#plot.width) {
        this.#plot.setSize({ width, height: HEIGHT });
      }
    });
    this.#observer.observe(this.box);
    addEventListener("trace-etl-scheme", this.#onScheme);
  }

  /**
   * @param {number[]} starts of the minutes, milliseconds since 1970
   * @param {(number|null)[][]} lines values of each series
   * @param {?number} provisional start of the first minute whose counts may still rise, if one is shown
   * @param {{start: number, version: string}[]} deploys to mark, start in milliseconds since 1970
   */
  update(starts, lines, provisional = null, deploys = []) {
    this.#deploys = deploys;
    this.#data = [starts.map((millis) => millis / 1000), ...lines];
    this.#provisionalSeconds = provisional === null ? null : provisional / 1000;
    this.box.setAttribute("aria-label", this.#told(lines));
    if (this.#plot === null) {
      this.#make();
    } else {
      this.#plot.setData(this.#data);
    }
    this.#showAt(this.#plot?.cursor.idx ?? null);
  }

  /** In words, for who does not see it; the numbers are in the table beneath. */
  #told(lines) {
    const of = this.series.map((line, i) => {
      const known = lines[i].filter((value) => value !== null);
      return known.length === 0
        ? `${line.label}: none`
        : `${line.label} ${this.show(Math.min(...known))} to ${this.show(Math.max(...known))}, last ${this.show(known.at(-1))}`;
    });
    const rises =
      this.#provisionalSeconds === null ? "" : ` Counts from ${format.time(this.#provisionalSeconds * 1000)} on may still rise.`;
    const marks = this.#deploys.map(({ start, version }) => ` Version ${version} since ${format.time(start)}.`).join("");
    return `${this.title} in the last hour: ${of.join("; ")}.${rises}${marks} The numbers are in the table “Minute by minute”.`;
  }

  #showAt(index) {
    const xs = this.#data?.[0] ?? [];
    const i = index ?? xs.length - 1;
    this.at.textContent = i < 0 || xs.length === 0 ? "" : format.time(xs[i] * 1000);
    this.values.forEach((value, s) => {
      value.textContent = this.show(this.#data?.[s + 1][i] ?? null);
    });
  }

  #make() {
    if (this.#data === null || !this.box.isConnected || globalThis.uPlot === undefined) {
      return;
    }
    this.#plot?.destroy();
    const ink = colour("--muted");
    const grid = colour("--line");
    const family = getComputedStyle(document.body).fontFamily;
    const font = `${FONT_PIXELS}px ${family}`;
    const axis = { stroke: ink, font, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
    this.#plot = new globalThis.uPlot(
      {
        width: Math.max(200, this.box.clientWidth),
        height: HEIGHT,
        padding: [10, 20, 0, 0],
        legend: { show: false },
        cursor: { y: false, drag: { setScale: false, x: false, y: false }, sync: { key: "trace-etl" }, points: { size: 6 } },
        scales: { x: { range: () => range(this.#data[0]) }, y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } },
        axes: [
          { ...axis, size: 26, gap: 6, space: 60, incrs: STEPS, values: (_, seconds) => seconds.map((s) => format.time(s * 1000)) },
          { ...axis, size: 62, space: 26, values: (_, values) => values.map((value) => this.show(value)) },
        ],
        series: [
          {},
          ...this.series.map((line) => ({
            label: line.label,
            stroke: colour(line.colour),
            width: 1.5,
            dash: line.dash ?? undefined,
            fill: line.area ? colour(`${line.colour}-area`) : undefined,
            points: { show: false, size: 6, filter: (_, index) => lonePoints(this.#data[index]) },
            spanGaps: false,
          })),
        ],
        hooks: {
          setCursor: [(plot) => this.#showAt(plot.cursor.idx ?? null)],
          draw: [(plot) => markDeploys(plot, this.#deploys, ink, `${FONT_PIXELS * devicePixelRatio}px ${family}`)],
          drawAxes: [
            (plot) => {
              if (this.#provisionalSeconds !== null) {
                // A minute is drawn at its begin: a lone last one would have no width.
                hatch(plot, this.#provisionalSeconds - MINUTE_SECONDS / 2, grid);
              }
            },
          ],
        },
      },
      this.#data,
      this.box,
    );
  }

  close() {
    removeEventListener("trace-etl-scheme", this.#onScheme);
    this.#observer.disconnect();
    this.#plot?.destroy();
  }
}
