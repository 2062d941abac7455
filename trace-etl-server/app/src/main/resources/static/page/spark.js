// A line of the last hour, as wide as a table's cell.

import { svg } from "./dom.js";
import * as format from "./format.js";

const WIDTH = 120;
const HEIGHT = 22;

/**
 * @param {number[]} calls by minute, oldest first
 * @param {number[]} errors of them
 */
export function spark(calls, errors) {
  const most = Math.max(1, ...calls);
  const step = WIDTH / Math.max(1, calls.length - 1);
  const y = (value) => (HEIGHT - 1.5 - (value / most) * (HEIGHT - 3)).toFixed(1);
  const x = (i) => (calls.length === 1 ? WIDTH / 2 : i * step).toFixed(1);
  const line = calls.map((value, i) => `${x(i)},${y(value)}`).join(" ");
  const drawing = svg("svg", {
    class: "spark",
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    width: WIDTH,
    height: HEIGHT,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": told(calls, errors),
  });
  if (calls.length === 1) {
    // An area would show a rise and a fall that was not measured.
    drawing.append(svg("circle", { class: "dot", cx: x(0), cy: y(calls[0]), r: 2 }));
  } else {
    drawing.append(
      svg("polygon", { class: "area", points: `0,${HEIGHT} ${line} ${WIDTH},${HEIGHT}` }),
      svg("polyline", { class: "line", points: line }),
    );
  }
  // Bars from the bottom: few errors among many calls are still seen.
  const bars = (high) =>
    errors
      .map((value, i) =>
        value > 0 && format.isHighErrorRatio(value / calls[i]) === high
          ? `M${x(i)},${HEIGHT}V${Math.min(HEIGHT - 3, y(value)).toFixed(1)}`
          : "",
      )
      .join("");
  for (const [high, className] of [[false, "errors few"], [true, "errors"]]) {
    const d = bars(high);
    if (d !== "") {
      drawing.append(svg("path", { class: className, d }));
    }
  }
  return drawing;
}

function told(calls, errors) {
  const failed = errors.reduce((sum, value) => sum + value, 0);
  const most = Math.max(0, ...calls);
  if (most === 0) {
    return "No calls in the last hour";
  }
  return `Last hour: ${format.short(Math.min(...calls))} to ${format.short(most)} calls a minute, ${
    failed === 0 ? "no errors" : format.plural(failed, "error")
  }`;
}
