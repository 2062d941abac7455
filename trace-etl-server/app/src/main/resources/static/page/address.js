// Addresses: "#/view?name=value", so that each state of a view can be shared and gone back to.

/** @returns {{view: string, parameters: URLSearchParams}} of the address in the location bar */
export function read() {
  const hash = location.hash.startsWith("#/") ? location.hash.slice(2) : "";
  const mark = hash.indexOf("?");
  return {
    view: (mark < 0 ? hash : hash.slice(0, mark)) || "overview",
    parameters: new URLSearchParams(mark < 0 ? "" : hash.slice(mark + 1)),
  };
}

/**
 * @param {string} view
 * @param {Object<string, string|number|null|undefined>} parameters those without a value are left out
 */
export function link(view, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") {
      query.set(name, String(value));
    }
  }
  const text = query.toString();
  return `#/${view === "overview" ? "" : view}${text === "" ? "" : `?${text}`}`;
}

/** Goes to an address; in place of this one, when the step back should leave it out. */
export function go(address, replace = false) {
  if (replace) {
    history.replaceState(null, "", address);
  } else if (address !== location.hash) {
    history.pushState(null, "", address);
  }
  dispatchEvent(new Event("trace-etl-address"));
}
