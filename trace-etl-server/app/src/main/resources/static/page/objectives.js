// The objectives of an application: how fast their budgets burn, by the last hour of all servers. For
// the whole window there is Prometheus.

import * as api from "./api.js";
import { el, mark, name } from "./dom.js";
import * as format from "./format.js";
import { Pane } from "./pane.js";
import { Table } from "./table.js";

/** Above it, the budget does not last for the window. */
const LASTING = 1;

function burn(rate) {
  return rate !== null && rate > LASTING ? mark("bad", "✕", format.short(rate)) : format.short(rate);
}

function condition(objective) {
  const fast = objective.fasterThanSeconds === null ? "" : `, faster than ${format.duration(objective.fasterThanSeconds * 1000)}`;
  return el("span", {}, ...(objective.operation === null ? [] : [name(objective.operation, 60), ": "]), `not failed${fast}`);
}

export class Objectives {
  #application = null;
  #pane;

  constructor() {
    const table = new Table({
      caption: "Objectives",
      keyOf: (row) => row.name,
      columns: [
        { key: "name", label: "Objective", head: true, cell: (row) => name(row.name) },
        { key: "good", label: "Good events", cell: condition },
        { key: "target", label: "Target", numeric: true, cell: (row) => `${row.target} % in ${row.windowDays} d` },
        { key: "events", label: "Events", numeric: true, cell: (row) => format.count(row.events) },
        { key: "ratio", label: "Good", numeric: true, cell: (row) => format.percent(row.events === 0 ? null : row.good / row.events) },
        { key: "recent", label: "Burn rate, 5 min", numeric: true, cell: (row) => burn(row.recentBurnRate) },
        { key: "burn", label: "Burn rate, hour", numeric: true, cell: (row) => burn(row.burnRate) },
        { key: "spent", label: "Budget spent in it", numeric: true, cell: (row) => format.percent(row.budgetSpent) },
      ],
    });
    this.#pane = new Pane({
      title: "Objectives, last hour",
      skeleton: 2,
      content: [table.element],
      load: (signal) => api.get("objectives", { application: this.#application }, signal),
      render: (data) => {
        this.element.hidden = data.objectives.length === 0;
        table.update(data.objectives);
        return null;
      },
    });
    this.element = this.#pane.element;
    // Most applications have none.
    this.element.hidden = true;
  }

  /** Shows an application; null hides it. */
  async refresh(application) {
    if (application !== this.#application || application === null) {
      this.element.hidden = true;
    }
    this.#application = application;
    return application === null ? null : this.#pane.refresh(application);
  }

  close() {
    this.#pane.close();
  }
}
