// Sends spans of thousands of applications, some with hostile names, by OTLP/JSON.

import { randomBytes } from "node:crypto";

const SPANS_OF_A_REQUEST = 500;
const ROUND_MILLIS = 8_000;
const CLIENT = 3;
const CALLED = 60;
const CALLEES = 4;
const CALLS_OF_A_ROUND = 3;
const NANOS = 1_000_000n;

/** Names that are valid and hostile. */
export const HOSTILE = {
  markup: '<img src=x onerror="document.title=\'broken\'">',
  script: "</script><script>document.title='broken'</script>",
  rightToLeft: "\u202egnp.exe",
  long: `long ${"n".repeat(10 * 1024 - 5)}`,
  lines: "two\nlines\tand a tab",
  prototype: "__proto__",
  constructor: "constructor",
  link: "javascript:alert(1)",
  template: "${1+1}{{1+1}}%s",
  quotes: "\"'`&amp;#x;",
};

/** A database of the first application. */
export const DATABASE = "orders";

const id = (bytes) => randomBytes(bytes).toString("hex");

/**
 * @param {string} operation
 * @param {Object} options
 * @param {number} options.millis it took
 * @param {boolean=} options.failed
 * @param {number=} options.kind of OTLP; 2 is a server
 * @param {Object=} options.parent span that called it
 */
export function span(operation, { millis, failed = false, kind = 2, attributes = {}, message, parent }) {
  const end = BigInt(Date.now()) * NANOS;
  return {
    traceId: parent?.traceId ?? id(16),
    spanId: id(8),
    parentSpanId: parent?.spanId,
    name: operation,
    kind,
    startTimeUnixNano: String(end - BigInt(Math.round(millis * 1e6))),
    endTimeUnixNano: String(end),
    status: failed ? { code: 2, message: message ?? "it failed" } : {},
    attributes: Object.entries(attributes).map(([key, value]) => ({ key, value: { stringValue: value } })),
  };
}

/** @param {Map<string, Object[]>} spans by application */
export async function send(otlp, spans) {
  let request = [];
  let size = 0;
  const flush = async () => {
    if (request.length === 0) {
      return;
    }
    const response = await fetch(`${otlp}/v1/traces`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ resourceSpans: request }),
    });
    if (!response.ok) {
      throw new Error(`the agent answered ${response.status}: ${await response.text()}`);
    }
    request = [];
    size = 0;
  };
  for (const [application, its] of spans) {
    request.push({
      resource: { attributes: [{ key: "service.name", value: { stringValue: application } }] },
      scopeSpans: [{ scope: { name: "page" }, spans: its }],
    });
    size += its.length;
    if (size >= SPANS_OF_A_REQUEST) {
      await flush();
    }
  }
  await flush();
}

const SYSTEMS = ["shop", "bank", "mail", "search", "risk", "data", "fleet", "media"];
const PARTS = ["gateway", "catalogue", "cart", "payment", "ledger", "index", "worker", "audit"];

/** Returns a distinct name for each number. */
export function applicationName(number) {
  const letters = (n) => String.fromCharCode(97 + (n % 26)) + String.fromCharCode(97 + (Math.floor(n / 26) % 26));
  return `${SYSTEMS[number % SYSTEMS.length]}-${PARTS[Math.floor(number / SYSTEMS.length) % PARTS.length]}-${letters(Math.floor(number / 64))}`;
}

/** Sends rounds of spans until it is stopped. The first applications call each other: number n calls 4n + 1 to 4n + 4. */
export class Load {
  #running = true;
  #done;

  /** @param {number} applications number of applications without the hostile ones */
  constructor(otlp, applications) {
    this.names = [...new Set(Array.from({ length: applications }, (_, i) => applicationName(i)))];
    this.rounds = 0;
    this.#done = this.#run(otlp);
  }

  async #run(otlp) {
    while (this.#running) {
      const began = Date.now();
      await send(otlp, this.#round());
      this.rounds++;
      const rest = Math.max(0, ROUND_MILLIS - (Date.now() - began));
      await new Promise((resolve) => setTimeout(resolve, this.#running ? rest : 0));
    }
  }

  #round() {
    const spans = new Map();
    for (const hostile of Object.values(HOSTILE)) {
      spans.set(hostile, [
        span(hostile, {
          millis: 1200,
          failed: true,
          message: hostile.slice(0, 500),
          attributes: { [hostile.slice(0, 200)]: hostile.slice(0, 500), "server.address": "db" },
        }),
        ...Object.values(HOSTILE).map((operation) => span(operation, { millis: 5 + Math.random() * 20 })),
      ]);
    }
    this.names.forEach((name, i) => {
      // A few applications have most calls; every tenth fails sometimes, every fiftieth is slow.
      const calls = i < 20 ? 12 : 1;
      spans.set(
        name,
        Array.from({ length: calls }, () =>
          span(i % 3 === 0 ? "GET /items/{id}" : "POST /items", {
            millis: (i % 50 === 7 ? 1500 : 3 + (i % 40)) * (0.6 + Math.random()),
            failed: i % 10 === 3 && Math.random() < 0.5,
            attributes: { "http.route": "/items/{id}" },
          }),
        ),
      );
    });
    this.#addCalls(spans);
    return spans;
  }

  /** Adds requests between applications: a tree of the first ones with a database, and a ring of the hostile ones. */
  #addCalls(spans) {
    const call = (client, server, failed) => {
      const caller = span("call", { kind: CLIENT, millis: 12 + Math.random() * 8, failed });
      spans.get(client).push(caller);
      spans.get(server).push(span("GET /items/{id}", { millis: 4 + Math.random() * 6, failed, parent: caller }));
    };
    for (let round = 0; round < CALLS_OF_A_ROUND; round++) {
      this.names.slice(0, CALLED).forEach((name, i) => {
        if (i > 0) {
          call(this.names[Math.floor((i - 1) / CALLEES)], name, i % 10 === 3);
        }
      });
      spans.get(this.names[0]).push(span("SELECT", { kind: CLIENT, millis: 2, attributes: { "db.system.name": "postgresql", "db.namespace": DATABASE } }));
    }
    const hostile = Object.values(HOSTILE);
    hostile.forEach((name, i) => call(name, hostile[(i + 1) % hostile.length], false));
  }

  async stop() {
    this.#running = false;
    await this.#done;
  }
}
