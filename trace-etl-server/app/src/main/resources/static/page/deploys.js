// Deploys of an application in the last hour, and what the comparison with the version before says.

import * as api from "./api.js";
import { el, mark, name } from "./dom.js";
import * as format from "./format.js";

const VERSION_CHARACTERS = 40;
const VERDICTS = {
  worse: () => mark("bad", "✕", "worse"),
  better: () => mark("good", "✓", "better"),
  no_difference_yet: () => mark("plain", "○", "no difference yet"),
};

function signed(ratio, unit) {
  const text = format.percent(Math.abs(ratio)).replace(" %", unit);
  return `${ratio < 0 ? "−" : "+"}${text}`;
}

const points = (ratio) => signed(ratio, " points");
const relative = (ratio) => signed(ratio, " %");
const probability = (ratio) => format.percent(Math.min(1, Math.max(0, ratio + 0.5)));

/** What each signal is called, and how its difference reads. */
const SIGNALS = {
  errors: ["Error ratio", points, ""],
  latency_mean: ["Mean duration", relative, ""],
  latency_rank: ["Probability to take longer", probability, "; 50 % if equal"],
};

function told({ signal, verdict, difference, lower, upper }) {
  const [label, show, note] = SIGNALS[signal];
  return el("li", {}, `${label}: `, VERDICTS[verdict](), `, ${show(difference)} (${show(lower)} to ${show(upper)}${note})`);
}

/** Returns the deploys of an application; none if the server does not compare versions. */
export async function readDeploys(application, signal) {
  try {
    const { deploys } = await api.get("deploys", { application }, signal);
    return deploys.map((deploy) => ({ ...deploy, start: Date.parse(deploy.start) }));
  } catch (e) {
    if (e.name !== "ApiError") {
      throw e;
    }
    // The charts are right without them, and their own request reports a server that fails.
    return [];
  }
}

export class Deploys {
  element = el("section", { class: "deploys", "aria-label": "Deploys", hidden: true });

  /** @param {Object[]} deploys of {@link readDeploys} */
  update(deploys) {
    this.element.hidden = deploys.length === 0;
    this.element.replaceChildren(
      ...deploys.map((deploy) =>
        el(
          "div",
          {},
          el(
            "p",
            {},
            el("b", {}, "Version ", name(deploy.version, VERSION_CHARACTERS)),
            ` since ${format.timeWithSeconds(deploy.start)}, compared with `,
            name(deploy.previous, VERSION_CHARACTERS),
            ` until ${format.timeWithSeconds(Date.parse(deploy.comparedUntil))}`,
            deploy.signals.length === 0 ? ": too few calls so far" : "",
          ),
          el("ul", {}, ...deploy.signals.map(told)),
        ),
      ),
    );
  }
}
