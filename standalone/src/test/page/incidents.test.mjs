// Tests that a person who knows nothing of the demo's incidents finds the cause of each in the web UI by at
// most three clicks. All run at once, each in services of its own. Run by bin/page.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { startChromium, startDemo, until } from "./service.mjs";

const PICTURES = `${process.env.PAGE_TARGET}/screenshots`;
const SPANS_PER_SECOND = 400;
const WITHIN_MILLIS = 120_000;
const MAX_CLICKS = 3;
const SLOW_MILLIS = 1_000;
// Of the heat map, in pixels: its upper margin, the height of a row, and the distance between looks at a row.
const TOP = 8;
const ROW = 17;
const STEP = 50;
const CAUSES = {
  "bad-host": /^host\.name = shop-host-3$/,
  "bad-version": /^service\.version = 1\.1\.0$/,
  "slow-query": /^db\.query\.text = SELECT \* FROM products WHERE lower\(name\) = \$1$/,
  "one-customer": /^customer\.id = acme$/,
  "retry-storm": /^http\.request\.resend_count = [1-5]$/,
};

let demo;
let chromium;

before(async () => {
  mkdirSync(PICTURES, { recursive: true });
  [demo, chromium] = await Promise.all([
    startDemo([...Object.keys(CAUSES).map((incident) => `--incident=${incident}`), `--rate=${SPANS_PER_SECOND}`]),
    startChromium(),
  ]);
  await until(
    "half a minute of all applications is in minutes that have ended",
    async () => {
      const { applications } = await (await fetch(`${demo.web}/api/applications`)).json();
      const calls = applications.reduce((sum, row) => sum + row.calls, 0);
      return applications.length === 5 * Object.keys(CAUSES).length && calls > 30 * SPANS_PER_SECOND * Object.keys(CAUSES).length;
    },
    WITHIN_MILLIS,
  );
});

after(async () => {
  await chromium?.close();
  await demo?.stop();
});

const COLUMNS = { errors: 4, p95: 6 };
const MILLIS = { µs: 0.001, ms: 1, s: 1_000, min: 60_000 };

/** Reads "1.5 s", "▲ 310 ms" or "✕ 7.1 %". */
function number(text) {
  const [, figure, unit] = /([\d.,]+)\s*(\S*)$/.exec(text) ?? [null, "0", ""];
  return Number(figure.replace(",", "")) * (MILLIS[unit] ?? 1);
}

/** Returns the row of an application that a person would open: the slowest, else that with most failures. */
async function worst(page) {
  const rows = await page.locator("table.applications tbody tr").all();
  const figures = await Promise.all(
    rows.map(async (row) => {
      const cells = await row.locator("th, td").allTextContents();
      return { row, errors: number(cells[COLUMNS.errors]), p95: number(cells[COLUMNS.p95]) };
    }),
  );
  const most = (key) => figures.reduce((a, b) => (b[key] > a[key] ? b : a));
  const isSlow = most("p95").p95 >= SLOW_MILLIS;
  return { isSlow, row: most(isSlow ? "p95" : "errors").row };
}

/** Points at the cells of the heat map, and then at that with the most calls of at least a second. */
async function pointAtSlowCell(page) {
  const canvas = page.locator(".heat canvas");
  await canvas.scrollIntoViewIfNeeded();
  const { x: left, y: top, width, height } = await canvas.boundingBox();
  let most = { calls: 0 };
  let isSlow = true;
  for (let y = TOP + ROW / 2; isSlow && y < height; y += ROW) {
    for (let x = width - STEP; isSlow && x > 0; x -= STEP) {
      await page.mouse.move(left + x, top + y);
      // Over a trace it has other words: a press would lead to that.
      const [, least, calls] = /, (\S+ \S+) to .*: (\S+) calls?/.exec(await page.locator(".tip").textContent()) ?? [];
      isSlow = least === undefined || number(least) >= SLOW_MILLIS;
      if (isSlow && least !== undefined && number(calls) > most.calls) {
        most = { calls: number(calls), position: { x, y } };
      }
    }
  }
  assert.ok(most.calls > 0, "the heat map has slow calls");
  await canvas.hover({ position: most.position });
}

for (const [incident, cause] of Object.entries(CAUSES)) {
  test(`${incident} is found by ${MAX_CLICKS} clicks`, async (t) => {
    const context = await chromium.newContext({ viewport: { width: 1000, height: 700 }, locale: "en-GB", timezoneId: "UTC", reducedMotion: "reduce" });
    context.setDefaultTimeout(WITHIN_MILLIS);
    t.after(() => context.close());
    const page = await context.newPage();
    let clicks = 0;
    const click = async (locator) => {
      clicks++;
      await locator.click();
    };
    const picture = (what, locator = page) => locator.screenshot({ path: `${PICTURES}/incident-${incident}-${what}.png` });

    await page.goto(`${demo.web}/#/?search=${incident}-`);
    await page.locator("#view[aria-busy=false]").waitFor();
    await page.locator("table.applications tbody tr").nth(4).waitFor();
    await picture("1", page.locator("table.applications"));
    const { row, isSlow } = await worst(page);
    await click(row.getByRole("link").first());
    const why = page.getByRole("region", { name: "Why slow or failed?" });
    await page.waitForFunction(() => [...document.querySelectorAll(".pane")].every((pane) => pane.hidden || pane.getAttribute("aria-busy") === "false"));
    if (isSlow) {
      // An update between the pointing and the press could move the cells or put a trace there.
      await page.getByRole("button", { name: "Pause" }).click();
      await pointAtSlowCell(page);
      await picture("2", page.locator(".heat"));
      // Answers that were under way may have moved it.
      await pointAtSlowCell(page);
      clicks++;
      await page.mouse.down();
      await page.mouse.up();
    } else {
      await click(why.locator("summary").first());
      await click(why.getByRole("button", { name: "Compare" }));
    }
    const first = why.getByRole("region", { name: "Causes" }).locator(".cause").first();
    const answer = first.or(why.getByRole("alert").getByRole("paragraph")).or(why.getByText(/by chance|nothing can be compared/));
    try {
      await answer.first().waitFor();
    } finally {
      await picture("3", why);
    }
    assert.match(await first.getByRole("heading").textContent(), cause);
    assert.ok(clicks <= MAX_CLICKS, `${clicks} clicks`);
    await picture("cause", first);
  });
}
