// Starts the real programs on free ports, and Chromium.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
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

  /**
   * @param {string} name of the file in .cache/page that gets its output
   * @param {Object<string, string>} env variables in addition to those of the tests
   */
  constructor(name, command, options, env = {}) {
    this.process = spawn(command, options, { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
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

  /** Stops its threads: its connections stay open, and it sends nothing. */
  pause() {
    this.process.kill("SIGSTOP");
  }

  async kill() {
    this.process.kill("SIGKILL");
    await this.ended;
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

/** Returns the values of the keys of a demo's server. */
async function valuesOf(demo) {
  const { keys } = await (await fetch(`${demo.web}/api/configuration`)).json();
  return (key) => keys.find((row) => row.key === key).value;
}

/** Starts another server at the broker of a demo. */
export async function startServer(demo, keys) {
  const of = await valuesOf(demo);
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

/** Returns a port that no program uses. */
async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** Starts another agent at the broker of a demo, in a process that can be paused and killed. */
export async function startAgent(demo) {
  const of = await valuesOf(demo);
  const state = `${environment("PAGE_TARGET")}/agent`;
  rmSync(state, { recursive: true, force: true });
  const telemetry = await freePort();
  const program = new Program(
    "agent",
    environment("PAGE_JAVA"),
    [
      `@${environment("PAGE_ROOT")}/deploy/jvm/log-agent.options`,
      "-cp",
      environment("PAGE_CLASS_PATH"),
      "org.traceetl.agent.LogAgent",
    ],
    {
      TRACE_ETL_AGENT_STATE_DIRECTORY: state,
      TRACE_ETL_AGENT_RING_ENABLED: "false",
      TRACE_ETL_AGENT_OTLP_HOST: "127.0.0.1",
      TRACE_ETL_AGENT_OTLP_GRPC_PORT: "0",
      TRACE_ETL_AGENT_OTLP_HTTP_PORT: "0",
      TRACE_ETL_AGENT_TELEMETRY_HOST: "127.0.0.1",
      TRACE_ETL_AGENT_TELEMETRY_PORT: String(telemetry),
      TRACE_ETL_AGENT_ROCKETMQ_NAME_SERVER: of("trace-etl.rocketmq.name-server"),
      TRACE_ETL_AGENT_ROCKETMQ_TOPIC: of("trace-etl.rocketmq.topic"),
    },
  );
  try {
    const otlp = `http://127.0.0.1:${await program.written(/Receiving OTLP on .* HTTP port (\d+)/)}`;
    return {
      otlp,
      metrics: async () => (await fetch(`http://127.0.0.1:${telemetry}/metrics`)).text(),
      pause: () => program.pause(),
      kill: () => program.kill(),
    };
  } catch (e) {
    await program.kill();
    throw e;
  }
}
