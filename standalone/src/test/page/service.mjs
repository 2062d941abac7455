// Starts the real programs on free ports, and Chromium.

import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as pause } from "node:timers/promises";

const require = createRequire(import.meta.url);
const { chromium } = require("playwright-core");

const STARTS_WITHIN_MILLIS = 180_000;
const ENDS_WITHIN_MILLIS = 60_000;
const CHROMIUM_OPTIONS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

function environment(name) {
  const value = process.env[name];
  if (value === undefined) {
    throw new Error(`${name} is not set; run the tests by bin/page`);
  }
  return value;
}

export function startChromium() {
  return chromium.launch({ executablePath: environment("PAGE_CHROMIUM"), args: CHROMIUM_OPTIONS });
}

/** Repeats a call until its result is not null. */
export async function until(what, ask, withinMillis = STARTS_WITHIN_MILLIS) {
  const end = Date.now() + withinMillis;
  let last = null;
  for (;;) {
    try {
      const answer = await ask();
      if (answer !== null && answer !== undefined && answer !== false) {
        return answer;
      }
    } catch (e) {
      last = e;
    }
    if (Date.now() > end) {
      throw new Error(`${what}: not within ${withinMillis / 1000} s${last === null ? "" : ` (${last.message})`}`);
    }
    await pause(200);
  }
}

class Program {
  #output = "";

  /** @param {string} name of the file in .cache/page that gets its output */
  constructor(name, command, options) {
    this.process = spawn(command, options, { stdio: ["ignore", "pipe", "pipe"] });
    const log = createWriteStream(`${environment("PAGE_TARGET")}/${name}.log`);
    this.ended = new Promise((resolve) => this.process.once("exit", resolve));
    for (const stream of [this.process.stdout, this.process.stderr]) {
      stream.setEncoding("utf8");
      stream.on("data", (text) => {
        this.#output += text;
        log.write(text);
      });
    }
  }

  /** Returns what a pattern's group matches in the output. */
  written(pattern) {
    return until(`"${pattern}" in the output`, () => {
      if (this.process.exitCode !== null) {
        throw new Error(`ended with ${this.process.exitCode}:\n${this.#output}`);
      }
      return pattern.exec(this.#output)?.[1];
    });
  }

  async stop() {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      this.process.kill("SIGTERM");
      const timer = setTimeout(() => this.process.kill("SIGKILL"), ENDS_WITHIN_MILLIS);
      await this.ended;
      clearTimeout(timer);
    }
  }
}

const properties = (keys) => Object.entries(keys).map(([key, value]) => `-D${key}=${value}`);

/**
 * All of trace-etl in one process.
 *
 * @param {string[]} options of the demo
 * @param {Object<string, string|number>} keys of its server
 * @returns {Promise<{web: string, otlp: string, stop: function(): Promise<void>}>}
 */
export async function startDemo(options, keys = {}) {
  const program = new Program("demo", environment("PAGE_JAVA"), [
    `@${environment("PAGE_ROOT")}/deploy/jvm/trace-etl-server.options`,
    "-Xmx1g",
    "-XX:MaxDirectMemorySize=1g",
    ...properties(keys),
    "-cp",
    environment("PAGE_CLASS_PATH"),
    "org.traceetl.standalone.Standalone",
    "--otlp-grpc-port=0",
    "--otlp-http-port=0",
    "--http-port=0",
    `--ring-directory=${environment("PAGE_TARGET")}/rings`,
    ...options,
  ]);
  try {
    const otlp = `http://127.0.0.1:${await program.written(/OTLP\/HTTP http:\/\/localhost:(\d+)/)}`;
    const web = `http://127.0.0.1:${await program.written(/curl -s localhost:(\d+)\/metrics \| grep/)}`;
    return { web, otlp, stop: () => program.stop() };
  } catch (e) {
    await program.stop();
    throw e;
  }
}

/** Starts another server at the broker of a demo. */
export async function startServer(demo, keys) {
  const { keys: its } = await (await fetch(`${demo.web}/api/configuration`)).json();
  const of = (key) => its.find((row) => row.key === key).value;
  const program = new Program("server", environment("PAGE_JAVA"), [
    `@${environment("PAGE_ROOT")}/deploy/jvm/trace-etl-server.options`,
    "-Xmx512m",
    "-jar",
    environment("PAGE_SERVER_JAR"),
    "--server.port=0",
    `--trace-etl.rocketmq.name-server=${of("trace-etl.rocketmq.name-server")}`,
    `--trace-etl.rocketmq.topic=${of("trace-etl.rocketmq.topic")}`,
    `--trace-etl.journal.topic=${of("trace-etl.journal.topic")}`,
    `--trace-etl.window.length=${of("trace-etl.window.length")}`,
    ...Object.entries(keys).map(([key, value]) => `--${key}=${value}`),
  ]);
  try {
    const web = `http://127.0.0.1:${await program.written(/Tomcat started on port (\d+)/)}`;
    await until("the server is ready", async () => (await fetch(`${web}/ready`)).ok);
    return { web, stop: () => program.stop() };
  } catch (e) {
    await program.stop();
    throw e;
  }
}
