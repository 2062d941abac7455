// Numbers and times as they are shown: three figures at most, a unit always.

const NONE = "–";
const SUFFIXES = ["", "k", "M", "G", "T", "P"];
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** An error ratio above it is shown in red. */
export const HIGH_ERROR_RATIO = 0.01;

const whole = new Intl.NumberFormat("en");
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hour12: false });
const clockSeconds = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hour12: false,
});
const dayAndTime = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hour12: false,
});

/** With three significant figures and no zeros that say nothing. */
function figures(value) {
  const size = Math.abs(value);
  if (size === 0) {
    return "0";
  }
  if (size >= 99.95) {
    return value.toFixed(0);
  }
  if (size >= 9.995) {
    return value.toFixed(1).replace(/\.0$/, "");
  }
  return value.toFixed(2).replace(/\.?0+$/, "");
}

/** 12 → 12, 1234 → 1.23k, 0.0004 → <0.01. */
export function short(value) {
  if (value === null || value === undefined || Number.isNaN(value)) {
    return NONE;
  }
  let scaled = value;
  let i = 0;
  while (Math.abs(scaled) >= 999.5 && i < SUFFIXES.length - 1) {
    scaled /= 1000;
    i++;
  }
  if (scaled > 0 && scaled < 0.005) {
    return "<0.01";
  }
  return figures(scaled) + SUFFIXES[i];
}

export function count(value) {
  return value === null || value === undefined ? NONE : whole.format(value);
}

/**
 * 1234 → 1,234 (1,100 to 1,380): with the bounds of an estimate.
 *
 * @param {?{lower: number, upper: number}} bounds null for an exact count
 */
export function estimate(value, bounds) {
  return bounds ? `${count(value)} (${count(bounds.lower)} to ${count(bounds.upper)})` : count(value);
}

/** 1234 → 1.23 kB. */
export function bytes(value) {
  const text = short(value);
  return text === NONE ? text : text.replace(/([kMGTP]?)$/, " $1B");
}

export function rate(perSecond) {
  const text = short(perSecond);
  return text === NONE ? text : `${text}/s`;
}

export function percent(share) {
  if (share === null || share === undefined || Number.isNaN(share)) {
    return NONE;
  }
  const value = share * 100;
  if (value > 0 && value < 0.005) {
    return "<0.01 %";
  }
  // What is not all is not called all.
  if (value < 100 && value >= 99.95) {
    return ">99.9 %";
  }
  return `${figures(value)} %`;
}

/** @param {?number} ratio null without calls */
export function isHighErrorRatio(ratio) {
  return ratio !== null && ratio > HIGH_ERROR_RATIO;
}

/** @param {?number} millis */
export function duration(millis) {
  if (millis === null || millis === undefined || Number.isNaN(millis)) {
    return NONE;
  }
  if (millis === 0) {
    return "0 ms";
  }
  if (millis < 0.01) {
    return `${figures(millis * 1000)} µs`;
  }
  if (millis < 999.5) {
    return `${figures(millis)} ms`;
  }
  if (millis < MINUTE) {
    return `${figures(millis / 1000)} s`;
  }
  if (millis < HOUR) {
    return `${figures(millis / MINUTE)} min`;
  }
  return millis < 2 * DAY ? `${figures(millis / HOUR)} h` : `${figures(millis / DAY)} d`;
}

/** How long ago, coarsely: 12 s, 3 min, 2 h, 5 d. */
export function age(millis) {
  const past = Math.max(0, millis);
  if (past < 2 * MINUTE) {
    return `${Math.round(past / 1000)} s`;
  }
  if (past < 2 * HOUR) {
    return `${Math.round(past / MINUTE)} min`;
  }
  return past < 2 * DAY ? `${Math.round(past / HOUR)} h` : `${Math.round(past / DAY)} d`;
}

export function time(millis) {
  return clock.format(millis);
}

export function timeWithSeconds(millis) {
  return clockSeconds.format(millis);
}

export function dateAndTime(millis) {
  return dayAndTime.format(millis);
}

/** "1 row", "2 rows". */
export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** SPAN_KIND_SERVER → server; what is no kind of OpenTelemetry stays as it is. */
export function kind(text) {
  const known = /^(?:SPAN_KIND_)?(UNSPECIFIED|INTERNAL|SERVER|CLIENT|PRODUCER|CONSUMER)$/.exec(text);
  return known ? known[1].toLowerCase() : text;
}
