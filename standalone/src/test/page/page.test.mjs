// Tests the web UI in a real Chromium with the real service under load. Run by bin/page.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { hostname } from "node:os";
import { after, before, test } from "node:test";
import { startAgent, startChromium, startDemo, startServer, until } from "./service.mjs";
import { DATABASE, HOSTILE, Load, send, span } from "./spans.mjs";

const require = createRequire(import.meta.url);
const axeSource = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const APPLICATIONS = Number(process.env.PAGE_APPLICATIONS ?? 5000);
const SCREENSHOTS = `${process.env.PAGE_TARGET}/screenshots`;
const TRACE_URL = "https://traces.example.com/trace/{traceId}?span={spanId}&of={application}&from={start}&to={end}";
const TOKEN = "a-token-of-the-test";
const WITHIN_MILLIS = 120_000;
const WIDE = { width: 1380, height: 900 };
const VIEWS = ["overview", "application", "operation", "services", "neighbourhood", "traces", "pipeline", "configuration"];

let demo;
let chromium;
let load;

before(async () => {
  mkdirSync(SCREENSHOTS, { recursive: true });
  [demo, chromium] = await Promise.all([
    startDemo(["--no-load"], {
      "trace-etl.history.max-applications": 2 * APPLICATIONS,
      // Keeps names of 10 KB whole, so that they stay distinct.
      "trace-etl.series.max-value-bytes": 20_000,
      "trace-etl.web.trace-url": TRACE_URL,
      // An exemplar of each of 5,000 applications in each window would hide the other traces.
      "trace-etl.documents.exemplars-per-queue": 20,
    }),
    startChromium(),
  ]);
});

after(async () => {
  await load?.stop();
  await chromium?.close();
  await demo?.stop();
});

// ---- helpers of all tests

/** Opens a page; errors in its console fail the test at the end. */
async function open(t, address, options = {}) {
  const { web = demo.web, failures = false, before: prepare, ...rest } = options;
  const context = await chromium.newContext({
    viewport: WIDE,
    locale: "en-GB",
    timezoneId: "UTC",
    acceptDownloads: true,
    ...rest,
  });
  // Long, because the machine may be busy; a wait ends when its condition holds.
  context.setDefaultTimeout(WITHIN_MILLIS);
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => {
    // Logged by the browser: a request that the test made fail, or one during a change of the
    // machine's networks.
    const expected = (failures && /^Failed to load resource/.test(message.text())) || /ERR_NETWORK_CHANGED/.test(message.text());
    if (["error", "warning"].includes(message.type()) && !expected) {
      complaints.push(`console: ${message.text()}`);
    }
  });
  page.on("pageerror", (error) => complaints.push(`error: ${error.stack}`));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol !== "blob:" && url.origin !== web) {
      complaints.push(`asked another host: ${request.url()}`);
    }
  });
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) =>
      console.error(`policy violated: ${event.violatedDirective} by ${event.blockedURI} ${event.sourceFile}`),
    );
  });
  t.after(async () => {
    await context.close();
    assert.deepEqual(complaints, []);
  });
  await prepare?.(page);
  await page.goto(`${web}/${address}`);
  return page;
}

const shown = (page) => page.locator("#view[aria-busy=false]").waitFor();
const settled = (page) =>
  page.waitForFunction(() => [...document.querySelectorAll(".pane")].every((pane) => pane.hidden || pane.getAttribute("aria-busy") === "false"));

async function openShown(t, address, options) {
  const page = await open(t, address, options);
  await shown(page);
  return page;
}

/** Returns what keeps people from the page, as axe finds it. */
async function barriers(page) {
  const violations = await page.evaluate(`${axeSource}; axe.run(document, { resultTypes: ["violations"] }).then((r) => r.violations)`);
  return violations
    .filter((violation) => ["serious", "critical"].includes(violation.impact))
    .map((violation) => `${violation.id}: ${violation.nodes.map((node) => node.html.slice(0, 120)).slice(0, 3).join(" | ")}`);
}

const rows = (page, table = "applications") => page.locator(`table.${table} tbody tr`);
const names = (page, table = "applications") => page.locator(`table.${table} tbody th .name`).allTextContents();
const api = async (path) => (await fetch(`${demo.web}/api/${path}`)).json();
const screenshot = (page, name) => page.screenshot({ path: `${SCREENSHOTS}/${name}.png` });
/** Returns the next answer of a path that was requested with these parameters. */
const nextAnswer = (page, path, asked = {}) =>
  page.waitForResponse((response) => {
    const url = new URL(response.url());
    return url.pathname === `/api/${path}` && Object.entries(asked).every(([key, value]) => url.searchParams.get(key) === value);
  });

const encoded = (parameters) => new URLSearchParams(parameters).toString();
const addressOf = (view, application) => {
  switch (view) {
    case "overview":
      return "#/";
    case "application":
      return `#/application?${encoded({ name: application })}`;
    case "operation":
      return `#/application?${encoded({ name: application, operation: "GET /items/{id}", kind: "SPAN_KIND_SERVER" })}`;
    case "neighbourhood":
      return `#/services?${encoded({ application, steps: 2, client: application, server: load.names[13] })}`;
    default:
      return `#/${view}`;
  }
};

// ---- before the first span

test("an empty fleet shows what to do", async (t) => {
  await until("the history is up to date", async () => (await api("status")).upToDate);
  const page = await openShown(t, "");
  await page.getByText("No spans in the last hour.").waitFor();
  await page.getByText("port 4317").waitFor();
  await screenshot(page, "empty-overview");
  await page.goto(`${demo.web}/#/traces`);
  await page.getByText("No trace was slow or failed").waitFor();
  await page.goto(`${demo.web}/#/services`);
  await page.getByText("No edges in the last 5 minutes.").waitFor();
  await page.getByText("trace-etl.edges.enabled is true on all servers").waitFor();
  await page.goto(`${demo.web}/#/pipeline`);
  await page.getByText("No agent was seen").waitFor();
  await settled(page);
  await screenshot(page, "empty-pipeline");
});

// ---- under load

test("the load is seen", async () => {
  load = new Load(demo.otlp, APPLICATIONS);
  const all = load.names.length + Object.keys(HOSTILE).length;
  await until(
    "all applications have calls in a minute that has ended",
    async () => {
      const { applications } = await api("applications?minutes=2&limit=10000");
      return applications.length >= all && applications.every((row) => row.calls > 0);
    },
    300_000,
  );
  await until(
    "failed spans of those with hostile names are found",
    async () => {
      const { traces } = await api("traces?reason=error&limit=1000");
      const found = new Set(traces.map((trace) => trace.application));
      return Object.values(HOSTILE).every((name) => name === HOSTILE.long || found.has(name));
    },
    300_000,
  );
  await until(
    "the first applications have their callers and callees, and all hostile ones call",
    async () => {
      const { edges } = await api(`services?${encoded({ application: load.names[0], steps: 2, limit: 5000 })}`);
      const { matching } = await api(`services?${encoded({ search: HOSTILE.template })}`);
      return load.names.slice(1, 21).every((name) => edges.some((edge) => edge.server === name && edge.client !== "user")) && matching >= 3;
    },
    300_000,
  );
});

test("the overview shows a page of applications, with a line for the last hour", async (t) => {
  const page = await openShown(t, "");
  assert.equal(await rows(page).count(), 100);
  const { total } = await api("applications");
  await page.locator(".summary", { hasText: `${total.toLocaleString("en")} applications` }).waitFor();
  assert.equal(await page.locator("svg.spark").count(), 100);
  assert.match(await page.locator("svg.spark").first().getAttribute("aria-label"), /calls a minute/);
  const { applications } = await api("applications?limit=1");
  assert.equal((await names(page))[0], applications[0].application);
  await screenshot(page, "overview-light");
});

test("each column sorts both ways, and the address has the order", async (t) => {
  const page = await openShown(t, "");
  const heads = [
    ["Application", "name"],
    ["Rate", "calls"],
    ["Errors", "errors"],
    ["Error ratio", "error-ratio"],
    ["p50", "p50"],
    ["p95", "p95"],
    ["p99", "p99"],
  ];
  const head = (label) => page.getByRole("columnheader", { name: label, exact: true });
  await head("p50").getByRole("button").click();
  await page.waitForURL(/sort=p50/);
  for (const [label, sort] of heads) {
    const answer = nextAnswer(page, "applications", { sort });
    await head(label).getByRole("button").click();
    const asked = new URL((await answer).url()).searchParams;
    const given = await (await answer).json();
    await page.waitForFunction(
      (first) => document.querySelector("table.applications tbody th .name").textContent === first,
      await first(page, given),
    );
    assert.equal(await head(label).getAttribute("aria-sort"), asked.get("order") === "asc" ? "ascending" : "descending");
  }
  const answer = nextAnswer(page, "applications", { sort: "p99", order: "asc" });
  await head("p99").getByRole("button").click();
  await answer;
  await page.waitForFunction(() => document.querySelector("[aria-sort]").getAttribute("aria-sort") === "ascending");
});

/** Returns the first name of an answer as the page shows it. */
async function first(page, answer) {
  return page.evaluate(async (text) => (await import("/page/dom.js")).name(text).textContent, answer.applications[0].application);
}

test("search filters the list, and its text is in the address", async (t) => {
  const page = await openShown(t, "");
  const wanted = load.names[40];
  await page.getByRole("searchbox", { name: "Search applications" }).fill(wanted);
  await page.waitForURL(/search=/);
  await page.waitForFunction((name) => document.querySelector("table.applications tbody th .name")?.textContent === name, wanted);
  assert.ok((await rows(page).count()) < 100);
  await page.reload();
  await shown(page);
  assert.equal(await page.getByRole("searchbox").inputValue(), wanted);
  await page.getByRole("searchbox").fill("nothing has this name");
  await page.getByText("No application matches.").waitFor();
  await screenshot(page, "no-match");
  await page.getByRole("button", { name: "Show all" }).click();
  await page.waitForFunction(() => document.querySelectorAll("table.applications tbody tr").length === 100);
  await page.goBack();
  await page.waitForURL(/search=/);
  await page.getByText("No application matches.").waitFor();
});

test("filters show failing or slow applications", async (t) => {
  const page = await openShown(t, "");
  const choose = async (label, filter) => {
    const answer = nextAnswer(page, "applications", { filter });
    await page.getByRole("radio", { name: label }).check();
    return (await answer).json();
  };
  const failing = await choose("Failing", "failing");
  assert.ok(failing.matching > 0 && failing.matching < failing.total);
  await page.waitForFunction(() =>
    [...document.querySelectorAll("table.applications tbody tr")].every((row) => row.children[3].textContent !== "0/s"),
  );
  // A red ratio is above the threshold in the column's hint.
  const ratios = await page.evaluate(() => ({
    hint: document.querySelectorAll("table.applications thead th")[4].outerHTML,
    cells: [...document.querySelectorAll("table.applications tbody tr")].map((row) => ({
      percent: Number.parseFloat(row.children[4].textContent.replace(/[^\d.]/g, "")),
      red: row.children[4].querySelector(".mark.bad") !== null,
    })),
  }));
  assert.match(ratios.hint, /red above 1 %/);
  assert.ok(ratios.cells.length > 0);
  assert.deepEqual(ratios.cells.filter(({ percent, red }) => red !== percent > 1 && percent !== 1), []);
  const slow = await choose("Slow", "slow");
  assert.ok(slow.matching > 0 && slow.matching < slow.total);
  await page.waitForURL(/filter=slow/);
  await page.waitForFunction(() =>
    [...document.querySelectorAll("table.applications tbody tr")].every((row) => row.querySelector(".mark.warn")),
  );
});

test("each time range requests its minutes", async (t) => {
  const page = await openShown(t, "");
  for (const [label, minutes] of [["15 min", "15"], ["30 min", "30"], ["59 min", "59"], ["5 min", "5"]]) {
    const answer = nextAnswer(page, "applications", { minutes });
    await page.getByRole("radio", { name: label, exact: true }).check();
    assert.equal((await (await answer).json()).minutes, Number(minutes));
  }
});

test("lists have pages, and the back button returns to each", async (t) => {
  const page = await openShown(t, "#/?sort=name");
  const here = await names(page);
  await page.getByRole("button", { name: "Next" }).click();
  await page.waitForURL(/offset=100/);
  await page.getByText(/101–200 of/).waitFor();
  const there = await names(page);
  assert.equal(there.filter((name) => here.includes(name)).length, 0);
  await page.getByRole("button", { name: "Previous" }).click();
  await page.getByText(/1–100 of/).waitFor();
  await page.goBack();
  await page.getByText(/101–200 of/).waitFor();
  await page.goBack();
  await page.getByText(/1–100 of/).waitFor();
  assert.deepEqual(await names(page), here);
});

test("a refresh keeps focus, scroll and elements", async (t) => {
  const page = await openShown(t, "#/?sort=name");
  const link = rows(page).nth(60).getByRole("link");
  await link.focus();
  await page.evaluate(() => scrollTo(0, 1500));
  const before = await page.evaluate(() => {
    window.focused = document.activeElement;
    return scrollY;
  });
  await nextAnswer(page, "applications");
  await nextAnswer(page, "applications");
  await page.waitForFunction(() => document.querySelector(".pane").getAttribute("aria-busy") === "false");
  assert.deepEqual(await page.evaluate(() => [document.activeElement === window.focused, scrollY]), [true, before]);
});

test("refreshing can be paused", async (t) => {
  const page = await openShown(t, "");
  await settled(page);
  await page.getByRole("button", { name: "Pause" }).click();
  await settled(page);
  let asked = 0;
  page.on("request", (request) => (asked += request.url().includes("/api/applications") ? 1 : 0));
  // Longer than the demo's window: another page refreshes twice meanwhile.
  const other = await openShown(t, "");
  await nextAnswer(other, "applications");
  await nextAnswer(other, "applications");
  assert.equal(asked, 0);
  await page.getByRole("button", { name: "Pause" }).click();
  await nextAnswer(page, "applications");
});

test("an application shows its hour, its operations and its traces", async (t) => {
  const name = load.names[3];
  const page = await openShown(t, addressOf("application", name));
  await settled(page);
  assert.equal(await page.getByRole("heading", { level: 1 }).textContent(), name);
  assert.equal(await page.locator("figure .uplot canvas").count(), 3);
  for (const title of ["Rate", "Error ratio", "Duration"]) {
    const chart = page.getByRole("img", { name: new RegExp(`^${title} in the last hour`) });
    await chart.waitFor();
    assert.ok(await hasInk(chart.locator("canvas")), `${title} is drawn`);
  }
  await screenshot(page, "application-light");
  await page.locator("summary", { hasText: "Minute by minute" }).click();
  // The page's event follows the end of the click.
  await page.locator("details[open] tbody tr").nth(1).waitFor();
  assert.ok(await hasInk(page.locator(".heat canvas")), "the heat map is drawn");
  await page.locator(".heat canvas").focus();
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("ArrowUp");
  assert.match(await page.locator(".tip").textContent(), /\d\d:\d\d, .*calls?/);
  await page.locator("summary", { hasText: "Heat map as a table" }).click();
  await page.getByRole("table", { name: "Calls by minute and duration" }).waitFor();
  assert.ok((await rows(page, "operations").count()) >= 1);
  await page.locator("table.traces:visible tbody tr").first().waitFor();
  await rows(page, "operations").getByRole("link").first().click();
  await page.waitForURL(/operation=/);
  await settled(page);
  assert.match(await page.getByRole("heading", { level: 1 }).textContent(), /items.*server/);
  assert.ok(await hasInk(page.locator(".heat canvas")));
  await screenshot(page, "operation-light");
  await page.goBack();
  await page.waitForFunction((text) => document.querySelector("h1").textContent === text, name);
});

/** Returns whether a canvas has content. */
function hasInk(canvas) {
  return canvas.first().evaluate((element) => {
    const blank = document.createElement("canvas");
    blank.width = element.width;
    blank.height = element.height;
    return element.toDataURL() !== blank.toDataURL();
  });
}

test("an application shows how fast the budgets of its objectives burn", async (t) => {
  const name = load.names[3];
  const { objectives } = await api(`objectives?${encoded({ application: name })}`);
  assert.deepEqual(objectives, []);
  const plain = await openShown(t, addressOf("application", name));
  await settled(plain);
  assert.equal(await plain.getByRole("heading", { name: /^Objectives/ }).isVisible(), false);

  const orders = { name: "orders-fast", target: 99, fasterThanSeconds: 0.3, operation: "POST <i>orders*", kinds: ["SERVER"], windowDays: 28, events: 1000, good: 985, burnRate: 1.5, recentBurnRate: 0.5, budgetSpent: 0.0022 };
  const unused = { name: "requests", target: 99.9, fasterThanSeconds: null, operation: null, kinds: ["SERVER"], windowDays: 30, events: 0, good: 0, burnRate: null, recentBurnRate: null, budgetSpent: null };
  const page = await openShown(t, addressOf("application", name), {
    before: changed("objectives", (answer) => ({ ...answer, objectives: [orders, unused] })),
  });
  await settled(page);
  const table = page.getByRole("table", { name: "Objectives" });
  await table.waitFor();
  const cells = (row) => table.locator("tbody tr").nth(row).locator("th, td").allTextContents();
  assert.deepEqual(await cells(0), ["orders-fast", "POST <i>orders*: not failed, faster than 300 ms", "99 % in 28 d", "1,000", "98.5 %", "0.5", "✕ 1.5", "0.22 %"]);
  assert.deepEqual(await cells(1), ["requests", "not failed", "99.9 % in 30 d", "0", "–", "–", "–", "–"]);
  assert.deepEqual(await barriers(page), []);
  await screenshot(page, "objectives");
  await rows(page, "operations").getByRole("link").first().click();
  await page.waitForURL(/operation=/);
  await settled(page);
  assert.equal(await table.isVisible(), false);
});

test("a trace in the heat map leads to the list", async (t) => {
  const page = await openShown(t, addressOf("application", HOSTILE.prototype));
  await settled(page);
  const canvas = page.locator(".heat canvas");
  // Finds a mark with the pointer, as a person does: there the text says that it is a trace.
  const find = () =>
    canvas.evaluate((element) => {
      const box = element.getBoundingClientRect();
      const isOnMark = () => element.closest(".heat").textContent.includes("press to find it in the list");
      for (let x = box.width - 4; x > 0; x -= 4) {
        for (let y = 4; y < box.height; y += 4) {
          element.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + x, clientY: box.top + y }));
          if (isOnMark()) {
            // Not at the edge: a click is at whole pixels.
            const inner = { x: x - 4, y: y + 4 };
            element.dispatchEvent(
              new PointerEvent("pointermove", { clientX: box.left + inner.x, clientY: box.top + inner.y }),
            );
            return isOnMark() ? inner : { x: x - 2, y };
          }
        }
      }
      return null;
    });
  // A refresh may redraw the map between the search and the click; then the search starts again.
  for (let attempt = 1; (await page.locator("tr.found").count()) === 0; attempt++) {
    assert.ok(attempt <= 10, "a mark leads to its row");
    const mark = await find();
    assert.notEqual(mark, null);
    await canvas.click({ position: mark });
  }
});

test("traces are found by application, operation and reason, page by page", async (t) => {
  const page = await openShown(t, "#/traces");
  await settled(page);
  assert.ok((await rows(page, "traces").count()) > 10);
  await screenshot(page, "traces-light");
  const older = page.getByRole("link", { name: "Older" });
  await older.click();
  await page.waitForURL(/cursor=/);
  await settled(page);
  await page.getByRole("link", { name: "Newest" }).click();
  await page.waitForFunction(() => !location.hash.includes("cursor"));
  const name = load.names[3];
  await page.getByRole("searchbox", { name: "Application" }).fill(name);
  await page.keyboard.press("Enter");
  await page.waitForURL(/application=/);
  await page.getByLabel("Why kept").selectOption("error");
  await page.waitForURL(/reason=error/);
  await settled(page);
  await page.waitForFunction((wanted) => {
    const all = [...document.querySelectorAll("table.traces tbody tr")];
    return all.length > 0 && all.every((row) => row.textContent.includes(wanted) && row.textContent.includes("failed"));
  }, name);
  await page.getByLabel("Time").selectOption("between");
  await page.getByLabel("From").fill("2020-01-01T00:00:00");
  await page.getByLabel("From").press("Tab");
  await page.waitForURL(/from=2020-01-01/);
  await page.getByLabel("Before").fill("2020-01-02T00:00:00");
  await page.getByLabel("Before").press("Tab");
  await page.getByText("No trace matches.").waitFor();
  await page.getByRole("button", { name: "Show all" }).click();
  await rows(page, "traces").first().waitFor();
});

test("a trace is linked, copied, opened and exported", async (t) => {
  const page = await openShown(t, `#/traces?${encoded({ application: HOSTILE.quotes, reason: "error", range: "all" })}`, {
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await rows(page, "traces").first().waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await settled(page);
  const query = encoded({ application: HOSTILE.quotes, reason: "error", limit: 1000 });
  const { traces } = await api(`traces?${query}`);
  const row = rows(page, "traces").first();
  const url = new URL(await row.locator(".trace-id a").getAttribute("href"));
  assert.equal(url.origin, "https://traces.example.com");
  const id = url.pathname.split("/").at(-1);
  const trace = traces.find((one) => one.traceId === id);
  assert.equal(url.searchParams.get("of"), HOSTILE.quotes);
  assert.equal(url.searchParams.get("span"), trace.spanId);
  assert.equal(await row.locator(".trace-id code").textContent(), id);
  assert.equal(Number(url.searchParams.get("from")), Math.floor(Date.parse(trace.start)));
  await row.getByRole("button", { name: "Copy trace ID" }).click();
  await row.getByText("Copied").waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), id);
  await row.locator("summary").click();
  await row.getByText("server.address").waitFor();
  const [csv] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Export CSV" }).click()]);
  const lines = readFileSync(await csv.path(), "utf8");
  assert.match(lines.split("\n")[0], /traceId/);
  assert.ok(lines.includes(id));
  const [json] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Export JSON" }).click()]);
  assert.ok(JSON.parse(readFileSync(await json.path(), "utf8")).traces.some((one) => one.traceId === id));
});

test("a template that is no web address makes no link", async (t) => {
  const page = await openShown(t, "");
  const addresses = await page.evaluate(async () => {
    const { traceAddress } = await import("/page/traces.js");
    const trace = { traceId: "a/../../b", spanId: "c", application: "\ud800#?&", start: "2026-01-01T00:00:00Z", durationMillis: 5.5 };
    return [
      "javascript:alert('{traceId}')",
      "data:text/html,{traceId}",
      "//other/{traceId}",
      "{application}://x",
      null,
      "http://jaeger.example.com/trace/{traceId}?a={application}&e={end}&u={unknown}",
    ].map((template) => traceAddress(template, trace));
  });
  assert.deepEqual(addresses, [
    null,
    null,
    null,
    null,
    null,
    "http://jaeger.example.com/trace/a%2F..%2F..%2Fb?a=%EF%BF%BD%23%3F%26&e=1767225600006&u={unknown}",
  ]);
});

test("the pipeline shows health, books, queues and agents", async (t) => {
  const page = await openShown(t, "#/pipeline");
  await settled(page);
  for (const title of ["This server", "Books", "Queues", "Hotspots", "Series against limits", "Agents"]) {
    await page.getByRole("heading", { name: title, exact: true }).waitFor();
  }
  assert.match(await page.locator(".equation").textContent(), /received=.*recorded.*balances/);
  assert.equal(await page.getByRole("table", { name: "Queues of the fleet" }).locator("tbody tr").count(), 4);
  assert.equal(await page.getByRole("table", { name: /^Agents/ }).locator("tbody tr").count(), 1);
  const status = await api("status");
  assert.equal(
    await page.getByRole("table", { name: "Durations of this server's steps" }).locator("tbody tr").count(),
    status.timings.length,
  );
  await page.getByRole("searchbox", { name: "Search applications" }).fill(load.names[5]);
  await page.waitForURL(/search=/);
  await settled(page);
  const books = page.getByRole("table", { name: "What became of each application's spans" });
  await page.waitForFunction((name) => [...document.querySelectorAll(".pane table tbody th")].some((th) => th.textContent === name), load.names[5]);
  assert.equal(await books.locator("tbody .mark.bad").count(), 0);
  await screenshot(page, "pipeline-light");
});

// ---- services

/** Returns the places of the nodes by name. */
const places = (page) =>
  page.evaluate(() =>
    Object.fromEntries([...document.querySelectorAll(".node")].map((node) => [node.querySelector("title").textContent, node.getAttribute("transform")])),
  );
const nodeOf = (page, name) => page.locator(".node", { has: page.getByText(name, { exact: true }) });
const panel = (page) => page.getByRole("region", { name: "Selection" });

test("services show the largest part of the fleet, and a table of its edges", async (t) => {
  const page = await openShown(t, "#/services");
  await settled(page);
  const { matching, edges } = await api("services?limit=1");
  assert.equal((await names(page, "edges"))[0], edges[0].client);
  assert.equal(await rows(page, "edges").count(), Math.min(100, matching));
  const [nodes, lines] = await page.evaluate(() => [".node", ".line"].map((what) => document.querySelectorAll(`.canvas ${what}`).length));
  assert.ok(nodes > 20 && nodes <= 150, `${nodes} nodes`);
  assert.ok(lines > 20 && lines <= 300, `${lines} lines`);
  await page.getByText(/^The largest part: .* edges are not shown/).waitFor();
  await page.getByRole("img", { name: /^\d+ nodes and \d+ lines\./ }).waitFor();
  await screenshot(page, "services-light");
});

test("edges are sorted, filtered and counted in the range that was chosen", async (t) => {
  const page = await openShown(t, "#/services");
  await settled(page);
  for (const [label, sort] of [["Client", "client"], ["Server", "server"], ["Errors", "errors"], ["Error ratio", "error-ratio"], ["p95 server", "p95"], ["Rate", "calls"]]) {
    const head = page.getByRole("columnheader", { name: label, exact: true });
    for (const order of sort === "client" || sort === "server" ? ["asc", "desc"] : ["desc", "asc"]) {
      const answer = nextAnswer(page, "services", { sort, order });
      await head.getByRole("button").click();
      assert.equal((await answer).status(), 200);
      await settled(page);
      assert.equal(await head.getAttribute("aria-sort"), order === "asc" ? "ascending" : "descending");
    }
  }
  const databases = nextAnswer(page, "services", { connection: "database" });
  await page.getByLabel("Connection").selectOption("Databases");
  assert.deepEqual((await (await databases).json()).edges.map((edge) => edge.server), [DATABASE]);
  await settled(page);
  assert.equal(await page.locator(".node.database").count(), 1);
  await page.getByLabel("Connection").selectOption("All");
  const minutes = nextAnswer(page, "services", { minutes: "15" });
  await page.getByRole("radio", { name: "15 min" }).check();
  assert.equal((await (await minutes).json()).minutes, 15);
  await page.getByRole("searchbox", { name: "Search edges" }).fill("nothing has this name");
  await page.getByText("No edge matches.").waitFor();
  await page.getByRole("button", { name: "Show all" }).click();
  await rows(page, "edges").nth(99).waitFor();
});

test("the neighbourhood of an application has its callers and callees, in one or two steps", async (t) => {
  const application = load.names[1];
  const page = await openShown(t, `#/application?${encoded({ name: application })}`);
  await page.getByRole("link", { name: "Callers and callees" }).click();
  await page.waitForURL(/#\/services\?application=/);
  await page.locator(".node.focus").waitFor();
  const expected = (...numbers) => ["user", ...numbers.map((number) => load.names[number])].sort();
  const drawn = async () => (await page.locator(".node .name").allTextContents()).sort();
  assert.deepEqual(await drawn(), expected(0, 1, 5, 6, 7, 8));
  assert.equal(await page.locator(".node.focus .name").textContent(), application);
  const answer = nextAnswer(page, "services", { steps: "2" });
  await page.getByRole("radio", { name: "2 steps" }).check();
  await answer;
  await page.waitForURL(/steps=2/);
  await nodeOf(page, load.names[21]).waitFor();
  assert.ok((await drawn()).includes(DATABASE));
  await page.locator(".crumbs a").click();
  await page.waitForFunction(() => document.querySelector("h1").textContent === "Services" && document.querySelectorAll(".node").length > 30);
  await page.getByRole("combobox", { name: "Neighbourhood of" }).fill(application);
  await page.keyboard.press("Enter");
  await page.waitForURL(/application=/);
  await page.waitForFunction((name) => document.querySelector(".node.focus .name")?.textContent === name, application);
});

test("an edge leads to the traces of its client and of its server, a node to its application", async (t) => {
  const [client, server] = [load.names[0], load.names[3]];
  const page = await openShown(t, `#/services?${encoded({ application: client })}`);
  await settled(page);
  await page.getByRole("button", { name: `Details of ${client} to ${server}` }).focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement.matches(".panel h3"));
  const { edges } = await api(`services?${encoded({ application: client })}`);
  assert.ok(edges.find((edge) => edge.client === client && edge.server === server).errorRatio > 0.9);
  await panel(page).getByText(/✕ .*100 %/).waitFor();
  assert.deepEqual(await panel(page).getByRole("rowheader").allTextContents(), ["Client", "Server", "Between"]);
  await page.locator(".line.failing.near").waitFor();
  await page.locator(".canvas text.near", { hasText: "✕ 100 %" }).waitFor();
  await page.locator("tr.found").waitFor();
  await screenshot(page, "services-edge");
  for (const [name, reason] of [[client, "error"], [server, "error"], [server, "slow"]]) {
    const label = `${reason === "error" ? "Failed" : "Slow"} traces of ${name}`;
    const href = await panel(page).getByRole("link", { name: label }).getAttribute("href");
    const parameters = new URLSearchParams(href.slice(href.indexOf("?")));
    assert.deepEqual([href.slice(0, 9), parameters.get("application"), parameters.get("reason")], ["#/traces?", name, reason]);
  }
  await panel(page).getByRole("link", { name: `Failed traces of ${server}` }).click();
  await rows(page, "traces").first().waitFor();
  await page.goBack();
  await panel(page).getByRole("heading", { level: 3, name: server }).waitFor();
  await nodeOf(page, server).click();
  await page.waitForURL(/node=/);
  assert.equal(await page.locator(".node.selected .name").textContent(), server);
  await panel(page).getByRole("link", { name: `Application of ${server}` }).click();
  await page.waitForFunction((name) => document.querySelector("h1").textContent === name, server);
});

test("a refresh moves neither nodes nor focus, and zooming keeps the middle", async (t) => {
  const page = await openShown(t, `#/services?${encoded({ application: load.names[0], steps: 2 })}`);
  await settled(page);
  const before = await places(page);
  const details = rows(page, "edges").nth(3).getByRole("button");
  await details.focus();
  await page.evaluate(() => (window.focused = document.activeElement));
  await nextAnswer(page, "services");
  await nextAnswer(page, "services");
  await settled(page);
  const after = await places(page);
  for (const [name, place] of Object.entries(before)) {
    assert.equal(after[name] ?? place, place, name);
  }
  assert.ok(await page.evaluate(() => document.activeElement === window.focused));
  const width = () => page.locator(".canvas > svg").evaluate((drawing) => drawing.clientWidth);
  const first = await width();
  await page.getByRole("button", { name: "Zoom in" }).click();
  assert.ok((await width()) > first);
  await page.getByRole("button", { name: "Fit", exact: true }).click();
  assert.ok(await page.locator(".canvas").evaluate((box) => box.scrollWidth <= box.clientWidth && box.scrollHeight <= box.clientHeight));
});

test("nodes keep their places while others come and go", async (t) => {
  const page = await openShown(t, "#/services");
  const result = await page.evaluate(async () => {
    const { Layout, BOX } = await import("/page/layout.js");
    const { collapse, largest, nodesOf, pairsOf } = await import("/page/edges.js");
    const edge = (client, server, callsPerSecond = 1, connection = null) => ({ client, server, connection, callsPerSecond, errorsPerSecond: 0 });
    const names = ["__proto__", "constructor", "", "d", "e", "f"];
    const tree = names.slice(1).map((name, i) => edge(names[i >> 1], name));
    const layout = new Layout();
    const show = (edges, before) => {
      const pairs = largest(pairsOf(edges), new Set());
      return layout.arrange([...nodesOf(pairs, new Map()).values()], pairs, before);
    };
    const first = await show(tree, null);
    const second = await show([...tree, edge("d", "new"), edge("d", "d"), edge("f", "__proto__", 1, "messaging_system")], first);
    const third = await show(tree.slice(1), second);
    const fourth = await show(Array.from({ length: 9 }, (_, i) => edge("new", `n${i}`)), third);
    layout.close();
    const boxes = [...second.places.values()];
    const kept = ({ places }) => [...places].every(([key, place]) => JSON.stringify(first.places.get(key) ?? place) === JSON.stringify(place));
    const many = Array.from({ length: 20_000 }, (_, i) => edge(`c${i % 3}`, `s${i}`, 1 / (i + 1)));
    const chosen = largest(pairsOf(many), new Set());
    return {
      rearranged: [first, second, third, fourth].map((one) => one.rearranged),
      kept: [second, third].map(kept),
      levels: first.places.get("=__proto__").x < first.places.get("=constructor").x,
      apart: boxes.every((a) => boxes.every((b) => a === b || Math.abs(a.x - b.x) >= BOX.width || Math.abs(a.y - b.y) >= BOX.height)),
      nodes: nodesOf(chosen, new Map()).size,
      collapsed: [null, "=c0"].map((focus) => collapse(chosen, focus).filter((pair) => pair.group).map((pair) => [pair.hub, pair.size])),
      shownFirst: largest(pairsOf([edge("a", "b", 1), edge("c", "d", 1.2)]), new Set(['["a","b"]']))[0].client,
      joined: pairsOf([edge("a", "b", 1), edge("a", "b", 2, "messaging_system"), edge("a", null, 1), edge("z", "z", 0)]).map((pair) => [pair.server, pair.callsPerSecond]),
    };
  });
  assert.deepEqual(result, {
    rearranged: [true, false, false, true],
    kept: [true, true],
    levels: true,
    apart: true,
    nodes: 150,
    collapsed: [[["c0", 39], ["c1", 39], ["c2", 39]], [["c0", 9], ["c1", 39], ["c2", 39]]],
    shownFirst: "a",
    joined: [["b", 3], [null, 1]],
  });
});

test("unpaired spans are shown by application", async (t) => {
  const page = await openShown(t, `#/services?${encoded({ application: load.names[0] })}`, {
    before: changed("services", (answer) => ({
      ...answer,
      services: answer.services.map((service) => (service.name === load.names[2] ? { ...service, unpairedServers: 0.2, paired: 0.75 } : service)),
    })),
  });
  await settled(page);
  await page.locator("summary", { hasText: "Unpaired spans by application" }).click();
  const row = page.getByRole("table", { name: /^Unpaired spans/ }).locator("tbody tr").first();
  await row.getByText("▲ 25 %").waitFor();
  assert.equal(await row.getByRole("rowheader").textContent(), load.names[2]);
  await nodeOf(page, load.names[2]).getByText("▲").waitFor();
});

test("edges of hostile names are shown as text", async (t) => {
  const page = await openShown(t, "#/services");
  // Agents send no half-edges of a name that long.
  for (const [what, name] of Object.entries(HOSTILE).filter(([key]) => key !== "long")) {
    const answer = nextAnswer(page, "services", { application: name });
    await page.goto(`${demo.web}/#/services?${encoded({ application: name, node: name })}`);
    await answer;
    await settled(page);
    await page.locator(".node.focus.selected").waitFor();
    await rows(page, "edges").nth(1).waitFor();
    assert.ok((await page.locator(".node").count()) >= 3, what);
    assert.equal(await page.locator("#view img, #view script, #view [onerror]").count(), 0, what);
    assert.doesNotMatch(await page.title(), /^broken/);
    const texts = await page.locator(".node, .panel, table.edges").allTextContents();
    assert.doesNotMatch(texts.join(""), /[\u202a-\u202e\u2066-\u2069]/, what);
    assert.equal(await overflow(page), 0, `${what} does not widen the page`);
  }
  await screenshot(page, "services-hostile");
});

test("the configuration is searched", async (t) => {
  const page = await openShown(t, "#/configuration");
  await settled(page);
  const { keys } = await api("configuration");
  assert.equal(await rows(page, "configuration").count(), keys.length);
  await page.getByRole("radio", { name: "Configured keys" }).check();
  await page.waitForURL(/show=given/);
  await page.waitForFunction((given) => document.querySelectorAll("table.configuration tbody tr").length === given, keys.filter((row) => row.given).length);
  await page.getByRole("searchbox").fill("trace-url");
  await page.waitForFunction(() => document.querySelectorAll("table.configuration tbody tr").length === 1);
  assert.ok((await rows(page, "configuration").first().textContent()).includes(TRACE_URL));
  await screenshot(page, "configuration-light");
});

// ---- previews of rules

test("a preview shows what rules would cost, or the lines at fault", async (t) => {
  // The refused rules are a failed request in the console.
  const page = await openShown(t, addressOf("application", load.names[0]), { failures: true, colorScheme: "dark" });
  const preview = page.getByRole("region", { name: "Preview rules" });
  await preview.locator("summary").press("Enter");
  const rules = preview.getByLabel("Rules (YAML)");
  assert.match(await rules.inputValue(), /^revision: 1\n/);
  const button = preview.getByRole("button", { name: "Preview" });
  await rules.fill("revision: 7\nrule: 1\n");
  await button.press("Enter");
  await preview.getByRole("alert").getByText("rule: is not a key of rules").waitFor();
  await preview.getByRole("button", { name: "Line 2" }).press("Enter");
  assert.equal(await rules.evaluate((area) => area.value.slice(area.selectionStart, area.selectionEnd)), "rule: 1");

  await rules.fill("revision: 7\ndefaults:\n  series:\n    dimensions:\n      - attribute: http.route\n");
  await preview.getByLabel("Messages of the last").selectOption("15m");
  await button.press("Enter");
  const costs = preview.getByRole("table", { name: "Cost of the series, now and then" });
  await costs.waitFor();
  assert.deepEqual(await costs.locator("thead th").allTextContents(), ["Figure", "Now (configuration)", "Then (revision 7)"]);
  assert.match(await costs.locator("tr", { hasText: "Series on all queues" }).locator("td").first().textContent(), /^\d/);
  await preview.getByRole("table", { name: "Labels then (revision 7)" }).getByRole("rowheader", { name: "http_route" }).waitFor();
  assert.deepEqual(await barriers(page), []);
  assert.equal(await overflow(page), 0);
  await preview.scrollIntoViewIfNeeded();
  await screenshot(page, "preview-dark");
});

// ---- what failed spans have in common

test("the customer whose calls fail is the cause that the page lists first", async (t) => {
  const name = "why-shop";
  for (let round = 0; round < 40; round++) {
    const spans = Array.from({ length: 500 }, (_, i) => {
      const failed = i % 50 === 7;
      const attributes = { customer: failed ? "acme" : `customer-${i % 5}`, "client.platform": i % 3 === 0 ? "web" : "android", ...(failed ? { "error.type": "timeout" } : {}) };
      return span("GET /cart", { millis: 5, failed, attributes });
    });
    await send(demo.otlp, new Map([[name, spans]]));
  }
  const page = await openShown(t, addressOf("application", name), { failures: true });
  const callee = {
    server: "pay",
    connection: null,
    callsPerSecond: 5,
    baselineCallsPerSecond: 4,
    errorRatio: 0.5,
    baselineErrorRatio: 0.01,
    clientMs: { p50Millis: 5, p95Millis: 9, p99Millis: 9 },
    baselineClientMs: null,
    moreCallsPerSecond: 1,
    moreErrorsPerSecond: 2.45,
    moreMillisPerSecond: 0,
  };
  // The demo's spans of this application call no other.
  await page.route("**/api/services/growth?*", async (route) => {
    const answer = await route.fetch();
    assert.equal(answer.status(), 200);
    await route.fulfill({ json: { ...(await answer.json()), callees: [callee] } });
  });
  const why = page.getByRole("region", { name: "Why slow or failed?" });
  await why.locator("summary").first().press("Enter");
  const button = why.getByRole("button", { name: "Compare" });
  const first = why.getByRole("region", { name: "Causes" }).getByRole("heading", { level: 4 }).first();
  // The broker may not have all spans yet, and a server may run the question of another page.
  await until("the cause is listed", async () => {
    await button.press("Enter");
    await page.waitForFunction(() => !document.querySelector("form button.main:disabled"));
    return (await first.count()) > 0 && (await first.textContent()) === "customer = acme";
  });
  await why.getByRole("region", { name: "How they ended" }).getByText("error.type = timeout").waitFor();
  const grown = why.getByRole("region", { name: "Callees that fail more often" });
  await grown.getByRole("rowheader", { name: "pay" }).waitFor();
  await grown.getByText("1 % → 50 %").waitFor();
  await why.getByRole("table", { name: "Operations with such spans" }).getByRole("rowheader", { name: "GET /cart" }).waitFor();
  assert.match(await why.getByRole("link").first().getAttribute("href"), /^https:\/\/traces\.example\.com\/trace\/[0-9a-f]{32}\?span=[0-9a-f]{16}&of=why-shop/);
  assert.deepEqual(await barriers(page), []);
  assert.equal(await overflow(page), 0);
  await why.scrollIntoViewIfNeeded();
  await screenshot(page, "why-light");

  await why.getByLabel("Spans that are").selectOption("slow");
  await why.getByLabel("Milliseconds").fill("60000");
  await until("nothing is slow", async () => {
    await button.press("Enter");
    await page.waitForFunction(() => !document.querySelector("form button.main:disabled"));
    return (await why.getByText("nothing can be compared").count()) > 0;
  });
});

// ---- hostile names

test("hostile names are shown as text everywhere", async (t) => {
  const page = await openShown(t, "#/?sort=name");
  for (const [what, name] of Object.entries(HOSTILE)) {
    const pattern = name.length > 100 ? name.slice(0, 40) : name;
    await page.goto(`${demo.web}/#/?${encoded({ search: pattern })}`);
    const link = rows(page).getByRole("link").first();
    await page.waitForFunction(
      ([text]) => {
        const all = document.querySelectorAll("table.applications tbody tr");
        return all.length > 0 && all.length < 20 && document.querySelector(".pane").getAttribute("aria-busy") === "false" && location.hash.includes(text);
      },
      [encoded({ search: pattern })],
    );
    const hrefs = await rows(page).getByRole("link").evaluateAll((links) => links.map((a) => a.getAttribute("href")));
    const its = hrefs.find((href) => new URLSearchParams(href.slice(href.indexOf("?"))).get("name") === name);
    assert.ok(its !== undefined, `${what} is found by its name`);
    await page.goto(`${demo.web}/${its}`);
    await page.locator("table.operations tbody tr").first().waitFor();
    if (name !== HOSTILE.long) {
      await page.locator("table.traces:visible tbody tr").first().waitFor();
    }
    await settled(page);
    assert.equal(await page.locator("#view img, #view script, #view [onerror]").count(), 0, what);
    assert.doesNotMatch(await page.title(), /^broken/);
    const titled = await page.getByRole("heading", { level: 1 }).textContent();
    assert.doesNotMatch(titled, /[\u0000-\u001f\u202a-\u202e\u2066-\u2069]/);
    if (name.length > 200) {
      assert.equal(await page.locator(".long pre").textContent(), name);
      await page.locator(".long summary").click();
      await screenshot(page, "hostile-long");
    }
    assert.equal(await overflow(page), 0, `${what} does not widen the page`);
  }
  await page.goto(`${demo.web}/#/application?${encoded({ name: HOSTILE.markup })}`);
  await page.locator("table.operations tbody tr").nth(5).waitFor();
  const shownNames = await names(page, "operations");
  assert.ok(shownNames.includes(HOSTILE.markup));
  assert.ok(shownNames.includes("__proto__"));
  assert.ok(shownNames.includes("[U+202E]gnp.exe"));
  assert.ok(shownNames.includes("two[U+000A]lines[U+0009]and a tab"));
  await screenshot(page, "hostile-operations");
  await page.goto(`${demo.web}/#/traces?${encoded({ application: HOSTILE.rightToLeft })}`);
  await rows(page, "traces").first().waitFor();
  await rows(page, "traces").locator("summary").first().click();
  await screenshot(page, "hostile-traces");
});

test("invisible characters and lone surrogates are shown by number", async (t) => {
  const page = await openShown(t, "");
  const shownAs = await page.evaluate(async () => {
    const { name, visible } = await import("/page/dom.js");
    return [visible("a\u0000b\u202ec\ud800d\u200be\u{e0041}"), visible("žluťoučký 日本 😀"), name("").textContent, name("😀".repeat(200), 7).textContent];
  });
  assert.deepEqual(shownAs, [
    "a[U+0000]b[U+202E]c[U+D800]d[U+200B]e[U+E0041]",
    "žluťoučký 日本 😀",
    "(no name)",
    "😀😀😀…",
  ]);
});

/** Returns by how many pixels the page is wider than the window. */
const overflow = (page) => page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - innerWidth));

test("numbers have three figures and a unit", async (t) => {
  const page = await openShown(t, "");
  const formatted = await page.evaluate(async () => {
    const f = await import("/page/format.js");
    return [
      f.rate(1234), f.rate(0), f.rate(0.001), f.rate(999.6), f.rate(0.666666), f.percent(0.0002), f.percent(0.00001), f.percent(1), f.percent(0.99999),
      f.duration(3.4), f.duration(0.0004), f.duration(1234), f.duration(999.6), f.duration(90_000), f.duration(null), f.count(1234567), f.short(1e6),
    ];
  });
  assert.deepEqual(formatted, [
    "1.23k/s", "0/s", "<0.01/s", "1k/s", "0.67/s", "0.02 %", "<0.01 %", "100 %", ">99.9 %",
    "3.4 ms", "0.4 µs", "1.23 s", "1 s", "1.5 min", "–", "1,234,567", "1M",
  ]);
});

test("a lone minute is a dot, and red begins above 1 %", async (t) => {
  const page = await openShown(t, "");
  const seen = await page.evaluate(async () => {
    const { lonePoints } = await import("/page/chart.js");
    const { isHighErrorRatio } = await import("/page/format.js");
    const { firstMinute } = await import("/page/overview.js");
    const { spark } = await import("/page/spark.js");
    const counts = (drawing) => ["circle", "polygon", ".errors.few", ".errors:not(.few)"].map((what) => drawing.querySelectorAll(what).length);
    const hour = (first) => ({ spark: { calls: new Array(60).fill(0).with(first, 1) } });
    return [
      lonePoints([1, null, 2, 3, undefined, 4]),
      [null, 0, 0.01, 0.011, 1].map(isHighErrorRatio),
      [firstMinute([hour(30), hour(20)]), firstMinute([])],
      counts(spark([5], [1])),
      counts(spark([1000, 1000, 10], [1, 0, 1])),
    ];
  });
  assert.deepEqual(seen, [[0, 5], [false, false, false, true, true], [20, 59], [1, 0, 0, 1], [0, 1, 1, 1]]);
});

test("charts, heat map and rates begin at the first minute observed", async (t) => {
  const tracesFrom = [];
  const lastMinuteAlone = changed("history", (history) => {
    const ended = history.minutes.filter((minute) => minute.ended);
    ended.forEach((minute, i) => Object.assign(minute, i < ended.length - 1 ? { observedSeconds: 0 } : { observedSeconds: 30, calls: 60, errors: 3 }));
    return history;
  });
  const page = await openShown(t, addressOf("application", load.names[3]), {
    before: (p) => {
      p.on("request", (request) => {
        const url = new URL(request.url());
        if (url.pathname === "/api/traces") {
          tracesFrom.push(Number(url.searchParams.get("from")));
        }
      });
      return lastMinuteAlone(p);
    },
  });
  await settled(page);
  assert.ok(tracesFrom.length >= 3);
  assert.ok(tracesFrom.every((from) => Date.now() - from < 10 * 60_000), "traces are requested for the time of the heat map");
  await page.getByRole("img", { name: /^Rate in the last hour: calls 2\/s to 2\/s/ }).waitFor();
  await page.getByRole("img", { name: /^Error ratio .*failed 5 % to 5 %.*above 1 % 5 %/ }).waitFor();
  await page.locator(".tiles .mark.bad", { hasText: "5 %" }).waitFor();
  await page.locator("summary", { hasText: "Heat map as a table" }).click();
  const table = page.getByRole("table", { name: "Calls by minute and duration" });
  await table.waitFor();
  assert.equal(await table.locator("tbody tr").count(), 2);
  await screenshot(page, "first-minute");
});

/** Returns what the view of an application shows of minutes whose counts may still rise. */
const provisional = (page) =>
  page.evaluate(() => {
    // Above the highest value, at the right edge: a grid line fills a row or one column.
    const isHatched = (canvas) => {
      const [x, y, width, height] = [canvas.width - 27, 12, 7, 6];
      // Reading the chart's own canvas repeatedly would make Chromium complain.
      const copy = new OffscreenCanvas(width, height).getContext("2d");
      copy.drawImage(canvas, -x, -y);
      const { data } = copy.getImageData(0, 0, width, height);
      const columns = new Set();
      for (let row = 0; row < height; row++) {
        const inked = Array.from({ length: width }, (_, i) => i).filter((i) => data[4 * (row * width + i) + 3] > 0);
        if (inked.length < width) {
          inked.forEach((column) => columns.add(column));
        }
      }
      return columns.size > width / 2;
    };
    return {
      note: document.querySelector(".provisional").textContent.trim(),
      hatched: [...document.querySelectorAll("figure .uplot canvas")].map(isHatched),
      labelled: document.querySelectorAll('[role=img][aria-label*="may still rise"]').length,
      minutes: [...document.querySelectorAll("details.numbers tbody th")].map((th) => th.textContent).filter((text) => text.includes("may still rise")),
    };
  });

test("an agent that is cut off holds the edge back and is named, until it is lost", async (t) => {
  const application = load.names[3];
  const agent = await startAgent(demo);
  t.after(() => agent.kill());
  const page = await openShown(t, addressOf("application", application));
  await settled(page);
  await page.locator("summary", { hasText: "Minute by minute" }).click();
  let minute;
  await until("servers know the agent and its host, and a minute ends before the agent's silence does", async () => {
    await send(agent.otlp, new Map([[application, [span("GET /items/{id}", { millis: 5 })]]]));
    const now = new Date();
    minute = now.toISOString().slice(11, 16);
    // Only heartbeats name the host.
    const isKnown = /^trace_etl_agent_heartbeats_published_total [1-9]/m.test(await agent.metrics());
    return isKnown && now.getUTCSeconds() >= 40;
  });
  agent.pause();
  const shows = (what, expected) =>
    until(what, async () => {
      assert.deepEqual(await provisional(page), expected);
      return true;
    });
  await shows("the page names the agent's host", {
    note: `Counts from ${minute} on may still rise. Waiting for spans of ${hostname()}.`,
    hatched: [true, true, true],
    labelled: 3,
    minutes: [`${minute} (may still rise)`],
  });
  await screenshot(page, "provisional");
  await agent.kill();
  await shows("the page shows the agent as excluded", {
    note: `Not waiting for silent ${hostname()}.`,
    hatched: [false, false, false],
    labelled: 0,
    minutes: [],
  });
  await screenshot(page, "excluded");
});

// ---- states

test("while it loads, it says so", async (t) => {
  let release;
  const held = new Promise((resolve) => (release = resolve));
  const page = await open(t, "", {
    before: (p) =>
      p.route("**/api/applications*", async (route) => {
        await held;
        await route.continue();
      }),
  });
  await page.locator(".pane[aria-busy=true] .skeleton").waitFor();
  await screenshot(page, "loading");
  release();
  await rows(page).first().waitFor();
  assert.equal(await page.locator(".pane").getAttribute("aria-busy"), "false");
  assert.equal(await page.locator(".skeleton:visible").count(), 0);
});

test("a failed request is reported, and a retry succeeds", async (t) => {
  const page = await open(t, "", {
    failures: true,
    before: (p) =>
      p.route("**/api/applications*", (route) =>
        route.fulfill({
          status: 503,
          contentType: "application/problem+json",
          body: JSON.stringify({ title: "x", status: 503, detail: "not <b>now</b>" }),
        }),
      ),
  });
  await page.getByRole("alert").getByText("not <b>now</b>").waitFor();
  await screenshot(page, "error");
  await page.unroute("**/api/applications*");
  await page.getByRole("button", { name: "Try again" }).click();
  await rows(page).first().waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
});

test("a refused request offers no retry", async (t) => {
  const page = await open(t, "", {
    failures: true,
    before: (p) =>
      p.route("**/api/applications*", (route) =>
        route.fulfill({
          status: 404,
          contentType: "application/problem+json",
          body: JSON.stringify({ title: "x", status: 404, detail: "keeps no history" }),
        }),
      ),
  });
  await page.getByRole("alert").getByText("keeps no history").waitFor();
  assert.equal(await page.getByRole("button", { name: "Try again" }).count(), 0);
});

test("data stay, with their age, when a refresh fails", async (t) => {
  const page = await openShown(t, "", { failures: true });
  await rows(page).first().waitFor();
  await page.route("**/api/*", (route) => route.abort("connectionrefused"));
  await page.getByText(/The data shown is from .* ago/).waitFor();
  await page.locator(".notice.bad", { hasText: "cannot be reached" }).waitFor();
  await page.locator("#health", { hasText: "No answer" }).waitFor();
  assert.equal(await rows(page).count(), 100);
  await screenshot(page, "not-refreshed");
  await page.unroute("**/api/*");
  await page.getByRole("button", { name: "Try again" }).click();
  await page.locator("#health", { hasText: "Ready" }).waitFor();
  await page.waitForFunction(() => document.querySelectorAll(".notice").length === 0);
});

const changed = (path, change) => (page) =>
  page.route(`**/api/${path}*`, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: change(await response.json()) });
  });

test("a note reports counts that are still too low", async (t) => {
  const page = await openShown(t, "", { before: changed("status", (status) => ({ ...status, upToDate: false })) });
  await page.locator(".notice.warn", { hasText: "counts are too low" }).waitFor();
});

test("charts mark a deploy, and words say whether the new version is worse", async (t) => {
  const minutesAgo = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString();
  const signals = [
    { signal: "errors", verdict: "no_difference_yet", difference: 0.0004, lower: -0.0002, upper: 0.001 },
    { signal: "latency_mean", verdict: "worse", difference: 0.2, lower: 0.12, upper: 0.28 },
    { signal: "latency_rank", verdict: "better", difference: -0.08, lower: -0.1, upper: -0.06 },
  ];
  const page = await openShown(t, addressOf("application", load.names[0]), {
    before: changed("deploys", () => ({
      upToDate: true,
      deploys: [
        {
          application: load.names[0],
          version: "1.4 <b>",
          previous: "1.3",
          start: minutesAgo(1.5),
          comparedUntil: minutesAgo(0.5),
          baselineMinutes: 25,
          signals,
        },
      ],
    })),
  });
  const deploys = page.getByRole("region", { name: "Deploys" });
  await deploys.getByText("Version 1.4 <b>").waitFor();
  await deploys.getByText("Error ratio: ○ no difference yet, +0.04 points (−0.02 points to +0.1 points)").waitFor();
  await deploys.getByText("Mean duration: ✕ worse, +20 % (+12 % to +28 %)").waitFor();
  await deploys.getByText("Probability to take longer: ✓ better, 42 % (40 % to 44 %; 50 % if equal)").waitFor();
  assert.equal(await page.getByRole("img", { name: /Version 1\.4 <b> since/ }).count(), 3);
  await screenshot(page, "deploy");
});

test("the service graph reports rates that are still too low", async (t) => {
  const page = await openShown(t, "#/services", { before: changed("services", (answer) => ({ ...answer, upToDate: false })) });
  await page.getByText("The edges are still being read from the journal.").waitFor();
  await page.unroute("**/api/services*");
  await page.getByText("The edges are still being read from the journal.").waitFor({ state: "hidden" });
});

test("disabled hotspots are one sentence", async (t) => {
  const page = await openShown(t, "#/pipeline", {
    before: changed("hotspots", () => ({ state: "disabled", applications: [], behind: [] })),
  });
  await page.getByText(/^Hotspots are disabled: each application stays on the queues that its name gives\.$/).waitFor();
});

test("a server that is not ready lists what is missing", async (t) => {
  const page = await openShown(t, "#/pipeline", {
    before: changed("status", (status) => ({ ...status, ready: false, missing: { queue: "is being <recovered>" } })),
  });
  await page.locator(".notice.warn", { hasText: "queue: is being <recovered>" }).waitFor();
  await page.locator("#health", { hasText: "Not ready" }).waitFor();
});

test("an address that is none leads on", async (t) => {
  const page = await open(t, "#/nowhere", { failures: true });
  await page.getByText("No such view.").waitFor();
  await page.locator("#health", { hasText: "Ready" }).waitFor();
  await page.locator("#view").getByRole("link", { name: "Overview" }).click();
  await rows(page).first().waitFor();
  await page.goto(`${demo.web}/#/application?name=nobody`);
  await page.getByText("This application had no spans in the last hour.").waitFor();
});

// ---- people

for (const scheme of ["light", "dark"]) {
  for (const view of VIEWS) {
    test(`no barrier in ${view}, ${scheme}`, async (t) => {
      const page = await openShown(t, addressOf(view, load.names[3]), { colorScheme: scheme, reducedMotion: "reduce" });
      await settled(page);
      assert.deepEqual(await barriers(page), []);
      if (scheme === "dark") {
        await screenshot(page, `${view}-dark`);
      }
    });
  }
}

test("the scheme follows the system, or the person, who is remembered", async (t) => {
  const page = await openShown(t, "", { colorScheme: "dark" });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.getByLabel("Colours").selectOption("light");
  const light = await ground();
  assert.notEqual(dark, light);
  await page.reload();
  await shown(page);
  assert.equal(await ground(), light);
  await page.getByLabel("Colours").selectOption("auto");
  assert.equal(await ground(), dark);
});

test("the keyboard alone reaches everything", async (t) => {
  const page = await openShown(t, "");
  const focused = () => page.evaluate(() => document.activeElement.textContent.trim() || document.activeElement.getAttribute("aria-label") || document.activeElement.id);
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "Skip to the content");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement.id), "view");
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "Search applications");
  await page.keyboard.type(load.names[41]);
  await page.waitForURL(/search=/);
  await page.waitForFunction((name) => document.querySelector("table.applications tbody th .name")?.textContent === name, load.names[41]);
  await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowRight");
  await page.waitForURL(/filter=failing/);
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction(() => !location.hash.includes("filter"));
  const passed = [];
  for (let i = 0; i < 20 && (await focused()) !== load.names[41]; i++) {
    await page.keyboard.press("Tab");
    passed.push(await focused());
  }
  assert.ok(passed.includes("p99"), passed.join(", "));
  await page.keyboard.press("Enter");
  await page.waitForURL(/#\/application\?/);
  await page.waitForFunction((name) => document.querySelector("h1").textContent === name, load.names[41]);
  assert.equal(await page.evaluate(() => document.activeElement.id), "view");
  await page.goBack();
  await page.waitForURL(/search=/);
});

test("a phone shows each view without horizontal scrolling", async (t) => {
  const page = await openShown(t, "", { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true });
  for (const view of VIEWS) {
    await page.goto(`${demo.web}/${addressOf(view, load.names[3])}`);
    await page.waitForFunction(() => document.querySelector(".pane")?.getAttribute("aria-busy") === "false");
    await settled(page);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth), true, view);
    await screenshot(page, `${view}-phone`);
  }
});

test("the page comes with headers that hold it together", async () => {
  const response = await fetch(`${demo.web}/`);
  assert.match(response.headers.get("Content-Security-Policy"), /default-src 'self'/);
  assert.doesNotMatch(response.headers.get("Content-Security-Policy"), /unsafe/);
  assert.equal(response.headers.get("X-Content-Type-Options"), "nosniff");
});

// ---- another server

test("a server with a token, without history and index, and then stopped", async (t) => {
  const server = await startServer(demo, {
    "trace-etl.web.token": TOKEN,
    "trace-etl.history.enabled": false,
    "trace-etl.index.type": "none",
  });
  t.after(() => server.stop());
  const page = await open(t, "", { web: server.web, failures: true });
  const dialog = page.getByRole("dialog", { name: "Sign in" });
  await dialog.getByLabel("Token").fill("wrong");
  await dialog.getByRole("button", { name: "Sign in" }).click();
  await dialog.getByText("refused this token").waitFor();
  await screenshot(page, "sign-in");
  await dialog.getByLabel("Token").fill(TOKEN);
  await page.keyboard.press("Enter");
  await page.getByText("The history of the last hour is disabled on this server.").waitFor();
  assert.equal(await dialog.count(), 0);
  await page.reload();
  await page.getByText("The history of the last hour is disabled on this server.").waitFor();
  await page.goto(`${server.web}/#/services`);
  await page.getByText("The service graph is disabled on this server.").waitFor();
  await page.goto(`${server.web}/#/traces`);
  await page.getByText("No traces are kept.").waitFor();
  await page.goto(`${server.web}/#/configuration`);
  await rows(page, "configuration").first().waitFor();
  await page.getByRole("searchbox").fill("web.token");
  await page.waitForFunction(() => document.querySelectorAll("table.configuration tbody tr").length === 2);
  assert.match(await rows(page, "configuration").first().textContent(), /\*\*\* secret/);
  assert.ok(!(await page.content()).includes(TOKEN));
  await page.getByRole("button", { name: "Sign out" }).click();
  await dialog.getByLabel("Token").fill(TOKEN);
  await page.keyboard.press("Enter");
  await rows(page, "configuration").first().waitFor();
  await page.goto(`${server.web}/#/pipeline`);
  await page.getByRole("heading", { name: "Agents" }).waitFor();
  await settled(page);
  await server.stop();
  await page.locator("#health", { hasText: "No answer" }).waitFor();
  await page.getByText("Its last answer came at").waitFor();
  await screenshot(page, "server-gone");
});

test("who signs in elsewhere is sent there when that has ended, and not asked for a token", async (t) => {
  let ended = false;
  const page = await openShown(t, "", {
    failures: true,
    before: async (p) => {
      await changed("status", (status) => ({ ...status, signIn: "oidc", user: "ada" }))(p);
      await p.route("**/api/applications*", (route) =>
        ended
          ? route.fulfill({ status: 401, headers: { "WWW-Authenticate": "Bearer" }, contentType: "application/problem+json", body: "{}" })
          : route.continue(),
      );
    },
  });
  await page.getByText("ada", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  ended = true;
  await page.getByRole("button", { name: "Load again" }).waitFor();
  await page.getByText("Load the page again to sign in").waitFor();
  assert.equal(await page.getByRole("dialog").count(), 0);
});

test("a person who gives no token is not asked again", async (t) => {
  const refuse = (page) =>
    page.route("**/api/*", (route) =>
      route.request().headers().authorization === `Bearer ${TOKEN}`
        ? route.continue()
        : route.fulfill({ status: 401, headers: { "WWW-Authenticate": "Bearer" }, contentType: "application/problem+json", body: "{}" }),
    );
  const page = await open(t, "", { failures: true, before: refuse });
  const dialog = page.getByRole("dialog", { name: "Sign in" });
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("The token of the server is required.").waitFor();
  await page.getByRole("button", { name: "Sign in" }).click();
  await dialog.getByLabel("Token").fill(TOKEN);
  await page.keyboard.press("Enter");
  await rows(page).first().waitFor();
});

// ---- load times, measured but not asserted

test("first paint and interactive", async (t) => {
  const measured = [];
  for (let i = 0; i < 7; i++) {
    const context = await chromium.newContext({ viewport: WIDE });
    const page = await context.newPage();
    let bytes = 0;
    let requests = 0;
    page.on("response", async (response) => {
      requests++;
      bytes += Number((await response.request().sizes().catch(() => null))?.responseBodySize ?? 0);
    });
    await page.goto(demo.web);
    // A page may be interactive before the browser reports what it painted.
    await page.waitForFunction(() =>
      ["first-contentful-paint", "trace-etl-interactive"].every((name) => performance.getEntriesByName(name).length > 0),
    );
    const one = await page.evaluate(() => ({
      paint: performance.getEntriesByName("first-contentful-paint")[0].startTime,
      interactive: performance.getEntriesByName("trace-etl-interactive")[0].startTime,
    }));
    measured.push({ ...one, requests, bytes });
    await context.close();
  }
  const median = (key) => measured.map((one) => one[key]).sort((a, b) => a - b)[Math.floor(measured.length / 2)];
  const { total } = await api("applications");
  t.diagnostic(
    `timings: applications=${total} first_paint_ms=${median("paint").toFixed(0)} interactive_ms=${median("interactive").toFixed(0)} ` +
      `worst_first_paint_ms=${Math.max(...measured.map((one) => one.paint)).toFixed(0)} worst_interactive_ms=${Math.max(...measured.map((one) => one.interactive)).toFixed(0)} ` +
      `requests=${median("requests")} bytes=${median("bytes")}`,
  );
});
