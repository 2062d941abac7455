// A part of a view that comes by one request: loading, empty, failed, or shown. What was shown stays
// when a refresh fails, and says how old it is.

import { el } from "./dom.js";
import * as format from "./format.js";

export class Pane {
  #load;
  #render;
  #controller = null;
  #shownMillis = 0;
  #key = null;

  /**
   * @param {Object} options
   * @param {?string} options.title of its heading; null for a part without one
   * @param {function(AbortSignal): Promise<*>} options.load
   * @param {function(*): ?Node} options.render shows the data in `content`, or returns what to say in
   *     place of it
   * @param {Node[]} options.content
   * @param {(Node|null)[]=} options.tools beside the heading
   * @param {string=} options.className
   * @param {number=} options.skeleton lines while it loads
   */
  constructor({ title, load, render, content, tools = [], className = "", skeleton = 4 }) {
    this.#load = load;
    this.#render = render;
    this.error = null;
    this.note = el("div", { class: "state" });
    this.note.hidden = true;
    this.content = el("div", { class: "content" }, ...content);
    this.content.hidden = true;
    this.skeleton = el("div", { class: "skeleton", "aria-hidden": "true" });
    for (let i = 0; i < skeleton; i++) {
      this.skeleton.append(el("i"));
    }
    const used = tools.filter((tool) => tool !== null);
    const heading = title === null ? null : el("h2", {}, title);
    this.element = el(
      "section",
      { class: `pane ${className}`.trim(), "aria-busy": "true", "aria-label": title },
      heading === null && used.length === 0 ? null : el("div", { class: "head" }, heading, ...used),
      this.note,
      this.skeleton,
      this.content,
    );
  }

  /**
   * Loads it (again).
   *
   * @param {string=} key of what is asked for: what another key has shown is not kept as its old data
   * @returns {Promise<boolean>} whether it is shown as it is now; false as well if another call came
   */
  async refresh(key = "") {
    this.#controller?.abort();
    const controller = new AbortController();
    this.#controller = controller;
    const other = key !== this.#key;
    if (other && this.#key !== null) {
      this.element.classList.add("waiting");
    }
    this.element.setAttribute("aria-busy", "true");
    try {
      const data = await this.#load(controller.signal);
      if (controller.signal.aborted) {
        return false;
      }
      this.#key = key;
      this.error = null;
      this.#shownMillis = Date.now();
      const instead = this.#render(data) ?? null;
      this.content.hidden = instead !== null;
      this.#say(instead);
      return true;
    } catch (e) {
      if (controller.signal.aborted) {
        return false;
      }
      if (other) {
        this.#key = null;
        this.content.hidden = true;
      }
      this.error = e;
      this.#say(this.#failed(e));
      if (e.name !== "ApiError") {
        console.error(e);
      }
      return false;
    } finally {
      if (this.#controller === controller) {
        this.element.setAttribute("aria-busy", "false");
        this.element.classList.remove("waiting");
        this.skeleton.hidden = true;
      }
    }
  }

  get shownMillis() {
    return this.#shownMillis;
  }

  #failed(e) {
    const old = this.#key !== null && !this.content.hidden;
    // The same request gets the same refusal.
    const hopeless = e.kind === "absent" || e.kind === "refused";
    const again = el(
      "button",
      {
        type: "button",
        onclick: () =>
          e.kind === "signed-out" ? location.reload() : dispatchEvent(new Event("trace-etl-retry")),
      },
      e.kind === "signed-out" ? "Load again" : e.kind === "token" ? "Sign in" : "Try again",
    );
    return el(
      "div",
      { class: "note bad", role: old ? null : "alert" },
      el("p", {}, el("strong", {}, old ? "Not refreshed: " : "Not loaded: "), e.message),
      old
        ? el(
            "p",
            {},
            `The data shown is from ${format.timeWithSeconds(this.#shownMillis)}, ${format.age(Date.now() - this.#shownMillis)} ago.`,
          )
        : null,
      hopeless ? null : el("p", {}, again),
    );
  }

  #say(node) {
    this.note.hidden = node === null;
    // A button that was pressed keeps its focus when the same is said again.
    const focused = this.note.contains(document.activeElement);
    this.note.replaceChildren(...(node === null ? [] : [node]));
    if (focused) {
      (this.note.querySelector("button") ?? document.getElementById("view")).focus({ preventScroll: true });
    }
  }

  close() {
    this.#controller?.abort();
  }
}

/** What it means that there is nothing, and what to do. */
export function empty(title, ...lines) {
  return el("div", { class: "note" }, el("p", {}, el("strong", {}, title)), ...lines.map((line) => el("p", {}, line)));
}
