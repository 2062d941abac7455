// Reads the JSON API, and says of each failure what it means.

const TOKEN = "trace-etl-token";
const WITHIN_MILLIS = 20_000;

let signIn = () => Promise.resolve(false);
let asked = null;
let declined = false;
/** How people sign in, as the server said; null before it has. */
let way = null;

/** What an answer was, that was not the data. */
export class ApiError extends Error {
  /**
   * @param {"unreachable"|"slow"|"token"|"signed-out"|"absent"|"refused"|"failed"} kind
   * @param {string} message
   */
  constructor(kind, message) {
    super(message);
    this.name = "ApiError";
    this.kind = kind;
  }
}

/** @param {function(boolean): Promise<boolean>} ask for the token; false if the person gave none */
export function onSignIn(ask) {
  signIn = ask;
}

/** @param {"none"|"basic"|"oidc"} signIn of the status */
export function setWay(signIn) {
  way = signIn;
}

/** A refresh does not ask who said no; a person's own try does. */
export function askAgain() {
  declined = false;
}

function storedToken() {
  try {
    return sessionStorage.getItem(TOKEN);
  } catch {
    return null;
  }
}

let token = storedToken();

export function hasToken() {
  return token !== null;
}

/** Kept for this tab, until it is closed. */
export function setToken(value) {
  token = value;
  try {
    if (value === null) {
      sessionStorage.removeItem(TOKEN);
    } else {
      sessionStorage.setItem(TOKEN, value);
    }
  } catch {
    // It is kept in memory alone.
  }
}

/** The address of a path of the API, relative to the page, which a proxy may have put elsewhere. */
export function address(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") {
      query.set(name, String(value));
    }
  }
  const text = query.toString();
  return `api/${path}${text === "" ? "" : `?${text}`}`;
}

/**
 * @param {string} path below /api/
 * @param {Object} parameters those without a value are left out
 * @param {AbortSignal=} signal
 * @param {number=} withinMillis when to give up
 * @returns {Promise<Object>}
 * @throws {ApiError} and what an aborted fetch throws
 */
export function get(path, parameters, signal, withinMillis) {
  return json(path, address(path, parameters), { withinMillis }, signal);
}

/**
 * Sends a text, which changes nothing on the server.
 *
 * @param {string} path below /api/
 * @param {Object} parameters as those of get
 * @param {{body: string, type: string, withinMillis: number}} sent its type, and when to give up
 * @param {AbortSignal=} signal
 * @returns {Promise<Object>}
 * @throws {ApiError} as get
 */
export function post(path, parameters, { body, type, withinMillis }, signal) {
  const options = { method: "POST", body, headers: { "Content-Type": type }, withinMillis };
  return json(path, address(path, parameters), options, signal);
}

async function json(path, url, options, signal) {
  const response = await fetchPath(url, options, signal);
  try {
    return await response.json();
  } catch (e) {
    signal?.throwIfAborted();
    throw new ApiError("failed", `The answer of /api/${path} could not be read: ${e.message}.`);
  }
}

/** The same as a file, for an export. */
export async function getBlob(path, parameters) {
  return (await fetchPath(address(path, parameters), {})).blob();
}

async function fetchPath(url, options, signal) {
  const used = token;
  const response = await send(url, options, used, signal);
  if (response.ok) {
    return response;
  }
  if (response.type === "opaqueredirect") {
    throw new ApiError("signed-out", "The session has ended. Load the page again to sign in.");
  }
  if (response.status === 401) {
    const { detail } = await problem(url, response);
    // The token is for programs where people sign in by other ways.
    if (
      !/^bearer/i.test(response.headers.get("WWW-Authenticate") ?? "") ||
      (way ?? "none") !== "none" ||
      detail.includes("/oauth2/authorization/")
    ) {
      throw new ApiError("signed-out", "Signing in is required. Load the page again to sign in.");
    }
    // Several requests may have been refused: one question is enough.
    if (used === token) {
      asked ??= declined ? null : signIn(used !== null).finally(() => (asked = null));
      declined = asked === null || !(await asked);
      if (declined) {
        throw new ApiError("token", "The token of the server is required.");
      }
    }
    signal?.throwIfAborted();
    return fetchPath(url, options, signal);
  }
  throw await problem(url, response);
}

/** What is not asked again. */
const LONG = /^api\/why\?/;

async function send(url, { withinMillis = WITHIN_MILLIS, headers = {}, ...options }, bearer, signal) {
  const timeout = AbortSignal.timeout(withinMillis);
  const ask = () =>
    fetch(url, {
      ...options,
      headers: bearer === null ? headers : { ...headers, Authorization: `Bearer ${bearer}` },
      redirect: "manual",
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    });
  try {
    // Browsers drop what is under way when a network comes or goes. What is long would run twice.
    const again = (e) => e.name === "TypeError" && !options.body && !LONG.test(url);
    return await ask().catch((e) => (again(e) ? ask() : Promise.reject(e)));
  } catch {
    signal?.throwIfAborted();
    if (timeout.aborted) {
      throw new ApiError("slow", `The server did not answer within ${withinMillis / 1000} s.`);
    }
    throw new ApiError("unreachable", "The server cannot be reached.");
  }
}

async function problem(url, response) {
  let detail = "";
  try {
    const body = await response.json();
    detail = typeof body.detail === "string" ? body.detail : "";
  } catch {
    // Not one of ours; the status says enough.
  }
  const kind =
    response.status === 404 ? "absent" : response.status < 500 ? "refused" : "failed";
  const path = url.replace(/\?.*/s, "");
  const error = new ApiError(kind, detail === "" ? `/${path} answered ${response.status}.` : detail);
  error.detail = detail;
  return error;
}
