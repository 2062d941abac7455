// The frame about the views: which one is shown, when it is refreshed, and how the service is.

import * as address from "./address.js";
import * as api from "./api.js";
import { announce, el, visible } from "./dom.js";
import * as format from "./format.js";

const VIEWS = new Map([
  ["overview", { title: "Overview", load: () => import("./overview.js") }],
  ["application", { title: "Application", load: () => import("./application.js") }],
  ["services", { title: "Services", load: () => import("./services.js") }],
  ["traces", { title: "Traces", load: () => import("./traces.js") }],
  ["pipeline", { title: "Pipeline", load: () => import("./pipeline.js") }],
  ["configuration", { title: "Configuration", load: () => import("./configuration.js") }],
]);
const DEFAULT_WINDOW_MILLIS = 15_000;
const LEAST_REFRESH_MILLIS = 2_000;
const NAME_IN_TITLE = 60;

const byId = (id) => document.getElementById(id);

/** What the views may ask of the frame. */
const frame = {
  /** The newest answer of /api/status; null before the first. */
  status: null,
  /** Resolves when the request for it that is under way has ended, well or not. */
  statusRead: Promise.resolve(),
  /** Why the newest request for it failed; null when it did not. */
  statusError: null,
};

let current = null;
let currentName = null;
let shownAddress = null;
let timer = 0;
let paused = false;

let statusMillis = 0;
let navigation = 0;

// ---- which view

async function show() {
  if (location.hash === shownAddress) {
    return;
  }
  const first = shownAddress === null;
  shownAddress = location.hash;
  const { view, parameters } = address.read();
  const known = VIEWS.get(view);
  const turn = ++navigation;
  for (const link of document.querySelectorAll("#views a")) {
    const its = link.dataset.view;
    if (its === view || (its === "overview" && view === "application")) {
      link.setAttribute("aria-current", its === view ? "page" : "true");
    } else {
      link.removeAttribute("aria-current");
    }
  }
  if (known === undefined) {
    leave();
    byId("view").replaceChildren(
      el(
        "div",
        { class: "note" },
        el("p", {}, el("strong", {}, "No such view. ")),
        el("p", {}, el("a", { href: "#/" }, "Overview")),
      ),
    );
    document.title = "Not found · trace-etl";
    refresh();
    return;
  }
  if (view === currentName && current !== null) {
    const moved = current.update(parameters) === "moved";
    setTitle(known);
    if (moved) {
      arrive();
    }
    refresh();
    return;
  }
  let module;
  try {
    module = await known.load();
  } catch {
    if (turn === navigation) {
      leave();
      shownAddress = null;
      byId("view").replaceChildren(
        el(
          "div",
          { class: "note bad", role: "alert" },
          el("p", {}, el("strong", {}, "Not loaded. "), "This view could not be loaded."),
          el("p", {}, el("button", { type: "button", onclick: () => location.reload() }, "Load again")),
        ),
      );
      byId("view").setAttribute("aria-busy", "false");
    }
    return;
  }
  if (turn !== navigation) {
    return;
  }
  leave();
  current = module.view(frame);
  currentName = view;
  current.update(parameters);
  byId("view").replaceChildren(current.element);
  setTitle(known);
  if (!first) {
    arrive();
  }
  refresh();
}

function leave() {
  clearTimeout(timer);
  current?.close();
  current = null;
  currentName = null;
}

function setTitle(known) {
  const own = current.title?.() ?? known.title;
  document.title = `${visible(own).slice(0, NAME_IN_TITLE)} · trace-etl`;
}

/** A person who goes to another view begins at its top. */
function arrive() {
  scrollTo(0, 0);
  byId("view").focus({ preventScroll: true });
  announce(document.title);
}

// ---- refreshing

async function refresh() {
  clearTimeout(timer);
  const view = current;
  frame.statusRead = readStatus();
  await Promise.all([frame.statusRead, view?.refresh()]);
  if (view !== current) {
    return;
  }
  byId("view").setAttribute("aria-busy", "false");
  showNotices();
  if (performance.getEntriesByName("trace-etl-interactive").length === 0) {
    performance.mark("trace-etl-interactive");
  }
  schedule();
}

function schedule() {
  clearTimeout(timer);
  if (!paused && !document.hidden) {
    const millis = frame.status?.windowMillis ?? DEFAULT_WINDOW_MILLIS;
    timer = setTimeout(refresh, Math.max(LEAST_REFRESH_MILLIS, millis));
  }
}

async function readStatus() {
  try {
    const status = await api.get("status", {});
    frame.status = status;
    api.setWay(status.signIn);
    frame.statusError = null;
    statusMillis = Date.now();
  } catch (e) {
    frame.statusError = e;
  }
  showHealth();
}

// ---- how the service is

function showHealth() {
  const { status } = frame;
  const health = byId("health");
  const [state, sign, text] =
    frame.statusError !== null && ["token", "signed-out"].includes(frame.statusError.kind)
      ? ["warn", "▲", "Signed out"]
      : frame.statusError !== null
        ? ["bad", "✕", frame.statusError.kind === "unreachable" || frame.statusError.kind === "slow" ? "No answer" : "Status failed"]
        : !status.alive
          ? ["bad", "✕", "Pipeline stopped"]
          : !status.ready
            ? ["warn", "▲", "Not ready"]
            : ["good", "✓", "Ready"];
  if (health.dataset.text !== text) {
    if (health.dataset.text !== undefined) {
      announce(text);
    }
    health.dataset.state = state;
    health.dataset.text = text;
    health.replaceChildren(
      el("span", { "aria-hidden": "true" }, sign),
      el("span", {}, ` ${text}`),
    );
  }
  if (status !== null) {
    byId("version").textContent = `trace-etl-server ${status.version}${status.server === null ? "" : ` at ${status.server}`}`;
    const user = byId("user");
    user.hidden = status.user === null && !api.hasToken();
    user.textContent = status.user === null || api.hasToken() ? "by token" : visible(status.user).slice(0, NAME_IN_TITLE);
    for (const link of document.querySelectorAll('[data-view="pipeline"], [data-view="configuration"]')) {
      link.hidden = status.restricted === true;
    }
    byId("sign-out").hidden = !api.hasToken() && (status.signIn !== "oidc" || status.user === null);
  }
}

function showNotices() {
  const { status } = frame;
  const notices = [];
  if (frame.statusError !== null && statusMillis > 0) {
    notices.push([
      "bad",
      `${frame.statusError.message} Its last answer came at ${format.timeWithSeconds(statusMillis)}, ${format.age(Date.now() - statusMillis)} ago.`,
    ]);
  } else if (status !== null && frame.statusError === null) {
    if (!status.ready && status.alive) {
      const why = Object.entries(status.missing).map(([what, reason]) => `${what}: ${reason}`);
      notices.push(["warn", `This server is not ready. ${visible(why.join("; "))}`]);
    }
    if (status.upToDate === false) {
      notices.push([
        "warn",
        "The last hour is still being read from the journal. Until that is done, counts are too low.",
      ]);
    }
  }
  const box = byId("notices");
  const key = JSON.stringify(notices.map(([, text]) => text.replace(/\d+ (s|min|h|d) ago/, "")));
  if (box.dataset.key === key && notices.length > 0) {
    notices.forEach(([, text], i) => (box.children[i].textContent = text));
  } else {
    box.replaceChildren(...notices.map(([state, text]) => el("p", { class: `notice ${state}`, role: "status" }, text)));
    box.dataset.key = key;
  }
  showUpdated();
}

function showUpdated() {
  const millis = statusMillis;
  byId("updated").textContent =
    millis === 0
      ? ""
      : `${paused ? "Paused; as" : "As"} of ${format.timeWithSeconds(millis)}`;
}

// ---- tools

function setUpScheme() {
  const select = byId("scheme");
  const root = document.documentElement;
  select.value = root.dataset.scheme ?? "auto";
  select.addEventListener("change", () => {
    if (select.value === "auto") {
      delete root.dataset.scheme;
    } else {
      root.dataset.scheme = select.value;
    }
    try {
      localStorage.setItem("trace-etl-scheme", select.value);
    } catch {
      // It holds until the page is left.
    }
    dispatchEvent(new Event("trace-etl-scheme"));
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () =>
    dispatchEvent(new Event("trace-etl-scheme")),
  );
}

function setUpPause() {
  const button = byId("pause");
  button.addEventListener("click", () => {
    paused = !paused;
    button.setAttribute("aria-pressed", String(paused));
    announce(paused ? "Refreshing is paused" : "Refreshing is resumed");
    if (paused) {
      clearTimeout(timer);
      showUpdated();
    } else {
      refresh();
    }
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      clearTimeout(timer);
    } else if (!paused) {
      refresh();
    }
  });
}

/** Asks for the server's token. */
function askForToken(wasWrong) {
  const { promise, resolve } = Promise.withResolvers();
  const before = document.activeElement;
  const input = el("input", { id: "token", type: "password", autocomplete: "off", required: true });
  const dialog = el(
    "dialog",
    { "aria-labelledby": "sign-in-title" },
    el(
      "form",
      {
        onsubmit: (event) => {
          event.preventDefault();
          dialog.close("given");
        },
      },
      el("h2", { id: "sign-in-title" }, "Sign in"),
      el(
        "p",
        {},
        wasWrong
          ? "The server refused this token. Enter another one."
          : "This server requires a token (trace-etl.web.token).",
      ),
      el("label", { for: "token" }, "Token"),
      input,
      el("p", { class: "muted" }, "The token is kept in this tab until you close the tab."),
      el(
        "div",
        { class: "buttons" },
        el("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
        el("button", { type: "submit", class: "main" }, "Sign in"),
      ),
    ),
  );
  dialog.addEventListener("close", () => {
    const given = dialog.returnValue === "given";
    if (given) {
      api.setToken(input.value.trim());
    } else if (wasWrong) {
      api.setToken(null);
    }
    dialog.remove();
    before?.focus?.();
    resolve(given);
  });
  document.body.append(dialog);
  dialog.showModal();
  return promise;
}

api.onSignIn(askForToken);
byId("sign-out").addEventListener("click", () => {
  if (api.hasToken()) {
    api.setToken(null);
    location.reload();
  } else {
    // The provider is told as well.
    location.assign("logout");
  }
});
setUpScheme();
setUpPause();
document.querySelector(".skip").addEventListener("click", (event) => {
  // The hash is the address here.
  event.preventDefault();
  byId("view").focus();
});
addEventListener("trace-etl-retry", () => {
  api.askAgain();
  refresh();
});
addEventListener("popstate", show);
addEventListener("hashchange", show);
addEventListener("trace-etl-address", show);
show();
