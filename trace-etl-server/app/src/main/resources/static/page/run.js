// A request that takes long: one at a time, with the time that it takes and a way to cancel it.

import { announce, el } from "./dom.js";
import * as format from "./format.js";

const SECOND = 1000;

export class Run {
  #controller = null;
  #timer = 0;

  /** Makes the button of the form that begins it, with this label. */
  constructor(label) {
    this.submit = el("button", { type: "submit", class: "main" }, label);
    this.cancel = el("button", { type: "button", onclick: () => this.stop("Cancelled.") }, "Cancel");
    this.cancel.hidden = true;
    this.state = el("span", { class: "summary" });
    /** What a form shows of it. */
    this.parts = [this.submit, this.cancel, this.state];
  }

  /**
   * Sends a request in place of the one under way.
   *
   * @param request takes a signal, and returns the promise of an answer
   * @param show is called with the answer
   * @param refuse is called with the error. Neither is called if the request was stopped.
   */
  async begin(request, show, refuse) {
    this.stop();
    const controller = new AbortController();
    this.#controller = controller;
    const beginMillis = Date.now();
    this.submit.disabled = true;
    this.cancel.hidden = false;
    this.cancel.focus();
    const tick = () => (this.state.textContent = `Reading messages, ${format.age(Date.now() - beginMillis)}`);
    tick();
    this.#timer = setInterval(tick, SECOND);
    announce("Reading messages");
    try {
      const answer = await request(controller.signal);
      if (controller === this.#controller) {
        this.stop();
        show(answer);
      }
    } catch (e) {
      if (controller === this.#controller) {
        this.stop();
        if (e.name !== "ApiError") {
          console.error(e);
        }
        refuse(e);
      }
    }
  }

  /** Ends what is under way, and says so in the text. */
  stop(text = "") {
    clearInterval(this.#timer);
    this.#controller?.abort();
    this.#controller = null;
    const focused = document.activeElement === this.cancel;
    this.submit.disabled = false;
    this.cancel.hidden = true;
    if (focused) {
      this.submit.focus();
    }
    this.state.textContent = text;
    if (text !== "") {
      announce(text);
    }
  }
}
